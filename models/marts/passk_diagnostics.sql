{%- set words = passk._diagnostic_words() %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{%- set least = passk._least_tasks() %}
{%- set few = "' tasks inform it, and " ~ least ~ " are needed.'" %}
{%- set no_order = "'The order of the attempts was not computed: the var passk_ordered_metrics is false.'" %}
{%- set some_read %}
case
      when read_tasks < tasks
        then ' Read of ' || {{ passk._whole('read_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks.'
      else ''
    end
{%- endset %}

with order_checks as (
  select * from {{ ref('int_passk__order_checks') }}
),

copy_checks as (
  select * from {{ ref('int_passk__copy_checks') }}
),

checks as (
  select
    order_checks.*,
    copy_checks.read_tasks,
    copy_checks.seed_tasks,
    copy_checks.seed_attempts,
    copy_checks.repeated_seeds,
    copy_checks.repeated_seed_tasks,
    copy_checks.output_attempts,
    copy_checks.distinct_outputs,
    copy_checks.copied_tasks,
    copy_checks.same_output_tasks,
    copy_checks.graded_twice_tasks,
    copy_checks.pairs,
    copy_checks.disagreements,
    copy_checks.clock_s,
    copy_checks.pause_s,
    copy_checks.session_tasks,
    copy_checks.overdispersion,
    copy_checks.z_batch,
    coalesce(copy_checks.tried_again_tasks, 0) as tried_again_tasks,
    coalesce(copy_checks.output_tasks, 0) as output_tasks
  from order_checks
  inner join copy_checks
    on order_checks.run_id = copy_checks.run_id and order_checks.suite = copy_checks.suite
),

measured as (
  select
    *,
    cochran_q / nullif(suite_passes - 1, 0) as phi,
    {{ passk.flip_rate('disagreements', 'pairs') }} as flip_rate,
    repeated_tasks - passed_tasks - failed_tasks as mixed_tasks
  from checks
),

diagnostics as (
  select
    run_id,
    suite,
    'serial_dependence' as diagnostic,
    z_runs as statistic,
    abs(z_runs) as deviate,
    2 as sides,
    runs_tasks as informing_tasks,
    case when not is_ordered then 'not_applicable' end as verdict,
    case
      when not is_ordered then {{ no_order }}
      when runs_tasks < {{ least }} or z_runs is null then {{ passk._whole('runs_tasks') }} || {{ few }}
      else 'The verdict changes ' || {{ passk._whole('cast(switches as ' ~ bigint ~ ')') }} || ' times within '
        || {{ passk._whole('runs_tasks') }} || ' tasks, where chance gives ' || {{ passk._rounded('switches_expected', 1) }}
        || ' (z = ' || {{ passk._rounded('z_runs', 2) }} || ').'
    end as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'drift' as diagnostic,
    z_trend as statistic,
    abs(z_trend) as deviate,
    2 as sides,
    trend_tasks as informing_tasks,
    case when not is_ordered then 'not_applicable' end as verdict,
    case
      when not is_ordered then {{ no_order }}
      when trend_tasks < {{ least }} or z_trend is null then {{ passk._whole('trend_tasks') }} || {{ few }}
      else 'Passes come ' || {{ passk._rounded('abs(rank_shift)', 2) }} || ' places '
        || case when rank_shift < 0 then 'earlier' else 'later' end || ' than chance puts them, over '
        || {{ passk._whole('trend_tasks') }} || ' tasks (z = ' || {{ passk._rounded('z_trend', 2) }} || ').'
    end as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'shared_run_effect' as diagnostic,
    cochran_q as statistic,
    z_suite_pass as deviate,
    1 as sides,
    suite_pass_tasks as informing_tasks,
    case
      when not is_ordered or (suite_pass_tasks < {{ least }} and informative_tasks >= {{ least }}) then 'not_applicable'
    end as verdict,
    case
      when not is_ordered then {{ no_order }}
      when suite_pass_tasks < {{ least }} and informative_tasks >= {{ least }}
        then 'The counted attempts of the tasks have different numbers: the largest group of informative tasks '
          || 'that share them has ' || {{ passk._whole('suite_pass_tasks') }} || ', and {{ least }} are needed.'
      when suite_pass_tasks < {{ least }} or cochran_q is null then {{ passk._whole('suite_pass_tasks') }} || {{ few }}
      else 'From pass to pass over the suite, ' || {{ passk._whole('suite_passes') }} || ' of them, the passes of '
        || {{ passk._whole('suite_pass_tasks') }} || ' tasks vary ' || {{ passk._rounded('phi', 2) }}
        || ' times as much as chance lets them (Q = ' || {{ passk._rounded('cochran_q', 1) }} || ').'
    end as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'batch_effect' as diagnostic,
    z_batch as statistic,
    abs(z_batch) as deviate,
    2 as sides,
    coalesce(session_tasks, 0) as informing_tasks,
    case
      when coalesce(session_tasks, 0) = 0 then 'not_applicable'
    end as verdict,
    case
      when clock_s is null then 'The log does not say when attempts started.'
      when pause_s is null then 'The run was made in one go: no pause is as long as a hundredth of its time.'
      when coalesce(session_tasks, 0) = 0
        then 'The longest pause, of ' || {{ passk._rounded('pause_s / 3600') }}
          || ' hours, splits no task that both passes and fails.'
      when session_tasks < {{ least }} or z_batch is null then {{ passk._whole('session_tasks') }} || {{ few }}
      else 'The longest pause, ' || {{ passk._rounded('pause_s / 3600') }} || ' of '
        || {{ passk._rounded('clock_s / 3600') }} || ' hours, splits ' || {{ passk._whole('session_tasks') }}
        || ' tasks, whose two sessions differ ' || {{ passk._rounded('overdispersion', 2) }}
        || ' times as much as chance lets them (z = ' || {{ passk._rounded('z_batch', 2) }} || ').'
    end || {{ some_read }} as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'duplicate_seeds' as diagnostic,
    cast(repeated_seeds as {{ double }}) / nullif(seed_attempts, 0) as statistic,
    cast(null as {{ double }}) as deviate,
    0 as sides,
    coalesce(seed_tasks, 0) as informing_tasks,
    case
      when coalesce(seed_tasks, 0) = 0 then 'not_applicable'
      when repeated_seeds > 0 then 'warning'
      else 'ok'
    end as verdict,
    case
      when coalesce(seed_tasks, 0) = 0 then 'No task has two attempts with a seed.'
      else {{ passk._whole('repeated_seeds') }} || ' of ' || {{ passk._whole('seed_attempts') }}
        || ' attempts repeat a seed of their task, in ' || {{ passk._whole('repeated_seed_tasks') }} || ' of '
        || {{ passk._whole('seed_tasks') }} || ' tasks.'
    end || {{ some_read }} as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'duplicate_outputs' as diagnostic,
    cast(copied_tasks as {{ double }}) / nullif(output_tasks, 0) as statistic,
    cast(null as {{ double }}) as deviate,
    0 as sides,
    output_tasks as informing_tasks,
    case
      when output_tasks = 0 then 'not_applicable'
      {#- A task or two with a short answer are no fault of the log. #}
      when 10 * copied_tasks >= output_tasks then 'warning'
      else 'ok'
    end as verdict,
    case
      when output_tasks = 0 then 'No task has two attempts with a digest of their output.'
      else {{ passk._whole('output_attempts') }} || ' attempts have ' || {{ passk._whole('distinct_outputs') }}
        || ' different outputs within their tasks; in ' || {{ passk._whole('copied_tasks') }} || ' of '
        || {{ passk._whole('output_tasks') }} || ' tasks at most half of them differ.'
    end || {{ some_read }} as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'noisy_grader' as diagnostic,
    flip_rate as statistic,
    cast(null as {{ double }}) as deviate,
    0 as sides,
    coalesce(graded_twice_tasks, 0) as informing_tasks,
    case
      when coalesce(pairs, 0) = 0 then 'not_applicable'
      when disagreements > 0 then 'warning'
      else 'ok'
    end as verdict,
    case
      when output_tasks = 0 then 'No task has two attempts with a digest of their output.'
      when pairs = 0 then 'No output came twice within a task, so that no two verdicts can be compared.'
      when disagreements = 0
        then 'None of ' || {{ passk._whole('pairs') }} || ' pairs of equal outputs has two verdicts.'
      else {{ passk._whole('disagreements') }} || ' of ' || {{ passk._whole('pairs') }}
        || ' pairs of equal outputs have two verdicts. If the grader errs at random, a verdict is wrong with a chance of'
        || ' about '
        || {{ passk._rounded('flip_rate') }} || '. At k = ' || {{ passk._whole('k') }} || ' pass^k is then at most '
        || {{ passk._rounded('power(1 - flip_rate, k)') }} || ', and pass@k of an impossible task '
        || {{ passk._rounded('1 - power(1 - flip_rate, k)') }} || '.'
    end || {{ some_read }} as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'temperature_zero' as diagnostic,
    case
      when output_tasks >= {{ least }} then cast(same_output_tasks as {{ double }}) / output_tasks
      else cast(passed_tasks + failed_tasks as {{ double }}) / nullif(repeated_tasks, 0)
    end as statistic,
    cast(null as {{ double }}) as deviate,
    0 as sides,
    case when output_tasks >= {{ least }} then output_tasks else repeated_tasks end as informing_tasks,
    case
      when output_tasks >= {{ least }} and 2 * same_output_tasks >= output_tasks then 'warning'
      when output_tasks >= {{ least }} then 'ok'
      when repeated_tasks < {{ least }} then 'insufficient'
      {#- Both verdicts are there, and hardly a task has both. #}
      when 100 * mixed_tasks <= repeated_tasks and passed_tasks > 0 and failed_tasks > 0 then 'warning'
      else 'ok'
    end as verdict,
    case
      when output_tasks >= {{ least }}
        then 'In ' || {{ passk._whole('same_output_tasks') }} || ' of ' || {{ passk._whole('output_tasks') }}
          || ' tasks every attempt has the same output.' || {{ some_read }}
      when repeated_tasks < {{ least }} then {{ passk._whole('repeated_tasks') }} || {{ few }}
      else 'In ' || {{ passk._whole('passed_tasks + failed_tasks') }} || ' of ' || {{ passk._whole('repeated_tasks') }}
        || ' tasks every attempt has the same verdict (all passed in ' || {{ passk._whole('passed_tasks') }}
        || ', all failed in ' || {{ passk._whole('failed_tasks') }} || '); what they produced is not known.'
    end as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'retry_until_pass' as diagnostic,
    case
      when tried_again_tasks > 0 then cast(tried_again_tasks as {{ double }}) / read_tasks
      when is_ordered then cast(ended_by_pass as {{ double }}) / nullif(ragged_tasks, 0)
    end as statistic,
    cast(null as {{ double }}) as deviate,
    0 as sides,
    case
      when tried_again_tasks > 0 then read_tasks
      when is_ordered then ragged_tasks
      else 0
    end as informing_tasks,
    case
      when tried_again_tasks > 0 then 'warning'
      when not is_ordered or counted_tasks = 0 then 'not_applicable'
      when ragged_tasks = 0 then 'ok'
      when ragged_tasks < {{ least }} then 'insufficient'
      {#- Tasks of two attempts that lost one to an error end in their only pass as often as they pass. #}
      when
        2 * ended_by_pass > ragged_tasks
        and ended_by_pass > ended_by_pass_expected + 3 * sqrt(ended_by_pass_variance) + 1e-9
        then 'warning'
      else 'ok'
    end as verdict,
    case
      when tried_again_tasks > 0
        then 'The log says that ' || {{ passk._whole('tried_again_tasks') }} || ' of ' || {{ passk._whole('read_tasks') }}
          || ' tasks were tried again because they failed: the tag reruns.' || {{ some_read }}
      when not is_ordered then {{ no_order }}
      when counted_tasks = 0 then 'No attempt counts.'
      when ragged_tasks = 0 then 'Every task has the same number of counted attempts, ' || {{ passk._whole('max_n') }} || '.'
      else {{ passk._whole('ended_by_pass') }} || ' of ' || {{ passk._whole('ragged_tasks') }}
        || ' tasks with fewer counted attempts than others end in their only pass.'
    end as finding,
    loaded_at
  from measured
  {%- for name, part, what in [
    ('window_gap', 'window', 'Sliding windows of k attempts'), ('first_k_gap', 'first_k', 'The first k attempts')
  ] %}
  union all
  select
    run_id,
    suite,
    '{{ name }}' as diagnostic,
    {{ name }} as statistic,
    abs(z_{{ part }}) as deviate,
    2 as sides,
    {{ part }}_tasks as informing_tasks,
    case
      when not is_ordered{{ ' or k = 1' if part == 'window' }} then 'not_applicable'
    end as verdict,
    case
      when not is_ordered then {{ no_order }}
      {%- if part == 'window' %}
      when k = 1 then 'At k = 1 no attempts stand in a row.'
      {%- endif %}
      when {{ part }}_tasks < {{ least }} or z_{{ part }} is null then {{ passk._whole(part ~ '_tasks') }} || {{ few }}
      else '{{ what }} all pass ' || {{ passk._rounded('abs(' ~ name ~ ')') }} || ' '
        || case when {{ name }} < 0 then 'less' else 'more' end || ' often than pass^k has it, at k = '
        || {{ passk._whole('k') }} || ' over ' || {{ passk._whole(part ~ '_tasks') }} || ' tasks (z = '
        || {{ passk._rounded('z_' ~ part, 2) }} || ').'
    end as finding,
    loaded_at
  from measured
  {%- endfor %}
  union all
  select
    run_id,
    suite,
    'dominant_tasks' as diagnostic,
    cast(dominant_tasks as {{ double }}) / nullif(eligible_tasks, 0) as statistic,
    cast(null as {{ double }}) as deviate,
    0 as sides,
    eligible_tasks as informing_tasks,
    case
      when eligible_tasks < {{ least }} then 'insufficient'
      {#- No test: a suite may have few tasks that fail, and nothing is wrong with the log. #}
      else 'ok'
    end as verdict,
    case
      when eligible_tasks < {{ least }} then {{ passk._whole('eligible_tasks') }} || {{ few }}
      when dominant_tasks is null
        then 'Nothing is lost at k = ' || {{ passk._whole('k') }} || ': every attempt that counts passed.'
      else {{ passk._whole('dominant_tasks') }} || ' of ' || {{ passk._whole('eligible_tasks') }}
        || ' tasks make more than half of the lost reliability at k = ' || {{ passk._whole('k') }}
        || '; none loses more than ' || worst_task_id || ', '
        || case when worst_share < 9.5e-4 then 'less than 0.001' else {{ passk._rounded('worst_share') }} end || ' of it'
        || case
          when worst_tasks > 1 then ', and ' || {{ passk._whole('worst_tasks - 1') }} || ' more lose as much.'
          else '.'
        end
    end as finding,
    loaded_at
  from measured
  union all
  select
    run_id,
    suite,
    'jensen_bounds' as diagnostic,
    z_alike as statistic,
    0 - z_alike as deviate,
    1 as sides,
    eligible_informative_tasks as informing_tasks,
    case when k = 1 then 'not_applicable' end as verdict,
    case
      when k = 1 then 'At k = 1 both bounds are the estimate.'
      when eligible_informative_tasks < {{ least }} then {{ passk._whole('eligible_informative_tasks') }} || {{ few }}
      when z_alike is null
        then 'The mean pass rate allows hardly any pass^k at k = ' || {{ passk._whole('k') }}
          || ', so that it can not be too low.'
      else 'pass^k at k = ' || {{ passk._whole('k') }} || ' is ' || {{ passk._rounded('abs(delta_k)') }}
        || case when delta_k < 0 then ' below' else ' above' end || ' the least that the mean pass rate allows (z = '
        || {{ passk._rounded('z_alike', 2) }} || ').'
    end as finding,
    loaded_at
  from measured
),

{# All tails at once: planning one is what costs. #}
tested as (
  select
    *,
    case when sides > 0 then sides * {{ passk.normal_tail('deviate') }} end as p
  from diagnostics
),

{# A test decides where nothing else does, if enough tasks inform it. #}
counted as (
  select
    *,
    case
      when verdict is null and informing_tasks >= {{ least }} and p is not null then 1
      else 0
    end as is_test
  from tested
),

{# Over the tests of a run: Holm 1979. #}
ranked as (
  select
    *,
    row_number() over (partition by run_id, suite, is_test order by p, diagnostic) as place,
    sum(is_test) over (partition by run_id, suite) as tests
  from counted
),

held as (
  select
    *,
    case
      when is_test = 1
        then max((tests - place + 1) * p) over (
            partition by run_id, suite, is_test order by place rows unbounded preceding
          )
    end as p_of_run
  from ranked
),

{# Over the runs of a suite that were there when a run came: one that comes later leaves the verdicts of the others alone.
   Of so many runs, so many are as sure as this one (Benjamini and Bogomolov 2014). #}
tested_runs as (
  select
    run_id,
    suite,
    loaded_at,
    min(p_of_run) as least_p
  from held
  where is_test = 1
  group by run_id, suite, loaded_at
),

many_runs as (
  select
    tested_runs.run_id,
    tested_runs.suite,
    cast(count(*) as {{ double }})
    {#- What is equal but for its rounding is equal. #}
    / sum(case when peers.least_p <= tested_runs.least_p * (1 + 1e-9) then 1 else 0 end) as per_rejection
  from tested_runs
  inner join tested_runs as peers
    on tested_runs.suite = peers.suite
    and (
      tested_runs.loaded_at >= peers.loaded_at
      or tested_runs.loaded_at is null
      or peers.loaded_at is null
    )
  group by tested_runs.run_id, tested_runs.suite
),

adjusted as (
  select
    held.*,
    {{ passk._clipped('held.p_of_run * many_runs.per_rejection', 0, 1) }} as p_adjusted
  from held
  left join many_runs
    on held.run_id = many_runs.run_id and held.suite = many_runs.suite
),

judged as (
  select
    *,
    coalesce(verdict, {{ passk.diagnostic_verdict('p_adjusted', 'informing_tasks') }}) as found_verdict,
    case
      when p_adjusted < 0.0005e0 then ' After correction, p < 0.001.'
      when p_adjusted is not null then ' After correction, p = ' || {{ passk._rounded('p_adjusted') }} || '.'
      else ''
    end as chance
  from adjusted
)

select
  run_id,
  suite,
  diagnostic,
  statistic,
  p,
  p_adjusted,
  informing_tasks as tasks,
  found_verdict as verdict,
  finding || chance as finding,
  case
    {%- for name, said in words.items() %}
    {%- if said.sign %}
    when diagnostic = '{{ name }}' and found_verdict = 'warning' then '{{ said.sign }}. {{ said.effect }}'
    {%- endif %}
    when diagnostic = '{{ name }}' and found_verdict = 'ok' then '{{ said.fine }}'
    when diagnostic = '{{ name }}' then 'Not known from this log. {{ said.effect }}'
    {%- endfor %}
  end as meaning,
  case
    {%- for name, said in words.items() %}
    {%- if said.sign %}
    when diagnostic = '{{ name }}' and found_verdict = 'warning' then '{{ said.advice }}'
    {%- endif %}
    when diagnostic = '{{ name }}' and found_verdict <> 'ok' then '{{ said.need }}'
    {%- endfor %}
  end as advice,
  loaded_at
from judged

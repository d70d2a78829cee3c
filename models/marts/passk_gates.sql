{%- set text = dbt.type_string() %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{%- set gates = passk._gates() %}
{%- set kinds = gates | map(attribute='kind') | unique | list %}
{%- set error = passk._as_double((1 - passk._setting('passk_confidence')) | round(10)) %}
{#- What every kind of rule carries through. #}
{%- set carried = [
  'gate', 'rule', 'metric', 'k', 'threshold', 'scope', 'severity', 'inconclusive_severity', 'run_id', 'suite', 'agent',
  'agent_version', 'model', 'loaded_at'
] %}
{%- set judged = [
  'baseline_run_id', 'slice_name', 'slice_value', 'tasks', 'estimate', 'estimate_lower', 'estimate_upper', 'result',
  'reason', 'to_settle'
] %}
{%- set metric_name = "case when metric = 'pass_hat_k' then 'pass^' else 'pass@' end || " ~ passk._whole('k') %}
{%- set interval = "' (' || " ~ passk._decimals('estimate_lower') ~ " || ' to ' || " ~ passk._decimals('estimate_upper')
  ~ " || ')'" %}
{%- set relations = {
  'threshold': 'judged_thresholds', 'drop': 'judged_drops', 'each_task': 'judged_tasks', 'coverage': 'judged_coverage',
  'regressed_tasks': 'judged_moves', 'diagnostics': 'judged_diagnostics'
} %}

with gates as (
  select * from {{ ref('int_passk__gate_runs') }}
),

{# A rule that finds nothing to judge must not look like one that holds. #}
unmatched as (
  select
    {{ carried | join(',\n    ') }},
    baseline as baseline_run_id,
    coalesce(slice_name, 'all') as slice_name,
    coalesce(slice_value, case when slice_name is null then 'all' else '(unknown)' end) as slice_value,
    cast(null as {{ bigint }}) as tasks,
    cast(null as {{ double }}) as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    'inconclusive' as result,
    'No run is judged: the log has none'
    || case when run_id <> '(unknown)' then ' named ' || run_id else '' end
    || case when suite <> '(unknown)' then ' of the suite ' || suite else '' end
    || case when agent is not null then ' by ' || agent else '' end
    || '.' as reason,
    'Such a run, or other names in the gate.' as to_settle
  from gates
  where not has_run
)

{%- if 'threshold' in kinds or 'drop' in kinds %},

bounds as (
  select * from {{ ref('int_passk__gate_bounds') }}
)

{%- endif %}
{%- if 'threshold' in kinds %},

metrics as (
  select * from {{ ref('passk_suite_metrics') }}
),

thresholds as (
  select
    gates.*,
    metrics.slice_value as found_slice_value,
    metrics.eligible_tasks as tasks,
    metrics.null_reason,
    {%- for name, end in [('estimate', ''), ('estimate_lower', 'lower'), ('estimate_upper', 'upper')] %}
    case
      {%- if end %}
      when gates.metric = 'pass_hat_k' and gates.scope = 'suite' then metrics.pass_hat_k_suite_{{ end }}
      when gates.metric = 'pass_hat_k' then metrics.pass_hat_k_{{ end }}
      when gates.scope = 'suite' then metrics.pass_at_k_suite_{{ end }}
      else metrics.pass_at_k_{{ end }}
      {%- else %}
      when gates.metric = 'pass_hat_k' then metrics.pass_hat_k
      else metrics.pass_at_k
      {%- endif %}
    end as {{ name }},
    {%- endfor %}
    coalesce(bounds.excluded, 0) as excluded,
    {#- Were the excluded attempts counted, the limits would move about as the estimate does. #}
    coalesce(bounds.loss, 0) / nullif(metrics.eligible_tasks, 0) as loss,
    coalesce(bounds.gain, 0) / nullif(metrics.eligible_tasks, 0) as gain
  from gates
  left join metrics
    on
      gates.run_id = metrics.run_id
      and gates.suite = metrics.suite
      and gates.slice_name = metrics.slice_name
      and (gates.slice_value is null or gates.slice_value = metrics.slice_value)
      and gates.k = metrics.k
  left join bounds
    on
      metrics.run_id = bounds.run_id
      and metrics.suite = bounds.suite
      and metrics.slice_name = bounds.slice_name
      and metrics.slice_value = bounds.slice_value
      and metrics.k = bounds.k
      and gates.metric = bounds.metric
  where gates.kind = 'threshold' and gates.has_run
),

told_thresholds as (
  select
    *,
    case
      when estimate_lower - loss >= threshold then 'pass'
      when estimate_upper + gain < threshold then 'fail'
      else 'inconclusive'
    end as result,
    {{ metric_name }} as metric_name,
    case when estimate < threshold then estimate_upper else estimate_lower end - estimate as reach,
    threshold - estimate as distance
  from thresholds
),

judged_thresholds as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    slice_name,
    coalesce(found_slice_value, slice_value, '(unknown)') as slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      when tasks is null then 'The run has no task in ' || slice_name || coalesce(' ' || slice_value, '') || '.'
      when estimate is null then 'There is no ' || metric_name || ': ' || null_reason || '.'
      when estimate_lower is null
        then metric_name || ' is ' || {{ passk._decimals('estimate') }}
          || case
            when scope = 'suite'
              then ', but an interval for these tasks takes ' || {{ passk._whole('2 * k') }} || ' attempts of each.'
            else ', of too few tasks for an interval.'
          end
      else metric_name || ' is ' || {{ passk._decimals('estimate') }} || {{ interval }}
        || case
          when result = 'pass' then ': even the lower limit reaches ' || threshold_text || '.'
          when result = 'fail' then ': even the upper limit is below ' || threshold_text || '.'
          when estimate_lower >= threshold
            then ', which would pass, but not if the ' || {{ passk._whole('excluded') }}
              || ' excluded attempts had failed.'
          when estimate_upper < threshold
            then ', which would fail, but not if the ' || {{ passk._whole('excluded') }}
              || ' excluded attempts had passed.'
          else ', and ' || threshold_text || ' lies between these limits.'
            || case
              when tasks < least_tasks
                then ' It cannot pass with fewer than ' || {{ passk._whole('least_tasks') }} || ' tasks, and there '
                  || case when tasks = 1 then 'is 1' else 'are ' || {{ passk._whole('tasks') }} end || '.'
              else ''
            end
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when tasks is null then 'A run that has such tasks, or another slice in the gate.'
      when estimate is null then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task.'
      when estimate_lower is null and scope = 'suite'
        then 'At least ' || {{ passk._whole('2 * k') }} || ' counted attempts of every task.'
      when estimate_lower is null then 'At least ' || {{ passk._whole('least_tasks') }} || ' tasks.'
      when estimate_lower >= threshold or estimate_upper < threshold then 'The excluded attempts, made again.'
      when tasks < least_tasks and estimate >= threshold
        then 'At least ' || {{ passk._whole('least_tasks') }} || ' tasks.'
      {{ passk._more_to_measure('tasks', "scope = 'suite'") }}
    end as to_settle
  from told_thresholds
)

{%- endif %}
{%- if 'drop' in kinds %},

comparisons as (
  select * from {{ ref('passk_comparisons') }}
),

drops as (
  select
    gates.*,
    comparisons.baseline_run_id,
    comparisons.eligible_tasks as tasks,
    comparisons.common_tasks,
    comparisons.common_tasks + comparisons.baseline_only_tasks as baseline_tasks,
    comparisons.null_reason,
    comparisons.baseline as baseline_estimate,
    comparisons.candidate as candidate_estimate,
    comparisons.difference as estimate,
    {%- for end in ['lower', 'upper'] %}
    case
      when gates.scope = 'suite' then comparisons.difference_suite_{{ end }}
      else comparisons.difference_{{ end }}
    end as estimate_{{ end }},
    {%- endfor %}
    coalesce(candidate_bounds.excluded, 0) + coalesce(baseline_bounds.excluded, 0) as excluded,
    (coalesce(candidate_bounds.loss, 0) + coalesce(baseline_bounds.gain, 0)) / nullif(comparisons.eligible_tasks, 0) as loss,
    (coalesce(candidate_bounds.gain, 0) + coalesce(baseline_bounds.loss, 0)) / nullif(comparisons.eligible_tasks, 0) as gain
  from gates
  left join comparisons
    on
      gates.run_id = comparisons.candidate_run_id
      and gates.suite = comparisons.suite
      and gates.metric = comparisons.metric
      and gates.k = comparisons.k
      and {{ passk._is_pair_of_gate('comparisons') }}
  {%- for side, run in [('candidate', 'candidate_run_id'), ('baseline', 'baseline_run_id')] %}
  left join bounds as {{ side }}_bounds
    on
      comparisons.{{ run }} = {{ side }}_bounds.run_id
      and comparisons.suite = {{ side }}_bounds.suite
      and {{ side }}_bounds.slice_name = 'all'
      and comparisons.metric = {{ side }}_bounds.metric
      and comparisons.k = {{ side }}_bounds.k
  {%- endfor %}
  where gates.kind = 'drop' and gates.has_run
),

told_drops as (
  select
    *,
    case
      when common_tasks * 10 < baseline_tasks * 9 then 'inconclusive'
      when estimate_lower - loss >= -threshold then 'pass'
      when estimate_upper + gain < -threshold then 'fail'
      else 'inconclusive'
    end as result,
    {{ metric_name }} as metric_name,
    case when estimate < -threshold then estimate_upper else estimate_lower end - estimate as reach,
    -threshold - estimate as distance
  from drops
),

judged_drops as (
  select
    {{ carried | join(',\n    ') }},
    coalesce(baseline_run_id, baseline) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      when baseline_run_id is null and baseline = run_id then 'The run is the baseline.'
      when baseline_run_id is null then 'There is no baseline: no earlier run of the agent on this suite, and no declared pair.'
      when estimate is null then 'There is no difference of ' || metric_name || ': ' || null_reason || '.'
      when common_tasks * 10 < baseline_tasks * 9
        then 'Only ' || {{ passk._whole('common_tasks') }} || ' of ' || {{ passk._whole('baseline_tasks') }}
          || ' tasks of the baseline are in both runs, fewer than 90 %.'
      when estimate_lower is null then 'Too few tasks are in both runs for an interval.'
      else metric_name || ' is ' || {{ passk._decimals('candidate_estimate') }} || ', in the baseline '
        || {{ passk._decimals('baseline_estimate') }} || ': a difference of ' || {{ passk._decimals('estimate') }}
        || {{ interval }}
        || case
          when result = 'pass' then ', at worst not below -' || threshold_text || '.'
          when result = 'fail' then ', at best below -' || threshold_text || '.'
          when estimate_lower >= -threshold
            then ', which would pass, but not if the ' || {{ passk._whole('excluded') }}
              || ' excluded attempts of both runs had counted against it.'
          when estimate_upper < -threshold
            then ', which would fail, but not if the ' || {{ passk._whole('excluded') }}
              || ' excluded attempts of both runs had counted for it.'
          else ', and -' || threshold_text || ' lies between these limits.'
            || case
              when tasks < least_tasks
                then ' It cannot pass with fewer than ' || {{ passk._whole('least_tasks') }} || ' tasks, and there '
                  || case when tasks = 1 then 'is 1' else 'are ' || {{ passk._whole('tasks') }} end || '.'
              else ''
            end
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when baseline_run_id is null then 'Another run of the agent, or a baseline that the gate names.'
      when estimate is null then 'At least ' || {{ passk._whole('k') }} || ' counted attempts of every task in both runs.'
      when common_tasks * 10 < baseline_tasks * 9 then 'A run over the tasks of the baseline.'
      when estimate_lower is null
        then coalesce('At least ' || {{ passk._whole('least_tasks') }} || ' tasks.', 'A run over more tasks.')
      when estimate_lower >= -threshold or estimate_upper < -threshold then 'The excluded attempts, made again.'
      when tasks < least_tasks and estimate >= -threshold
        then 'At least ' || {{ passk._whole('least_tasks') }} || ' tasks.'
      {{ passk._more_to_measure('tasks', "scope = 'suite'") }}
    end as to_settle
  from told_drops
)

{%- endif %}
{%- if 'each_task' in kinds %},

{#- With fewer attempts, even if all pass, no task is sure. #}
least_attempts as (
  {%- for rule in gates if rule.kind == 'each_task' %}
  select
    {{ passk._quoted(rule.gate) }} as gate,
    {{ passk.least_attempts(rule.threshold, rule.k) if rule.metric == 'pass_hat_k' else passk._least_attempts_at(rule) }}
      as least_n
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

each_task as (
  select
    gates.*,
    tasks.tasks,
    tasks.met_tasks,
    tasks.missed_tasks,
    tasks.most_n,
    least_attempts.least_n,
    tasks.worst_task_id || ' (' || {{ passk._whole('tasks.worst_c') }} || ' of ' || {{ passk._whole('tasks.worst_n') }}
    || ' passed)' as worst,
    case
      when tasks.missed_tasks > 0 then 'fail'
      when tasks.met_tasks = tasks.tasks then 'pass'
      else 'inconclusive'
    end as result
  from gates
  inner join {{ ref('int_passk__gate_tasks') }} as tasks
    on gates.gate = tasks.gate and gates.run_id = tasks.run_id and gates.suite = tasks.suite
  inner join least_attempts
    on gates.gate = least_attempts.gate
  where gates.has_run
),

judged_tasks as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    cast(met_tasks as {{ double }}) / tasks as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    {{ passk._whole('met_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks are sure to reach ' || threshold_text
    || ', ' || {{ passk._whole('missed_tasks') }} || ' are sure not to; worst is ' || worst || '.' as reason,
    case
      when result <> 'inconclusive' then null
      when most_n < least_n
        then 'At least ' || {{ passk._whole('least_n') }} || ' attempts of each task.'
      else 'More attempts of the tasks that are neither.'
    end as to_settle
  from each_task
)

{%- endif %}
{%- if 'coverage' in kinds %},

shares as (
  select
    gates.*,
    runs.tasks,
    case gates.metric
      {%- for metric, share in passk._gate_shares().items() %}
      when '{{ metric }}' then runs.{{ share.count }}
      {%- endfor %}
    end as part,
    case gates.metric
      {%- for metric, share in passk._gate_shares().items() %}
      when '{{ metric }}' then {{ share.whole }}
      {%- endfor %}
    end as whole,
    case gates.metric
      {%- for metric, share in passk._gate_shares().items() %}
      when '{{ metric }}' then '{{ share.said }}'
      {%- endfor %}
    end as said
  from gates
  inner join {{ ref('passk_runs') }} as runs
    on gates.run_id = runs.run_id and gates.suite = runs.suite
  where gates.kind = 'coverage' and gates.has_run
),

judged_coverage as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    cast(part as {{ double }}) / whole as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    case
      when whole is null then 'inconclusive'
      {#- Not part / whole: a share at its limit must not fall over it by rounding. #}
      when part <= threshold * whole * (1 + 1e-12) then 'pass'
      else 'fail'
    end as result,
    case
      when whole is null then 'The log does not say how many attempts were to be made.'
      else {{ passk._whole('part') }} || ' of ' || {{ passk._whole('whole') }} || ' ' || said || ', and '
        || {{ passk._whole('cast(floor(threshold * whole * (1 + 1e-12)) as ' ~ bigint ~ ')') }} || ' may be.'
    end as reason,
    case
      when whole is null then 'A log that says how many attempts were to be made.'
    end as to_settle
  from shares
)

{%- endif %}
{%- if 'regressed_tasks' in kinds %},

moves as (
  select
    suite,
    baseline_run_id,
    candidate_run_id,
    cast(count(p) as {{ bigint }}) as tasks,
    cast(sum(case when moved and direction = 'fell' then 1 else 0 end) as {{ bigint }}) as fell_tasks,
    min(case when moved and direction = 'fell' then p end) as surest_p,
    min(least_p) as least_p
  from {{ ref('passk_task_comparisons') }}
  group by suite, baseline_run_id, candidate_run_id
),

surest as (
  select
    moved_tasks.suite,
    moved_tasks.baseline_run_id,
    moved_tasks.candidate_run_id,
    min(moved_tasks.task_id) as task_id
  from {{ ref('passk_task_comparisons') }} as moved_tasks
  inner join moves
    on
      moved_tasks.suite = moves.suite
      and moved_tasks.baseline_run_id = moves.baseline_run_id
      and moved_tasks.candidate_run_id = moves.candidate_run_id
      and moved_tasks.p = moves.surest_p
  where moved_tasks.moved and moved_tasks.direction = 'fell'
  group by moved_tasks.suite, moved_tasks.baseline_run_id, moved_tasks.candidate_run_id
),

pairs as (
  select * from {{ ref('int_passk__pairs') }}
),

told_moves as (
  select
    gates.*,
    pairs.baseline_run_id,
    moves.tasks,
    moves.fell_tasks,
    moves.least_p,
    surest.task_id as surest_task_id,
    case
      when coalesce(moves.tasks, 0) = 0 then 'inconclusive'
      when moves.fell_tasks > gates.threshold then 'fail'
      {#- With Benjamini and Hochberg's correction one task is found alone only if its p is so small. #}
      when moves.least_p * moves.tasks > {{ error }} and moves.least_p > {{ error }} then 'inconclusive'
      else 'pass'
    end as result
  from gates
  left join pairs
    on
      gates.run_id = pairs.candidate_run_id
      and gates.suite = pairs.suite
      and {{ passk._is_pair_of_gate('pairs') }}
  left join moves
    on
      pairs.suite = moves.suite
      and pairs.baseline_run_id = moves.baseline_run_id
      and pairs.candidate_run_id = moves.candidate_run_id
  left join surest
    on
      pairs.suite = surest.suite
      and pairs.baseline_run_id = surest.baseline_run_id
      and pairs.candidate_run_id = surest.candidate_run_id
  where gates.kind = 'regressed_tasks' and gates.has_run
),

judged_moves as (
  select
    {{ carried | join(',\n    ') }},
    coalesce(baseline_run_id, baseline) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    case when tasks > 0 then cast(fell_tasks as {{ double }}) end as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    case
      when baseline_run_id is null and baseline = run_id then 'The run is the baseline.'
      when baseline_run_id is null then 'There is no baseline: no earlier run of the agent on this suite, and no declared pair.'
      when coalesce(tasks, 0) = 0 then 'No task has counted attempts in both runs.'
      else {{ passk._whole('fell_tasks') }} || ' of ' || {{ passk._whole('tasks') }} || ' tasks fell beyond chance'
        || case when fell_tasks > 0 then ', the surest of them ' || surest_task_id else '' end || '.'
        || case
          when result = 'inconclusive' then ' With as few attempts, none could be seen to.'
          else ''
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when baseline_run_id is null then 'Another run of the agent, or a baseline that the gate names.'
      when coalesce(tasks, 0) = 0 then 'A run over the tasks of the baseline.'
      else 'More attempts of each task: see least_p in passk_task_comparisons.'
    end as to_settle
  from told_moves
)

{%- endif %}
{%- if 'diagnostics' in kinds %},

wanted_diagnostics as (
  {%- for rule in gates if rule.kind == 'diagnostics' %}
  {%- set outer = loop %}
  {%- for name in rule.diagnostics %}
  select
    {{ passk._quoted(rule.gate) }} as gate,
    '{{ name }}' as diagnostic
  {{- '\n  union all' if not (loop.last and outer.last) }}
  {%- endfor %}
  {%- endfor %}
),

found as (
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    diagnostics.diagnostic,
    diagnostics.verdict,
    diagnostics.p,
    diagnostics.tasks,
    count(diagnostics.p) over (partition by gates.gate, gates.run_id, gates.suite) as tests
  from gates
  inner join wanted_diagnostics
    on gates.gate = wanted_diagnostics.gate
  inner join {{ ref('passk_diagnostics') }} as diagnostics
    on
      gates.run_id = diagnostics.run_id
      and gates.suite = diagnostics.suite
      and wanted_diagnostics.diagnostic = diagnostics.diagnostic
  where gates.has_run
),

{# Of many tests one warns by chance: each has to be as sure as all of them should be (Bonferroni). #}
sorted as (
  select
    *,
    verdict = 'warning' and (p is null or p * tests <= {{ error }}) as is_found,
    verdict not in ('warning', 'ok') as is_unknown
  from found
),

counted as (
  select
    gate,
    run_id,
    suite,
    count(*) as diagnostics,
    sum(case when is_found then 1 else 0 end) as warnings,
    sum(case when is_unknown then 1 else 0 end) as unknowns,
    {%- for flag in ['is_found', 'is_unknown'] %}
    {%- for name in passk._diagnostic_words() %}
    {{ '|| ' if not loop.first }}max(case when diagnostic = '{{ name }}' and {{ flag }} then ', {{ name }}' else '' end)
    {%- endfor %} as names_{{ flag }}
    {{- ',' if not loop.last }}
    {%- endfor %}
  from sorted
  group by gate, run_id, suite
),

told_diagnostics as (
  select
    gates.*,
    counted.diagnostics,
    counted.warnings,
    counted.unknowns,
    substring(counted.names_is_found, 3, 1000) as found_names,
    substring(counted.names_is_unknown, 3, 1000) as unknown_names,
    case
      when counted.warnings > 0 then 'fail'
      when counted.unknowns = counted.diagnostics then 'inconclusive'
      {#- What was asked for by name must be known. Of all, only that which a log can say. #}
      when counted.unknowns > 0 and gates.rule <> 'no warning of any diagnostic' then 'inconclusive'
      else 'pass'
    end as result
  from gates
  inner join counted
    on gates.gate = counted.gate and gates.run_id = counted.run_id and gates.suite = counted.suite
  where gates.has_run
),

judged_diagnostics as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    cast(null as {{ bigint }}) as tasks,
    cast(warnings as {{ double }}) as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    case
      when warnings > 0 then 'A warning of ' || found_names || '.'
      when unknowns = diagnostics then 'Nothing is known of ' || unknown_names || '.'
      when unknowns > 0
        then 'Nothing is known of ' || unknown_names || '; the others do not warn.'
      else 'No warning of ' || {{ passk._whole('diagnostics') }} || case when diagnostics = 1 then ' diagnostic.' else ' diagnostics.' end
    end as reason,
    case
      when result = 'inconclusive' then 'More in the log: see advice in passk_diagnostics.'
    end as to_settle
  from told_diagnostics
)

{%- endif %},

all_judged as (
  select
    {{ (carried + judged) | join(',\n    ') }}
  from unmatched
  {%- for kind in kinds %}
  union all
  select
    {{ (carried + judged) | join(',\n    ') }}
  from {{ relations[kind] }}
  {%- endfor %}
)

select
  gate,
  suite,
  run_id,
  baseline_run_id,
  slice_name,
  slice_value,
  agent,
  agent_version,
  model,
  rule,
  metric,
  k,
  scope,
  threshold,
  tasks,
  estimate,
  estimate_lower,
  estimate_upper,
  result,
  reason,
  to_settle,
  case all_judged.result
    when 'fail' then all_judged.severity
    when 'inconclusive' then inconclusive_severity
  end as severity,
  all_judged.severity <> 'error' as is_advisory,
  loaded_at
from all_judged

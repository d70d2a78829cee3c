{#- How far a run is from the mean of the runs before it: docs/rolling-baselines.md. -#}
{%- set keys = ['gate', 'run_id', 'suite'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set z = passk.normal_quantile() %}

with scored as (
  select
    *,
    place = 1 as is_judged
  from {{ ref('int_passk__rolling_scores') }}
),

tasks as (
  select
    {{ keys | join(', ') }},
    task_id,
    max(k) as k,
    max(line_runs) as line_runs,
    count(*) as tried_in,
    count(score) as scored_in,
    min(n) as least_n,
    max(runs_ago) as runs_ago,
    max(case when is_judged then 1 else 0 end) as is_own,
    max(case when is_judged and score is not null then 1 else 0 end) as is_own_scored,
    max(case when place = 2 then 1 else 0 end) as is_previous,
    max(case when is_judged then score end) - avg(case when is_judged then null else score end) as difference
  from scored
  group by {{ keys | join(', ') }}, task_id
),

sizes as (
  select
    {{ keys | join(', ') }},
    max(k) as k,
    max(line_runs) as line_runs,
    max(runs_ago) as runs_ago,
    cast(sum(is_own) as {{ bigint }}) as own_tasks,
    cast(sum(is_own_scored) as {{ bigint }}) as own_eligible_tasks,
    cast(sum(is_previous) as {{ bigint }}) as previous_tasks,
    cast(sum(case when tried_in = line_runs then 1 else 0 end) as {{ bigint }}) as common_tasks,
    cast(sum(case when scored_in = line_runs then 1 else 0 end) as {{ bigint }}) as tasks,
    min(case when scored_in = line_runs then least_n end) as least_n,
    avg(case when scored_in = line_runs then difference end) as difference
  from tasks
  group by {{ keys | join(', ') }}
),

{# The tasks that every run of the line has tried k times. #}
eligible as (
  select
    {% for key in keys %}tasks.{{ key }}, {% endfor %}
    tasks.task_id,
    sizes.tasks,
    power(tasks.difference - sizes.difference, 2) as square
  from tasks
  inner join sizes
    on {{ passk._same_keys(keys, 'tasks', 'sizes') }}
  where tasks.scored_in = sizes.line_runs
),

task_errors as (
  select
    {{ keys | join(', ') }},
    case when max(tasks) >= 2 then sum(square) / max(tasks - 1) / max(tasks) end as variance_of_tasks
  from eligible
  group by {{ keys | join(', ') }}
),

run_values as (
  select
    {% for key in keys %}scored.{{ key }}, {% endfor %}
    scored.line_run_id,
    scored.is_judged,
    avg(scored.score) as run_value,
    sum(scored.score) as sum_of_scores,
    count(*) as tasks
  from scored
  inner join eligible
    on {{ passk._same_keys(keys + ['task_id'], 'scored', 'eligible') }}
  group by
    {% for key in keys %}scored.{{ key }}, {% endfor %}
    scored.line_run_id,
    scored.is_judged
),

centred as (
  select
    *,
    {#- Over all scores at once, so that a mean that is a round number comes out as one. #}
    sum(case when is_judged then 0 else sum_of_scores end) over (partition by {{ keys | join(', ') }})
    / nullif(sum(case when is_judged then 0 else tasks end) over (partition by {{ keys | join(', ') }}), 0) as baseline
  from run_values
),

lines as (
  select
    {{ keys | join(', ') }},
    count(*) - 1 as earlier_runs,
    max(case when is_judged then run_value end) as candidate,
    max(baseline) as baseline,
    sum(case when is_judged then 0 else power(run_value - baseline, 2) end) as squares_of_runs
  from centred
  group by {{ keys | join(', ') }}
),

{# A new run of the same kind is as far from the mean as Student's t says, and what is not seen of perfect runs is added. #}
spread as (
  select
    sizes.*,
    sizes.line_runs - 1 as earlier_runs,
    lines.candidate,
    lines.baseline,
    task_errors.variance_of_tasks,
    case
      when lines.earlier_runs >= 3
        then lines.squares_of_runs / (lines.earlier_runs - 1) * (1 + 1e0 / lines.earlier_runs)
          * power({{ passk.student_quantile('lines.earlier_runs - 1') }}, 2)
    end as square_of_runs,
    {{ passk._has_enough_tasks('sizes.own_eligible_tasks', 'sizes.own_tasks') }} as is_enough_of_own,
    {{ passk._has_enough_tasks('sizes.tasks', 'sizes.common_tasks') }} as is_enough
  from sizes
  left join lines
    on {{ passk._same_keys(keys, 'sizes', 'lines') }}
  left join task_errors
    on {{ passk._same_keys(keys, 'sizes', 'task_errors') }}
),

reached as (
  select
    *,
    case
      when is_enough_of_own and is_enough and square_of_runs >= 0 and variance_of_tasks >= 0
        then sqrt(
            greatest(square_of_runs, {{ z }} * {{ z }} * variance_of_tasks)
            + {{ z }} * {{ z }} * {{ passk._floor_of_difference('k', 'least_n') }} / tasks / tasks
          )
    end as reach
  from spread
)

select
  {{ keys | join(', ') }},
  cast(earlier_runs as {{ bigint }}) as earlier_runs,
  cast(runs_ago - earlier_runs as {{ bigint }}) as left_out_runs,
  own_tasks,
  own_eligible_tasks,
  is_enough_of_own,
  previous_tasks,
  common_tasks,
  tasks,
  is_enough,
  candidate,
  {%- for side, sign, extreme in [('lower', '-', -1), ('upper', '+', 1)] %}
  {%- set limit = passk._with_short_tasks('candidate - baseline ' ~ sign ~ ' reach', 'tasks', 'common_tasks', extreme) %}
  {{ passk._clipped(limit, -1, 1) }} as difference_{{ side }},
  {%- endfor %}
  baseline
from reached

{%- set keys = ['run_id', 'suite', 'slice_name', 'slice_value'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set scores = ['pass_rate', 'pass_at_k', 'pass_hat_k'] %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count'), is_wanted=passk._family() is not none) }}
),

{# A task whose family is not known is a family of its own. #}
counts as (
  select
    {% for key in keys %}counts.{{ key }}, {% endfor %}
    counts.family,
    case when counts.family is null then counts.task_id end as lone_task,
    counts.n,
    counts.c,
    count(*) as tasks
  from {{ ref('int_passk__task_counts') }} as counts
  inner join changed_runs
    on counts.run_id = changed_runs.run_id and counts.suite = changed_runs.suite
  where counts.attempts > 0
  group by
    {% for key in keys %}counts.{{ key }}, {% endfor %}
    counts.family,
    case when counts.family is null then counts.task_id end,
    counts.n,
    counts.c
),

scored as (
  select
    counts.*,
    states.k,
    {%- for score in scores %}
    states.{{ score }},
    {%- endfor %}
    case when counts.n >= states.k then counts.tasks else 0 end as eligible
  from counts
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on counts.n = states.n and counts.c = states.c
),

means as (
  select
    {{ keys | join(', ') }},
    {%- for score in scores %}
    sum(eligible * {{ score }}) / nullif(sum(eligible), 0) as {{ score }},
    {%- endfor %}
    k
  from scored
  group by {{ keys | join(', ') }}, k
),

{# The sum of the scores of a family, less the mean score of as many tasks. #}
families as (
  select
    {% for key in keys %}scored.{{ key }}, {% endfor %}
    scored.k,
    {%- for score in scores %}
    {%- set off = 'scored.eligible * (scored.' ~ score ~ ' - means.' ~ score ~ ')' %}
    sum(case when scored.eligible > 0 then {{ off }} end) as off_{{ score }},
    {%- endfor %}
    {{ passk._as_double('sum(scored.eligible)') }} as tasks
  from scored
  inner join means
    on {{ passk._same_keys(keys + ['k'], 'scored', 'means') }}
  group by
    {% for key in keys %}scored.{{ key }}, {% endfor %}
    scored.k,
    scored.family,
    scored.lone_task
),

summed as (
  select
    {{ keys | join(', ') }},
    k,
    cast(nullif(count(nullif(tasks, 0)), 0) as {{ bigint }}) as families,
    {%- for variance, one, other in passk._suite_variances() %}
    {{ passk._variance_of_families('off_' ~ one, 'off_' ~ other) }} as {{ variance }},
    {%- endfor %}
    {#- A family of many tasks counts for more, so that unequal ones say as much as fewer equal ones. #}
    sum(tasks) * sum(tasks) / nullif(sum(tasks * tasks), 0) as effective_families
  from families
  group by {{ keys | join(', ') }}, k
)

select
  summed.*,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from summed
inner join changed_runs
  on summed.run_id = changed_runs.run_id and summed.suite = changed_runs.suite

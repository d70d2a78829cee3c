{%- set fit = ['run_id', 'suite', 'k'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set by_family = passk._family() is not none %}

{#- Tasks of the same length and counts as one row. A task whose family is not known is a family of its own. -#}
with counts as (
  select
    counts.run_id,
    counts.suite,
    {{ "coalesce(counts.family, '')" if by_family else "''" }} as family_key,
    {{ "case when counts.family is null then counts.task_id else '' end" if by_family else "''" }} as lone_task,
    lengths.length,
    counts.n,
    counts.c
  from {{ ref('int_passk__task_counts') }} as counts
  inner join {{ ref('int_passk__task_lengths') }} as lengths
    on {{ passk._same_keys(['run_id', 'suite', 'task_id'], 'counts', 'lengths') }}
  where counts.slice_name = 'all' and counts.attempts > 0 and lengths.length is not null
),

tasks as (
  select
    run_id,
    suite,
    family_key,
    lone_task,
    length,
    n,
    c,
    count(*) as tasks
  from counts
  group by run_id, suite, family_key, lone_task, length, n, c
),

scored as (
  select
    tasks.*,
    states.k,
    states.pass_hat_k,
    ln(tasks.length) / ln(2e0) as doublings
  from tasks
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on tasks.n = states.n and tasks.c = states.c
  where states.n >= states.k
),

means as (
  select
    {{ fit | join(', ') }},
    {{ passk._as_double('sum(tasks)') }} as fitted_tasks,
    sum(tasks * doublings) / sum(tasks) as mean_doublings
  from scored
  group by {{ fit | join(', ') }}
),

spreads as (
  select
    {% for key in fit %}scored.{{ key }}, {% endfor %}
    max(means.fitted_tasks) as fitted_tasks,
    max(means.mean_doublings) as mean_doublings,
    sqrt(sum(scored.tasks * power(scored.doublings - means.mean_doublings, 2)) / max(means.fitted_tasks)) as spread,
    min(scored.length) as shortest,
    max(scored.length) as longest
  from scored
  inner join means
    on {{ passk._same_keys(fit, 'scored', 'means') }}
  group by scored.run_id, scored.suite, scored.k
)

select
  {% for key in fit %}scored.{{ key }}, {% endfor %}
  scored.family_key,
  scored.lone_task,
  scored.length,
  scored.n,
  scored.c,
  cast(scored.tasks as {{ bigint }}) as tasks,
  scored.pass_hat_k,
  spreads.fitted_tasks,
  spreads.mean_doublings,
  spreads.shortest,
  spreads.longest,
  {#- Lengths that differ by rounding alone are the same. #}
  case when spreads.spread > 1e-9 then spreads.spread end as spread,
  case when spreads.spread > 1e-9 then (scored.doublings - spreads.mean_doublings) / spreads.spread end as place
from scored
inner join spreads
  on {{ passk._same_keys(fit, 'scored', 'spreads') }}

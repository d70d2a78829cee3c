{%- set keys = ['run_id', 'suite', 'metric', 'k', 'attempts'] %}
{%- set width = passk._as_double(passk._setting('passk_plan_width')) %}
{#- What rounding may add to a number of tasks. #}
{%- set slack = '1e-9' %}
{#- The quantiles of Student's t that are in a table; from there on they change so little with the tasks that an equation
    can be solved. #}
{%- set criticals = passk._quantiles_of('passk_plans', none).student %}

with variances as (
  select
    {{ keys | join(',\n    ') }},
    mean,
    between_variance + within_variance as variance,
    {{ width }} / 2 as half
  from {{ ref('int_passk__plan_variances') }}
  where no_variance_reason is null
),

{# As if the quantile were that of the normal distribution: from 30 tasks on that is off by less than five of them. #}
roots as {{ passk._made_once() }}(
  select
    *,
    {{ passk._plan_root(passk.normal_quantile(), '(mean * mean + (1 - mean) * (1 - mean))') }} as root
  from variances
),

first_guesses as (
  select
    *,
    case
      when root > {{ criticals | length }} then {{ passk._as_double('floor(root)') }}
      else {{ passk._as_double(criticals | length) }}
    end as tried
  from roots
),

with_critical as {{ passk._made_once() }}(
  select
    *,
    {{ passk.student_quantile('tried + 1') }} as critical,
    {{ passk._padded_mean('mean', 'tried') }} as padded
  from first_guesses
),

{# Then with the quantile, and the rest of the error, at that number of tasks: off by less than one. #}
nearer as {{ passk._made_once() }}(
  select
    {{ keys | join(',\n    ') }},
    mean,
    variance,
    half,
    {{ passk._plan_root(
      'critical', '(tried * (mean - padded) * (mean - padded) + padded * padded + (1 - padded) * (1 - padded))'
    ) }} as root
  from with_critical
),

few_tasks as (
  {%- for critical in criticals[1:] %}
  select
    {{ passk._as_double(loop.index) }} as tasks,
    {{ critical }} as critical
  {{- ' union all' if not loop.last }}
  {%- endfor %}
),

offsets as (
  {%- for step in range(-2, 4) %}
  select {{ passk._as_double(step) }} as offset_by
  {{- ' union all' if not loop.last }}
  {%- endfor %}
),

many_tasks as (
  select
    nearer.*,
    case
      when floor(nearer.root) + offsets.offset_by > {{ criticals | length }} then floor(nearer.root) + offsets.offset_by
      else {{ passk._as_double(criticals | length) }}
    end as tasks
  from nearer
  cross join offsets
),

candidates as (
  select
    {%- for key in keys %}
    nearer.{{ key }},
    {%- endfor %}
    few_tasks.tasks,
    2 * few_tasks.critical
    * {{ passk._padded_error('nearer.mean', 'nearer.variance', 'few_tasks.tasks') }} as width
  from nearer
  cross join few_tasks
  where nearer.root < {{ criticals | length + 2 }}
  union all
  select
    {{ keys | join(', ') }},
    tasks,
    {{ passk._plan_width('mean', 'variance', 'tasks') }} as width
  from many_tasks
)

select
  {{ keys | join(',\n  ') }},
  cast(min(tasks) as {{ dbt.type_bigint() }}) as tasks_for_width
from candidates
where width <= {{ width }} * (1 + {{ slack }})
group by {{ keys | join(', ') }}

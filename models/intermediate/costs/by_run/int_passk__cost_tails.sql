{%- set keys = ['run_id', 'suite', 'measure'] %}
{%- set double = passk.type_double() %}
{%- set measures = passk._setting('passk_costs') %}
{%- set amount_keys = 'amounts.' ~ keys | join(', amounts.') %}
{%- set by_family = passk._family() is not none %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__task_costs')) }}
),

measured as (
  {%- for measure in measures or ['cost_usd'] %}
  {%- set value = '(' ~ passk._cost_measures()[measure] ~ ')' %}
  select
    run_id,
    suite,
    task_id,
    '{{ measure }}' as measure,
    cast({{ value }} as {{ double }}) as amount
  from {{ ref('int_passk__attempts') }}
  where
    outcome <> 'excluded'
    and {{ value }} is not null
    and {{ passk._is_of_changed_runs(ref('int_passk__attempts')) if measures else '1 = 0' }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

{# Each task counts as one, and each of its attempts as much as the others. #}
attempts as {{ passk._made_once() }}(
  select
    measured.run_id,
    measured.suite,
    measured.task_id,
    measured.measure,
    measured.amount,
    spending.family,
    1e0 / (spending.measured_passes + spending.measured_failures) as weight
  from measured
  inner join {{ ref('int_passk__spending') }} as spending
    on {{ passk._same_keys(keys + ['task_id'], 'measured', 'spending') }}
),

sizes as (
  select
    {{ keys | join(', ') }},
    {{ passk._as_double('count(*)') }} as attempts,
    {{ passk._as_double('count(distinct task_id)') }} as tasks
  from attempts
  group by {{ keys | join(', ') }}
),

amounts as (
  select
    {{ keys | join(', ') }},
    amount,
    sum(weight) as weight
  from attempts
  group by {{ keys | join(', ') }}, amount
),

{# The share of attempts that cost at most so much; a share of exactly .95 must not fall below it by rounding. #}
shares as {{ passk._made_once() }}(
  select
    {% for key in keys %}amounts.{{ key }}, {% endfor %}
    amounts.amount,
    sum(amounts.weight) over (
      partition by {{ amount_keys }}
      order by amounts.amount
      rows between unbounded preceding and current row
    ) / sizes.tasks + 1e-9 as reached
  from amounts
  inner join sizes
    on {{ passk._same_keys(keys, 'amounts', 'sizes') }}
),

percentiles as (
  select
    {{ keys | join(', ') }},
    min(case when reached >= 0.95e0 then amount end) as p95
  from shares
  group by {{ keys | join(', ') }}
),

task_shares as (
  select
    {% for key in keys %}attempts.{{ key }}, {% endfor %}
    attempts.task_id,
    min(attempts.family) as named_family,
    sum(case when attempts.amount <= percentiles.p95 then attempts.weight else 0e0 end) as part_within
  from attempts
  inner join percentiles
    on {{ passk._same_keys(keys, 'attempts', 'percentiles') }}
  group by {% for key in keys %}attempts.{{ key }}, {% endfor %}attempts.task_id
),

mean_shares as (
  select
    {{ keys | join(', ') }},
    avg(part_within) as part_within
  from task_shares
  group by {{ keys | join(', ') }}
),

draws as (
  select
    {% for key in keys %}task_shares.{{ key }}, {% endfor %}
    {{ passk._as_double('count(*)') }} as size,
    sum(task_shares.part_within - mean_shares.part_within) as apart
  from task_shares
  inner join mean_shares
    on {{ passk._same_keys(keys, 'task_shares', 'mean_shares') }}
  group by
    {% for key in keys %}task_shares.{{ key }}, {% endfor %}
    {%- if by_family %}
    task_shares.named_family,
    case when task_shares.named_family is null then task_shares.task_id end
    {%- else %}
    task_shares.task_id
    {%- endif %}
),

spread as (
  select
    {{ keys | join(', ') }},
    sum(size) * sum(size) / sum(size * size) as units,
    {#- With one draw more that is as far off as the farthest: few of them hold much of the variance. #}
    (sum(apart * apart) + max(apart * apart)) * count(*) / nullif(count(*) - 1, 0) / (sum(size) * sum(size)) as variance
  from draws
  group by {{ keys | join(', ') }}
),

{# Not less than the variance of as many attempts that have nothing to do with each other. #}
levels as (
  select
    {% for key in keys %}sizes.{{ key }}, {% endfor %}
    {{ passk.student_quantile('floor(spread.units + 0.5e0) - 1') }} * sqrt(
      case
        when spread.variance > 0.0475e0 / sizes.attempts then spread.variance
        when spread.variance is not null then 0.0475e0 / sizes.attempts
      end
    ) as reach
  from sizes
  inner join spread
    on {{ passk._same_keys(keys, 'sizes', 'spread') }}
)

select
  {% for key in keys %}shares.{{ key }}, {% endfor %}
  min(case when shares.reached >= 0.95e0 then shares.amount end) as p95,
  min(case when shares.reached >= 0.95e0 - levels.reach then shares.amount end) as p95_lower,
  min(case when shares.reached >= 0.95e0 + levels.reach and 0.95e0 + levels.reach <= 1 then shares.amount end) as p95_upper,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from shares
inner join levels
  on {{ passk._same_keys(keys, 'shares', 'levels') }}
inner join changed_runs
  on shares.run_id = changed_runs.run_id and shares.suite = changed_runs.suite
group by {% for key in keys %}shares.{{ key }}, {% endfor %}changed_runs.log_version

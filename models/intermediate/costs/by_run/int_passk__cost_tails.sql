{%- set keys = ['run_id', 'suite', 'measure'] %}
{%- set double = passk.type_double() %}
{%- set measures = passk._setting('passk_costs') %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__task_costs')) }}
),

{# Where no measure is asked for, the same columns without rows. #}
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

{# Numbers instead of texts, because every attempt carries them. #}
numbers as (
  select
    spending.run_id,
    spending.suite,
    spending.measure,
    row_number() over (order by spending.run_id, spending.suite, spending.measure) as number,
    {{ passk._as_double('count(*)') }} as tasks,
    {{ passk._as_double('sum(spending.measured_passes + spending.measured_failures)') }} as measured_attempts
  from {{ ref('int_passk__task_spending') }} as spending
  inner join changed_runs
    on spending.run_id = changed_runs.run_id and spending.suite = changed_runs.suite
  where spending.measured_passes + spending.measured_failures > 0
  group by spending.run_id, spending.suite, spending.measure
),

{# Each task counts as one, and each of its attempts as much as the others. #}
tasks as {{ passk._made_once() }}(
  select
    numbers.number,
    spending.run_id,
    spending.suite,
    spending.measure,
    spending.task_id,
    spending.family,
    spending.lone_task,
    row_number() over (partition by numbers.number order by spending.task_id) as task_number,
    1e0 / (spending.measured_passes + spending.measured_failures) as weight
  from {{ ref('int_passk__task_spending') }} as spending
  inner join numbers
    on {{ passk._same_keys(keys, 'spending', 'numbers') }}
  where spending.measured_passes + spending.measured_failures > 0
),

attempts as {{ passk._made_once() }}(
  select
    tasks.number,
    tasks.task_number,
    tasks.weight,
    measured.amount
  from measured
  inner join tasks
    on {{ passk._same_keys(keys + ['task_id'], 'measured', 'tasks') }}
),

amounts as (
  select
    number,
    amount,
    sum(weight) as weight
  from attempts
  group by number, amount
),

{# The share of attempts that cost at most so much; a share of exactly .95 must not fall below it by rounding. #}
shares as {{ passk._made_once() }}(
  select
    amounts.number,
    amounts.amount,
    sum(amounts.weight) over (
      partition by amounts.number
      order by amounts.amount
      rows between unbounded preceding and current row
    ) / numbers.tasks + 1e-9 as reached
  from amounts
  inner join numbers
    on amounts.number = numbers.number
),

percentiles as (
  select
    number,
    min(case when reached >= 0.95e0 then amount end) as p95
  from shares
  group by number
),

{# The limits are quantiles too: those at .95 less and more a margin, the error of the share of attempts within the
   percentile, over tasks or families (Woodruff 1952). docs/costs.md has the formula. #}
task_shares as (
  select
    attempts.number,
    attempts.task_number,
    sum(case when attempts.amount <= percentiles.p95 then attempts.weight else 0e0 end) as part_within
  from attempts
  inner join percentiles
    on attempts.number = percentiles.number
  group by attempts.number, attempts.task_number
),

mean_shares as (
  select
    number,
    avg(part_within) as part_within
  from task_shares
  group by number
),

{# A task whose family is not known is a family of its own. #}
draws as (
  select
    task_shares.number,
    {{ passk._as_double('count(*)') }} as size,
    sum(task_shares.part_within - mean_shares.part_within) as apart
  from task_shares
  inner join mean_shares
    on task_shares.number = mean_shares.number
  inner join tasks
    on task_shares.number = tasks.number and task_shares.task_number = tasks.task_number
  group by task_shares.number, tasks.family, tasks.lone_task
),

spread as (
  select
    number,
    sum(size) * sum(size) / sum(size * size) as units,
    {#- With one draw more that is as far off as the farthest: few of them hold much of the variance. #}
    (sum(apart * apart) + max(apart * apart)) * count(*) / nullif(count(*) - 1, 0) / (sum(size) * sum(size)) as variance
  from draws
  group by number
),

{# Not less than the variance of as many unrelated attempts: .95 times .05 over their number. #}
margins as (
  select
    numbers.*,
    {{ passk.student_quantile('floor(spread.units + 0.5e0) - 1') }} * sqrt(
      case
        when spread.variance > 0.0475e0 / numbers.measured_attempts then spread.variance
        when spread.variance is not null then 0.0475e0 / numbers.measured_attempts
      end
    ) as margin
  from numbers
  inner join spread
    on numbers.number = spread.number
)

select
  {% for key in keys %}margins.{{ key }}, {% endfor %}
  min(case when shares.reached >= 0.95e0 then shares.amount end) as p95,
  min(case when shares.reached >= 0.95e0 - margins.margin then shares.amount end) as p95_lower,
  min(
    case when shares.reached >= 0.95e0 + margins.margin and 0.95e0 + margins.margin <= 1 then shares.amount end
  ) as p95_upper,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from shares
inner join margins
  on shares.number = margins.number
inner join changed_runs
  on margins.run_id = changed_runs.run_id and margins.suite = changed_runs.suite
group by {% for key in keys %}margins.{{ key }}, {% endfor %}changed_runs.log_version

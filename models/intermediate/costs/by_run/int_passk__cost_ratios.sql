{%- set keys = ['run_id', 'suite', 'measure'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set one = passk._as_double(1) %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__task_costs')) }}
),

{# A number instead of three texts, because every task carries it for each k. #}
numbers as (
  select
    spending.run_id,
    spending.suite,
    spending.measure,
    changed_runs.log_version,
    row_number() over (order by spending.run_id, spending.suite, spending.measure) as number
  from {{ ref('int_passk__task_spending') }} as spending
  inner join changed_runs
    on spending.run_id = changed_runs.run_id and spending.suite = changed_runs.suite
  group by spending.run_id, spending.suite, spending.measure, changed_runs.log_version
),

spending as (
  select
    spending.*,
    numbers.number
  from {{ ref('int_passk__task_spending') }} as spending
  inner join numbers
    on {{ passk._same_keys(keys, 'spending', 'numbers') }}
  {#- Without counted attempts a task has still been paid for, which a success has to pay too. #}
  where spending.is_measured or spending.n = 0
),

retries as {{ passk._made_once() }}(
  select
    retries.*,
    numbers.number
  from {{ ref('int_passk__retry_costs') }} as retries
  inner join numbers
    on {{ passk._same_keys(keys, 'retries', 'numbers') }}
  where retries.is_eligible
),

terms as {{ passk._made_once() }}(
  {#- The last is `reach`: how far x / mean(x) is from y / mean(y) for a task that never succeeds, at a mean cost a try. #}
  {%- for ratio, relation, k, x, y, reach in [
    ('attempt', 'spending', '0', 'cost_of_attempt', one, '0'),
    ('success', 'spending', '0', 'coalesce(cost_of_attempt, 0e0) * n + spent_on_excluded', passk._as_double('c'), '1'),
    ('tries', 'retries', 'k', 'tries', one, 'k - 1'),
    ('retry', 'retries', 'k', 'retry_cost', one, 'k - 1'),
    ('solved', 'retries', 'k', 'retry_cost', 'pass_at_k', 'k'),
    ('reliable', 'retries', 'k', 'k * cost_of_attempt', 'pass_hat_k', '1')
  ] %}
  select
    number,
    '{{ ratio }}' as ratio,
    cast({{ k }} as {{ bigint }}) as k,
    family,
    lone_task,
    {{ x }} as x,
    {{ y }} as y,
    {{ reach }} as reach
  from {{ relation }}
  {%- if ratio == 'attempt' %}
  where is_measured
  {%- endif %}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

{{ passk._ratio_steps(['number', 'ratio', 'k']) }}

select
  numbers.run_id,
  numbers.suite,
  numbers.measure,
  ratios.ratio,
  ratios.k,
  ratios.tasks,
  ratios.families,
  ratios.effective_families,
  ratios.mean_x,
  ratios.mean_y,
  ratios.estimate,
  ratios.lower,
  ratios.upper,
  numbers.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from ratios
inner join numbers
  on ratios.number = numbers.number

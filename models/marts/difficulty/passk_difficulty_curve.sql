{%- set fit = ['run_id', 'suite', 'k'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set by_family = passk._family() is not none %}
{%- set axis = passk._difficulty() %}

with points as (
  select *
  from {{ ref('int_passk__length_points') }}
),

lengths as (
  select
    {{ fit | join(', ') }},
    length,
    sum(tasks) as tasks
  from points
  group by {{ fit | join(', ') }}, length
),

{# Five bins of as many tasks, as far as tasks of one length allow. #}
binned as (
  select
    {{ fit | join(', ') }},
    length,
    cast(floor(
      5e0 * (sum(tasks) over (partition by {{ fit | join(', ') }} order by length) - tasks)
      / sum(tasks) over (partition by {{ fit | join(', ') }})
    ) as {{ bigint }}) + 1 as bin
  from lengths
),

placed as (
  select
    points.*,
    binned.bin
  from points
  inner join binned
    on {{ passk._same_keys(fit + ['length'], 'points', 'binned') }}
),

means as (
  select
    {{ fit | join(', ') }},
    bin,
    sum(tasks) as tasks,
    min(length) as shortest,
    max(length) as longest,
    exp(sum(tasks * ln(length)) / sum(tasks)) as typical_length,
    sum(tasks * pass_hat_k) / sum(tasks) as pass_hat_k
  from placed
  group by {{ fit | join(', ') }}, bin
),

draws as (
  select
    {% for key in fit %}placed.{{ key }}, {% endfor %}
    placed.bin,
    {%- if by_family %}
    1 as number,
    {{ passk._as_double('sum(placed.tasks)') }} as tasks,
    sum(placed.tasks * (placed.pass_hat_k - means.pass_hat_k)) as apart
    {%- else %}
    placed.tasks as number,
    {{ passk._as_double(1) }} as tasks,
    placed.pass_hat_k - means.pass_hat_k as apart
    {%- endif %}
  from placed
  inner join means
    on {{ passk._same_keys(fit + ['bin'], 'placed', 'means') }}
  {%- if by_family %}
  group by {% for key in fit %}placed.{{ key }}, {% endfor %}placed.bin, placed.family_key, placed.lone_task
  {%- endif %}
),

{# The variance of the mean of one draw, of as many of one size as say as much. #}
spreads as (
  select
    {{ fit | join(', ') }},
    bin,
    power(sum(number * tasks), 2) / sum(number * tasks * tasks) as units,
    sum(number * apart * apart) / sum(number * tasks * tasks) * sum(number) / nullif(sum(number) - 1, 0) as variance
  from draws
  group by {{ fit | join(', ') }}, bin
),

errors as (
  select
    means.*,
    spreads.units,
    {{ passk._padded_mean('means.pass_hat_k', 'spreads.units') }} as middle,
    {{ passk.student_quantile('floor(spreads.units + 1.5e0)') }}
    * {{ passk._padded_error('means.pass_hat_k', 'spreads.variance', 'spreads.units') }} as reach
  from means
  inner join spreads
    on {{ passk._same_keys(fit + ['bin'], 'means', 'spreads') }}
)

select
  metrics.run_id,
  metrics.suite,
  metrics.agent,
  metrics.agent_version,
  metrics.model,
  {{ passk._quoted(axis.name) if axis else "''" }} as difficulty,
  metrics.k,
  errors.bin,
  errors.shortest,
  errors.longest,
  errors.typical_length,
  cast(errors.tasks as {{ bigint }}) as tasks,
  errors.units as effective_draws,
  errors.pass_hat_k,
  {%- for side, sign in [('lower', '-'), ('upper', '+')] %}
  {{ passk._clipped('errors.middle ' ~ sign ~ ' errors.reach', 0, 1) }} as pass_hat_k_{{ side }},
  {%- endfor %}
  metrics.loaded_at
from errors
inner join {{ ref('int_passk__suite_metrics') }} as metrics
  on {{ passk._same_keys(fit, 'errors', 'metrics') }}
where metrics.slice_name = 'all' and metrics.null_reason is null

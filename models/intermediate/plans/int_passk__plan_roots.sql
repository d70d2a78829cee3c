{%- set keys = ['run_id', 'suite', 'metric', 'k', 'attempts'] %}
{#- The quantiles of Student's t that are in a table; from there on they change so little with the tasks that an equation
    can be solved. #}
{%- set criticals = passk._quantiles_of('passk_plans', none).student %}

with variances as (
  select
    {{ keys | join(',\n    ') }},
    mean,
    family_size,
    {#- The variance of a family's mean: chance within tasks is not related. #}
    (between_variance * (1 + family_excess) + within_variance) / family_size as variance,
    {{ passk._as_double(passk._setting('passk_plan_width')) }} / 2 as half
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
    {{ passk._padded_squares('mean', 'tried') }} as squares
  from first_guesses
)

{# Then with the quantile, and the rest of the error, at that number of tasks: off by less than one. #}
select
  {{ keys | join(',\n  ') }},
  mean,
  variance,
  family_size,
  {{ passk._plan_root('critical', 'squares') }} as root
from with_critical

{{ config(materialized='table') }}
{%- set fit = ['run_id', 'suite', 'k'] %}
{%- set by_family = passk._family() is not none %}

with points as (
  select *
  from {{ ref('int_passk__fit_points') }}
),

fits as (
  select *
  from {{ ref('int_passk__horizon_fits') }}
),

curved as {{ passk._made_once() }}(
  {{ passk._curve_at_points(fit, ['family_key', 'lone_task', 'place', 'score', 'weight', 'is_half'], 'fits') }}
),

{# The information on level and slope, ((s0, s1), (s1, s2)); ((m0, m1), (m1, m2)) below are the squares of the draws. #}
information as (
  select
    {{ fit | join(', ') }},
    sum(weight * lean * lean * curve * above) as s0,
    sum(weight * lean * lean * curve * above * place) as s1,
    sum(weight * lean * lean * curve * above * place * place) as s2
  from curved
  group by {{ fit | join(', ') }}
),

{# Of each draw, a task or a family: what it adds to the two equations of the fit, and how often there is such a draw. #}
draws as (
  select
    {{ fit | join(', ') }},
    weight as number,
    (score - curve) * lean as of_level,
    (score - curve) * lean * place as of_slope,
    case when is_half = 0 then 1e0 end as tasks
  from curved
  {%- if by_family %}
  where is_half = 1
  union all
  select
    {{ fit | join(', ') }},
    1e0 as number,
    sum(weight * (score - curve) * lean) as of_level,
    sum(weight * (score - curve) * lean * place) as of_slope,
    sum(weight) as tasks
  from curved
  where is_half = 0
  group by {{ fit | join(', ') }}, family_key, lone_task
  {%- endif %}
),

typical as (
  select
    {{ fit | join(', ') }},
    sum(number * tasks * tasks) / sum(number * tasks) as size
  from draws
  group by {{ fit | join(', ') }}
),

{# The halves count as a draw of the size that most tasks are in. #}
spreads as (
  select
    {{ fit | join(', ') }},
    power(sum(number * tasks), 2) / sum(number * tasks * tasks) as units,
    sum(number * size * size * of_level * of_level) as m0,
    sum(number * size * size * of_level * of_slope) as m1,
    sum(number * size * size * of_slope * of_slope) as m2
  from (
    select
      draws.*,
      case when draws.tasks is null then typical.size else 1e0 end as size
    from draws
    inner join typical
      on {{ passk._same_keys(fit, 'draws', 'typical') }}
  ) as sized
  group by {{ fit | join(', ') }}
),

{# The inverse of the information around the squares of the draws: a sandwich. -#}
gathered as (
  select
    {% for key in fit %}fits.{{ key }}, {% endfor %}
    fits.power,
    fits.base_level,
    fits.slope,
    fits.moved,
    spreads.units,
    {#- One half is where the curve has the level ln(h / (1 - h)), with h^power = 1/2. #}
    fits.base_level - ln(exp(ln(0.5e0) / fits.power) / (1 - exp(ln(0.5e0) / fits.power))) as above_half,
    power({{ passk.student_quantile('floor(spreads.units + 0.5e0)') }}, 2) * (1 + 2 / spreads.units) as scale,
    information.s0,
    information.s1,
    information.s2,
    spreads.m0,
    spreads.m1,
    spreads.m2
  from fits
  inner join information
    on {{ passk._same_keys(fit, 'fits', 'information') }}
  inner join spreads
    on {{ passk._same_keys(fit, 'fits', 'spreads') }}
),

variances as (
  select
    *,
    scale / nullif(power(s0 * s2 - s1 * s1, 2), 0) as size,
    s2 * s2 * m0 - 2 * s1 * s2 * m1 + s1 * s1 * m2 as level_variance,
    (s0 * s2 + s1 * s1) * m1 - s1 * s2 * m0 - s0 * s1 * m2 as covariance,
    s1 * s1 * m0 - 2 * s0 * s1 * m1 + s0 * s0 * m2 as slope_variance
  from gathered
),

{# Fieller's limits: the places x where (above_half + slope x)^2 <= t^2 times its variance, a2 x^2 + 2 a1 x + a0 <= 0. -#}
squared as (
  select
    *,
    slope * slope - size * slope_variance as a2,
    above_half * slope - size * covariance as a1,
    above_half * above_half - size * level_variance as a0
  from variances
),

{# One root is farther from 0, and the other follows without a difference. -#}
far_roots as (
  select
    *,
    case
      when slope < 0 and a2 > 0
        then (
          case when a1 > 0 then -1e0 else 1e0 end
          * sqrt(case when a1 * a1 > a2 * a0 then a1 * a1 - a2 * a0 else 0e0 end)
          - a1
        ) / a2
    end as far_root
  from squared
),

roots as (
  select
    *,
    case when far_root is not null then coalesce(a0 / nullif(a2 * far_root, 0), 0e0) end as near_root
  from far_roots
)

select
  {{ fit | join(', ') }},
  power,
  base_level,
  slope,
  moved,
  units,
  above_half,
  case when slope < 0 then 0 - above_half / slope end as half_place,
  case when near_root < far_root then near_root else far_root end as lower_place,
  case when near_root < far_root then far_root else near_root end as upper_place
from roots

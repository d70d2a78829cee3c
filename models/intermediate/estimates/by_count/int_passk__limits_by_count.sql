{#- Quantiles of the Jeffreys posterior, Beta(c + 1/2, n - c + 1/2), which no engine has, between the ends; at c = 0 and
    c = n an end of the scale and the limit of Clopper and Pearson.

    With p = sin^2(phi), the density in phi is sin^(2c) cos^(2(n - c)), smooth up to both ends, with a standard deviation of
    1 / (2 sqrt(n)) whatever c is. So a fixed number of cells around its peak does for every n. Their masses are added up by
    four-point Gauss quadrature, the cell that holds the quantile is found by a running sum, and the place in it by Newton
    steps. #}
{%- set cells = 128 %}
{%- set outside = passk._as_double((1 - passk._setting('passk_confidence')) / 2) %}
{%- set log_outside = 'ln(' ~ outside ~ ')' %}

with states as (
  select distinct
    n,
    c
  from {{ ref('int_passk__estimates_by_count') }}
  where n > 0
  {%- if is_incremental() %}
  except
  select
    n,
    c
  from {{ this }}
  {%- endif %}
),

digits as (
  {%- for digit in range(16) %}
  select {{ digit }} as digit{{ ' union all' if not loop.last }}
  {%- endfor %}
),

cells as (
  select {{ passk._as_double('16 * high.digit + low.digit') }} as cell
  from digits as high
  cross join digits as low
  where high.digit < {{ cells // 16 }}
),

{# Eight standard deviations of the widest shape, that of c = 0, to either side: what is outside is below 1e-13. #}
peaks as (
  select
    n,
    c,
    {{ passk._as_double('2 * c') }} as sine_power,
    {{ passk._as_double('2 * (n - c)') }} as cosine_power,
    asin(sqrt({{ passk._as_double('c') }} / n)) as peak,
    8 / sqrt({{ passk._as_double('2 * n') }}) as reach
  from states
),

ranges as {{ passk._made_once() }}(
  select
    *,
    case when peak > reach then peak - reach else 0e0 end as start_at,
    (
      case when peak + reach < {{ passk._half_pi() }} then peak + reach else {{ passk._half_pi() }} end
      - case when peak > reach then peak - reach else 0e0 end
    ) / {{ cells }} as width
  from peaks
),

masses as {{ passk._made_once() }}(
  select
    ranges.*,
    cells.cell,
    {{ passk._jeffreys_mass('ranges.start_at + cells.cell * ranges.width', 'ranges.width') }} as mass
  from ranges
  cross join cells
),

sums as {{ passk._made_once() }}(
  select
    *,
    sum(mass) over (partition by n, c order by cell rows between unbounded preceding and current row) as mass_to_end,
    sum(mass) over (partition by n, c) as total
  from masses
),

sides as (
  select 0 as is_upper
  union all
  select 1 as is_upper
),

{# The first of the sums, rounded as they are, that reaches the share. #}
wanted as (
  select
    sums.*,
    sides.is_upper,
    case when sides.is_upper = 1 then sums.total * (1 - {{ outside }}) else sums.total * {{ outside }} end as mass_wanted
  from sums
  cross join sides
),

found as {{ passk._made_once() }}(
  select
    n,
    c,
    is_upper,
    sine_power,
    cosine_power,
    peak,
    width,
    start_at + cell * width as cell_start,
    mass_wanted - (mass_to_end - mass) as mass_left,
    width * (mass_wanted - (mass_to_end - mass)) / mass as place
  from wanted
  where mass_to_end - mass < mass_wanted and mass_to_end >= mass_wanted
),

{% for step in range(1, 4) -%}
step_{{ step }} as {{ passk._made_once() }}(
  select
    n,
    c,
    is_upper,
    sine_power,
    cosine_power,
    peak,
    width,
    cell_start,
    mass_left,
    place + (mass_left - {{ passk._jeffreys_mass('cell_start', 'place') }})
    / {{ passk._jeffreys_density('cell_start + place') }} as place
  from {{ 'found' if step == 1 else 'step_' ~ (step - 1) }}
),

{% endfor -%}

limits as (
  select
    n,
    c,
    is_upper,
    sin(cell_start + place) * sin(cell_start + place) as p
  from step_3
)

{# A task that never failed may be perfect, and one that never passed hopeless, which no quantile says. The limit on the
    other side is the p at which n such attempts are just likely enough: the quantile's coverage falls to 0.85 there. #}
select
  n,
  c,
  case
    when c = 0 then 0e0
    when c = n then exp({{ log_outside }} / n)
    else max(case when is_upper = 0 then p end)
  end as p_lower,
  case
    when c = n then 1e0
    when c = 0 then {{ passk._one_minus_exp(log_outside ~ ' / n') }}
    else max(case when is_upper = 1 then p end)
  end as p_upper,
  {{ passk._quoted(passk._built_with()) }} as built_with
from limits
group by n, c

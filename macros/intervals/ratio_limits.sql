{#- Limits of a ratio of two sums over tasks, which are draws, on the scale of its logarithm: docs/costs.md.

    A task is `apart` by x / mean(x) - y / mean(y), and the variance of the logarithm of the ratio is the sum of apart^2 over
    T (T - 1) (Cochran 1977, 6.4). Costs are skewed, and a few tasks hold much of the variance: so two tasks more are added, each
    as far apart as the farthest one. Where the ratio depends on a chance, a task that never succeeds may be missing by luck. It
    would be apart by `reach`, and up to -ln(alpha / 2) tasks like it may be missing, as in `_floor`: `unseen` is their part. -#}


{#- CTEs up to `ratios`, from a CTE `terms` with the keys, family, lone_task, x, y and reach: a row for each task. -#}
{% macro _ratio_steps(keys) -%}
{%- set bigint = dbt.type_bigint() -%}
{%- set unseen = '(ln(' ~ passk._as_double(((1 - passk._setting('passk_confidence')) / 2) | round(10)) ~ ') / '
   ~ passk.normal_quantile() ~ ' * reach * tasks / units)' -%}
ratio_sums as (
  select
    {{ keys | join(', ') }},
    {{ passk._as_double('count(*)') }} as tasks,
    sum(x) as total_x,
    sum(y) as total_y,
    {{ passk._as_double('max(reach)') }} as reach
  from terms
  group by {{ keys | join(', ') }}
),

{# A task whose family is not known is a family of its own. #}
ratio_draws as (
  select
    {% for key in keys %}terms.{{ key }}, {% endfor %}
    {%- set apart -%}
    terms.x * sums.tasks / nullif(sums.total_x, 0) - terms.y * sums.tasks / nullif(sums.total_y, 0)
    {%- endset %}
    {%- if passk._family() is not none %}
    {{ passk._as_double('count(*)') }} as size,
    sum({{ apart }}) as apart
    {%- else %}
    cast(1 as {{ passk.type_double() }}) as size,
    {{ apart }} as apart
    {%- endif %}
  from terms
  inner join ratio_sums as sums
    on {{ passk._same_keys(keys, 'terms', 'sums') }}
  {%- if passk._family() is not none %}
  group by {% for key in keys %}terms.{{ key }}, {% endfor %}terms.family, terms.lone_task
  {%- endif %}
),

ratio_spread as (
  select
    {{ keys | join(', ') }},
    {{ passk._as_double('count(*)') }} as draws,
    sum(size) * sum(size) / sum(size * size) as units,
    sum(apart * apart) as squares,
    max(abs(apart)) as farthest
  from ratio_draws
  group by {{ keys | join(', ') }}
),

ratio_errors as (
  select
    {% for key in keys %}sums.{{ key }}, {% endfor %}
    sums.tasks,
    sums.total_x / sums.tasks as mean_x,
    sums.total_y / sums.tasks as mean_y,
    sums.total_x / nullif(sums.total_y, 0) as estimate,
    spread.draws,
    spread.units,
    {{ passk.student_quantile('floor(spread.units + 0.5e0) - 1') }} * sqrt(
      (
        spread.squares
        + case
          when 2 * spread.farthest * spread.farthest > power({{ unseen }}, 2) then 2 * spread.farthest * spread.farthest
          else power({{ unseen }}, 2)
        end
      ) * spread.draws / nullif(spread.draws - 1, 0)
    ) / sums.tasks as log_error
  from ratio_sums as sums
  inner join ratio_spread as spread
    on {{ passk._same_keys(keys, 'sums', 'spread') }}
),

ratios as (
  select
    {{ keys | join(', ') }},
    cast(tasks as {{ bigint }}) as tasks,
    {%- if passk._family() is not none %}
    cast(draws as {{ bigint }}) as families,
    units as effective_families,
    {%- else %}
    cast(null as {{ bigint }}) as families,
    cast(null as {{ passk.type_double() }}) as effective_families,
    {%- endif %}
    mean_x,
    mean_y,
    estimate,
    {#- A limit that is e^50 times the estimate says nothing. #}
    case when log_error <= 50 then estimate * {{ passk._exp('0 - log_error') }} end as lower,
    case when log_error <= 50 then estimate * {{ passk._exp('log_error') }} end as upper
  from ratio_errors
)
{%- endmacro %}

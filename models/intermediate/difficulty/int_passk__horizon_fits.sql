{{ config(materialized='table') }}
{%- set fit = ['run_id', 'suite', 'k'] %}
{%- set double = passk.type_double() %}

with points as {{ passk._made_once() }}(
  select *
  from {{ ref('int_passk__fit_points') }}
),

{# Flat, at the mean of all scores. #}
fit_0 as (
  select
    {{ fit | join(', ') }},
    power,
    ln(start_share / (1 - start_share)) as base_level,
    0e0 as slope,
    0e0 as moved
  from (
    select
      {{ fit | join(', ') }},
      sqrt(cast(k as {{ double }})) as power,
      exp(ln(sum(weight * score) / sum(weight)) / sqrt(cast(k as {{ double }}))) as start_share
    from points
    group by {{ fit | join(', ') }}
  ) as flat_fits
)

{#- Each step is the same text but for the one before it; none where nothing is asked for. It is no recursive CTE, which may
    not add up rows on Postgres, and which Spark 3 does not have. After 24 steps a fit moves by rounding, or does not settle. #}
{%- set steps = 24 if passk._difficulty() else 0 %}
{%- set step_text = passk._fit_step(fit, 'fit_before') %}
{%- for step in range(1, steps + 1) %},

fit_{{ step }} as {{ passk._link() }}(
  {{ step_text | replace('fit_before', 'fit_' ~ (step - 1)) }}
)
{%- endfor %}

select *
from fit_{{ steps }}

{# Beside the hook of all tables in this folder, which dbt_project.yml sets. #}
{{ config(pre_hook="{{ passk._make_outdated_functions() }}") }}

with states as (
  select
    n,
    c
  from {{ ref('int_passk__task_counts') }}
  union
  {#- None but with the var passk_score_thresholds. #}
  select
    n,
    c
  from {{ ref('int_passk__score_counts') }}
  {%- if is_incremental() %}
  except
  select
    n,
    c
  from {{ this }}
  {%- endif %}
),

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

points as (
  select
    states.n,
    states.c,
    grid.k
  from states
  cross join grid
),

{{ passk._point_formulas(['n', 'c', 'k']) }}

select
  *,
  {{ passk._quoted(passk._built_with()) }} as built_with
from results

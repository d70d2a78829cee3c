{{
  config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='sync_all_columns',
    pre_hook="{{ passk._forget_states() }}",
  )
}}

{#- States never change: an increment adds those that are new. #}
with counts as (
  select distinct n, c
  from {{ ref('int_passk__task_counts') }}
),

states as (
  select n, c
  from counts
  {%- if is_incremental() %}
  where not exists (
    select 1 from {{ this }} as known where known.n = counts.n and known.c = counts.c
  )
  {%- endif %}
),

grid as (
  {{ passk._ks_rows(var('passk_ks')) }}
)

select
  states.n,
  states.c,
  grid.k,
  {{ passk.pass_at_k('states.n', 'states.c', 'grid.k') }} as pass_at_k,
  {{ passk.pass_hat_k('states.n', 'states.c', 'grid.k') }} as pass_hat_k,
  {{ passk.pass_at_k_plugin('states.n', 'states.c', 'grid.k') }} as pass_at_k_plugin,
  {{ passk.pass_hat_k_plugin('states.n', 'states.c', 'grid.k') }} as pass_hat_k_plugin,
  {{ passk.pass_at_k('states.n', 'states.c', 1) }} as pass_rate,
  {{ passk._quoted(passk._built_with()) }} as built_with
from states
cross join grid

{{ config(enabled=(target.profile_name == 'passk'), tags='passk_internal') }}

{%- set estimates = ['pass_at_k', 'pass_hat_k', 'pass_at_k_plugin', 'pass_hat_k_plugin'] %}

-- The states compute the estimators in steps, the macros in one expression: they must not part.
with states as (
  select * from {{ ref('int_passk__estimates_by_count') }}
),

compared as (
  select
    *,
    {{ passk.pass_at_k('n', 'c', 'k') }} as pass_at_k_by_macro,
    {{ passk.pass_hat_k('n', 'c', 'k') }} as pass_hat_k_by_macro,
    {{ passk.pass_at_k_plugin('n', 'c', 'k') }} as pass_at_k_plugin_by_macro,
    {{ passk.pass_hat_k_plugin('n', 'c', 'k') }} as pass_hat_k_plugin_by_macro
  from states
)

select *
from compared
where
  {%- for estimate in estimates %}
  ({{ estimate }} is null) <> ({{ estimate }}_by_macro is null)
  or abs({{ estimate }} - {{ estimate }}_by_macro) > 1e-12 * {{ estimate }}{{ ' or' if not loop.last }}
  {%- endfor %}

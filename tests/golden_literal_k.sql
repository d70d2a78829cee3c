{{ config(enabled=(target.profile_name == 'passk')) }}

{#- The estimators of a literal k, which are written out, against exact values, to 12 digits. -#}
{%- for k in [1, 2, 3, 10, 16, 32] %}
select
  n,
  c,
  k
from {{ ref('passk_golden_estimators') }}
where
  k = {{ k }}
  and (
    {%- for expression, exact in [
      (passk.pass_at_k('n', 'c', k), 'pass_at_k'),
      (passk.pass_hat_k('n', 'n - c', k), 'fail_all_k'),
      (passk.pass_hat_k('n', 'c', k), 'pass_hat_k')
    ] %}
    coalesce(
      abs({{ expression }} - cast({{ exact }} as {{ passk.type_double() }}))
      > 1e-12 * cast({{ exact }} as {{ passk.type_double() }}),
      true
    ){{ ' or' if not loop.last }}
    {%- endfor %}
  )
{{ 'union all' if not loop.last }}
{%- endfor %}

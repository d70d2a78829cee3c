{{ config(enabled=(target.profile_name == 'passk')) }}

-- The estimators in SQL against exact values, to 12 digits; where all k fail is pass^k of the failures.
with golden as (
  select
    n,
    c,
    k,
    cast(pass_at_k as {{ passk.type_double() }}) as exact_pass_at_k,
    cast(fail_all_k as {{ passk.type_double() }}) as exact_fail_all_k,
    cast(pass_hat_k as {{ passk.type_double() }}) as exact_pass_hat_k
  from {{ ref('passk_golden_estimators') }}
),

estimated as (
  select
    *,
    {{ passk.pass_at_k('n', 'c', 'k') }} as pass_at_k,
    {{ passk.pass_hat_k('n', 'n - c', 'k') }} as fail_all_k,
    {{ passk.pass_hat_k('n', 'c', 'k') }} as pass_hat_k
  from golden
)

select *
from estimated
where
  {%- for estimate in ['pass_at_k', 'fail_all_k', 'pass_hat_k'] %}
  coalesce(abs({{ estimate }} - exact_{{ estimate }}) > 1e-12 * exact_{{ estimate }}, true){{ ' or' if not loop.last }}
  {%- endfor %}

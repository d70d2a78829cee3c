{% macro k_sweep(relation, ks, n='n', c='c', columns=[]) -%}
  {{- passk._check_relation('k_sweep', 'relation', relation) -}}
  {{- passk._check_ks('k_sweep', ks) -}}
  {{ return(adapter.dispatch('k_sweep', 'passk')(relation, ks, n, c, columns)) }}
{%- endmacro %}

{#- Estimates once for each distinct (n, c), joined back: the cost is that of the states, not of the rows. A row without n or
    c keeps its place, with nulls. -#}
{% macro default__k_sweep(relation, ks, n, c, columns) -%}
select
  {%- for column in columns %}
  swept.{{ column }},
  {%- endfor %}
  swept.{{ n }},
  swept.{{ c }},
  grid.k,
  estimates.pass_at_k,
  estimates.pass_hat_k
from {{ relation }} as swept
cross join ({{ passk._ks_rows(ks) }}) as grid
left join (
  select
    states.{{ n }},
    states.{{ c }},
    state_grid.k,
    {{ passk.pass_at_k('states.' ~ n, 'states.' ~ c, 'state_grid.k') }} as pass_at_k,
    {{ passk.pass_hat_k('states.' ~ n, 'states.' ~ c, 'state_grid.k') }} as pass_hat_k
  from (select distinct {{ n }}, {{ c }} from {{ relation }}) as states
  cross join ({{ passk._ks_rows(ks) }}) as state_grid
) as estimates
  on swept.{{ n }} = estimates.{{ n }} and swept.{{ c }} = estimates.{{ c }} and grid.k = estimates.k
{%- endmacro %}


{#- The grid of k as rows, without any engine's way of writing a list. -#}
{% macro _ks_rows(ks) -%}
select cast({{ ks[0] }} as {{ dbt.type_bigint() }}) as k
{%- for k in ks[1:] %} union all select {{ k }}{% endfor -%}
{%- endmacro %}

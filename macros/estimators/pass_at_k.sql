{#- pass@k = 1 - C(n - c, k) / C(n, k) in one expression, for queries over counts; the models' way is in states.sql. -#}
{% macro pass_at_k(n, c, k) -%}
  {{- passk._check_counts('pass_at_k', n, c, k) -}}
  {{ return(adapter.dispatch('pass_at_k', 'passk')(n, c, k)) }}
{%- endmacro %}

{% macro default__pass_at_k(n, c, k) -%}
{%- set written_out = passk._written_out(k) -%}
{%- set n_, c_, k_ = passk._as_double(n), passk._as_double(c), written_out or passk._as_double(k) -%}
{%- set failures = '(' ~ n_ ~ ' - ' ~ c_ ~ ')' -%}
case
  when {{ passk._is_eligible(n_, c_, k_) }}
    then case
      when {{ c_ }} = 0 then cast(0 as {{ passk.type_double() }})
      when {{ failures }} < {{ k_ }} then cast(1 as {{ passk.type_double() }})
      {%- if written_out == 1 %}
      else {{ c_ }} / {{ n_ }}
      {%- elif written_out %}
      else {{ passk._one_minus_exp(passk._log_all_fail(n_, c_, written_out)) }}
      {%- else %}
      when {{ k_ }} = 1 then {{ c_ }} / {{ n_ }}
      else {{ passk._one_minus_exp(passk._log_choose_ratio(n, failures, k)) }}
      {%- endif %}
    end
end
{%- endmacro %}

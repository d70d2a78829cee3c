{#- pass^k = C(c, k) / C(n, k) in one expression, for queries over counts. The models make it for each distinct (n, c), by the same
    steps: `_point_formulas` in states.sql. -#}
{% macro pass_hat_k(n, c, k) -%}
  {{- passk._check_counts('pass_hat_k', n, c, k) -}}
  {{ return(adapter.dispatch('pass_hat_k', 'passk')(n, c, k)) }}
{%- endmacro %}

{% macro default__pass_hat_k(n, c, k) -%}
{%- set written_out = passk._written_out(k) -%}
{%- set n_, c_, k_ = passk._as_double(n), passk._as_double(c), written_out or passk._as_double(k) -%}
case
  when {{ passk._is_eligible(n_, c_, k_) }}
    then case
      when {{ c_ }} < {{ k_ }} then cast(0 as {{ passk.type_double() }})
      {%- if written_out == 1 %}
      else {{ c_ }} / {{ n_ }}
      {%- elif written_out %}
      else {{ passk._exp(passk._log_all_pass(n_, c_, written_out)) }}
      {%- else %}
      when {{ c_ }} = {{ n_ }} then cast(1 as {{ passk.type_double() }})
      when {{ k_ }} = 1 then {{ c_ }} / {{ n_ }}
      else {{ passk._exp(passk._log_choose_ratio(n, c, k)) }}
      {%- endif %}
    end
end
{%- endmacro %}


{#- Counts that an estimate from n attempts at k can be made of. Everything else, null and NaN too, is not true. -#}
{% macro _is_eligible(n, c, k) -%}
{{ passk._is_count(n) }} and {{ passk._is_count(c) }}
    {%- if not passk._is_number(k) %} and {{ passk._is_count(k, 1) }}{% endif %} and {{ c }} <= {{ n }} and {{ k }} <= {{ n }}
{%- endmacro %}

{#- A literal k for which the estimators are written out as k draws without replacement: up to 32, the largest whose error
    tests/python/sql/test_accuracy.py measures. 0 for a larger one and for a column. -#}
{% macro _written_out(k) -%}
  {{ return(k | int if passk._is_number(k) and (k | float) <= 32 else 0) }}
{%- endmacro %}


{#- ln( C(c, k) / C(n, k) ) for 1 <= k <= c: of k draws without replacement, draw i passes with the chance (c - i) / (n - i). -#}
{% macro _log_all_pass(n, c, k) -%}
{%- for i in range(k) -%}
{{ ' + ' if i }}ln({{ '(' ~ c ~ ' - ' ~ i ~ ') / (' ~ n ~ ' - ' ~ i ~ ')' if i else c ~ ' / ' ~ n }})
{%- endfor -%}
{%- endmacro %}


{#- The same for n - c, in terms that keep their digits where c is small: draw i fails with the chance 1 - c / (n - i). -#}
{% macro _log_all_fail(n, c, k) -%}
{%- for i in range(k) -%}
{{ ' + ' if i }}{{ passk._log_of_rest(c, '(' ~ n ~ ' - ' ~ i ~ ')' if i else n) }}
{%- endfor -%}
{%- endmacro %}

{#- Every row meets every claim, and each column of `rates` is null or from 0 to 1; NaN, which some engines sort above every
    number, is neither. The result has one row for each broken claim, with the number of rows that break it. -#}
{% test passk_rows_hold(model, claims={}, rates=[]) %}
  {%- set all_claims = {} -%}
  {%- for rate in rates -%}
    {%- do all_claims.update({rate ~ '_is_a_rate': rate ~ ' is null or (' ~ rate ~ ' >= 0 and ' ~ rate ~ ' <= 1)'}) -%}
  {%- endfor -%}
  {%- do all_claims.update(claims) %}
{{ passk._broken_claims(model, all_claims) }}
{% endtest %}

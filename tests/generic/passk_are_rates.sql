{#- The columns are null or from 0 to 1. NaN, which some engines sort above every number, is neither. -#}
{% test passk_are_rates(model, columns) %}
  {%- set claims = {} -%}
  {%- for column in columns -%}
    {%- do claims.update({column: column ~ ' is null or (' ~ column ~ ' >= 0 and ' ~ column ~ ' <= 1)'}) -%}
  {%- endfor %}
{{ passk._broken_claims(model, claims) }}
{% endtest %}

{#- No two rows agree in `key`, and none of its columns is null: a null would make two rows differ that should not. Every row
    meets every claim; each column of `rates` is null or from 0 to 1; NaN, which some engines sort above every number, is
    neither. The result has one row for each broken claim, with the number of rows that break it. -#}
{% test passk_rows_hold(model, key=[], not_null=[], accepted_values={}, rates=[], claims={}) %}
  {%- set all_claims = {} -%}
  {%- for column in not_null -%}
    {%- do all_claims.update({column ~ '_is_not_null': column ~ ' is not null'}) -%}
  {%- endfor -%}
  {%- for column, values in accepted_values.items() -%}
    {%- set accepted = [] -%}
    {%- for value in values -%}
      {%- do accepted.append(passk._quoted(value)) -%}
    {%- endfor -%}
    {%- do all_claims.update({column ~ '_is_accepted': column ~ ' is null or ' ~ column ~ ' in (' ~ accepted | join(', ') ~ ')'}) -%}
  {%- endfor -%}
  {%- for rate in rates -%}
    {%- do all_claims.update({rate ~ '_is_a_rate': rate ~ ' is null or (' ~ rate ~ ' >= 0 and ' ~ rate ~ ' <= 1)'}) -%}
  {%- endfor -%}
  {%- do all_claims.update(claims) %}
{{ passk._broken_claims(model, all_claims, key) }}
{% endtest %}

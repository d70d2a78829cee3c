{#- The fault of one value, as a sentence. -#}
{% macro _var_mistake(name, value, allowed) -%}
  {%- set quotes = '; write it in quotes' if allowed in ['a text', 'a run_id', 'a day as 2026-12-31'] and passk._is_date(value) else '' -%}
  {{ return(name ~ ' is ' ~ passk._shown(value) ~ ', but must be ' ~ allowed ~ quotes ~ '.') }}
{%- endmacro %}


{#- A value as a message has it: as JSON, with its keys sorted and without escapes that only HTML needs; what JSON has no word
    for, such as a date, as it is. -#}
{% macro _shown(value) -%}
  {%- if value is string -%}
    {%- set shown = [] -%}
    {%- for sign in value -%}
      {%- do shown.append(sign if sign > '~' else tojson(sign)[1:-1]) -%}
    {%- endfor -%}
    {{ return('"' ~ (shown | join) ~ '"') }}
  {%- elif value is mapping -%}
    {%- set shown = {} -%}
    {%- for name, one in value.items() -%}
      {%- set text = name if name is string else passk._shown(name) -%}
      {%- do shown.update({text: passk._shown(text) ~ ': ' ~ passk._shown(one)}) -%}
    {%- endfor -%}
    {%- set parts = [] -%}
    {%- for text in shown | sort(case_sensitive=true) -%}{%- do parts.append(shown[text]) -%}{%- endfor -%}
    {{ return('{' ~ (parts | join(', ')) ~ '}') }}
  {%- elif passk._is_list(value) -%}
    {%- set shown = [] -%}
    {%- for one in value -%}{%- do shown.append(passk._shown(one)) -%}{%- endfor -%}
    {{ return('[' ~ (shown | join(', ')) ~ ']') }}
  {%- elif value is none or value is boolean or value is number -%}
    {{ return(tojson(value)) }}
  {%- endif -%}
  {{ return(value | string) }}
{%- endmacro %}


{#- Whether YAML took a value for a date, as it does where one stands without quotes. -#}
{% macro _is_date(value) -%}
  {{ return(value is not mapping and value.isoformat is defined) }}
{%- endmacro %}

{#- A text as an SQL literal. -#}
{% macro _quoted(text) -%}
  {{ return(adapter.dispatch('_quoted', 'passk')(text)) }}
{%- endmacro %}

{% macro default___quoted(text) -%}
'{{ text | string | replace("'", "''") }}'
{%- endmacro %}

{#- A backslash begins an escape there, and two quotes end one text and begin another. -#}
{% macro spark___quoted(text) -%}
'{{ text | string | replace("\\", "\\\\") | replace("'", "\\'") }}'
{%- endmacro %}

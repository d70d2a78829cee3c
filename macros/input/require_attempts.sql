{#- Before the first model: say what to do where nothing has landed, instead of "table does not exist". -#}
{% macro require_attempts() -%}
  {%- if execute and passk._attempts_kind() == 'landing' -%}
    {%- set landing = source('passk_landing', 'attempts') -%}
    {%- if not passk._exists(landing) -%}
      {{ exceptions.raise_compiler_error(
        'passk: there is no table ' ~ landing ~ '. Load a log with `passk load FILE`, or name your own table in the var '
        ~ 'passk_attempts_model: [project, model].'
      ) }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}

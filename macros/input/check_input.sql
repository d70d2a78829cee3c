{#- What would else be an engine's error on a name that nobody knows: an input without a table, and, where no hook has checked them
    before, vars that are wrong. -#}
{% macro _check_input(relation) -%}
  {%- if execute -%}
    {%- set compiles_only = flags.WHICH in ['compile', 'generate', 'show'] -%}
    {%- if compiles_only -%}
      {%- do passk.check_vars() -%}
    {%- endif -%}
    {%- if passk._attempts_kind() == 'model' -%}
      {%- set named = passk._setting('passk_attempts_model') -%}
      {%- set named = named if named is string else named | join('.') -%}
      {%- if relation.is_cte -%}
        {{ exceptions.raise_compiler_error(
          'passk: the model ' ~ named ~ ' of the var passk_attempts_model is ephemeral, so there is no table whose columns could be '
          ~ 'asked for. Make it a view or a table.'
        ) }}
      {%- elif compiles_only and not passk._exists(relation) -%}
        {{ exceptions.raise_compiler_error(
          'passk: the model ' ~ named ~ ' of the var passk_attempts_model is not built yet: there is no ' ~ relation
          ~ '. Its columns are asked for, so build it first: dbt run --select ' ~ named ~ '.'
        ) }}
      {%- endif -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}

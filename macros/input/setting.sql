{#- The value of a var, for the models. While dbt only parses, a wrong var must not stop it: `check_vars`, which runs first
    in every run, then says all that is wrong at once. -#}
{% macro _setting(name) -%}
  {#- A default needs no check of all vars, which is most of what parsing a model costs. -#}
  {%- set default = passk._vars()[name].default -%}
  {%- if not execute and not passk._is_default(var(name, default), default) and passk._var_mistakes() -%}
    {#- Where the attempts come from is what dbt has to know by then. -#}
    {%- set told = var(name, none) if name in ['passk_attempts_model', 'passk_attempts_source', 'passk_labels_model', 'passk_verdicts_model'] else none -%}
    {%- set is_wrong = told is none or not passk._fits(told, passk._vars()[name].takes) -%}
    {{ return(default if is_wrong else told) }}
  {%- endif -%}
  {%- if model is mapping and model.package_name == 'passk' -%}
    {{ return(var(name)) }}
  {%- endif -%}
  {{ return(var(name, default)) }}
{%- endmacro %}


{#- Whether a var has its default. The texts are compared too, because true, 1 and 1.0 are equal to Jinja; JSON has no word for a
    time, which a wrong var may hold. -#}
{% macro _is_default(value, default) -%}
  {{ return(value == default and value | string == default | string) }}
{%- endmacro %}


{#- The names of all vars. -#}
{% macro _setting_names() -%}
  {{ return(passk._vars().keys() | list) }}
{%- endmacro %}

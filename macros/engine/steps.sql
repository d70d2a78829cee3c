{#- Steps of long formulas, and how an engine makes each of them once. -#}

{#- After the `as` of a CTE that others use many times: made once. Postgres else writes its expressions into each place that names
    one, and where steps follow each other the text doubles with every step. `of_tasks` says that it has a row for each task. -#}
{% macro _made_once(of_tasks=false) -%}
  {{ return(adapter.dispatch('_made_once', 'passk')(of_tasks)) }}
{%- endmacro %}

{% macro default___made_once(of_tasks) -%}
{%- endmacro %}

{#- The space is part of it, so that other engines get the text as it would be without. -#}
{% macro postgres___made_once(of_tasks) -%}
{{ return('materialized ') }}
{%- endmacro %}

{#- For `_make_steps`. What has a row for each task is not stored again. -#}
{% macro spark___made_once(of_tasks) -%}
{{ return('' if of_tasks else '/* passk: made once */ ') }}
{%- endmacro %}

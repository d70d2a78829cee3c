{#- Built after the tables that it describes: where they fail, it still describes the old ones. #}
-- depends_on: {{ ref('int_passk__suite_metrics') }}

{%- for name in passk._setting_names() %}
select
  {{ passk._quoted(name) }} as var_name,
  {{ passk._quoted(passk._shown(passk._setting(name))) }} as var_value
{{- '\nunion all' if not loop.last }}
{%- endfor %}

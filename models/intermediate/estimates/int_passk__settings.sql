{#- After the tables that it speaks of: where they fail, it still says what the old ones were built with. #}
-- depends_on: {{ ref('int_passk__suite_metrics') }}

{%- for name in passk._setting_names() %}
select
  {{ passk._quoted(name) }} as var_name,
  {{ passk._quoted(tojson(passk._setting(name))) }} as var_value
{{- '\nunion all' if not loop.last }}
{%- endfor %}

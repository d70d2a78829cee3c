{{ config(materialized='ephemeral') }}
{%- set kinds = passk._told_kinds_of_labels() %}

with {% for kind in kinds -%}
{{ passk._label_steps(kind) }}{{ ',\n' }}

{% endfor -%}
labels as (
  {%- for kind in kinds %}
  select * from {{ kind.kind }}_rows
  {{- '\n  union all' if not loop.last }}
  {%- else %}
  select
    cast(null as {{ dbt.type_string() }}) as kind,
    {%- for name, type in passk._label_columns() %}
    cast(null as {{ type }}) as {{ name }},
    {%- endfor %}
    cast(null as {{ dbt.type_string() }}) as reject_reason
  where 1 = 0
  {%- endfor %}
)

select *
from labels

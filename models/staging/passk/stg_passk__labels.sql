{{ config(materialized='ephemeral') }}
{%- set kinds = passk._told_kinds_of_labels() %}

with {% for kind in kinds -%}
{{ passk._modelled_labels(kind) if passk._input_of_labels(kind) == 'model' else passk._landed_labels(kind) }}{{ ',\n' }}

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

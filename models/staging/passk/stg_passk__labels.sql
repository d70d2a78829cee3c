{{ config(materialized='ephemeral') }}
{%- set kind = passk._labels_kind() %}

{%- if kind == 'landing' %}
select
  {%- for name, _ in passk._label_columns() %}
  {{ name }},
  {%- endfor %}
  cast(null as {{ dbt.type_string() }}) as reject_reason
from {{ source('passk_landing', 'labels') }}
union all
select
  run_id,
  suite,
  task_id,
  attempt,
  verdict,
  labeller,
  cast(null as {{ dbt.type_timestamp() }}) as labelled_at,
  cast(null as {{ dbt.type_string() }}) as note,
  source_file,
  source_line,
  loaded_at,
  reason as reject_reason
from {{ source('passk_landing', 'rejected_labels') }}
{%- elif kind == 'model' %}
{%- set relation = passk._labels_relation() %}
{%- set names = passk._input_columns(relation) if execute else passk._label_columns() | map(attribute=0) | list %}
with told as (
  select
    {%- for name, type in passk._label_columns() %}
    {%- if name in names %}
    nullif(trim({{ passk._as_text(name) }}), '') as {{ name }}_told,
    {{ passk._try_cast(name, type) if type != dbt.type_string() else 'nullif(trim(' ~ passk._as_text(name) ~ "), '')" }} as {{ name }}_read
    {%- else %}
    cast(null as {{ dbt.type_string() }}) as {{ name }}_told,
    cast(null as {{ type }}) as {{ name }}_read
    {%- endif %}
    {{- ',' if not loop.last }}
    {%- endfor %}
  from {{ relation }}
),

labels as (
  select
    *,
    {%- for name, _ in passk._label_columns() if name not in ['suite', 'verdict'] %}
    {{ name }}_read as {{ name }},
    {%- endfor %}
    coalesce(suite_read, 'default') as suite,
    {{ passk._verdict_of_label('verdict_told') }} as verdict
  from told
)

select
  {%- for name, _ in passk._label_columns() if name != 'verdict' %}
  {{ name }},
  {%- endfor %}
  coalesce(verdict, verdict_told) as verdict,
  {{ passk._label_reject_reason() }} as reject_reason
from labels
{%- else %}
select
  {%- for name, type in passk._label_columns() %}
  cast(null as {{ type }}) as {{ name }},
  {%- endfor %}
  cast(null as {{ dbt.type_string() }}) as reject_reason
where 1 = 0
{%- endif %}

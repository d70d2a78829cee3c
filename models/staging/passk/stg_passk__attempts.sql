{{ config(materialized='view', pre_hook="{{ passk.require_attempts() }}") }}

{%- set kind = passk._attempts_kind() %}
{%- set relation = passk._attempts_relation() %}
{%- do passk._check_input(relation) %}

{%- if kind in ['landing', 'demo'] %}
{#- `passk load` has checked every row; the demo's log is the loader's own. Nothing is checked twice. #}
with attempts as (
  select
    run_id,
    suite,
    task_id,
    attempt,
    outcome_reason,
    score,
    agent,
    agent_version,
    model,
    seed,
    started_at,
    duration_s,
    cost_usd,
    input_tokens,
    output_tokens,
    output_hash,
    {% if kind == 'landing' -%}
    tags,
    {{ 'transcript' if passk._lands_transcripts(relation) else 'cast(null as ' ~ dbt.type_string() ~ ') as transcript' }},
    source_file,
    source_line,
    source_format,
    loaded_at,
    {%- else -%}
    {{ passk._tags_from_json('tags') }} as tags,
    cast(null as {{ dbt.type_string() }}) as transcript,
    cast(null as {{ dbt.type_string() }}) as source_file,
    cast(null as {{ dbt.type_bigint() }}) as source_line,
    'demo' as source_format,
    cast(null as {{ dbt.type_timestamp() }}) as loaded_at,
    {%- endif %}
    {#- The landing schema keeps it by task, in a table of its own. #}
    cast(null as {{ dbt.type_bigint() }}) as expected_attempts,
    {{ passk._outcome_by_policy() }} as outcome
  from {{ relation }}
)

select
  *,
  {%- for slice in passk._slices() %}
  coalesce(cast({{ slice.expression }} as {{ dbt.type_string() }}), '(untagged)') as slice_{{ loop.index }},
  {%- endfor %}
  {{ passk._family_column() }},
  cast(null as {{ dbt.type_string() }}) as reject_reason,
  cast(null as {{ dbt.type_string() }}) as raw
from attempts
{%- else %}
{{ passk._staged_from_any(relation, passk._input_columns(relation) if execute else passk._contract_names()) }}
{%- endif %}

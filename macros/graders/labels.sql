{#- Labels of people and verdicts of judges: each kind, the columns that name those who judged and the time, the name of judges who are
    not named, the var that names a model, and what a row of it needs. -#}
{% macro _kinds_of_labels() -%}
  {{ return([
    {
      'kind': 'label', 'who': 'labeller', 'when': 'labelled_at', 'default_who': none, 'model': 'passk_labels_model',
      'need': 'Every label needs one.'
    },
    {
      'kind': 'verdict', 'who': 'judge', 'when': 'judged_at', 'default_who': 'judge', 'model': 'passk_verdicts_model',
      'need': 'Every row needs one.'
    }
  ]) }}
{%- endmacro %}


{#- The kinds that there are here. -#}
{% macro _told_kinds_of_labels() -%}
  {%- set told = [] -%}
  {%- for kind in passk._kinds_of_labels() if passk._input_of_labels(kind) != 'none' -%}
    {%- do told.append(kind) -%}
  {%- endfor -%}
  {{ return(told) }}
{%- endmacro %}


{#- Where the labels of a kind come from: 'model', 'landing', or 'none'. -#}
{% macro _input_of_labels(kind) -%}
  {%- if passk._setting(kind.model) is not none -%}
    {{ return('model') }}
  {%- elif passk._attempts_kind() != 'landing' -%}
    {{ return('none') }}
  {%- endif -%}
  {%- set landed = source('passk_landing', kind.kind ~ 's') -%}
  {%- set rejected = source('passk_landing', 'rejected_' ~ kind.kind ~ 's') -%}
  {{ return('landing' if not execute or (passk._exists(landed) and passk._exists(rejected)) else 'none') }}
{%- endmacro %}


{% macro _landed_labels(kind) -%}
{{ kind.kind }}_rows as (
  select
    '{{ kind.kind }}' as kind,
    {%- for name, _ in passk._label_columns() %}
    {{ passk._told_as(name, kind) }} as {{ name }},
    {%- endfor %}
    cast(null as {{ dbt.type_string() }}) as reject_reason
  from {{ source('passk_landing', kind.kind ~ 's') }}
  union all
  select
    '{{ kind.kind }}' as kind,
    run_id,
    suite,
    task_id,
    attempt,
    verdict,
    {{ kind.who }} as labeller,
    cast(null as {{ dbt.type_timestamp() }}) as labelled_at,
    cast(null as {{ dbt.type_string() }}) as note,
    source_file,
    source_line,
    loaded_at,
    reason as reject_reason
  from {{ source('passk_landing', 'rejected_' ~ kind.kind ~ 's') }}
)
{%- endmacro %}


{#- From the model of a dbt project, by the same rules as `passk load`. -#}
{% macro _modelled_labels(kind) -%}
{%- set named = passk._setting(kind.model) -%}
{%- set relation = ref(project_name, named) if named is string else ref(named[0], named[1]) -%}
{%- set columns = passk._label_columns() -%}
{%- set names = passk._input_columns(relation) if execute else [] -%}
{{ kind.kind }}_told as (
  select
    {%- for name, type in columns %}
    {%- set told = passk._told_as(name, kind) %}
    {%- set text = 'nullif(trim(' ~ passk._as_text(told) ~ "), '')" %}
    {%- if told in names %}
    {{ text }} as {{ name }}_told,
    {{ passk._try_cast(told, type) if type != dbt.type_string() else text }} as {{ name }}_read
    {%- else %}
    cast(null as {{ dbt.type_string() }}) as {{ name }}_told,
    cast(null as {{ type }}) as {{ name }}_read
    {%- endif %}
    {{- ',' if not loop.last }}
    {%- endfor %}
  from {{ relation }}
),

{{ kind.kind }}_read as (
  select
    *,
    {%- for name, _ in columns if name not in ['suite', 'verdict', 'labeller'] %}
    {{ name }}_read as {{ name }},
    {%- endfor %}
    coalesce(suite_read, 'default') as suite,
    {{ "coalesce(labeller_read, '" ~ kind.default_who ~ "')" if kind.default_who else 'labeller_read' }} as labeller,
    case
      when lower(verdict_told) in ('passed', 'pass', 'true', 't', '1') then 'passed'
      when lower(verdict_told) in ('failed', 'fail', 'false', 'f', '0') then 'failed'
    end as verdict
  from {{ kind.kind }}_told
),

{{ kind.kind }}_rows as (
  select
    '{{ kind.kind }}' as kind,
    {%- for name, _ in columns %}
    {{ 'coalesce(verdict, verdict_told) as verdict' if name == 'verdict' else name }},
    {%- endfor %}
    {{ passk._label_reject_reason(kind) }} as reject_reason
  from {{ kind.kind }}_read
)
{%- endmacro %}


{#- The columns of a label: [name, type]. -#}
{% macro _label_columns() -%}
  {%- set text, whole, time = dbt.type_string(), dbt.type_bigint(), dbt.type_timestamp() -%}
  {{ return([
    ['run_id', text], ['suite', text], ['task_id', text], ['attempt', whole], ['verdict', text], ['labeller', text],
    ['labelled_at', time], ['note', text], ['source_file', text], ['source_line', whole], ['loaded_at', time]
  ]) }}
{%- endmacro %}


{#- The name that a column has in the input of a kind. -#}
{% macro _told_as(name, kind) -%}
  {{ return({'labeller': kind.who, 'labelled_at': kind.when}.get(name, name)) }}
{%- endmacro %}


{#- The mistake in a row, as 'code: sentence', by the same rules as `passk load`; null where there is none. -#}
{% macro _label_reject_reason(kind) -%}
case
      {%- for name in ['run_id', 'task_id', 'attempt', 'verdict'] %}
      when {{ name }}_told is null then 'missing_field: {{ name }} is missing. {{ kind.need }}'
      {%- endfor %}
      when attempt is null or attempt < 1 or {{ passk._try_cast('attempt_told', passk.type_double()) }} <> attempt
        then 'wrong_type: attempt is ' || attempt_told || ', but must be an integer of at least 1.'
      when verdict is null then 'unknown_verdict: verdict is ' || verdict_told || ', but must be passed or failed.'
      when labelled_at_told is not null and labelled_at is null
        then 'wrong_type: {{ kind.when }} is ' || labelled_at_told || ', which is not a time.'
      {%- if kind.kind == 'verdict' %}
      when lower(labeller) = '{{ passk._log_judge() }}'
        then 'reserved_judge: judge is ' || labeller || ', which names the outcomes of the log.'
      {%- endif %}
    end
{%- endmacro %}


{#- The judge that the outcomes of the log itself count as. -#}
{% macro _log_judge() -%}
  {{ return('log') }}
{%- endmacro %}

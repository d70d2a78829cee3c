{#- Where labels come from: 'model', 'landing', or none. -#}
{% macro _labels_kind() -%}
  {%- if passk._setting('passk_labels_model') is not none -%}
    {{ return('model') }}
  {%- elif passk._attempts_kind() != 'landing' -%}
    {{ return('none') }}
  {%- endif -%}
  {%- set landed = source('passk_landing', 'labels') -%}
  {%- set rejected = source('passk_landing', 'rejected_labels') -%}
  {{ return('landing' if not execute or (passk._exists(landed) and passk._exists(rejected)) else 'none') }}
{%- endmacro %}


{#- The model that has them. Called in a model's body, so that dbt sees the dependency. -#}
{% macro _labels_relation() -%}
  {%- set named = passk._setting('passk_labels_model') -%}
  {{ return(ref(project_name, named) if named is string else ref(named[0], named[1])) }}
{%- endmacro %}


{#- The columns of a label: [name, type]. -#}
{% macro _label_columns() -%}
  {%- set text, whole, time = dbt.type_string(), dbt.type_bigint(), dbt.type_timestamp() -%}
  {{ return([
    ['run_id', text], ['suite', text], ['task_id', text], ['attempt', whole], ['verdict', text], ['labeller', text],
    ['labelled_at', time], ['note', text], ['source_file', text], ['source_line', whole], ['loaded_at', time]
  ]) }}
{%- endmacro %}


{#- A verdict as attempts have it, from however it is written; null for any other. -#}
{% macro _verdict_of_label(told) -%}
case
      when lower({{ told }}) in ('passed', 'pass', 'true', 't', '1') then 'passed'
      when lower({{ told }}) in ('failed', 'fail', 'false', 'f', '0') then 'failed'
    end
{%- endmacro %}


{#- The mistake in a label, as 'code: sentence', by the same rules as `passk load --labels`; null where there is none. -#}
{% macro _label_reject_reason() -%}
case
      {%- for name in ['run_id', 'task_id', 'attempt', 'verdict'] %}
      when {{ name }}_told is null then 'missing_field: {{ name }} is missing. Every label needs one.'
      {%- endfor %}
      when attempt is null or attempt < 1 or {{ passk._try_cast('attempt_told', passk.type_double()) }} <> attempt
        then 'wrong_type: attempt is ' || attempt_told || ', but must be an integer of at least 1.'
      when verdict is null then 'unknown_verdict: verdict is ' || verdict_told || ', but must be passed or failed.'
      when labelled_at_told is not null and labelled_at is null
        then 'wrong_type: labelled_at is ' || labelled_at_told || ', which is not a time.'
    end
{%- endmacro %}

{#- The select of stg_passk__attempts for an input that nobody has checked yet: casts, defaults, and what breaks the
    contract, by the same rules as `passk load`. -#}
{% macro _staged_from_any(relation, names) -%}
{%- set mapped = passk._setting('passk_attempts_columns') -%}
{#- The file of a row, unless the file itself says where the row came from. -#}
{%- if passk._name_of_file() in names and not ('source_file' in names or 'source_file' in mapped) -%}
  {%- set mapped = dict(mapped, source_file=passk._name_of_file()) -%}
{%- endif -%}
{%- set has = {} -%}
{%- for name in (passk._told_names() + ['passed']) -%}
  {%- do has.update({name: name in mapped or name in names}) -%}
{%- endfor -%}
{%- if execute -%}
  {%- do passk._raise_var_mistakes(passk._mapping_mistakes(relation, names)) -%}
{%- endif -%}
with input as (
  select * from {{ relation }}
),

told as (
  select
    {%- for name, type in passk._told_columns() + [['passed', dbt.type_string()]] %}
    {%- set expression = mapped.get(name, name) %}
    {% if not has[name] -%}
      cast(null as {{ type }})
    {%- elif name == 'tags' -%}
      {{ passk._tags_as_told(expression) }}
    {%- elif name == 'transcript' -%}
      {{ passk._place(passk._as_text(expression)) }}
    {%- elif type == dbt.type_string() -%}
      {{ passk._as_text(expression) }}
    {%- else -%}
      {{ passk._try_cast(expression, type) }}
    {%- endif %} as {{ name }},
    {%- if type != dbt.type_string() %}
    {{ passk._as_text(expression) if has[name] else 'cast(null as ' ~ dbt.type_string() ~ ')' }} as {{ name }}_told,
    {%- endif %}
    {%- endfor %}
    1 as told
  from input
),

judged as (
  select
    {%- for name in passk._told_names() if name not in ['suite', 'outcome', 'outcome_reason'] %}
    {{ name }},
    {%- endfor %}
    {%- for name, type in passk._told_columns() if type != dbt.type_string() %}
    {{ name }}_told,
    {%- endfor %}
    outcome as outcome_told,
    passed as passed_told,
    coalesce(suite, 'default') as suite,
    case
      when outcome is not null then lower(trim(outcome))
      when lower(trim(passed)) in ('true', 't', '1', '1.0', 'yes') then 'passed'
      when lower(trim(passed)) in ('false', 'f', '0', '0.0', 'no') then 'failed'
      when passed is not null then passed
      when score is null and score_told is null then 'excluded'
      when score >= {{ passk._score_limit(passk._setting('passk_score_threshold')) }} then 'passed'
      else 'failed'
    end as outcome,
    case
      when outcome_reason is not null then outcome_reason
      when outcome is null and passed is null and score_told is null then 'no_verdict'
    end as outcome_reason
  from told
),

decided as (
  select
    {%- for name in passk._told_names() if name != 'outcome' %}
    {{ name }},
    {%- endfor %}
    {{ passk._outcome_by_policy() }} as outcome,
    {{ passk._reject_reason() }} as reject_reason,
    'run_id=' || coalesce(run_id, '') || ', suite=' || suite || ', task_id=' || coalesce(task_id, '')
    || ', attempt=' || coalesce(attempt_told, '') || ', outcome=' || coalesce(outcome_told, '')
    || ', passed=' || coalesce(passed_told, '') || ', score=' || coalesce(score_told, '') as raw
  from judged
)

select
  {%- for slice in passk._slices() %}
  coalesce(cast({{ slice.expression }} as {{ dbt.type_string() }}), '(untagged)') as slice_{{ loop.index }},
  {%- endfor %}
  {{ passk._family_column() }},
  decided.*
from decided
{%- endmacro %}


{#- Where a transcript lies; null for anything else, such as the transcript itself, as JSON or as a long text. -#}
{% macro _place(text) -%}
case when length({{ text }}) between 1 and 4096 and substring({{ text }}, 1, 1) not in ('{', '[') then {{ text }} end
{%- endmacro %}


{#- From where on a score passes at a threshold. 1e-6 below 1, as tau-bench does, so that 0.9999999 from a float sum is a pass. -#}
{% macro _score_limit(threshold) -%}
{#- As a double, not a decimal; Jinja writes what is small with an exponent already. -#}
{{ '0.999999e0' if threshold == 1 else threshold if 'e' in (threshold | string) else threshold ~ 'e0' }}
{%- endmacro %}


{#- The fault of a row, as 'code: sentence'; null where it has none. -#}
{% macro _reject_reason() -%}
case
    when run_id is null or run_id = '' then 'missing_field: run_id is missing. Every attempt needs one.'
    when task_id is null or task_id = '' then 'missing_field: task_id is missing. Every attempt needs one.'
    when attempt_told is null then 'missing_field: attempt is missing. Number the tries of a task from 1.'
    when attempt is null or {{ passk._try_cast('attempt_told', passk.type_double()) }} <> attempt
      then 'wrong_type: attempt is ' || attempt_told || ', but must be an integer of at least 1.'
    when attempt < 1 then 'out_of_range: attempt is ' || attempt_told || ', but must be an integer of at least 1.'
    when outcome not in ('passed', 'failed', 'excluded')
      then 'unknown_outcome: outcome is ' || coalesce(outcome_told, passed_told)
        || ', but must be passed, failed or excluded.'
    when outcome_told is not null and (
      (outcome = 'failed' and lower(trim(passed_told)) in ('true', 't', '1', '1.0', 'yes'))
      or (outcome = 'passed' and lower(trim(passed_told)) in ('false', 'f', '0', '0.0', 'no'))
    ) then 'contradictory_verdict: outcome is ' || outcome || ', but passed is ' || passed_told || '.'
    {%- for name, type in passk._told_columns()
      if type != dbt.type_string() and name not in ['attempt', 'loaded_at', 'source_line'] %}
    {#- A cast to an integer rounds: 2.5 would become 2. #}
    when {{ name }}_told is not null and (
      {{ name }} is null
      {%- if type == dbt.type_bigint() %} or {{ passk._try_cast(name ~ '_told', passk.type_double()) }} <> {{ name }}{% endif %}
    )
      then 'wrong_type: {{ name }} is ' || {{ name }}_told || ', which is not {{ passk._type_in_words(name, type) }}.'
    {%- endfor %}
    {%- for name in ['score', 'duration_s', 'cost_usd'] %}
    when {{ name }} is not null and not {{ passk._is_finite(name) }}
      then 'not_finite: {{ name }} is ' || {{ name }}_told || ', but must be a finite number.'
    {%- endfor %}
    when expected_attempts < 1 or expected_attempts > 1000000
      then 'out_of_range: expected_attempts is ' || expected_attempts_told || ', but must be a number from 1 to 1,000,000.'
    {%- for name in ['duration_s', 'cost_usd', 'input_tokens', 'output_tokens'] %}
    when {{ name }} < 0 then 'out_of_range: {{ name }} is ' || {{ name }}_told || ', but can not be negative.'
    {%- endfor %}
  end
{%- endmacro %}


{#- The values that a column takes, for people. -#}
{% macro _type_in_words(name, type) -%}
  {%- if name == 'tags' -%}
    {{ return('an object of names and texts, each name once') }}
  {%- elif type == dbt.type_bigint() -%}
    {{ return('a whole number') }}
  {%- elif type == dbt.type_timestamp() -%}
    {{ return('a time') }}
  {%- endif -%}
  {{ return('a number') }}
{%- endmacro %}


{#- The verdict after var passk_outcome_policy. A pass stays a pass, whatever else went wrong. -#}
{% macro _outcome_by_policy() -%}
{%- set policy = passk._setting('passk_outcome_policy') -%}
{%- if policy -%}
case
    {%- for reason, verdict in policy.items() %}
    when outcome <> 'passed' and outcome_reason = {{ passk._quoted(reason) }} then {{ passk._quoted(verdict) }}
    {%- endfor %}
    else outcome
  end
{%- else -%}
outcome
{%- endif -%}
{%- endmacro %}


{#- A row of the contract's columns as text, what is null left out. -#}
{% macro _row_as_text() -%}
  {%- set parts = ["'run_id=' || run_id"] -%}
  {%- for name in passk._contract_names()[1:18] -%}
    {%- do parts.append("coalesce(', " ~ name ~ "=' || " ~ passk._as_text(name) ~ ", '')") -%}
  {%- endfor -%}
  {{ parts | join('\n    || ') }}
{%- endmacro %}

{#- The pieces of int_passk__task_scans and int_passk__unmasked_tasks: what attempts say of a task. -#}

{#- Sums and ends that do not depend on the order of the attempts. n is attempts - excluded: a sum over the log costs more
    than a subtraction over the tasks. -#}
{% macro _task_sums() -%}
cast(count(*) as {{ dbt.type_bigint() }}) as attempts,
    cast(sum(case when outcome = 'passed' then 1 else 0 end) as {{ dbt.type_bigint() }}) as c,
    cast(sum(case when outcome = 'excluded' then 1 else 0 end) as {{ dbt.type_bigint() }}) as excluded,
    min(started_at) as started_at,
    max(started_at) as last_started_at,
    sum(duration_s) as duration_s,
    sum(cost_usd) as cost_usd,
    cast(count(cost_usd) as {{ dbt.type_bigint() }}) as attempts_with_cost,
    cast(sum(input_tokens) as {{ dbt.type_bigint() }}) as input_tokens,
    cast(sum(output_tokens) as {{ dbt.type_bigint() }}) as output_tokens,
    max(loaded_at) as loaded_at,
    {#- One for all attempts of a task; without families no text of the log is read. #}
    {{ 'min(' ~ passk._by_bytes('family') ~ ')' if passk._family() else 'cast(null as ' ~ dbt.type_string() ~ ')' }} as family
{%- endmacro %}


{#- Those of the above that every model between the log and passk_tasks only hands on. -#}
{% macro _task_totals() -%}
  {{ return([
    'started_at', 'last_started_at', 'duration_s', 'cost_usd', 'attempts_with_cost', 'input_tokens', 'output_tokens', 'family'
  ]) }}
{%- endmacro %}


{#- The numbers of a task's attempts as a mask; and their order, or nulls where no table needs it. -#}
{% macro _task_masks(ordered) -%}
  {{ passk._mask('1 = 1') }} as attempt_mask,
  {%- if ordered %}
    {{ passk._mask("outcome = 'passed'") }} as pass_mask,
    {{ passk._mask("outcome = 'failed'") }} as fail_mask
  {%- else %}
    cast(null as {{ passk.type_mask() }}) as pass_mask,
    cast(null as {{ passk.type_mask() }}) as fail_mask
  {%- endif -%}
{%- endmacro %}


{#- Attempts with a slice's name and value beside them, the whole suite first. -#}
{% macro _sliced(relation) -%}
select *, 'all' as slice_name, 'all' as slice_value from {{ relation }}
{%- for slice in passk._slices() %}
  union all
  select *, {{ passk._quoted(slice.name) }} as slice_name, slice_{{ loop.index }} as slice_value from {{ relation }}
{%- endfor %}
{%- endmacro %}

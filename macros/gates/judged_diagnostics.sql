{#- Whether no diagnostic warns. CTEs up to `judged_diagnostics`. -#}
{% macro _judged_diagnostics(carried, gates) -%}
{%- set text = dbt.type_string() %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
wanted_diagnostics as (
  {%- for rule in gates if rule.rule_type == 'diagnostics' %}
  {%- set outer = loop %}
  {%- for name in rule.diagnostics | unique %}
  select
    {{ passk._quoted(rule.gate) }} as gate,
    '{{ name }}' as diagnostic
  {{- '\n  union all' if not (loop.last and outer.last) }}
  {%- endfor %}
  {%- endfor %}
),

found as (
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    diagnostics.diagnostic,
    diagnostics.verdict,
    diagnostics.tasks
  from gates
  inner join wanted_diagnostics
    on gates.gate = wanted_diagnostics.gate
  inner join {{ ref('passk_diagnostics') }} as diagnostics
    on gates.run_id = diagnostics.run_id
    and gates.suite = diagnostics.suite
    and wanted_diagnostics.diagnostic = diagnostics.diagnostic
  where gates.has_run
),

sorted as (
  select
    *,
    verdict = 'warning' as is_found,
    verdict not in ('warning', 'ok') as is_unknown
  from found
),

counted as (
  select
    gate,
    run_id,
    suite,
    count(*) as diagnostics,
    sum(case when is_found then 1 else 0 end) as warnings,
    sum(case when is_unknown then 1 else 0 end) as unknowns,
    {%- for flag in ['is_found', 'is_unknown'] %}
    {%- for name in passk._diagnostic_words() %}
    {{ '|| ' if not loop.first }}max(case when diagnostic = '{{ name }}' and {{ flag }} then ', {{ name }}' else '' end)
    {%- endfor %} as names_{{ flag }}
    {{- ',' if not loop.last }}
    {%- endfor %}
  from sorted
  group by gate, run_id, suite
),

told_diagnostics as (
  select
    gates.*,
    counted.diagnostics,
    counted.warnings,
    counted.unknowns,
    substring(counted.names_is_found, 3, 1000) as found_names,
    substring(counted.names_is_unknown, 3, 1000) as unknown_names,
    case
      when counted.warnings > 0 then 'fail'
      when counted.unknowns = counted.diagnostics then 'inconclusive'
      {#- A diagnostic that is asked for by name must be known. Of all, only those that a log can answer. #}
      when counted.unknowns > 0 and gates.rule <> 'no warning of any diagnostic' then 'inconclusive'
      else 'pass'
    end as result
  from gates
  inner join counted
    on gates.gate = counted.gate and gates.run_id = counted.run_id and gates.suite = counted.suite
  where gates.has_run
),

judged_diagnostics as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    cast(null as {{ bigint }}) as tasks,
    cast(warnings as {{ double }}) as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    case
      when warnings > 0 then 'A warning of ' || found_names || '.'
      when unknowns = diagnostics then 'Nothing is known of ' || unknown_names || '.'
      when unknowns > 0
        then 'Nothing is known of ' || unknown_names || '; the others do not warn.'
      else 'No warning of ' || {{ passk._whole('diagnostics') }} || case when diagnostics = 1 then ' diagnostic.' else ' diagnostics.' end
    end as reason,
    case
      when result = 'inconclusive' then 'More in the log: see advice in passk_diagnostics.'
    end as to_settle
  from told_diagnostics
)
{%- endmacro %}

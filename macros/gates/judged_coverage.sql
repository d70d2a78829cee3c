{#- Whether a share of the attempts is small enough: counted, not estimated. CTEs up to `judged_coverage`. -#}
{% macro _judged_coverage(carried) -%}
{%- set text = dbt.type_string() %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
shares as (
  select
    gates.*,
    runs.tasks,
    case gates.metric
      {%- for metric, share in passk._rule_schema().shares.items() %}
      when '{{ metric }}' then runs.{{ share.part }}
      {%- endfor %}
    end as part,
    case gates.metric
      {%- for metric, share in passk._rule_schema().shares.items() %}
      when '{{ metric }}' then {{ share.whole | join(' + ') }}
      {%- endfor %}
    end as whole,
    case gates.metric
      {%- for metric, share in passk._rule_schema().shares.items() if share.unsure is defined %}
      when '{{ metric }}' then runs.{{ share.unsure }}
      {%- endfor %}
      else 0
    end as unsure,
    case gates.metric
      {%- for metric, share in passk._rule_schema().shares.items() %}
      when '{{ metric }}' then '{{ share.said }}'
      {%- endfor %}
    end as said
  from gates
  inner join {{ ref('passk_runs') }} as runs
    on gates.run_id = runs.run_id and gates.suite = runs.suite
  where gates.rule_type = 'coverage' and gates.has_run
),

told_coverage as (
  select
    *,
    case
      when coalesce(whole, 0) = 0 then 'inconclusive'
      {#- Not part / whole: a share at its limit must not fall over it by rounding. #}
      when part > threshold * whole * (1 + 1e-12) then 'fail'
      when part + unsure <= threshold * (whole + unsure) * (1 + 1e-12) then 'pass'
      else 'inconclusive'
    end as result
  from shares
),

judged_coverage as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    'all' as slice_name,
    'all' as slice_value,
    tasks,
    cast(part as {{ double }}) / nullif(whole, 0) as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    result,
    case
      when coalesce(whole, 0) = 0 then 'The log does not say how many attempts were to be made.'
      else {{ passk._whole('part') }} || ' of ' || {{ passk._whole('whole') }} || ' ' || said || ', and '
        || {{ passk._whole('cast(floor(threshold * whole * (1 + 1e-12)) as ' ~ bigint ~ ')') }} || ' may be'
        || case
          when result <> 'inconclusive' then '.'
          when unsure = 1 then ', but 1 rejected row does not say whose it is.'
          else ', but ' || {{ passk._whole('unsure') }} || ' rejected rows do not say whose they are.'
        end
    end as reason,
    case
      when coalesce(whole, 0) = 0 then 'A log that says how many attempts were to be made.'
      when result = 'inconclusive' then 'The reasons in passk_rejected_attempts, mended.'
    end as to_settle
  from told_coverage
)
{%- endmacro %}

{#- Pairs of runs, which the models of comparisons are made of. -#}

{#- By what a pair is known. -#}
{% macro _pair_keys() -%}
  {{ return(['suite', 'baseline_run_id', 'candidate_run_id', 'pair_source']) }}
{%- endmacro %}


{#- Joins the runs of both sides, `baselines` and `candidates`. A declared run that the log does not have leaves its side without
    a row. -#}
{% macro _join_runs_of(pairs) -%}
left join {{ ref('int_passk__runs') }} as baselines
    on {{ pairs }}.baseline_run_id = baselines.run_id and {{ pairs }}.suite = baselines.suite
  left join {{ ref('int_passk__runs') }} as candidates
    on {{ pairs }}.candidate_run_id = candidates.run_id and {{ pairs }}.suite = candidates.suite
{%- endmacro %}


{#- When the newest row behind either run landed. -#}
{% macro _latest_of_pair() -%}
case
      when baselines.loaded_at is null or candidates.loaded_at > baselines.loaded_at then candidates.loaded_at
      else baselines.loaded_at
    end
{%- endmacro %}


{#- Whether pairs are compared a second time, without the tasks in quarantine, because a gate judges them so. Such a pair has the
    source `judged previous`, where the whole one has `previous`. -#}
{% macro _judges_pairs() -%}
  {%- set rules = passk._gates() | selectattr('rule_type', 'in', ['drop', 'regressed_tasks']) | list -%}
  {{ return(passk._quarantine() | length > 0 and rules | length > 0) }}
{%- endmacro %}


{#- The condition that a pair is one of these. -#}
{% macro _is_judged_pair(pairs) -%}
substring({{ pairs }}.pair_source, 1, 7) = 'judged '
{%- endmacro %}


{#- The condition that a pair is in the tables of comparisons: those that are only ranked, or only judged, are not. -#}
{% macro _is_compared_pair(pairs) -%}
{{ pairs }}.pair_source <> 'ranking'
{%- if passk._judges_pairs() %} and not {{ passk._is_judged_pair(pairs) }}{% endif %}
{%- endmacro %}


{#- The condition that counts are those of a pair: of all tasks, or without those in quarantine. -#}
{% macro _is_of_pair(counts, pairs) -%}
{{ counts }}.slice_name = {% if passk._judges_pairs() -%}
case when {{ passk._is_judged_pair(pairs) }} then 'quarantine' else 'all' end
{%- else -%} 'all' {%- endif -%}
{%- endmacro %}


{#- The condition that counts may be those of a pair. -#}
{% macro _is_of_pairs() -%}
{%- if passk._judges_pairs() -%}
(slice_name = 'all' or (slice_name = 'quarantine' and slice_value = 'not in quarantine'))
{%- else -%}
slice_name = 'all'
{%- endif -%}
{%- endmacro %}

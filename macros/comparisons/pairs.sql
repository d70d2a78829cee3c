{#- Pairs of runs, which the models of comparisons are made of. -#}

{#- By what a pair is known. -#}
{% macro _pair_keys() -%}
  {{ return(['suite', 'baseline_run_id', 'candidate_run_id', 'pair_source', 'slice_name']) }}
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


{#- Whether pairs are compared a second time, without the tasks in quarantine, because a gate judges them so. Such a pair is of
    the slice `quarantine`, the whole one of `all`. -#}
{% macro _judges_pairs() -%}
  {%- set rules = passk._gates() | selectattr('rule_type', 'in', ['drop', 'regressed_tasks']) | list -%}
  {{ return(passk._quarantine() | length > 0 and rules | length > 0) }}
{%- endmacro %}


{#- The condition that counts may be those of a pair. -#}
{% macro _is_of_pairs() -%}
{%- if passk._judges_pairs() -%}
(slice_name = 'all' or (slice_name = 'quarantine' and slice_value = 'not in quarantine'))
{%- else -%}
slice_name = 'all'
{%- endif -%}
{%- endmacro %}

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

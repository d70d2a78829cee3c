{#- Pairs of runs, which the models of comparisons are made of. -#}

{#- By what a pair is known. -#}
{% macro _pair_keys() -%}
  {{ return(['suite', 'baseline_run_id', 'candidate_run_id', 'pair_source']) }}
{%- endmacro %}


{#- Which pairs a model has to make; see _plan. Of anyone's own table it is known that runs have changed, not which pairs: there
    all are made again. -#}
{% macro _pair_plan(wanted, known) -%}
  {%- if passk._attempts_kind() == 'landing' -%}
    {{ return(passk._plan(passk._pair_keys(), wanted, known)) }}
  {%- endif -%}
  {{ return({'is_done': false, 'changed': none}) }}
{%- endmacro %}


{#- Joins the runs of both sides, `baselines` and `candidates`. A declared run that the log does not have leaves its side without
    a row. -#}
{% macro _join_runs_of(pairs) -%}
left join {{ ref('int_passk__runs') }} as baselines
    on {{ pairs }}.baseline_run_id = baselines.run_id and {{ pairs }}.suite = baselines.suite
  left join {{ ref('int_passk__runs') }} as candidates
    on {{ pairs }}.candidate_run_id = candidates.run_id and {{ pairs }}.suite = candidates.suite
{%- endmacro %}

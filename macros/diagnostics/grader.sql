{#- How often a grader that is asked twice about the same output contradicts itself. -#}

{% macro flip_rate(disagreements, pairs) -%}
  {{- passk._check_count('flip_rate', 'disagreements', disagreements, 0) -}}
  {{- passk._check_count('flip_rate', 'pairs', pairs, 0) -}}
  {{- passk._check_at_most('flip_rate', 'disagreements', disagreements, 'pairs', pairs) -}}
  {{ return(adapter.dispatch('flip_rate', 'passk')(disagreements, pairs)) }}
{%- endmacro %}

{#- Two verdicts on one output differ with chance 2 e (1 - e). More than half of the pairs is more than any e explains. -#}
{% macro default__flip_rate(disagreements, pairs) -%}
{%- set different, all_ = passk._as_double(disagreements), passk._as_double(pairs) -%}
case
  when {{ passk._is_part_of(different, all_) }}
    then (1 - sqrt(greatest(1 - 2 * {{ different }} / {{ all_ }}, 0))) / 2
end
{%- endmacro %}

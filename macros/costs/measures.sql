{#- The measures of cost, as SQL over the contract's columns; a cost is in the unit of its measure. -#}
{% macro _cost_measures() -%}
  {{ return({
    'cost_usd': 'cost_usd', 'duration_s': 'duration_s', 'input_tokens': 'input_tokens', 'output_tokens': 'output_tokens',
    'tokens': 'input_tokens + output_tokens'
  }) }}
{%- endmacro %}


{#- Whether a build knows some measure of a task, from the sums over its attempts. -#}
{% macro _knows_a_measure(counts) -%}
  {%- set known = [] -%}
  {%- for measure in passk._setting('passk_costs') -%}
    {%- do known.append('(' ~ counts ~ '.' ~ passk._cost_measures()[measure] | replace(' + ', ' + ' ~ counts ~ '.') ~ ') is not null') -%}
  {%- endfor -%}
  {{ return('(' ~ known | join(' or ') ~ ')' if known else '1 = 0') }}
{%- endmacro %}


{#- Counted attempts with a measure, less than which leave a run without figures: the share that tasks with n >= k must be. -#}
{% macro _is_covered(measured, counted) -%}
{{ passk._has_enough_tasks(measured, counted) }}
{%- endmacro %}


{#- How many counted attempts have the measure, as a reason for a null or beside a value. -#}
{% macro _coverage_said(measured, counted, measure='measure') -%}
{{ passk._whole(measured) }} || ' of ' || {{ passk._whole(counted) }} || ' counted attempts have ' || {{ measure }}
{%- endmacro %}

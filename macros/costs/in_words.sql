{#- The word for a cost that is lower, or higher. -#}
{% macro _cost_words() -%}
  {{ return({
    'cost_usd': ['cheaper', 'dearer'], 'duration_s': ['less time', 'more time'],
    'input_tokens': ['fewer input tokens', 'more input tokens'], 'output_tokens': ['fewer output tokens', 'more output tokens'],
    'tokens': ['fewer tokens', 'more tokens']
  }) }}
{%- endmacro %}


{#- The size of a relative change, in whole percent: a limit is never 100 % less, and may be too far off for a number. -#}
{% macro _percent(change) -%}
case
      when {{ change }} >= 99.995e0 then 'over 9999'
      when {{ change }} <= -0.995e0 then 'over 99'
      else cast(cast(floor(abs({{ change }}) * 100 + 0.5e0) as {{ dbt.type_bigint() }}) as {{ dbt.type_string() }})
    end
{%- endmacro %}


{#- The word for the direction of a change; from a column `measure`. -#}
{% macro _direction_said(change) -%}
case
      when {{ change }} < 0 then case measure {% for measure, words in passk._cost_words().items() %} when '{{ measure }}' then '{{ words[0] }}'{% endfor %} end
      else case measure {% for measure, words in passk._cost_words().items() %} when '{{ measure }}' then '{{ words[1] }}'{% endfor %} end
    end
{%- endmacro %}


{#- A change with its direction, such as `84 % cheaper`. -#}
{% macro _percent_said(change) -%}
{{ passk._percent(change) }} || ' % ' || {{ passk._direction_said(change) }}
{%- endmacro %}


{#- The sentence of a comparison of costs, from its columns. -#}
{% macro _cost_change_said() -%}
case
    when null_reason is not null then 'No comparison of ' || measure || ': ' || null_reason || '.'
    when relative_change_lower > -0.005e0 and relative_change_upper < 0.005e0 then 'The same ' || measure || ' to the percent.'
    when relative_change = -1 then '100 % ' || {{ passk._direction_said('relative_change') }} || ': in the candidate all are 0, so that there are no limits.'
    when relative_change_lower is null then {{ passk._percent_said('relative_change') }} || ', of too few tasks for limits.'
    when verdict = 'inconclusive'
      then {{ passk._percent_said('relative_change') }} || ', which chance alone can explain: from ' || {{ passk._percent_said('relative_change_lower') }}
        || ' to ' || {{ passk._percent_said('relative_change_upper') }} || '.'
    when verdict = 'less'
      then {{ passk._percent_said('relative_change') }} || ' (' || {{ passk._percent('relative_change_upper') }} || ' to ' || {{ passk._percent('relative_change_lower') }} || ').'
    else {{ passk._percent_said('relative_change') }} || ' (' || {{ passk._percent('relative_change_lower') }} || ' to ' || {{ passk._percent('relative_change_upper') }} || ').'
  end
{%- endmacro %}

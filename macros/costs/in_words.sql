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

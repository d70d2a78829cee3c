{#- The time by which the runs of a group are ordered, from their `started_at` and `loaded_at`: times of the log are an order only if
    every run has one. -#}
{% macro _ordered_at(group) -%}
case
      when count(started_at) over (partition by {{ group }}) = count(*) over (partition by {{ group }}) then started_at
      else loaded_at
    end
{%- endmacro %}

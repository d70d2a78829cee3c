{#- No two rows agree in `columns`, and none of them is null: a null would make two rows differ that should not. -#}
{% test passk_is_key(model, columns) %}
select
  {{ columns | join(',\n  ') }},
  count(*) as copies
from {{ model }}
group by {{ columns | join(', ') }}
having
  count(*) > 1
  {%- for column in columns %}
  or {{ column }} is null
  {%- endfor %}
{% endtest %}

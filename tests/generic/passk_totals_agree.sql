{#- An aggregate of the model equals an aggregate of another relation: what one holds, the other was made from. -#}
{% test passk_totals_agree(model, total, relation, relation_total) %}
select
  here.total,
  there.total as other_total
from (select {{ total }} as total from {{ model }}) as here
cross join (select {{ relation_total }} as total from {{ relation }}) as there
where coalesce(here.total, 0) <> coalesce(there.total, 0)
{% endtest %}

{#- Rows read are rows kept or rows rejected. What `passk load` rejected never got to staging, so it is added. -#}
{% test passk_nothing_disappears(model, staged, attempts) %}
with totals as (
  select
    (select count(*) from {{ staged }}) as staged,
    {% if passk._attempts_kind() == 'landing' -%}
    (select count(*) from {{ source('passk_landing', 'rejected') }}) as rejected_by_load,
    {%- else -%}
    0 as rejected_by_load,
    {%- endif %}
    (select count(*) from {{ attempts }}) as attempts,
    (select count(*) from {{ model }}) as rejected
)

select *
from totals
where staged + rejected_by_load <> attempts + rejected
{% endtest %}

{#- Rows (claim, broken_rows) of the claims that some row of `relation` breaks, from one scan of it.

    `claims` is a mapping of names to conditions. A condition that is null is broken, not true: a claim about a value that
    may be null says so itself. Of a `key`, every row but one of those that agree in all its columns is broken, and every row
    that lacks one of them. -#}
{% macro _broken_claims(relation, claims, key=[]) -%}
{%- set names = claims | list + (['the_key_is_unique_and_complete'] if key else []) -%}
select
  claim,
  broken_rows
from (
  select
    names.claim,
    case names.claim
      {%- for claim in names %}
      when {{ passk._quoted(claim) }} then totals.broken_{{ loop.index }}
      {%- endfor %}
    end as broken_rows
  from (
    select
      {%- for condition in claims.values() %}
      sum(case when {{ condition }} then 0 else 1 end) as broken_{{ loop.index }}{{ ',' if key or not loop.last }}
      {%- endfor %}
      {%- if key %}
      count(*) - count(distinct case
        when {{ key | join(' is not null and ') }} is not null
          then {{ passk._row_of(key) }}
      end) as broken_{{ names | length }}
      {%- endif %}
    from {{ relation }}
  ) as totals
  cross join (
    {%- for claim in names %}
    select {{ passk._quoted(claim) }} as claim{{ ' union all' if not loop.last }}
    {%- endfor %}
  ) as names
) as judged
where broken_rows > 0
{%- endmacro %}

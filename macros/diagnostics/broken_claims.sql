{#- Rows (claim, broken_rows) of the claims that some row of `relation` breaks, from one scan of it.

    `claims` is a mapping of names to conditions. A condition that is null is broken, not true: a claim about a value that
    may be null says so itself. -#}
{% macro _broken_claims(relation, claims) -%}
select
  claim,
  broken_rows
from (
  select
    names.claim,
    case names.claim
      {%- for claim in claims %}
      when {{ passk._quoted(claim) }} then totals.broken_{{ loop.index }}
      {%- endfor %}
    end as broken_rows
  from (
    select
      {%- for condition in claims.values() %}
      sum(case when {{ condition }} then 0 else 1 end) as broken_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ relation }}
  ) as totals
  cross join (
    {%- for claim in claims %}
    select {{ passk._quoted(claim) }} as claim{{ ' union all' if not loop.last }}
    {%- endfor %}
  ) as names
) as judged
where broken_rows > 0
{%- endmacro %}

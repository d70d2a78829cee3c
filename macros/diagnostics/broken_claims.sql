{#- Rows (claim, broken_rows) of the claims that some row of `relation` breaks, from one scan of it.

    `claims` is a mapping of names to conditions. A condition that is null is broken, not true: a claim about a value that
    may be null says so itself. Of a `key`, every row but one of those that agree in all its columns is broken, and every row
    that lacks one of them. -#}
{% macro _broken_claims(relation, claims, key=[]) -%}
{%- set counts = {} -%}
{%- for claim, condition in claims.items() -%}
  {%- do counts.update({claim: 'sum(case when ' ~ condition ~ ' then 0 else 1 end)'}) -%}
{%- endfor -%}
{%- if key -%}
  {%- set complete = 'case when ' ~ key | join(' is not null and ') ~ ' is not null then ' ~ passk._row_of(key) ~ ' end' -%}
  {%- do counts.update({'the_key_is_unique_and_complete': 'count(*) - count(distinct ' ~ complete ~ ')'}) -%}
{%- endif -%}
select
  claim,
  broken_rows
from (
  select
    names.claim,
    case names.claim
      {%- for claim in counts %}
      when {{ passk._quoted(claim) }} then totals.broken_{{ loop.index }}
      {%- endfor %}
    end as broken_rows
  from (
    select
      {%- for broken in counts.values() %}
      {{ broken }} as broken_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ relation }}
  ) as totals
  cross join (
    {%- for claim in counts %}
    select {{ passk._quoted(claim) }} as claim{{ ' union all' if not loop.last }}
    {%- endfor %}
  ) as names
) as judged
where broken_rows > 0
{%- endmacro %}

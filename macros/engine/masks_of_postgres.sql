{#- Order without a sort on Postgres, whose widest integer has 64 bits: a mask is a bit string of 126. It is written with attempt 1
    on the right, so that it is shifted and compared as the integers of other engines are. -#}

{% macro postgres__type_mask() -%} bit(126) {%- endmacro %}


{#- As many as on DuckDB, so that the same tasks are sorted. -#}
{% macro postgres___mask_bits() -%} {{ return(126) }} {%- endmacro %}


{% macro postgres___mask(condition) -%}
coalesce(bit_or(case
      when attempt between 1 and {{ passk._mask_bits() }} and {{ condition }}
        then set_bit(cast(0 as {{ passk.type_mask() }}), cast({{ passk._mask_bits() }} - attempt as integer), 1)
    end), cast(0 as {{ passk.type_mask() }}))
{%- endmacro %}


{% macro postgres___mask_count(mask) -%}
bit_count({{ mask }})
{%- endmacro %}


{#- Its text without the zeros on the right ends in the first attempt; what is further left is shifted out. -#}
{% macro postgres___first_rank(mask, counted) -%}
case
  when bit_count({{ mask }}) > 0
    then bit_count({{ counted }} << (length(rtrim(cast({{ mask }} as text), '0')) - 1))
end
{%- endmacro %}


{% macro postgres___mask_longest(mask) -%}
(select cast(max(length(streak)) as bigint) from unnest(string_to_array(cast({{ mask }} as text), '0')) as streak)
{%- endmacro %}


{% macro postgres___mask_either(one, other) -%}
({{ one }} | {{ other }})
{%- endmacro %}


{% macro postgres___mask_windows(relation, columns, ks) -%}
select
  {%- for column in columns %}
  counted.{{ column }},
  {%- endfor %}
  by_k.k,
  by_k.windows,
  by_k.pass_windows,
  by_k.fail_windows
from ({{ passk._mask_windows_by_column(relation, columns, ks) }}) as counted
cross join lateral (
  {%- for k in ks %}
  select
    cast({{ k }} as bigint) as k,
    cast(counted.windows_of_{{ k }} as bigint) as windows,
    cast(counted.pass_windows_of_{{ k }} as bigint) as pass_windows,
    cast(counted.fail_windows_of_{{ k }} as bigint) as fail_windows
  {{ 'union all' if not loop.last }}
  {%- endfor %}
) as by_k
{%- endmacro %}


{% macro postgres___mask_window_sums(relation, columns, ks) -%}
select
  {{ columns | join(', ') }},
  k,
  count(*) as tasks,
  sum(cast(windows - fail_windows as double precision) / windows) as pass_at_k,
  sum(cast(pass_windows as double precision) / windows) as pass_hat_k
from ({{ passk._mask_windows(relation, columns, ks) }}) as windows
where windows > 0
group by {{ columns | join(', ') }}, k
{%- endmacro %}


{#- A row for each attempt again, of the tasks that are asked for only. -#}
{% macro postgres___mask_orders(relation, columns) -%}
select
  {%- for column in columns %}
  masked.{{ column }},
  {%- endfor %}
  ordered.switches,
  ordered.rank_sum
from {{ relation }} as masked
cross join lateral (
  select
    cast(sum(case when passed <> previous then 1 else 0 end) as bigint) as switches,
    cast(sum(passed * place) as bigint) as rank_sum
  from (
    select
      passed,
      lag(passed) over (order by attempt) as previous,
      row_number() over (order by attempt) as place
    from (
      select
        attempt,
        get_bit(masked.pass_mask, {{ passk._mask_bits() }} - attempt) as passed
      from generate_series(1, {{ passk._mask_bits() }}) as attempt
      where get_bit(masked.pass_mask | masked.fail_mask, {{ passk._mask_bits() }} - attempt) = 1
    ) as counted
  ) as placed
) as ordered
where masked.pass_mask is not null
{%- endmacro %}


{% macro postgres___mask_square_sums(relation, columns, mask) -%}
select
  {{ columns | join(', ') }},
  sum(cast(masks as double precision) * masks) as square_sum
from (
  select
    {{ columns | join(', ') }},
    attempt,
    sum(get_bit({{ mask }}, {{ passk._mask_bits() }} - attempt)) as masks
  from {{ relation }}
  cross join generate_series(1, {{ passk._mask_bits() }}) as attempt
  group by {{ columns | join(', ') }}, attempt
) as counted
group by {{ columns | join(', ') }}
{%- endmacro %}

{#- Order without a sort: one bit an attempt, bit a - 1 for attempt number a, in an integer of the engine. Engines without
    a wide integer and a bitwise aggregate leave the masks null, and all tasks are sorted.

    DuckDB's integer has 127 bits beside its sign. Tables keep it as `type_mask`, which need not be that integer: what computes
    with a mask asks for its `_bits_of` first. -#}

{#- How many attempts a mask holds; 0 where there are none. -#}
{% macro _mask_bits() -%}
  {{ return(adapter.dispatch('_mask_bits', 'passk')()) }}
{%- endmacro %}

{% macro default___mask_bits() -%} {{ return(0) }} {%- endmacro %}

{#- One is left free for the shift in _first_rank. -#}
{% macro duckdb___mask_bits() -%} {{ return(126) }} {%- endmacro %}


{#- A stored mask in the form with which the engine computes. -#}
{% macro _bits_of(mask) -%}
  {{ return(adapter.dispatch('_bits_of', 'passk')(mask)) }}
{%- endmacro %}

{% macro default___bits_of(mask) -%}
{{ mask }}
{%- endmacro %}

{% macro duckdb___bits_of(mask) -%}
cast({{ mask }} as hugeint)
{%- endmacro %}


{#- Aggregate: the attempts for which `condition` holds. -#}
{% macro _mask(condition) -%}
  {{ return(adapter.dispatch('_mask', 'passk')(condition)) }}
{%- endmacro %}

{% macro default___mask(condition) -%}
cast(null as {{ passk.type_mask() }})
{%- endmacro %}

{% macro duckdb___mask(condition) -%}
cast(coalesce(bit_or(case
      when attempt <= {{ passk._mask_bits() }} and {{ condition }} then cast(1 as hugeint) << (attempt - 1)
    end), 0) as {{ passk.type_mask() }})
{%- endmacro %}


{#- How many attempts are in a mask. -#}
{% macro _mask_count(mask) -%}
  {{ return(adapter.dispatch('_mask_count', 'passk')(mask)) }}
{%- endmacro %}

{% macro default___mask_count(mask) -%}
-1
{%- endmacro %}

{% macro duckdb___mask_count(mask) -%}
cast(bit_count({{ passk._bits_of(mask) }}) as bigint)
{%- endmacro %}


{#- The place of a mask's first attempt among those of `counted`, from 1; null where the mask is empty. -#}
{% macro _first_rank(mask, counted) -%}
  {{ return(adapter.dispatch('_first_rank', 'passk')(mask, counted)) }}
{%- endmacro %}

{% macro default___first_rank(mask, counted) -%}
cast(null as {{ dbt.type_bigint() }})
{%- endmacro %}

{#- m & -m is the lowest bit of m; everything up to it is twice that, less one. -#}
{% macro duckdb___first_rank(mask, counted) -%}
{%- set bits = passk._bits_of(mask) -%}
case
  when {{ mask }} <> 0
    then cast(bit_count({{ passk._bits_of(counted) }} & (({{ bits }} & (-{{ bits }})) * 2 - 1)) as bigint)
end
{%- endmacro %}


{#- The longest streak of consecutive attempts in a mask. -#}
{% macro _mask_longest(mask) -%}
  {{ return(adapter.dispatch('_mask_longest', 'passk')(mask)) }}
{%- endmacro %}

{% macro default___mask_longest(mask) -%}
cast(null as {{ dbt.type_bigint() }})
{%- endmacro %}

{% macro duckdb___mask_longest(mask) -%}
list_max([length(streak) for streak in string_split(cast(cast({{ passk._bits_of(mask) }} as bit) as varchar), '0')])
{%- endmacro %}


{#- Rows (columns..., k, windows, pass_windows, fail_windows) of the tasks of `relation` that have masks. -#}
{% macro _mask_windows(relation, columns, ks) -%}
  {{ return(adapter.dispatch('_mask_windows', 'passk')(relation, columns, ks)) }}
{%- endmacro %}

{% macro default___mask_windows(relation, columns, ks) -%}
select
  {{ columns | join(', ') }},
  cast(null as {{ dbt.type_bigint() }}) as k,
  cast(null as {{ dbt.type_bigint() }}) as windows,
  cast(null as {{ dbt.type_bigint() }}) as pass_windows,
  cast(null as {{ dbt.type_bigint() }}) as fail_windows
from {{ relation }}
where 1 = 0
{%- endmacro %}

{% macro duckdb___mask_windows(relation, columns, ks) -%}
with counted as (
  {{ passk._mask_windows_by_column(relation, columns, ks) }}
)

{{ passk._rows_by_k('counted', columns, ks, [
  ('windows', 'windows_of_', 'bigint'), ('pass_windows', 'pass_windows_of_', 'bigint'),
  ('fail_windows', 'fail_windows_of_', 'bigint')
]) }}
{%- endmacro %}


{#- Rows (columns..., k, tasks, pass_at_k, pass_hat_k): sums, over the tasks of `relation` that have masks, of the shares of
    windows. A row for each task and k would be most of the work. -#}
{% macro _mask_window_sums(relation, columns, ks) -%}
  {{ return(adapter.dispatch('_mask_window_sums', 'passk')(relation, columns, ks)) }}
{%- endmacro %}

{% macro default___mask_window_sums(relation, columns, ks) -%}
select
  {{ columns | join(', ') }},
  cast(null as {{ dbt.type_bigint() }}) as k,
  cast(null as {{ dbt.type_bigint() }}) as tasks,
  cast(null as {{ passk.type_double() }}) as pass_at_k,
  cast(null as {{ passk.type_double() }}) as pass_hat_k
from {{ relation }}
where 1 = 0
{%- endmacro %}

{% macro duckdb___mask_window_sums(relation, columns, ks) -%}
with counted as (
  {{ passk._mask_windows_by_column(relation, columns, ks) }}
),

summed as (
  select
    {{ columns | join(', ') }},
    {%- for k in ks %}
    count(nullif(windows_of_{{ k }}, 0)) as tasks_of_{{ k }},
    sum((windows_of_{{ k }} - fail_windows_of_{{ k }}) / nullif(windows_of_{{ k }}, 0)) as pass_at_{{ k }},
    sum(pass_windows_of_{{ k }} / nullif(windows_of_{{ k }}, 0)) as pass_hat_{{ k }}{{ ',' if not loop.last }}
    {%- endfor %}
  from counted
  group by {{ columns | join(', ') }}
)

{{ passk._rows_by_k('summed', columns, ks, [
  ('tasks', 'tasks_of_', 'bigint'), ('pass_at_k', 'pass_at_', 'double'), ('pass_hat_k', 'pass_hat_', 'double')
]) }}
{%- endmacro %}


{#- A row for each k of a relation that has a column for each: `fields` are names, how the columns start, and types. -#}
{% macro _rows_by_k(relation, columns, ks, fields) -%}
select
  {{ columns | join(', ') }},
  cast(by_k.k as bigint) as k,
  {%- for name, _, type in fields %}
  cast(by_k.{{ name }} as {{ type }}) as {{ name }}{{ ',' if not loop.last }}
  {%- endfor %}
from (
  select
    {{ columns | join(', ') }},
    unnest([
      {%- for k in ks %}
      {'k': {{ k }}{% for name, start, _ in fields %}, '{{ name }}': {{ start }}{{ k }}{% endfor %}}{{ ',' if not loop.last }}
      {%- endfor %}
    ]) as by_k
  from {{ relation }}
) as unnested
{%- endmacro %}


{#- One row a task that has masks: windows_of_k, pass_windows_of_k and fail_windows_of_k for each k.

    The windows of k attempts that are all in a mask m are the bits of m & m >> 1 & ... & m >> (k - 1). Doubling gets
    there in log2(k) steps, shared by all k. -#}
{% macro _mask_windows_by_column(relation, columns, ks) -%}
{%- set widths = [1] -%}
{%- for _ in range(7) -%}
  {%- if widths[-1] * 2 <= ks | max -%}{%- do widths.append(widths[-1] * 2) -%}{%- endif -%}
{%- endfor -%}
with runs_of_1 as {{ passk._made_once() }}(
  select
    {{ columns | join(', ') }},
    {{ passk._bits_of('pass_mask') }} | {{ passk._bits_of('fail_mask') }} as windows_1,
    {{ passk._bits_of('pass_mask') }} as pass_windows_1,
    {{ passk._bits_of('fail_mask') }} as fail_windows_1
  from {{ relation }}
  where pass_mask is not null
)

{%- for width in widths[1:] %}
{%- set half = width // 2 %},

runs_of_{{ width }} as {{ passk._made_once() }}(
  select
    *,
    {% for kind in ['windows', 'pass_windows', 'fail_windows'] -%}
    {{ kind }}_{{ half }} & ({{ kind }}_{{ half }} >> {{ half }}) as {{ kind }}_{{ width }}{{ ',' if not loop.last }}
    {% endfor %}
  from runs_of_{{ half }}
)
{%- endfor %}

select
  {{ columns | join(', ') }},
  {%- for k in ks %}
  {%- set is_last_k = loop.last %}
  {%- set width = widths | select('le', k) | max %}
  {%- for kind in ['windows', 'pass_windows', 'fail_windows'] %}
  {% if k > passk._mask_bits() -%}
    0
  {%- elif k == width -%}
    bit_count({{ kind }}_{{ k }})
  {%- else -%}
    bit_count({{ kind }}_{{ width }} & ({{ kind }}_{{ width }} >> {{ k - width }}))
  {%- endif %} as {{ kind }}_of_{{ k }}{{ ',' if not (is_last_k and loop.last) }}
  {%- endfor %}
  {%- endfor %}
from runs_of_{{ widths[-1] }}
{%- endmacro %}


{#- The attempts of either of two masks of a row. -#}
{% macro _mask_either(one, other) -%}
  {{ return(adapter.dispatch('_mask_either', 'passk')(one, other)) }}
{%- endmacro %}

{% macro default___mask_either(one, other) -%}
cast(null as {{ passk.type_mask() }})
{%- endmacro %}

{% macro duckdb___mask_either(one, other) -%}
cast({{ passk._bits_of(one) }} | {{ passk._bits_of(other) }} as {{ passk.type_mask() }})
{%- endmacro %}


{#- Rows (columns..., switches, rank_sum) of the tasks of `relation`, which has n, c, pass_mask and fail_mask of each: how
    often the verdict changes, and the sum of the places of the passes, both among the counted attempts. -#}
{% macro _mask_orders(relation, columns) -%}
  {{ return(adapter.dispatch('_mask_orders', 'passk')(relation, columns)) }}
{%- endmacro %}

{% macro default___mask_orders(relation, columns) -%}
select
  {{ columns | join(', ') }},
  cast(null as {{ dbt.type_bigint() }}) as switches,
  cast(null as {{ dbt.type_bigint() }}) as rank_sum
from {{ relation }}
where 1 = 0
{%- endmacro %}

{#- Excluded attempts leave holes in a mask, and places count without them. Few are excluded of most tasks, so one step after
    the other closes the lowest hole, if there is one: what is above it moves down by one. Then the bits are the places, and
    the sum of the numbers of the set bits follows from each of their binary digits. Masks with more holes become lists. -#}
{% macro duckdb___mask_orders(relation, columns) -%}
{%- set most_holes = 6 -%}
with masks as (
  select
    {{ columns | join(', ') }},
    {{ passk._bits_of('pass_mask') }} as passes,
    {{ passk._bits_of('pass_mask') }} | {{ passk._bits_of('fail_mask') }} as counted
  from {{ relation }}
  where pass_mask is not null
),

lowest_attempts as (
  select
    *,
    counted & (-counted) as lowest
  from masks
),

shifted as (
  select
    {{ columns | join(', ') }},
    passes >> bit_count(lowest - 1) as passes,
    counted >> bit_count(lowest - 1) as counted
  from lowest_attempts
),

{% for hole in range(most_holes) -%}
below_{{ hole }} as (
  select
    *,
    counted & ~(counted + 1) as below
  from {{ 'closed_' ~ (hole - 1) if hole else 'shifted' }}
),

closed_{{ hole }} as (
  select
    {{ columns | join(', ') }},
    (passes & below) | ((passes >> 1) & ~below) as passes,
    (counted & below) | ((counted >> 1) & ~below) as counted
  from below_{{ hole }}
),

{% endfor -%}

whole as (
  select {{ columns | join(', ') }}, passes
  from closed_{{ most_holes - 1 }}
  where (counted & (counted + 1)) = 0
),

holed as (
  select
    {{ columns | join(', ') }},
    [
      cast((passes >> place) & 1 as double) for place in range(cast(ceil(log2(counted)) as bigint) + 1)
      if (counted >> place) & 1 = 1
    ] as verdicts
  from closed_{{ most_holes - 1 }}
  where (counted & (counted + 1)) <> 0
)

select
  {{ columns | join(', ') }},
  cast(
    bit_count(xor(passes, passes >> 1) & ((cast(1 as hugeint) << (n - 1)) - 1)) as bigint
  ) as switches,
  cast(
    c
    {%- for digit in range(7) %}
    {%- set numbers = namespace(sum=0) %}
    {%- for bit in range(passk._mask_bits()) if (bit // 2 ** digit) % 2 == 1 %}
      {%- set numbers.sum = numbers.sum + 2 ** bit %}
    {%- endfor %}
    + {{ 2 ** digit }} * {{ passk._mask_count('passes & cast(' ~ numbers.sum ~ ' as hugeint)') }}
    {%- endfor %}
    as bigint
  ) as rank_sum
from whole
union all
select
  {{ columns | join(', ') }},
  {{ passk._switches_and_rank_sum('verdicts') }}
from holed
{%- endmacro %}


{#- Rows (columns..., square_sum): over the attempt numbers, the sum of squares of how many of the masks hold them.

    Three counters of 42 bits share an integer, so that 42 sums count all numbers. -#}
{% macro _mask_square_sums(relation, columns, mask) -%}
  {{ return(adapter.dispatch('_mask_square_sums', 'passk')(relation, columns, mask)) }}
{%- endmacro %}

{% macro default___mask_square_sums(relation, columns, mask) -%}
select
  {{ columns | join(', ') }},
  cast(null as {{ passk.type_double() }}) as square_sum
from {{ relation }}
where 1 = 0
{%- endmacro %}

{% macro duckdb___mask_square_sums(relation, columns, mask) -%}
{%- set wide = passk._mask_bits() // 3 -%}
{%- set ones = 1 + 2 ** wide + 2 ** (2 * wide) -%}
select
  {{ columns | join(', ') }},
  sum(
    {%- for part in range(3) %}
    power(cast((counters >> {{ part * wide }}) & {{ 2 ** wide - 1 }} as double), 2){{ ' +' if not loop.last }}
    {%- endfor %}
  ) as square_sum
from (
  select
    {{ columns | join(', ') }},
    sum((bits >> shift) & cast({{ ones }} as hugeint)) as counters
  from (
    select
      {{ columns | join(', ') }},
      {{ passk._bits_of(mask) }} as bits,
      unnest(range({{ wide }})) as shift
    from {{ relation }}
  ) as shifted
  group by {{ columns | join(', ') }}, shift
) as counted
group by {{ columns | join(', ') }}
{%- endmacro %}

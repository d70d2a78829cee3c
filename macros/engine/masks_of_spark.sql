{#- Order without a sort on Spark, whose widest integer has 64 bits: a mask is two of 63 bits, written as a text of 19 digits each,
    the later attempts first. So it is grouped by and compared as the integers of other engines are. -#}

{% macro spark__type_mask() -%} string {%- endmacro %}


{#- As many as on DuckDB, so that the same tasks are sorted. -#}
{% macro spark___mask_bits() -%} {{ return(126) }} {%- endmacro %}


{#- The integer of attempts 1 to 63 of a mask, or that of the later ones. -#}
{% macro _spark_half(mask, is_later=false) -%}
cast(substring({{ mask }}, {{ 1 if is_later else 20 }}, 19) as bigint)
{%- endmacro %}


{#- A mask of its integers. -#}
{% macro _spark_mask(later, earlier) -%}
concat(lpad(cast({{ later }} as string), 19, '0'), lpad(cast({{ earlier }} as string), 19, '0'))
{%- endmacro %}


{#- A mask as a text of 126 bits, attempt 1 on the left. -#}
{% macro _spark_bits(mask) -%}
reverse(concat(lpad(bin({{ passk._spark_half(mask, true) }}), 63, '0'), lpad(bin({{ passk._spark_half(mask) }}), 63, '0')))
{%- endmacro %}


{% macro spark___mask(condition) -%}
{%- set halves = [] -%}
{%- for first in [64, 1] -%}
  {%- do halves.append(
    'coalesce(bit_or(case when attempt between ' ~ first ~ ' and ' ~ (first + 62) ~ ' and ' ~ condition
    ~ ' then shiftleft(cast(1 as bigint), cast(attempt - ' ~ first ~ ' as int)) end), 0)'
  ) -%}
{%- endfor -%}
{{ passk._spark_mask(halves[0], halves[1]) }}
{%- endmacro %}


{% macro spark___mask_count(mask) -%}
cast(bit_count({{ passk._spark_half(mask, true) }}) + bit_count({{ passk._spark_half(mask) }}) as bigint)
{%- endmacro %}


{#- Everything up to the lowest bit of m is m & -m and what is below that. -#}
{% macro spark___first_rank(mask, counted) -%}
{%- set later, earlier = passk._spark_half(mask, true), passk._spark_half(mask) -%}
cast(case
    when {{ earlier }} <> 0
      then bit_count(
        {{ passk._spark_half(counted) }} & (({{ earlier }} & -({{ earlier }})) | (({{ earlier }} & -({{ earlier }})) - 1))
      )
    when {{ later }} <> 0
      then bit_count({{ passk._spark_half(counted) }}) + bit_count(
        {{ passk._spark_half(counted, true) }} & (({{ later }} & -({{ later }})) | (({{ later }} & -({{ later }})) - 1))
      )
  end as bigint)
{%- endmacro %}


{% macro spark___mask_longest(mask) -%}
cast(array_max({{ passk._spark_streaks(mask) }}) as bigint)
{%- endmacro %}


{#- The lengths of the streaks in a mask, and some zeros. -#}
{% macro _spark_streaks(mask) -%}
transform(split({{ passk._spark_bits(mask) }}, '0'), streak -> length(streak))
{%- endmacro %}


{% macro spark___mask_either(one, other) -%}
{{ passk._spark_mask(
  '(' ~ passk._spark_half(one, true) ~ ' | ' ~ passk._spark_half(other, true) ~ ')',
  '(' ~ passk._spark_half(one) ~ ' | ' ~ passk._spark_half(other) ~ ')'
) }}
{%- endmacro %}


{#- A streak of length L holds L - k + 1 windows of k, if it is that long. -#}
{% macro spark___mask_windows(relation, columns, ks) -%}
select
  {{ columns | join(', ') }},
  by_k.k as k,
  by_k.windows as windows,
  by_k.pass_windows as pass_windows,
  by_k.fail_windows as fail_windows
from (
  select
    {{ columns | join(', ') }},
    explode(array(
      {%- for k in ks %}
      named_struct(
        'k', cast({{ k }} as bigint),
        {%- for kind in ['windows', 'pass_windows', 'fail_windows'] %}
        '{{ kind }}', aggregate(
          {{ kind }}_streaks, cast(0 as bigint),
          (so_far, streak) -> so_far + case when streak >= {{ k }} then streak - {{ k - 1 }} else 0 end
        ){{ ',' if not loop.last }}
        {%- endfor %}
      ){{ ',' if not loop.last }}
      {%- endfor %}
    )) as by_k
  from (
    select
      {{ columns | join(', ') }},
      {{ passk._spark_streaks(passk._mask_either('pass_mask', 'fail_mask')) }} as windows_streaks,
      {{ passk._spark_streaks('pass_mask') }} as pass_windows_streaks,
      {{ passk._spark_streaks('fail_mask') }} as fail_windows_streaks
    from {{ relation }}
    where pass_mask is not null
  ) as streaks
) as counted
{%- endmacro %}


{% macro spark___mask_window_sums(relation, columns, ks) -%}
select
  {{ columns | join(', ') }},
  k,
  count(*) as tasks,
  sum(cast(windows - fail_windows as double) / windows) as pass_at_k,
  sum(cast(pass_windows as double) / windows) as pass_hat_k
from ({{ passk._mask_windows(relation, columns, ks) }}) as windows
where windows > 0
group by {{ columns | join(', ') }}, k
{%- endmacro %}


{#- The verdicts of the counted attempts in order, as 1 and 0. Of two that follow each other neither can overlap another pair
    that is equal to it, so that replacing counts them. Spark computes outside values that a function of an element uses once for
    every element, so the bits are an element too. -#}
{% macro spark___mask_orders(relation, columns) -%}
select
  {{ columns | join(', ') }},
  cast((
    2 * length(array_join(verdicts, ''))
    - length(replace(array_join(verdicts, ''), '01', ''))
    - length(replace(array_join(verdicts, ''), '10', ''))
  ) / 2 as bigint) as switches,
  aggregate(
    transform(verdicts, (verdict, place) -> case when verdict = '1' then cast(place + 1 as bigint) else cast(0 as bigint) end),
    cast(0 as bigint),
    (so_far, place) -> so_far + place
  ) as rank_sum
from (
  select
    {{ columns | join(', ') }},
    transform(
      array(named_struct('counted', counted_bits, 'passed', pass_bits)),
      bits -> transform(
        filter(sequence(1, {{ passk._mask_bits() }}), attempt -> substring(bits.counted, attempt, 1) = '1'),
        attempt -> substring(bits.passed, attempt, 1)
      )
    )[0] as verdicts
  from (
    select
      {{ columns | join(', ') }},
      {{ passk._spark_bits(passk._mask_either('pass_mask', 'fail_mask')) }} as counted_bits,
      {{ passk._spark_bits('pass_mask') }} as pass_bits
    from {{ relation }}
    where pass_mask is not null
  ) as bits
) as ordered
{%- endmacro %}


{#- The bits come before the rows of each attempt: beside `explode` they would be computed for every row. -#}
{% macro spark___mask_square_sums(relation, columns, mask) -%}
select
  {{ columns | join(', ') }},
  sum(cast(masks as double) * masks) as square_sum
from (
  select
    {{ columns | join(', ') }},
    attempt,
    sum(cast(substring(bits, attempt, 1) as bigint)) as masks
  from (
    select
      {{ columns | join(', ') }},
      bits,
      explode(sequence(1, {{ passk._mask_bits() }})) as attempt
    from (
      select
        {{ columns | join(', ') }},
        {{ passk._spark_bits(mask) }} as bits
      from {{ relation }}
    ) as masks
  ) as attempts
  group by {{ columns | join(', ') }}, attempt
) as counted
group by {{ columns | join(', ') }}
{%- endmacro %}

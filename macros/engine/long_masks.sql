{#- Order without a sort of tasks with more attempts than a mask has bits, on engines that join masks: in int_passk__long_tasks a mask
    is a text with a 0 or 1 for each attempt, the first attempt first. An attempt number that is left out is a 0, and so are all
    numbers between two words of which no attempt is there. Engines without it leave these tasks to be sorted. -#}

{#- Attempts beyond the masks of the scan, with the place of `attempt` in its own word, and `numbers_before`, how many are before
    that word. -#}
{% macro _later_attempts(log) -%}
  {{ return(adapter.dispatch('_later_attempts', 'passk')(log)) }}
{%- endmacro %}

{% macro default___later_attempts(log) -%}
{{ passk._attempts_of_words(log, 'attempt', '0') }}
  where 1 = 0
{%- endmacro %}

{% macro duckdb___later_attempts(log) -%}
{%- set bits = passk._mask_bits() -%}
{{ passk._attempts_of_words(
  log, '(attempt - 1) % ' ~ bits ~ ' + 1', 'attempt - 1 - (attempt - 1) % ' ~ bits
) }}
  where attempt > {{ bits }} and reject_reason is null and {{ passk._is_of_changed_runs(log) }}
{%- endmacro %}

{% macro _attempts_of_words(log, attempt, numbers_before) -%}
select
    run_id,
    suite,
    task_id,
    {{ attempt }} as attempt,
    cast({{ numbers_before }} as {{ dbt.type_bigint() }}) as numbers_before,
    {%- for slice in passk._slices() %}
    slice_{{ loop.index }},
    {%- endfor %}
    outcome
  from {{ log }}
{%- endmacro %}


{#- Aggregate: the masks of the words of a task as one text. A word that does not follow the one before it begins with a 0 more,
    which ends the streaks before it. -#}
{% macro _joined_masks(mask) -%}
  {{ return(adapter.dispatch('_joined_masks', 'passk')(mask)) }}
{%- endmacro %}

{% macro default___joined_masks(mask) -%}
cast(null as {{ dbt.type_string() }})
{%- endmacro %}

{% macro duckdb___joined_masks(mask) -%}
{%- set bits = passk._mask_bits() -%}
string_agg(
      case when numbers_before > previous + {{ bits }} then '0' else '' end
      || reverse(right(cast(cast({{ passk._bits_of(mask) }} as bit) as varchar), {{ bits }})),
      '' order by numbers_before
    )
{%- endmacro %}


{#- The attempts of either of two long masks. -#}
{% macro _long_either(one, other) -%}
cast({{ one }} as bit) | cast({{ other }} as bit)
{%- endmacro %}


{#- The place of a long mask's first attempt among the counted ones, from 1; null where the mask is null or has none. -#}
{% macro _long_first_rank(mask, pass_mask, fail_mask) -%}
  {{ return(adapter.dispatch('_long_first_rank', 'passk')(mask, pass_mask, fail_mask)) }}
{%- endmacro %}

{% macro default___long_first_rank(mask, pass_mask, fail_mask) -%}
cast(null as {{ dbt.type_bigint() }})
{%- endmacro %}

{% macro duckdb___long_first_rank(mask, pass_mask, fail_mask) -%}
case
    when contains({{ mask }}, '1')
      then bit_count(cast(left(
        cast({{ passk._long_either(pass_mask, fail_mask) }} as varchar), strpos({{ mask }}, '1')
      ) as bit))
  end
{%- endmacro %}


{#- Rows (keys, kind, streak_length, streaks) of the tasks of `relation` that have long masks. -#}
{% macro _long_streaks(relation, keys) -%}
  {{ return(adapter.dispatch('_long_streaks', 'passk')(relation, keys)) }}
{%- endmacro %}

{% macro default___long_streaks(relation, keys) -%}
select
    {{ keys | join(', ') }},
    cast(null as {{ dbt.type_string() }}) as kind,
    cast(null as {{ dbt.type_bigint() }}) as streak_length,
    cast(null as {{ dbt.type_bigint() }}) as streaks
  from {{ relation }}
  where 1 = 0
{%- endmacro %}

{% macro duckdb___long_streaks(relation, keys) -%}
{%- set kinds = {
  'passed': 'pass_mask', 'failed': 'fail_mask',
  'counted': 'cast(' ~ passk._long_either('pass_mask', 'fail_mask') ~ ' as varchar)'
} -%}
select
    {{ keys | join(', ') }},
    kind,
    length(streak) as streak_length,
    count(*) as streaks
  from (
    {%- for kind, mask in kinds.items() %}
    select {{ keys | join(', ') }}, '{{ kind }}' as kind, unnest(string_split({{ mask }}, '0')) as streak
    from {{ relation }}
    where pass_mask is not null
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
  ) as streaks_of_kinds
  where streak <> ''
  group by {{ keys | join(', ') }}, kind, streak_length
{%- endmacro %}


{#- Rows (columns, switches, rank_sum) of the tasks of `relation` that have long masks: how often the verdict changes, and the sum
    of the places of the passes, both among the counted attempts. -#}
{% macro _long_orders(relation, columns) -%}
  {{ return(adapter.dispatch('_long_orders', 'passk')(relation, columns)) }}
{%- endmacro %}

{% macro default___long_orders(relation, columns) -%}
  {{ return(passk.default___mask_orders(relation, columns)) }}
{%- endmacro %}

{% macro duckdb___long_orders(relation, columns) -%}
select
    {{ columns | join(', ') }},
    {{ passk._switches_and_rank_sum('verdicts') }}
  from (
    select
      {{ columns | join(', ') }},
      cast(list_where(
        string_split(pass_mask, ''),
        cast(string_split(cast({{ passk._long_either('pass_mask', 'fail_mask') }} as varchar), '') as boolean[])
      ) as double[]) as verdicts
    from {{ relation }}
    where pass_mask is not null
  ) as listed
{%- endmacro %}


{#- Both of a list of verdicts, 1 for a pass and 0 for a failure, none of which may be missing. -#}
{% macro _switches_and_rank_sum(verdicts) -%}
cast(
    2 * c - {{ verdicts }}[1] - {{ verdicts }}[-1] - 2 * list_inner_product({{ verdicts }}[:-2], {{ verdicts }}[2:]) as bigint
  ) as switches,
  cast(list_inner_product({{ verdicts }}, cast(range(1, n + 1) as double[])) as bigint) as rank_sum
{%- endmacro %}

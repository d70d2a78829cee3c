{% macro streak_lengths(relation, partition_by, attempt='attempt', outcome='outcome') -%}
  {{- passk._check_relation('streak_lengths', 'relation', relation) -}}
  {{- passk._check_columns('streak_lengths', 'partition_by', partition_by) -}}
  {{ return(adapter.dispatch('streak_lengths', 'passk')(relation, partition_by, attempt, outcome)) }}
{%- endmacro %}

{#- Consecutive numbers less their rank are constant: each constant is one streak. A number left out, and an excluded
    attempt, end it. -#}
{% macro default__streak_lengths(relation, partition_by, attempt, outcome) -%}
{%- set keys = partition_by | join(', ') -%}
with numbered as (
    select
      {{ keys }},
      {{ outcome }} as streak_outcome,
      {{ attempt }} - row_number() over (partition by {{ keys }} order by {{ attempt }}) as counted_streak,
      {{ attempt }} - row_number() over (partition by {{ keys }}, {{ outcome }} order by {{ attempt }}) as verdict_streak
    from {{ relation }}
    where {{ outcome }} in ('passed', 'failed')
  ),

  streaks as (
    select {{ keys }}, streak_outcome as kind, count(*) as streak_length
    from numbered
    group by {{ keys }}, streak_outcome, verdict_streak
    union all
    select {{ keys }}, 'counted' as kind, count(*) as streak_length
    from numbered
    group by {{ keys }}, counted_streak
  )

  select
    {{ keys }},
    kind,
    cast(streak_length as {{ dbt.type_bigint() }}) as streak_length,
    cast(count(*) as {{ dbt.type_bigint() }}) as streaks
  from streaks
  group by {{ keys }}, kind, streak_length
{%- endmacro %}


{% macro window_counts(streaks, partition_by, ks) -%}
  {{- passk._check_relation('window_counts', 'streaks', streaks) -}}
  {{- passk._check_columns('window_counts', 'partition_by', partition_by) -}}
  {{- passk._check_ks('window_counts', ks) -}}
  {{ return(adapter.dispatch('window_counts', 'passk')(streaks, partition_by, ks)) }}
{%- endmacro %}

{#- A streak of length L holds L - k + 1 windows of k, if it is that long. -#}
{% macro default__window_counts(streaks, partition_by, ks) -%}
{%- set keys = partition_by | join(', ') -%}
select
    {{ keys }},
    grid.k,
    {%- for kind, name in [('counted', 'windows'), ('passed', 'pass_windows'), ('failed', 'fail_windows')] %}
    cast(sum(case
      when kind = '{{ kind }}' and streak_length >= grid.k then streaks * (streak_length - grid.k + 1) else 0
    end) as {{ dbt.type_bigint() }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from {{ streaks }}
  cross join ({{ passk._ks_rows(ks) }}) as grid
  group by {{ keys }}, grid.k
{%- endmacro %}

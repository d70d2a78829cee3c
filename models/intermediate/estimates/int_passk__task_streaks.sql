with masked as (
  select *
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0 and pass_mask is not null
),

from_masks as (
  select
    run_id,
    suite,
    task_id,
    {{ passk._mask_longest('pass_mask') }} as longest_pass_streak,
    {{ passk._mask_longest('fail_mask') }} as longest_fail_streak
  from masked
),

from_streaks as (
  select
    run_id,
    suite,
    task_id,
    max(case when kind = 'passed' then streak_length else 0 end) as longest_pass_streak,
    max(case when kind = 'failed' then streak_length else 0 end) as longest_fail_streak
  from {{ ref('int_passk__streaks') }}
  where slice_name = 'all'
  group by run_id, suite, task_id
),

{# A task without a counted attempt has no streak, and no row in int_passk__streaks. #}
without_streaks as (
  select
    counts.run_id,
    counts.suite,
    counts.task_id,
    cast(0 as {{ dbt.type_bigint() }}) as longest_pass_streak,
    cast(0 as {{ dbt.type_bigint() }}) as longest_fail_streak
  from {{ ref('int_passk__task_counts') }} as counts
  where counts.slice_name = 'all'
    and counts.attempts > 0
    and counts.pass_mask is null
    and counts.n = 0
    and {{ '1 = 1' if passk._setting('passk_ordered_metrics') else '1 = 0' }}
)

select * from from_masks
union all
select * from from_streaks
union all
select * from without_streaks

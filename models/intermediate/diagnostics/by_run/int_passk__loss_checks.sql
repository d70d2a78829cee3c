{%- set run = 'run_id, suite' %}
{%- set k = passk._setting('passk_deployment_k') %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__tasks_by_count'), is_wanted=passk._setting('passk_diagnostics')) }}
),

by_count as (
  select by_count.*
  from {{ ref('int_passk__tasks_by_count') }} as by_count
  inner join changed_runs
    on by_count.run_id = changed_runs.run_id and by_count.suite = changed_runs.suite
  where by_count.slice_name = 'all'
),

estimated as {{ passk._made_once() }}(
  select
    by_count.*,
    states.lost_reliability
  from by_count
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on by_count.n = states.n and by_count.c = states.c and states.k = {{ k }}
),

totals as (
  select
    {{ run }},
    sum(tasks * lost_reliability) as lost_reliability,
    max(lost_reliability) as most_lost
  from estimated
  group by {{ run }}
),

{# The smallest number of tasks that cause more than half of the loss: the worst first, equal ones together. #}
losses as (
  select
    {{ run }},
    lost_reliability,
    cast(sum(tasks) as {{ bigint }}) as tasks
  from estimated
  where lost_reliability > 0
  group by {{ run }}, lost_reliability
),

ranked_losses as (
  select
    *,
    sum(tasks * lost_reliability) over (partition by {{ run }} order by lost_reliability desc rows unbounded preceding)
    - tasks * lost_reliability as lost_before,
    sum(tasks) over (partition by {{ run }} order by lost_reliability desc rows unbounded preceding) - tasks as tasks_before
  from losses
),

dominant as (
  select
    ranked_losses.run_id,
    ranked_losses.suite,
    {#- A sum that differs from half only by rounding is half. #}
    min(cast(
      ranked_losses.tasks_before + 1
      + floor(
        (totals.lost_reliability / 2 - ranked_losses.lost_before) / ranked_losses.lost_reliability + 1e-9
      ) as {{ bigint }}
    )) as dominant_tasks
  from ranked_losses
  inner join totals
    on ranked_losses.run_id = totals.run_id and ranked_losses.suite = totals.suite
  where
    ranked_losses.lost_before + ranked_losses.tasks * ranked_losses.lost_reliability
    > totals.lost_reliability / 2 + 1e-9 * ranked_losses.lost_reliability
    and ranked_losses.lost_before <= totals.lost_reliability / 2 + 1e-9 * ranked_losses.lost_reliability
  group by ranked_losses.run_id, ranked_losses.suite
),

{# Losses that differ by less than anybody reads are equal. #}
worst as (
  select
    counts.run_id,
    counts.suite,
    min({{ passk._by_bytes('counts.task_id') }}) as worst_task_id,
    cast(count(*) as {{ bigint }}) as worst_tasks
  from {{ ref('int_passk__task_counts') }} as counts
  inner join estimated
    on counts.run_id = estimated.run_id
    and counts.suite = estimated.suite
    and counts.n = estimated.n
    and counts.c = estimated.c
  inner join totals
    on counts.run_id = totals.run_id and counts.suite = totals.suite
  where
    counts.slice_name = 'all'
    and counts.attempts > 0
    and estimated.lost_reliability >= totals.most_lost * (1 - 1e-9)
    and totals.most_lost > 0
  group by counts.run_id, counts.suite
)

select
  totals.run_id,
  totals.suite,
  totals.lost_reliability,
  dominant.dominant_tasks,
  worst.worst_task_id,
  worst.worst_tasks,
  totals.most_lost / nullif(totals.lost_reliability, 0) as worst_share,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from totals
inner join changed_runs
  on totals.run_id = changed_runs.run_id and totals.suite = changed_runs.suite
left join dominant
  on totals.run_id = dominant.run_id and totals.suite = dominant.suite
left join worst
  on totals.run_id = worst.run_id and totals.suite = worst.suite

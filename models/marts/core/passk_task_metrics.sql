with counts as (
  select *
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
),

runs as (
  select * from {{ ref('int_passk__runs') }}
),

states as (
  select * from {{ ref('int_passk__estimates_by_count') }}
),

uncertainty as (
  select * from {{ ref('int_passk__uncertainty_by_count') }}
),

windows as {{ passk._made_once() }}(
  select *
  from {{ ref('int_passk__task_windows') }}
  where slice_name = 'all'
)

select
  counts.run_id,
  counts.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  counts.task_id,
  states.k,
  counts.n,
  counts.c,
  counts.excluded,
  {% for metric in ['pass_at_k', 'pass_hat_k'] -%}
  states.{{ metric }},
  uncertainty.{{ metric }}_lower,
  uncertainty.{{ metric }}_upper,
  {% endfor -%}
  case when counts.n >= states.k then states.pass_at_k_plugin end as pass_at_k_plugin,
  case when counts.n >= states.k then states.pass_hat_k_plugin end as pass_hat_k_plugin,
  {% if passk._setting('passk_ordered_metrics') -%}
  {#- A task without a counted attempt has no streak, so no window. #}
  coalesce(windows.windows, 0) as windows,
  {%- else -%}
  cast(null as {{ dbt.type_bigint() }}) as windows,
  {%- endif %}
  {{ passk.pass_at_k_window('windows.fail_windows', 'windows.windows') }} as pass_at_k_window,
  {{ passk.pass_hat_k_window('windows.pass_windows', 'windows.windows') }} as pass_hat_k_window,
  {% if passk._setting('passk_ordered_metrics') -%}
  {{ passk.pass_at_k_first_k('counts.first_pass_rank', 'counts.n', 'states.k') }} as pass_at_k_first_k,
  {{ passk.pass_hat_k_first_k('counts.first_fail_rank', 'counts.n', 'states.k') }} as pass_hat_k_first_k,
  {%- else -%}
  cast(null as {{ passk.type_double() }}) as pass_at_k_first_k,
  cast(null as {{ passk.type_double() }}) as pass_hat_k_first_k,
  {%- endif %}
  case
    when counts.n = 0 then 'no counted attempt'
    when counts.n < states.k
      then 'n = ' || cast(counts.n as {{ dbt.type_string() }}) || ' < k = ' || cast(states.k as {{ dbt.type_string() }})
  end as null_reason
from counts
inner join runs
  on counts.run_id = runs.run_id and counts.suite = runs.suite
inner join states
  on counts.n = states.n and counts.c = states.c
left join uncertainty
  on states.n = uncertainty.n and states.c = uncertainty.c and states.k = uncertainty.k
left join windows
  on counts.run_id = windows.run_id
  and counts.suite = windows.suite
  and counts.task_id = windows.task_id
  and states.k = windows.k

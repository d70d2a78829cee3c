{%- set asked = passk._setting('passk_m_of_k') %}

{#- With the counts as they would be, had the excluded attempts of a task failed, or passed: gates ask for these too. #}
with counts as (
  select distinct
    n,
    c,
    excluded
  from {{ ref('int_passk__task_counts') }}
  where {{ 'attempts > 0' if asked else '1 = 0' }}
),

states as (
  select
    n,
    c
  from counts
  union
  select
    n + excluded as n,
    c
  from counts
  union
  select
    n + excluded as n,
    c + excluded as c
  from counts
),

terms as (
  {%- if asked %}
  {{- passk._m_of_k_terms() }}
  {%- else %}
  {#- Nothing is asked for. #}
  select
    '' as metric,
    n as k,
    n as m,
    1 as times,
    n as passed,
    {{ passk._as_double('n') }} as ways
  from states
  {%- endif %}
),

{# So many passes, and then so many failures among the attempts that are left. #}
points as (
  select
    terms.*,
    states.n,
    states.c,
    states.n - terms.passed as n_left,
    states.n - states.c as failures,
    terms.times * terms.k - terms.passed as failed
  from states
  cross join terms
),

pass_logs as (
  {{ passk._with_log_choose_ratio('points', 'n', 'c', 'passed', 'log_passed', 'passed > 0 and passed <= c and c < n') }}
),

fail_logs as (
  {{ passk._with_log_choose_ratio(
    '(select n, c, metric, k, m, times, passed, ways, n_left, failures, failed, log_passed from pass_logs) as passes',
    'n_left', 'failures', 'failed', 'log_failed', 'failed > 0 and failed <= failures and failures < n_left'
  ) }}
),

chances as (
  select
    *,
    case
      when passed <= c and failed <= failures
        then ways * {{ passk._exp('coalesce(log_passed, 0e0) + coalesce(log_failed, 0e0)') }}
      else 0e0
    end as chance
  from fail_logs
),

{# The chance of k tries, and of twice k tries, the square. #}
scores as (
  select
    n,
    c,
    metric,
    k,
    m,
    case when n >= k then sum(case when times = 1 then chance else 0e0 end) end as estimate,
    case when n >= 2 * k then sum(case when times = 2 then chance else 0e0 end) end as squared
  from chances
  group by n, c, metric, k, m
),

{# Certain scores are exact, and rounding takes none above 1. #}
exact as (
  select
    n,
    c,
    metric,
    k,
    m,
    squared,
    case when metric = 'pass_m_of_k' and n >= k and n - c <= k - m or estimate > 1 then 1e0 else estimate end as estimate
  from scores
)

select
  n,
  c,
  metric,
  k,
  m,
  estimate,
  {#- Rounding may leave the difference below 0. #}
  case
    when squared is null then null
    when estimate * estimate > squared then estimate * estimate - squared
    else 0e0
  end as var_estimate
from exact

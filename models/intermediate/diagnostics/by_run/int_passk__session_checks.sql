{%- set run = 'run_id, suite' %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__read_tasks'), is_wanted=passk._setting('passk_diagnostics')) }}
),

timed as (
  select
    attempts.run_id,
    attempts.suite,
    attempts.task_id,
    attempts.started_at,
    cast(case when attempts.outcome = 'passed' then 1 else 0 end as {{ bigint }}) as passed
  from {{ ref('int_passk__read_attempts') }} as attempts
  inner join changed_runs
    on attempts.run_id = changed_runs.run_id and attempts.suite = changed_runs.suite
  where attempts.started_at is not null
),

clocks as {{ passk._made_once() }}(
  select
    {{ run }},
    min(started_at) as first_started_at,
    {{ passk._microseconds('min(started_at)', 'max(started_at)') }} as clock_us
  from timed
  group by {{ run }}
),

{# A pause of a hundredth of the run's time lies between two of a hundred bins, so that no attempt has to be sorted. #}
binned as (
  select
    timed.run_id,
    timed.suite,
    timed.started_at,
    floor(
      {{ passk._microseconds('clocks.first_started_at', 'timed.started_at') }}
      * 100 / nullif(clocks.clock_us, 0)
    ) as bin
  from timed
  inner join clocks
    on timed.run_id = clocks.run_id and timed.suite = clocks.suite
),

bins as (
  select
    {{ run }},
    bin,
    min(started_at) as first_started_at,
    max(started_at) as last_started_at
  from binned
  where bin is not null
  group by {{ run }}, bin
),

neighbours as (
  select
    {{ run }},
    first_started_at,
    lag(last_started_at) over (partition by {{ run }} order by bin) as previous_started_at
  from bins
),

pauses as (
  select
    {{ run }},
    first_started_at as session_started_at,
    {{ passk._microseconds('previous_started_at', 'first_started_at') }} as pause_us
  from neighbours
  where previous_started_at is not null
),

ranked_pauses as (
  select
    *,
    row_number() over (partition by {{ run }} order by pause_us desc, session_started_at asc) as place
  from pauses
),

breaks as {{ passk._made_once() }}(
  select
    ranked_pauses.run_id,
    ranked_pauses.suite,
    ranked_pauses.session_started_at,
    ranked_pauses.pause_us
  from ranked_pauses
  inner join clocks
    on ranked_pauses.run_id = clocks.run_id and ranked_pauses.suite = clocks.suite
  where ranked_pauses.place = 1 and 100 * ranked_pauses.pause_us >= clocks.clock_us
),

session_tasks as (
  select
    timed.run_id,
    timed.suite,
    timed.task_id,
    count(*) as n,
    sum(timed.passed) as c,
    sum(case when timed.started_at < breaks.session_started_at then 1 else 0 end) as first_n,
    sum(case when timed.started_at < breaks.session_started_at then timed.passed else 0 end) as first_c
  from timed
  inner join breaks
    on timed.run_id = breaks.run_id and timed.suite = breaks.suite
  group by timed.run_id, timed.suite, timed.task_id
),

session_states as (
  select
    {{ run }},
    cast(first_n as {{ double }}) as first_n,
    cast(n as {{ double }}) as n,
    cast(c as {{ double }}) as c,
    cast(first_c as {{ double }}) as first_c,
    count(*) as tasks
  from session_tasks
  where first_n > 0 and first_n < n and c > 0 and c < n
  group by {{ run }}, first_n, n, c, first_c
),

session_variances as (
  select
    *,
    power(first_c - first_n * c / n, 2) as squared,
    {{ passk.session_variance('first_n', 'n', 'c') }} as variance
  from session_states
),

session_moments as (
  select
    *,
    {{ passk._session_square_variance('first_n', 'n', 'c', 'variance') }} as square_variance
  from session_variances
),

session_sums as {{ passk._made_once() }}(
  select
    {{ run }},
    cast(sum(tasks) as {{ bigint }}) as session_tasks,
    sum(tasks * (squared - variance)) as excess,
    sum(tasks * squared) / sum(tasks * variance) as overdispersion,
    sum(tasks * square_variance) as square_variance
  from session_moments
  where square_variance > 0
  group by {{ run }}
)

select
  changed_runs.run_id,
  changed_runs.suite,
  clocks.clock_us / 1e6 as clock_s,
  breaks.pause_us / 1e6 as pause_s,
  session_sums.session_tasks,
  session_sums.overdispersion,
  session_sums.excess / sqrt(nullif(session_sums.square_variance, 0)) as z_batch,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from changed_runs
left join clocks
  on changed_runs.run_id = clocks.run_id and changed_runs.suite = clocks.suite
left join breaks
  on changed_runs.run_id = breaks.run_id and changed_runs.suite = breaks.suite
left join session_sums
  on changed_runs.run_id = session_sums.run_id and changed_runs.suite = session_sums.suite

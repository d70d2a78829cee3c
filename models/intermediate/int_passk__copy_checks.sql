{{
  config(
    materialized='passk_incremental',
    unique_key=['run_id', 'suite'],
    meta={'shaped_by': ['passk_diagnostics']},
  )
}}
{{ passk._depends_on_changes() }}
-- depends_on: {{ ref('int_passk__attempts') }}

{%- set keys = ['run_id', 'suite'] %}
{%- set run = 'run_id, suite' %}
{%- set task = 'run_id, suite, task_id' %}
{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}

{#- Of a run with kept attempts, what they were read of. #}
{%- set wanted %}
  select
    wanted_runs.run_id,
    wanted_runs.suite,
    coalesce(kept_runs.loaded_at, wanted_runs.loaded_at) as loaded_at,
    coalesce(kept_runs.log_rows, wanted_runs.log_rows) as log_rows
  from ({{ passk._wanted_runs(passk._setting('passk_diagnostics')) }}) as wanted_runs
  left join {{ ref('int_passk__read_attempts') }} as kept_runs
    on
      wanted_runs.run_id = kept_runs.run_id
      and wanted_runs.suite = kept_runs.suite
      and kept_runs.task_id = ''
{%- endset %}
{%- set known = 'select run_id, suite, loaded_at, log_rows from ' ~ this %}
{%- set plan = passk._plan(keys, wanted, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
{#- Most logs have none of these, and then no attempt is read. Engines see that a column holds nothing without a scan. #}
{%- set has = {} %}
{%- for name in ['seed', 'output_hash', 'started_at', 'tags'] %}
  {%- do has.update({
    name: passk._setting('passk_diagnostics') and passk._may_have_rows(ref('stg_passk__attempts'), name ~ ' is not null')
  }) %}
{%- endfor %}
{%- set parts = [] %}
{#- Most logs have no run that is so large. #}
{%- set kept_attempts = ref('int_passk__read_attempts') %}
{%- set has_kept = passk._may_have_rows(kept_attempts) %}
{#- Asked for first, because engines look through the log for no run at all. #}
{%- set has_reread = not has_kept or passk._may_have_rows(
  kept_attempts,
  'exists (select 1 from (' ~ passk._to_make(keys, wanted, plan) ~ ') as runs where not exists (select 1 from '
  ~ kept_attempts ~ ' as kept where kept.run_id = runs.run_id and kept.suite = runs.suite and kept.task_id = \'\'))'
) %}

with runs as (
  {{ passk._to_make(keys, wanted, plan) }}
),

run_tasks as (
  select
    counts.run_id,
    counts.suite,
    counts.task_id,
    counts.n
  from {{ ref('int_passk__task_counts') }} as counts
  inner join runs
    on counts.run_id = runs.run_id and counts.suite = runs.suite
  where counts.slice_name = 'all' and counts.attempts > 0
),

{% if has.values() | select | list -%}
{% if has_kept -%}
kept_runs as (
  select
    kept.run_id,
    kept.suite,
    kept.read_tasks
  from {{ ref('int_passk__read_attempts') }} as kept
  inner join runs
    on kept.run_id = runs.run_id and kept.suite = runs.suite
  where kept.task_id = ''
),

{% if has_reread -%}
reread_tasks as (
  select run_tasks.*
  from run_tasks
  left join kept_runs
    on run_tasks.run_id = kept_runs.run_id and run_tasks.suite = kept_runs.suite
  where kept_runs.run_id is null
),

{% endif -%}
{% endif -%}

{% if has_reread -%}
{{ passk._read_tasks('reread_tasks' if has_kept else 'run_tasks') }},

{% endif -%}

read_counts as (
  {%- if has_reread %}
  select
    {{ run }},
    cast(count(*) as {{ bigint }}) as read_tasks
  from read_tasks
  group by {{ run }}
  {%- endif %}
  {{ 'union all' if has_reread and has_kept }}
  {%- if has_kept %}
  select {{ run }}, read_tasks
  from kept_runs
  {%- endif %}
),

attempts as (
  {%- if has_reread %}
  select
    {{ passk._read_columns('attempts') }}
  {{ passk._from_log('read_tasks', plan) }}
  {%- endif %}
  {{ 'union all' if has_reread and has_kept }}
  {%- if has_kept %}
  select
    {{ passk._read_columns('kept', is_kept=true) }}
  from {{ ref('int_passk__read_attempts') }} as kept
  inner join runs
    on kept.run_id = runs.run_id and kept.suite = runs.suite
  where kept.task_id <> ''
  {%- endif %}
),

{% endif -%}

{% if has.seed -%}
{%- do parts.append('seeds') %}
seed_groups as (
  select
    {{ task }},
    seed,
    count(*) as copies
  from attempts
  where seed is not null
  group by {{ task }}, seed
),

seed_tasks as (
  select
    {{ task }},
    sum(copies) as attempts,
    count(*) as distinct_seeds
  from seed_groups
  group by {{ task }}
),

seeds as (
  select
    {{ run }},
    cast(sum(case when attempts > 1 then 1 else 0 end) as {{ bigint }}) as seed_tasks,
    cast(sum(case when attempts > 1 then attempts else 0 end) as {{ bigint }}) as seed_attempts,
    cast(sum(attempts - distinct_seeds) as {{ bigint }}) as repeated_seeds,
    cast(sum(case when distinct_seeds < attempts then 1 else 0 end) as {{ bigint }}) as repeated_seed_tasks
  from seed_tasks
  group by {{ run }}
),

{% endif -%}

{% if has.output_hash -%}
{%- do parts.append('outputs') %}
output_groups as (
  select
    {{ task }},
    output_hash,
    count(*) as copies,
    sum(passed) as passes
  from attempts
  where output_hash is not null
  group by {{ task }}, output_hash
),

output_tasks as (
  select
    {{ task }},
    sum(copies) as attempts,
    count(*) as distinct_outputs,
    sum(copies * (copies - 1) / 2) as pairs,
    sum(passes * (copies - passes)) as disagreements
  from output_groups
  group by {{ task }}
),

outputs as (
  select
    {{ run }},
    cast(sum(case when attempts > 1 then 1 else 0 end) as {{ bigint }}) as output_tasks,
    cast(sum(case when attempts > 1 then attempts else 0 end) as {{ bigint }}) as output_attempts,
    cast(sum(case when attempts > 1 then distinct_outputs else 0 end) as {{ bigint }}) as distinct_outputs,
    cast(sum(case when attempts > 1 and 2 * distinct_outputs <= attempts then 1 else 0 end) as {{ bigint }})
      as copied_tasks,
    cast(sum(case when attempts > 1 and distinct_outputs = 1 then 1 else 0 end) as {{ bigint }}) as same_output_tasks,
    cast(sum(case when pairs > 0 then 1 else 0 end) as {{ bigint }}) as graded_twice_tasks,
    cast(sum(pairs) as {{ bigint }}) as pairs,
    cast(sum(disagreements) as {{ bigint }}) as disagreements
  from output_tasks
  group by {{ run }}
),

{% endif -%}

{% if has.started_at -%}
{%- do parts.append('sessions') %}
timed as (
  select *
  from attempts
  where started_at is not null
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
),

sessions as (
  select
    clocks.run_id,
    clocks.suite,
    session_sums.session_tasks,
    session_sums.overdispersion,
    clocks.clock_us / 1e6 as clock_s,
    breaks.pause_us / 1e6 as pause_s,
    session_sums.excess / sqrt(nullif(session_sums.square_variance, 0)) as z_batch
  from clocks
  left join breaks
    on clocks.run_id = breaks.run_id and clocks.suite = breaks.suite
  left join session_sums
    on clocks.run_id = session_sums.run_id and clocks.suite = session_sums.suite
),

{% endif -%}

{% if has.tags -%}
{%- do parts.append('retries') %}
tried_tasks as (
  select
    {{ task }},
    max(tried_again) as tried_again
  from attempts
  group by {{ task }}
),

retries as (
  select
    {{ run }},
    cast(sum(tried_again) as {{ bigint }}) as tried_again_tasks
  from tried_tasks
  group by {{ run }}
),

{% endif -%}

totals as (
  select
    {{ run }},
    cast(count(*) as {{ bigint }}) as tasks
  from run_tasks
  group by {{ run }}
)

{%- set fields = {
  'seeds': [
    ('seed_tasks', bigint), ('seed_attempts', bigint), ('repeated_seeds', bigint), ('repeated_seed_tasks', bigint)
  ],
  'outputs': [
    ('output_tasks', bigint), ('output_attempts', bigint), ('distinct_outputs', bigint), ('copied_tasks', bigint),
    ('same_output_tasks', bigint), ('graded_twice_tasks', bigint), ('pairs', bigint), ('disagreements', bigint)
  ],
  'sessions': [
    ('clock_s', double), ('pause_s', double), ('session_tasks', bigint), ('overdispersion', double), ('z_batch', double)
  ]
} %}

select
  totals.run_id,
  totals.suite,
  totals.tasks,
  {{ 'read_counts.read_tasks' if parts else 'totals.tasks as read_tasks' }},
  {%- for part, columns in fields.items() %}
  {%- for name, type in columns %}
  {{ part ~ '.' ~ name if part in parts else 'cast(null as ' ~ type ~ ')' }} as {{ name }},
  {%- endfor %}
  {%- endfor %}
  {#- A run whose log says nothing of retries has none that are known, whichever runs are looked at beside it. #}
  {{ 'nullif(retries.tried_again_tasks, 0)' if 'retries' in parts else 'cast(null as ' ~ bigint ~ ')' }}
    as tried_again_tasks,
  runs.loaded_at,
  runs.log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from totals
inner join runs
  on totals.run_id = runs.run_id and totals.suite = runs.suite
{%- for part in (['read_counts'] if parts else []) + parts %}
left join {{ part }}
  on totals.run_id = {{ part }}.run_id and totals.suite = {{ part }}.suite
{%- endfor %}
{{ passk._replaces(plan.changed) if plan.changed }}
{%- endif %}

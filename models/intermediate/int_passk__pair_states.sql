{{
  config(
    materialized='passk_incremental',
    unique_key=['suite', 'baseline_run_id', 'candidate_run_id', 'pair_source'],
  )
}}
{{ passk._depends_on_changes() }}

{%- set keys = passk._pair_keys() %}
{%- set bigint = dbt.type_bigint() %}

{#- A declared run that the log does not have leaves its side without a row. #}
{%- set wanted %}
  select
    {% for key in keys %}pairs.{{ key }}, {% endfor %}
    case
      when baselines.loaded_at is null or candidates.loaded_at > baselines.loaded_at then candidates.loaded_at
      else baselines.loaded_at
    end as loaded_at,
    cast(coalesce(baselines.task_rows, 0) + coalesce(candidates.task_rows, 0) as {{ bigint }}) as log_rows
  from {{ ref('int_passk__pairs') }} as pairs
  {{ passk._join_runs_of('pairs') }}
{%- endset %}
{%- set known = 'select ' ~ keys | join(', ') ~ ', loaded_at, log_rows from ' ~ this
  ~ ' where baseline_n is null and candidate_n is null' %}
{%- set plan = passk._pair_plan(wanted, known) %}

{%- if plan.is_done %}
{{ passk._nothing_new() }}
{%- else %}
with wanted_pairs as (
  {{ passk._to_make(keys, wanted, plan) }}
),

pairs as (
  select
    wanted_pairs.*,
    row_number() over (
      order by wanted_pairs.suite, wanted_pairs.baseline_run_id, wanted_pairs.candidate_run_id, wanted_pairs.pair_source
    ) as pair_number
  from wanted_pairs
),

counts as (
  select
    run_id,
    suite,
    task_id,
    n,
    c
  from {{ ref('int_passk__task_counts') }}
  where
    slice_name = 'all'
    and attempts > 0
    and {{ passk._is_among(plan, 'run_id', ['baseline_run_id', 'candidate_run_id']) }}
),

histogram as (
  select
    pair_number,
    baseline_n,
    baseline_c,
    candidate_n,
    candidate_c,
    cast(count(*) as {{ bigint }}) as tasks
  from ({{ passk._pair_tasks() }}) as pair_tasks
  group by pair_number, baseline_n, baseline_c, candidate_n, candidate_c
)

select
  {% for key in keys %}pairs.{{ key }}, {% endfor %}
  histogram.baseline_n,
  histogram.baseline_c,
  histogram.candidate_n,
  histogram.candidate_c,
  histogram.tasks,
  pairs.loaded_at,
  pairs.log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pairs
inner join histogram
  on pairs.pair_number = histogram.pair_number
union all
{#- One row of each pair that can be found without a look at the others, and the only one where no task has an attempt. #}
select
  {{ keys | join(', ') }},
  cast(null as {{ bigint }}) as baseline_n,
  cast(null as {{ bigint }}) as baseline_c,
  cast(null as {{ bigint }}) as candidate_n,
  cast(null as {{ bigint }}) as candidate_c,
  cast(0 as {{ bigint }}) as tasks,
  loaded_at,
  log_rows,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pairs
{{ passk._replaces(plan.changed) if plan.changed }}
{%- endif %}

{%- set pairs = passk._setting('passk_pairs') or [] %}
{%- set baseline = passk._setting('passk_baseline') %}
{%- set text = dbt.type_string() %}

with runs as (
  select *
  from {{ ref('int_passk__runs') }}
  where task_rows > 0
)

{%- if pairs %},

declared as (
  {%- for pair in pairs %}
  select
    {{ passk._quoted(pair.baseline) }} as baseline_run_id,
    {{ passk._quoted(pair.candidate) }} as candidate_run_id,
    {% if pair.suite is defined and pair.suite is not none -%}
    {{ passk._quoted(pair.suite) }}
    {%- else -%}
    cast(null as {{ text }})
    {%- endif %} as suite
  {{- ' union all ' if not loop.last }}
  {%- endfor %}
),

{#- A pair without a suite stands for every suite that has both runs. Where there is none it stays in view, in the suites that
    have one of them. #}
suites_of_pairs as (
  select
    declared.baseline_run_id,
    declared.candidate_run_id,
    declared.suite as declared_suite,
    runs.suite,
    count(distinct runs.run_id) as found_runs
  from declared
  left join runs
    on
      runs.run_id in (declared.baseline_run_id, declared.candidate_run_id)
      and runs.suite = coalesce(declared.suite, runs.suite)
  group by declared.baseline_run_id, declared.candidate_run_id, declared.suite, runs.suite
),

ranked_suites as (
  select
    *,
    max(found_runs) over (partition by baseline_run_id, candidate_run_id, declared_suite) as most_found_runs
  from suites_of_pairs
),

declared_pairs as (
  select distinct
    coalesce(declared_suite, suite, '(unknown)') as suite,
    baseline_run_id,
    candidate_run_id
  from ranked_suites
  where found_runs = most_found_runs
)

{%- endif %}
{%- if baseline is not none %},

{#- A suite without the baseline is left alone, unless no suite has it: then it is a mistake that must be seen. #}
against_baseline as (
  select
    runs.suite,
    {{ passk._quoted(baseline) }} as baseline_run_id,
    runs.run_id as candidate_run_id
  from runs
  where
    runs.run_id <> {{ passk._quoted(baseline) }}
    and (
      exists (select 1 from runs as others where others.run_id = {{ passk._quoted(baseline) }} and others.suite = runs.suite)
      or not exists (select 1 from runs as others where others.run_id = {{ passk._quoted(baseline) }})
    )
)

{%- elif not pairs %},

starts as (
  select
    run_id,
    suite,
    min(started_at) as started_at
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
  group by run_id, suite
),

{# Times of the log are an order only if every run has one. #}
dated as (
  select
    runs.suite,
    runs.agent,
    runs.run_id,
    runs.loaded_at,
    case
      when
        count(starts.started_at) over (partition by runs.suite, runs.agent)
        = count(*) over (partition by runs.suite, runs.agent)
        then starts.started_at
      else runs.loaded_at
    end as ordered_at
  from runs
  inner join starts
    on runs.run_id = starts.run_id and runs.suite = starts.suite
),

in_order as (
  select
    suite,
    run_id as candidate_run_id,
    lag(run_id) over (partition by suite, agent order by ordered_at, run_id) as baseline_run_id
  from dated
)

{%- endif %}

{% if pairs -%}
select
  suite,
  baseline_run_id,
  candidate_run_id,
  'declared' as pair_source
from declared_pairs
{%- endif %}
{%- if pairs and baseline is not none %}
union all
{% endif %}
{%- if baseline is not none -%}
select
  suite,
  baseline_run_id,
  candidate_run_id,
  'baseline' as pair_source
from against_baseline
{%- if pairs %}
where
  not exists (
    select 1
    from declared_pairs
    where
      declared_pairs.suite = against_baseline.suite
      and declared_pairs.baseline_run_id = against_baseline.baseline_run_id
      and declared_pairs.candidate_run_id = against_baseline.candidate_run_id
  )
{%- endif %}
{%- elif not pairs -%}
select
  suite,
  baseline_run_id,
  candidate_run_id,
  'previous' as pair_source
from in_order
where baseline_run_id is not null
{%- endif %}

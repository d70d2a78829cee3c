{%- set pairs = passk._setting('passk_pairs') or [] %}
{%- set baseline = passk._setting('passk_baseline') %}
{%- set text = dbt.type_string() %}
{%- set of_gates = passk._gates() | selectattr('baseline') | list %}

with runs as (
  select *
  {%- if pairs or baseline is not none %}
  from {{ ref('int_passk__runs') }}
  where task_rows > 0
  {%- else %}
  from {{ ref('int_passk__run_order') }}
  {%- endif %}
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

{#- A suite without the baseline is skipped. If no suite has the baseline, that is a mistake and must be visible. #}
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

in_order as (
  select
    suite,
    run_id as candidate_run_id,
    previous_run_id as baseline_run_id
  from runs
  where previous_run_id is not null
)

{%- endif %}
{%- if of_gates %},

{#- Baselines that gates name. A gate without a baseline is judged by the existing pairs. #}
of_gates as (
  select distinct
    suite,
    baseline as baseline_run_id,
    run_id as candidate_run_id
  from {{ ref('int_passk__gate_runs') }}
  where (has_run or is_all_in_quarantine) and baseline <> run_id
)

{%- endif %}

,

{#- Each run that is ranked with each other one; the baseline is the older one. #}
of_rankings as (
  select
    older.suite,
    older.run_id as baseline_run_id,
    newer.run_id as candidate_run_id
  from {{ ref('int_passk__ranked_runs') }} as older
  inner join {{ ref('int_passk__ranked_runs') }} as newer
    on older.suite = newer.suite and older.age > newer.age
)

{#- If a pair is declared twice, the first declaration counts. #}
{%- set sources = [] %}
{%- if pairs %}
{%- do sources.append(('declared', 'declared_pairs')) %}
{%- endif %}
{%- if baseline is not none %}
{%- do sources.append(('baseline', 'against_baseline')) %}
{%- elif not pairs %}
{%- do sources.append(('previous', 'in_order')) %}
{%- endif %}
{%- if of_gates %}
{%- do sources.append(('gate', 'of_gates')) %}
{%- endif %}
{%- do sources.append(('ranking', 'of_rankings')) -%}
,

asked_for as (
  {%- for source, relation in sources %}
  select
    suite,
    baseline_run_id,
    candidate_run_id,
    '{{ source }}' as pair_source,
    {{ loop.index }} as place
  from {{ relation }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

ranked as (
  select
    *,
    min(place) over (partition by suite, baseline_run_id, candidate_run_id) as first_place
  from asked_for
)

{%- if passk._judges_pairs() %}
,

judged_runs as (
  select distinct
    run_id,
    suite
  from {{ ref('int_passk__gate_runs') }}
  where has_run and rule_type in ('drop', 'regressed_tasks')
)
{%- endif %}

select
  ranked.suite,
  ranked.baseline_run_id,
  ranked.candidate_run_id,
  ranked.pair_source,
  'all' as slice_name,
  {#- A declared run that is not in the log has no row on its side. #}
  coalesce(baselines.log_version, '-') || ' ' || coalesce(candidates.log_version, '-') as log_version
from ranked
{{ passk._join_runs_of('ranked') }}
where ranked.place = ranked.first_place
{%- if passk._judges_pairs() %}
union all
select
  ranked.suite,
  ranked.baseline_run_id,
  ranked.candidate_run_id,
  ranked.pair_source,
  'quarantine' as slice_name,
  coalesce(baselines.log_version, '-') || ' ' || coalesce(candidates.log_version, '-') as log_version
from ranked
{{ passk._join_runs_of('ranked') }}
inner join judged_runs
  on ranked.candidate_run_id = judged_runs.run_id and ranked.suite = judged_runs.suite
where ranked.place = ranked.first_place and ranked.pair_source <> 'ranking'
{%- endif %}

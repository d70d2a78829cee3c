{{ config(materialized='ephemeral') }}
{%- set suites = passk._setting('passk_private_suites') or [] %}
{%- set identity = ['agent', 'agent_version', 'model'] %}
{%- set sides = ['public', 'private'] %}
{%- set measures = [
  ('pass_at_1', 'pass_rate', 'related_var_pass_rate'),
  ('pass_hat_k', 'pass_hat_k', 'related_var_pass_hat_k'),
] %}

with runs as (
  select *
  from {{ ref('int_passk__runs') }}
  where task_rows > 0
),

suite_pairs as (
  {%- for pair in suites %}
  select
    {{ passk._quoted(pair.public) }} as public_suite,
    {{ passk._quoted(pair.private) }} as private_suite
  {{- ' union' if not loop.last }}
  {%- else %}
  select
    suite as public_suite,
    suite as private_suite
  from runs
  where 1 = 0
  {%- endfor %}
),

starts as (
  select
    run_id,
    suite,
    min(started_at) as started_at
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
  group by run_id, suite
),

public_runs as (
  select
    suite_pairs.public_suite,
    suite_pairs.private_suite,
    runs.run_id as public_run_id,
    runs.agent,
    runs.agent_version,
    runs.model,
    coalesce(runs.agent, runs.agent_version, runs.model) is not null as is_named
  from suite_pairs
  inner join runs
    on suite_pairs.public_suite = runs.suite
),

{# Runs without any name are not assumed to belong to one agent. #}
counterparts as (
  select
    public_runs.public_suite,
    public_runs.private_suite,
    public_runs.public_run_id,
    runs.run_id as private_run_id,
    runs.loaded_at,
    starts.started_at,
    case when runs.run_id = public_runs.public_run_id then 'same_run' else 'same_agent' end as private_source
  from public_runs
  inner join runs
    on public_runs.private_suite = runs.suite
  inner join starts
    on runs.run_id = starts.run_id and runs.suite = starts.suite
  where
    runs.run_id = public_runs.public_run_id
    or (
      public_runs.is_named
      {%- for name in identity %}
      and (
        public_runs.{{ name }} = runs.{{ name }}
        or (public_runs.{{ name }} is null and runs.{{ name }} is null)
      )
      {%- endfor %}
    )
),

dated as (
  select
    *,
    {{ passk._ordered_at('public_suite, private_suite, public_run_id') }} as ordered_at
  from counterparts
),

ranked as (
  select
    *,
    row_number() over (
      partition by public_suite, private_suite, public_run_id
      order by
        private_source desc,
        {#- A run of unknown time is never the latest, although engines sort nulls differently. #}
        case when ordered_at is null then 1 else 0 end,
        ordered_at desc,
        {{ passk._by_bytes('private_run_id') }} desc
    ) as place
  from dated
),

errors as (
  select
    *,
    {{ passk._padded_columns(measures) }}
  from {{ ref('int_passk__suite_metrics') }}
  where slice_name = 'all'
),

metrics as (
  select
    run_id,
    suite,
    k,
    eligible_tasks,
    {{ passk._as_double('eligible_tasks') }} / total_tasks as eligible_share,
    {%- for measure, mean, _ in measures %}
    {{ mean }} as {{ measure }},
    {{ passk._padded_limit(measure, '-') }} as {{ measure }}_lower,
    {{ passk._padded_limit(measure, '+') }} as {{ measure }}_upper,
    {%- endfor %}
    null_reason,
    loaded_at
  from errors
)

select
  public_runs.public_suite,
  public_runs.private_suite,
  public_runs.public_run_id,
  ranked.private_run_id,
  ranked.private_source,
  public_runs.agent,
  public_runs.agent_version,
  public_runs.model,
  public_runs.is_named,
  public_metrics.k,
  {%- for side in sides %}
  {{ side }}_metrics.eligible_tasks as {{ side }}_tasks,
  {{ side }}_metrics.eligible_share as {{ side }}_share,
  {{ side }}_metrics.null_reason as {{ side }}_null_reason,
  {%- for measure, _, _ in measures %}
  {%- for end in ['', '_lower', '_upper'] %}
  {{ side }}_metrics.{{ measure }}{{ end }} as {{ side }}_{{ measure }}{{ end }},
  {%- endfor %}
  {%- endfor %}
  {%- endfor %}
  case
    when private_metrics.loaded_at > public_metrics.loaded_at then private_metrics.loaded_at
    else public_metrics.loaded_at
  end as loaded_at
from public_runs
inner join metrics as public_metrics
  on public_runs.public_run_id = public_metrics.run_id and public_runs.public_suite = public_metrics.suite
left join ranked
  on public_runs.public_suite = ranked.public_suite
  and public_runs.private_suite = ranked.private_suite
  and public_runs.public_run_id = ranked.public_run_id
  and ranked.place = 1
left join metrics as private_metrics
  on ranked.private_run_id = private_metrics.run_id
  and ranked.private_suite = private_metrics.suite
  and public_metrics.k = private_metrics.k

{%- set gates = passk._gates() %}
{%- set has_quarantine = passk._quarantine() | length > 0 %}

with gates as (
  {%- if gates %}
  {%- for rule in gates %}
  {{ passk._gate_row(rule) }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
  {%- else %}
  select *
  from (
    {{ passk._gate_row(passk._no_gate()) }}
  ) as no_gate
  where gate <> gate
  {%- endif %}
),

ordered as (
  select * from {{ ref('int_passk__run_order') }}
),

unusable as (
  select * from {{ ref('int_passk__unusable_runs') }}
),

{# A later run without anything to judge must not let an older run pass in its place. The agent of a run without a name
   is unknown. #}
usable_runs as (
  select
    ordered.suite,
    ordered.run_id,
    ordered.agent,
    ordered.agent_version,
    ordered.model,
    ordered.loaded_at,
    ordered.is_latest
    and not exists (
      select 1
      from unusable
      where
        unusable.suite = ordered.suite
        and unusable.loaded_at > ordered.loaded_at
        and coalesce(unusable.agent = ordered.agent, unusable.agent is null and ordered.agent is null)
    ) as is_latest
  from ordered
),

unusable_runs as (
  select
    unusable.suite,
    unusable.run_id,
    unusable.agent,
    unusable.agent_version,
    unusable.model,
    unusable.loaded_at,
    not exists (
      select 1
      from ordered
      where
        ordered.suite = unusable.suite
        and ordered.loaded_at > unusable.loaded_at
        and (unusable.agent is null or unusable.agent = ordered.agent)
    ) as is_latest
  from unusable
),

runs as (
  select
    *,
    true as has_run
  from usable_runs
  union all
  select
    *,
    false as has_run
  from unusable_runs
)

select
  gates.gate,
  gates.rule_type,
  gates.rule,
  gates.metric,
  gates.k,
  gates.first_attempts,
  gates.last_runs,
  gates.threshold,
  gates.threshold_text,
  gates.least_tasks,
  gates.scope,
  gates.slice_name,
  gates.slice_value,
  gates.judged_slice,
  gates.judged_value,
  gates.baseline,
  gates.severity,
  gates.inconclusive_severity,
  runs.agent_version,
  runs.model,
  runs.loaded_at,
  {%- if has_quarantine %}
  coalesce(runs.has_run and coalesce(quarantine.judged_tasks > 0, true), false) as has_run,
  coalesce(quarantine.judged_tasks = 0, false) as is_all_in_quarantine,
  quarantine.quarantined_tasks,
  quarantine.quarantine,
  {%- else %}
  coalesce(runs.has_run, false) as has_run,
  false as is_all_in_quarantine,
  cast(null as {{ dbt.type_bigint() }}) as quarantined_tasks,
  cast(null as {{ dbt.type_string() }}) as quarantine,
  {%- endif %}
  runs.run_id is not null and not runs.has_run as is_unusable,
  coalesce(runs.run_id, case when gates.run not in ('latest', 'all') then gates.run end, '(unknown)') as run_id,
  coalesce(runs.suite, gates.suite, '(unknown)') as suite,
  coalesce(runs.agent, gates.agent) as agent
from gates
left join runs
  on (gates.suite is null or gates.suite = runs.suite)
  and (gates.agent is null or gates.agent = runs.agent or (runs.agent is null and not runs.has_run))
  and (gates.run = 'all' or (gates.run = 'latest' and runs.is_latest) or gates.run = runs.run_id)
{%- if has_quarantine %}
left join {{ ref('int_passk__quarantine') }} as quarantine
  on runs.run_id = quarantine.run_id
  and runs.suite = quarantine.suite
  and gates.rule_type in ('{{ passk._rule_schema().leave_out_quarantine | join("', '") }}')
{%- endif %}

{%- set text = dbt.type_string() %}
{%- set gates = passk._gates() %}

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

runs as (
  select * from {{ ref('int_passk__run_order') }}
)

select
  gates.gate,
  gates.kind,
  gates.rule,
  gates.metric,
  gates.k,
  gates.threshold,
  gates.threshold_text,
  gates.least_tasks,
  gates.scope,
  gates.slice_name,
  gates.slice_value,
  gates.baseline,
  gates.severity,
  gates.inconclusive_severity,
  runs.agent_version,
  runs.model,
  runs.loaded_at,
  runs.run_id is not null as has_run,
  coalesce(runs.run_id, case when gates.run not in ('latest', 'all') then gates.run end, '(unknown)') as run_id,
  coalesce(runs.suite, gates.suite, '(unknown)') as suite,
  coalesce(runs.agent, gates.agent) as agent
from gates
left join runs
  on (gates.suite is null or gates.suite = runs.suite)
  and (gates.agent is null or gates.agent = runs.agent)
  and (gates.run = 'all' or (gates.run = 'latest' and runs.is_latest) or gates.run = runs.run_id)

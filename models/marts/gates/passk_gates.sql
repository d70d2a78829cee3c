{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{%- set gates = passk._gates() %}
{%- set rule_types = gates | map(attribute='rule_type') | unique | list %}
{#- The columns that rules of every type pass on. #}
{%- set carried = [
  'gate', 'rule_type', 'rule', 'metric', 'k', 'threshold', 'scope', 'severity', 'inconclusive_severity', 'run_id', 'suite', 'agent',
  'agent_version', 'model', 'loaded_at', 'quarantined_tasks', 'quarantine'
] %}
{%- set judged = [
  'baseline_run_id', 'slice_name', 'slice_value', 'tasks', 'estimate', 'estimate_lower', 'estimate_upper', 'result',
  'reason', 'to_settle'
] %}
{%- set relations = {
  'threshold': 'judged_thresholds', 'sequential': 'judged_sequences', 'drop': 'judged_drops',
  'rolling_drop': 'judged_rolling_drops', 'each_task': 'judged_tasks', 'coverage': 'judged_coverage', 'cost': 'judged_costs',
  'cost_increase': 'judged_cost_increases', 'regressed_tasks': 'judged_moves', 'diagnostics': 'judged_diagnostics'
} %}

with gates as (
  select * from {{ ref('int_passk__gate_runs') }}
),

{# A rule that finds nothing to judge must not look like one that holds. #}
unmatched as (
  select
    {{ carried | join(',\n    ') }},
    baseline as baseline_run_id,
    coalesce(slice_name, 'all') as slice_name,
    coalesce(slice_value, case when slice_name is null then 'all' else '(unknown)' end) as slice_value,
    cast(null as {{ bigint }}) as tasks,
    cast(null as {{ double }}) as estimate,
    cast(null as {{ double }}) as estimate_lower,
    cast(null as {{ double }}) as estimate_upper,
    'inconclusive' as result,
    case
      when is_all_in_quarantine then 'Every task of ' || run_id || ' is in quarantine.'
      when is_unusable then 'No attempt of ' || run_id || ' can be used: all were rejected.'
      else 'No run is judged: the log has none'
        || case when run_id <> '(unknown)' then ' named ' || run_id else '' end
        || case when suite <> '(unknown)' then ' of the suite ' || suite else '' end
        || case when agent is not null then ' by ' || agent else '' end
        || '.'
    end as reason,
    case
      when is_all_in_quarantine then 'A task that is not in quarantine.'
      when is_unusable then 'The reasons in passk_rejected_attempts, mended.'
      else 'Such a run, or other names in the gate.'
    end as to_settle
  from gates
  where not has_run
)

{%- if 'threshold' in rule_types or 'drop' in rule_types or 'rolling_drop' in rule_types %},

bounds as (
  select * from {{ ref('int_passk__gate_bounds') }}
)

{%- endif %}
{%- if 'threshold' in rule_types %},

{{ passk._judged_thresholds(carried) }}

{%- endif %}
{%- if 'sequential' in rule_types %},

{{ passk._judged_sequences(carried) }}

{%- endif %}
{%- if 'drop' in rule_types or 'regressed_tasks' in rule_types %},

comparisons as (
  select *
  {%- if passk._judges_pairs() %}
  from {{ ref('int_passk__pair_verdicts') }}
  where is_judged
  {%- else %}
  from {{ ref('passk_comparisons') }}
  {%- endif %}
)

{%- endif %}
{%- if 'drop' in rule_types %},

{{ passk._judged_drops(carried) }}

{%- endif %}
{%- if 'rolling_drop' in rule_types %},

{{ passk._judged_rolling_drops(carried) }}

{%- endif %}
{%- if 'each_task' in rule_types %},

{{ passk._judged_tasks(carried, gates) }}

{%- endif %}
{%- if 'coverage' in rule_types %},

{{ passk._judged_coverage(carried) }}

{%- endif %}
{%- if 'cost' in rule_types %},

{{ passk._judged_costs(carried) }}

{%- endif %}
{%- if 'cost_increase' in rule_types %},

{{ passk._judged_cost_increases(carried) }}

{%- endif %}
{%- if 'regressed_tasks' in rule_types %},

{{ passk._judged_moves(carried) }}

{%- endif %}
{%- if 'diagnostics' in rule_types %},

{{ passk._judged_diagnostics(carried, gates) }}

{%- endif %},

all_judged as (
  select
    {{ (carried + judged) | join(',\n    ') }}
  from unmatched
  {%- for rule_type in rule_types %}
  union all
  select
    {{ (carried + judged) | join(',\n    ') }}
  from {{ relations[rule_type] }}
  {%- endfor %}
),

stated as (
  select
    *,
    reason || coalesce(quarantine, '') as full_reason
  from all_judged
)

select
  gate,
  suite,
  run_id,
  baseline_run_id,
  slice_name,
  slice_value,
  agent,
  agent_version,
  model,
  rule_type,
  rule,
  metric,
  k,
  scope,
  threshold,
  tasks,
  estimate,
  estimate_lower,
  estimate_upper,
  quarantined_tasks,
  result,
  full_reason as reason,
  to_settle,
  loaded_at,
  case result
    when 'fail' then severity
    when 'inconclusive' then inconclusive_severity
  end as severity,
  severity <> 'error' and (result <> 'inconclusive' or inconclusive_severity <> 'error') as is_advisory
from stated

{#- The scores of the tasks of a run, and of the runs of its suite and agent before it that have tried the same
    tasks, for rules with a rolling baseline: docs/rolling-baselines.md. -#}
{%- set keys = ['gate', 'run_id', 'suite'] %}

with runs as (
  select * from {{ ref('int_passk__run_order') }}
),

judged as (
  select
    {% for key in keys %}gates.{{ key }}, {% endfor %}
    gates.metric,
    gates.k,
    gates.last_runs,
    runs.agent,
    runs.place
  from {{ ref('int_passk__gate_runs') }} as gates
  inner join runs
    on gates.run_id = runs.run_id and gates.suite = runs.suite
  where gates.rule_type = 'rolling_drop' and gates.has_run
),

line as (
  select
    {% for key in keys %}judged.{{ key }}, {% endfor %}
    judged.metric,
    judged.k,
    judged.last_runs,
    runs.run_id as line_run_id,
    judged.place - runs.place as runs_ago
  from judged
  inner join runs
    on judged.suite = runs.suite
    and coalesce(judged.agent = runs.agent, judged.agent is null and runs.agent is null)
    and judged.place - 2 * judged.last_runs <= runs.place
    and judged.place >= runs.place
),

scored as (
  select
    line.*,
    counts.task_id,
    counts.n,
    case line.metric when 'pass_at_k' then states.pass_at_k else states.pass_hat_k end as score
  from line
  inner join {{ ref('int_passk__task_counts') }} as counts
    on line.line_run_id = counts.run_id and line.suite = counts.suite
  left join {{ ref('int_passk__estimates_by_count') }} as states
    on counts.n = states.n and counts.c = states.c and line.k = states.k and line.k <= counts.n
  where {{ passk._is_judged_of_suite('counts') }} and counts.attempts > 0
),

beside_judged as (
  select
    *,
    max(case when runs_ago = 0 then score end) over (partition by {{ keys | join(', ') }}, task_id) as judged_score
  from scored
),

shared as (
  select
    {{ keys | join(', ') }},
    line_run_id,
    runs_ago,
    max(last_runs) as last_runs,
    count(case when judged_score is not null then score end) as shared_tasks
  from beside_judged
  group by {{ keys | join(', ') }}, line_run_id, runs_ago
),

with_judged as (
  select
    *,
    max(case when runs_ago = 0 then shared_tasks end) over (partition by {{ keys | join(', ') }}) as judged_tasks
  from shared
),

{# A run that has tried less than 90 % of the tasks, such as one that was lost, is left out. #}
alike as (
  select
    *,
    row_number() over (partition by {{ keys | join(', ') }} order by runs_ago) as place
  from with_judged
  where runs_ago = 0 or (judged_tasks > 0 and {{ passk._are_nearly_all('shared_tasks', 'judged_tasks') }})
),

chosen as (
  select
    *,
    count(*) over (partition by {{ keys | join(', ') }}) as line_runs
  from alike
  where place <= last_runs + 1
)

select
  {% for key in keys %}scored.{{ key }}, {% endfor %}
  scored.k,
  chosen.line_runs,
  chosen.place,
  scored.runs_ago,
  scored.line_run_id,
  scored.task_id,
  scored.n,
  scored.score
from scored
inner join chosen
  on {{ passk._same_keys(keys + ['line_run_id'], 'scored', 'chosen') }}

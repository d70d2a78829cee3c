{#- The scores of the tasks of a run, and of up to so many runs of its suite and agent before it, for rules with a rolling baseline. -#}
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
    runs.run_id as line_run_id,
    judged.place = runs.place as is_judged,
    count(*) over (partition by {% for key in keys %}judged.{{ key }}{{ ', ' if not loop.last }}{% endfor %}) as line_runs
  from judged
  inner join runs
    on judged.suite = runs.suite
    and coalesce(judged.agent = runs.agent, judged.agent is null and runs.agent is null)
    and runs.place >= judged.place - judged.last_runs
    and runs.place <= judged.place
)

select
  {% for key in keys %}line.{{ key }}, {% endfor %}
  line.k,
  line.line_runs,
  line.line_run_id,
  line.is_judged,
  counts.task_id,
  counts.n,
  case line.metric when 'pass_at_k' then states.pass_at_k else states.pass_hat_k end as score
from line
inner join {{ ref('int_passk__task_counts') }} as counts
  on line.line_run_id = counts.run_id and line.suite = counts.suite
left join {{ ref('int_passk__states') }} as states
  on counts.n = states.n and counts.c = states.c and line.k = states.k and counts.n >= line.k
where counts.slice_name = 'all' and counts.attempts > 0

select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  retries.task_id,
  retries.family,
  retries.measure,
  retries.k,
  retries.n,
  retries.c,
  {%- for column, value in [
    ('cost_of_attempt', 'retries.cost_of_attempt'),
    ('tries', 'retries.tries'),
    ('retry_cost', 'retries.retry_cost'),
    ('cost_per_solved', 'retries.retry_cost / nullif(retries.pass_at_k, 0)'),
    ('series_cost', 'retries.k * retries.cost_of_attempt'),
    ('cost_per_reliable', 'retries.k * retries.cost_of_attempt / nullif(retries.pass_hat_k, 0)')
  ] %}
  case when retries.is_eligible then {{ value }} end as {{ column }},
  {%- endfor %}
  case
    when retries.n < retries.k
      then 'n is ' || {{ passk._whole('retries.n') }} || ', fewer than k = ' || {{ passk._whole('retries.k') }}
    when not retries.is_eligible then 'no attempt of an outcome that the task has says its ' || retries.measure
  end as null_reason,
  runs.loaded_at
from {{ ref('int_passk__retry_costs') }} as retries
inner join {{ ref('int_passk__runs') }} as runs
  on retries.run_id = runs.run_id and retries.suite = runs.suite

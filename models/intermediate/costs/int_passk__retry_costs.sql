{#- Over all orders of the n recorded attempts: of k tries that stop at the first pass, (k + (n - k + 1) pass@k) / (c + 1)
    are made, of which pass@k pass and the others fail. No difference, so that nothing cancels. #}
select
  spending.run_id,
  spending.suite,
  spending.task_id,
  spending.measure,
  spending.family,
  spending.lone_task,
  spending.n,
  spending.c,
  states.k,
  states.pass_at_k,
  states.pass_hat_k,
  spending.cost_of_attempt,
  spending.is_measured and spending.n >= states.k as is_eligible,
  (states.k + (spending.n - states.k + 1) * states.pass_at_k) / (spending.c + 1) as tries,
  case
    when spending.is_measured
      then states.pass_at_k * coalesce(spending.cost_of_pass, 0e0)
        + (states.k + (spending.n - spending.c - states.k) * states.pass_at_k) / (spending.c + 1)
        * coalesce(spending.cost_of_failure, 0e0)
  end as retry_cost
from {{ ref('int_passk__task_spending') }} as spending
inner join {{ ref('int_passk__estimates_by_count') }} as states
  on spending.n = states.n and spending.c = states.c

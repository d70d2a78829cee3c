with ranked_values as (
  select *
  from {{ ref('int_passk__run_values') }}
  where estimate is not null
),

{# The baseline is the older run of a pair. #}
pairs as (
  select
    comparisons.*,
    {#- With every short task against the difference, this much of it is left. #}
    (abs(comparisons.difference) * comparisons.eligible_tasks - (comparisons.common_tasks - comparisons.eligible_tasks))
    / comparisons.eligible_tasks as least_difference
  from {{ ref('int_passk__comparisons') }} as comparisons
  inner join ranked_values as baselines
    on comparisons.suite = baselines.suite
    and comparisons.baseline_run_id = baselines.run_id
    and comparisons.metric = baselines.metric
    and comparisons.k = baselines.k
  inner join ranked_values as candidates
    on comparisons.suite = candidates.suite
    and comparisons.candidate_run_id = candidates.run_id
    and comparisons.metric = candidates.metric
    and comparisons.k = candidates.k
  where
    baselines.age > candidates.age
    and comparisons.slice_name = 'all'
),

margins as (
  select
    *,
    case
      when eligible_tasks < common_tasks and least_difference > 0
        then 2 * {{ passk.normal_tail('least_difference / difference_error') }}
    end as p_of_short_tasks
  from pairs
),

{# By the rules of passk_comparisons: no difference without a verdict there, nor where short tasks could undo it. #}
tested as (
  select
    suite,
    metric,
    k,
    baseline_run_id,
    candidate_run_id,
    difference,
    difference_error,
    case
      when
        null_reason is null
        and {{ passk._are_nearly_all(
          'common_tasks', '(common_tasks + greatest(baseline_only_tasks, candidate_only_tasks))'
        ) }}
        and deciding_tasks >= 6
        and not is_outweighed
        and (eligible_tasks = common_tasks or least_difference > 0)
        then greatest(p, coalesce(p_of_short_tasks, p))
      else 1
    end as p
  from margins
),

{# Holm 1979: the smallest p counts as often as there are pairs, the next once less. #}
placed as (
  select
    *,
    count(*) over (partition by suite, metric, k) as pairs,
    row_number() over (partition by suite, metric, k order by p) as place
  from tested
),

adjusted as (
  select
    *,
    max(p * (pairs - place + 1)) over (
      partition by suite, metric, k order by place rows between unbounded preceding and current row
    ) as p_adjusted
  from placed
)

{%- for run, other, sign in [('candidate', 'baseline', ''), ('baseline', 'candidate', '0 - ')] %}
select
  suite,
  metric,
  k,
  {{ run }}_run_id as run_id,
  {{ other }}_run_id as other_run_id,
  {{ sign }}difference{{ ' as difference' if sign }},
  difference_error,
  p,
  least(p_adjusted, 1) as p_adjusted
from adjusted
{{- '\nunion all' if not loop.last }}
{%- endfor %}

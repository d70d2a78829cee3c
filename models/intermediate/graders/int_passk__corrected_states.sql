{#- The unbiased score of a task whose grader errs: among k of its n attempts, j that the grader passed, each counts
    (1 - f) / (s - f) in place of 1, and the others -f / (s - f) in place of 0, multiplied and averaged over all choices of k. As
    shares of a hypergeometric distribution times powers it loses no digits where the sum over C(c, j) / C(n, j) loses all: at
    f k = 20. #}
with points as (
  select *
  from {{ ref('int_passk__grader_points') }}
  where told_apart > 0
),

{# The weight of a hit, and of a miss, which is below 0: hits are passes for pass^k, and failures for 1 - pass@k. #}
leverages as (
  select
    suite,
    assumed,
    'pass_hat_k' as metric,
    (1 - false_pass_rate) / told_apart as hit,
    false_pass_rate / told_apart as miss
  from points
  union all
  select
    suite,
    assumed,
    'pass_at_k' as metric,
    sensitivity / told_apart as hit,
    (1 - sensitivity) / told_apart as miss
  from points
),

ks as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

weights as (
  select
    leverages.*,
    ks.k,
    {{ passk._whole_power('leverages.hit', 'ks.k') }} as leverage
  from leverages
  cross join ks
  where
    {#- A correction that multiplies the score of a task by more says nothing. #}
    ks.k * ln(case when leverages.hit > leverages.miss then leverages.hit else leverages.miss end)
    <= ln(30e0)
),

counts as (
  select distinct
    histogram.suite,
    histogram.n,
    histogram.c
  from {{ ref('int_passk__tasks_by_count') }} as histogram
  inner join points
    on histogram.suite = points.suite
  where histogram.slice_name = 'all' and points.assumed = 'estimate'
),

metrics as (
  select 'pass_hat_k' as metric
  union all
  select 'pass_at_k' as metric
),

states as (
  select
    counts.suite,
    counts.n,
    counts.c,
    metrics.metric,
    case when metrics.metric = 'pass_hat_k' then counts.c else counts.n - counts.c end as hits
  from counts
  cross join metrics
),

draws as (
  select distinct
    states.n,
    states.hits,
    ks.k
  from states
  inner join ks
    on states.n >= ks.k
),

most_draws as (
  select max(k) as most
  from draws
),

{{ passk._numbers_up_to('most_draws') }},

{# How likely it is to have j hits among the k, each beside the one before: from any one of them all others follow. #}
steps as (
  select
    draws.n,
    draws.hits,
    draws.k,
    numbers.number as j,
    case
      when numbers.number = 0 or numbers.number = draws.k - (draws.n - draws.hits) then 0e0
      else ln({{ '(' ~ passk._as_double('draws.hits - numbers.number + 1') ~ ' * (draws.k - numbers.number + 1) / ('
        ~ passk._as_double('numbers.number') ~ ' * (draws.n - draws.hits - draws.k + numbers.number)))' }})
    end as step
  from draws
  inner join numbers
    on draws.k >= numbers.number
    and draws.hits >= numbers.number
    and draws.k - (draws.n - draws.hits) <= numbers.number
),

sums as (
  select
    *,
    sum(step) over (partition by n, hits, k order by j rows unbounded preceding) as log_ways
  from steps
),

ways as (
  select
    *,
    {{ passk._exp('log_ways - max(log_ways) over (partition by n, hits, k)') }} as likeness
  from sums
),

shares as (
  select
    *,
    likeness / sum(likeness) over (partition by n, hits, k) as probability
  from ways
),

hit_scores as (
  select
    weights.suite,
    weights.assumed,
    weights.metric,
    weights.k,
    shares.n,
    shares.hits,
    sum(
      shares.probability
      * {{ passk._whole_power('weights.hit', 'shares.j') }}
      * {{ passk._whole_power('weights.miss', '(weights.k - shares.j)') }}
      * case when mod(weights.k - shares.j, 2) = 0 then 1e0 else -1e0 end
    ) as score
  from weights
  inner join shares
    on weights.k = shares.k
  group by weights.suite, weights.assumed, weights.metric, weights.k, shares.n, shares.hits
)

select
  states.suite,
  states.metric,
  weights.k,
  weights.assumed,
  states.n,
  states.c,
  {#- The most that a task can score, and 1 without errors. #}
  case when weights.leverage > 1 then weights.leverage else 1e0 end as leverage,
  {#- No number where n < k. #}
  case when states.metric = 'pass_hat_k' then hit_scores.score else 1 - hit_scores.score end as score
from weights
inner join states
  on weights.suite = states.suite and weights.metric = states.metric
left join hit_scores
  on weights.suite = hit_scores.suite
  and weights.assumed = hit_scores.assumed
  and weights.metric = hit_scores.metric
  and weights.k = hit_scores.k
  and states.n = hit_scores.n
  and states.hits = hit_scores.hits

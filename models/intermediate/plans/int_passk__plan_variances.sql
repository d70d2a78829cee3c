{%- set keys = ['run_id', 'suite', 'metric'] %}

with moments as {{ passk._made_once() }}(
  select * from {{ ref('int_passk__plan_moments') }}
),

weights as {{ passk._made_once() }}(
  select * from {{ ref('int_passk__plan_weights') }}
),

plans as (
  select distinct
    k,
    attempts
  from weights
),

ks as (
  select distinct k from plans
),

based as (
  select
    pilots.*,
    ks.k,
    case when pilots.min_n >= 2 * ks.k then 'moments' else 'beta_binomial' end as basis
  from {{ ref('int_passk__plan_pilots') }} as pilots
  cross join ks
),

{# A moment without a row is 0: no task has so many passes. #}
means as {{ passk._made_once() }}(
  select
    based.*,
    coalesce(firsts.moment, 0e0) as moment,
    coalesce(firsts.squares, 0e0) as squares,
    coalesce(seconds.moment, 0e0) as double_moment
  from based
  left join moments as firsts
    on {{ passk._same_keys(keys, 'based', 'firsts') }} and based.basis = firsts.basis and based.k = firsts.draws
  left join moments as seconds
    on {{ passk._same_keys(keys, 'based', 'seconds') }} and based.basis = seconds.basis and 2 * based.k = seconds.draws
),

{# The mean product of the scores of two different tasks is the square of the mean, without what one task's chance adds. #}
between_tasks as (
  select
    *,
    case
      when basis = 'moments'
        then double_moment - (used_tasks * moment * used_tasks * moment - squares)
          / nullif({{ passk._as_double('used_tasks') }} * (used_tasks - 1), 0)
      else double_moment - moment * moment
    end as variance
  from means
),

{# The weights add up to 1, so the remainders of the moments are summed and no digits are lost. #}
within_tasks as (
  select
    means.run_id,
    means.suite,
    means.metric,
    means.k,
    weights.attempts,
    sum(weights.chance * (coalesce(moments.moment, 0e0) - means.double_moment)) as variance
  from means
  inner join weights
    on means.k = weights.k
  left join moments
    on {{ passk._same_keys(keys, 'means', 'moments') }} and means.basis = moments.basis and weights.draws = moments.draws
  group by means.run_id, means.suite, means.metric, means.k, weights.attempts
),

{# Tasks of the run that could have come out differently. With at least as many attempts in both runs together, they could
   still. And with more than k attempts in each, at least as many could as differ with k. #}
deciding as (
  select
    states.run_id,
    states.suite,
    states.metric,
    plans.k,
    plans.attempts,
    cast(sum(states.tasks) as {{ dbt.type_bigint() }}) as tasks
  from {{ ref('int_passk__plan_states') }} as states
  inner join plans
    on states.c >= plans.k and states.n > states.c and states.n <= 2 * plans.attempts
  where states.n >= 2
  group by states.run_id, states.suite, states.metric, plans.k, plans.attempts
)

select
  between_tasks.run_id,
  between_tasks.suite,
  between_tasks.metric,
  between_tasks.k,
  within_tasks.attempts,
  between_tasks.used_tasks,
  between_tasks.total_tasks,
  between_tasks.basis,
  case when between_tasks.metric = 'pass_hat_k' then between_tasks.moment else 1 - between_tasks.moment end as mean,
  case when between_tasks.variance > 0 then between_tasks.variance else 0e0 end as between_variance,
  case when within_tasks.variance > 0 then within_tasks.variance else 0e0 end as within_variance,
  between_tasks.family_size,
  between_tasks.family_excess,
  2 * (between_tasks.moment - between_tasks.double_moment) as differing_share,
  {{ passk._as_double('coalesce(deciding.tasks, 0)') }} / nullif(between_tasks.used_tasks, 0) as seen_share,
  case
    when between_tasks.no_pilot_reason is not null then between_tasks.no_pilot_reason
    when between_tasks.basis = 'beta_binomial' and between_tasks.heterogeneity is null
      then 'n < ' || cast(2 * between_tasks.k as {{ dbt.type_string() }}) || ' in some task, and no beta distribution fits: '
        || between_tasks.no_fit_reason
  end as no_variance_reason,
  between_tasks.loaded_at
from between_tasks
inner join within_tasks
  on {{ passk._same_keys(keys + ['k'], 'between_tasks', 'within_tasks') }}
left join deciding
  on {{ passk._same_keys(keys + ['k', 'attempts'], 'within_tasks', 'deciding') }}

{%- set bigint = dbt.type_bigint() %}
{%- set text = dbt.type_string() %}
{%- set ks = passk._setting('passk_ks') %}
{%- set planned = passk._setting('passk_plan_attempts') %}
{%- set width = passk._as_double(passk._setting('passk_plan_width')) %}
{%- set difference = passk._as_double(passk._setting('passk_plan_difference')) %}
{%- set power = passk._power_quantiles()[passk._setting('passk_plan_power')] %}
{%- set reach = '(' ~ passk.normal_quantile() ~ ' + ' ~ power.normal ~ ')' %}
{#- What rounding may add to a number of tasks, and what it leaves of a variance of 0. #}
{%- set slack = '1e-9' %}
{%- set nothing = '1e-12' %}
{#- The quantiles of Student's t that are in a table; from there on they change so little with the tasks that an equation
    can be solved. #}
{%- set criticals = passk._quantiles_of('passk_plans', none).student %}

with histogram as (
  select
    run_id,
    suite,
    n,
    c,
    cast(count(*) as {{ bigint }}) as tasks,
    max(loaded_at) as loaded_at
  from {{ ref('int_passk__task_counts') }}
  where slice_name = 'all' and attempts > 0
  group by run_id, suite, n, c
),

{# A task with fewer than two attempts says nothing of chance within tasks. #}
totals as (
  select
    run_id,
    suite,
    cast(sum(tasks) as {{ bigint }}) as total_tasks,
    cast(sum(case when n >= 2 then tasks else 0 end) as {{ bigint }}) as used_tasks,
    min(case when n >= 2 then n end) as min_n,
    sum(case when n >= 2 then tasks * {{ passk._as_double('c') }} / n end)
    / sum(case when n >= 2 then tasks end) as pass_rate,
    max(loaded_at) as loaded_at
  from histogram
  group by run_id, suite
),

metrics as (
  select 'pass_at_k' as metric
  union all
  select 'pass_hat_k' as metric
),

{# With failures in the place of passes, the formulas of pass^k are those of 1 - pass@k. #}
states as (
  select
    histogram.run_id,
    histogram.suite,
    metrics.metric,
    histogram.n,
    histogram.tasks,
    case when metrics.metric = 'pass_hat_k' then histogram.c else histogram.n - histogram.c end as c
  from histogram
  cross join metrics
  where histogram.n >= 2
),

ks as (
  {{ passk._ks_rows(ks) }}
),

planned as (
  {{ passk._ks_rows(planned) }}
),

plans as (
  select
    ks.k,
    planned.k as attempts
  from ks
  inner join planned
    on ks.k <= planned.k
),

{# Two estimates of one task share so many of their k attempts as are drawn for both: as if k of the attempts were marked,
    and k drawn. #}
pooled as (
  select
    k as candidate_n,
    k as passes,
    attempts - k as baseline_n
  from plans
),

{{ passk._permuted_outcomes() }},

weights as {{ passk._made_once() }}(
  select
    candidate_n as k,
    chance,
    baseline_n + candidate_n as attempts,
    2 * candidate_n - drawn as draws
  from outcomes
  where drawn > 0
),

most_draws as (
  select 2 * max(k) as most
  from plans
),

draws as {{ passk._made_once() }}(
  select ones.digit + 10 * tens.digit + 100 * hundreds.digit + 1000 * thousands.digit as draws
  from most_draws
  inner join digits as thousands
    on 1000 * thousands.digit <= most_draws.most
  inner join digits as hundreds
    on 100 * hundreds.digit <= most_draws.most
  inner join digits as tens
    on 10 * tens.digit <= most_draws.most
  inner join digits as ones
    on ones.digit + 10 * tens.digit + 100 * hundreds.digit + 1000 * thousands.digit between 1 and most_draws.most
),

{# pass^m of each distinct n and c, for the m that it is not 0 for: the product of (c - i) / (n - i). #}
distinct_states as (
  select distinct
    n,
    c
  from states
),

state_moments as {{ passk._made_once() }}(
  select
    distinct_states.n,
    distinct_states.c,
    draws.draws,
    {{ passk._exp(
      'sum(ln(' ~ passk._as_double('distinct_states.c - draws.draws + 1') ~ ' / (distinct_states.n - draws.draws + 1)))'
      ~ ' over (partition by distinct_states.n, distinct_states.c order by draws.draws)'
    ) }} as moment
  from distinct_states
  inner join draws
    on distinct_states.c >= draws.draws
),

{# And its mean over the tasks, an unbiased estimate of the mean of p^m while all tasks have m attempts. #}
run_moments as (
  select
    states.run_id,
    states.suite,
    states.metric,
    state_moments.draws,
    sum(states.tasks * state_moments.moment) / max(totals.used_tasks) as moment,
    sum(states.tasks * state_moments.moment * state_moments.moment) as squares
  from states
  inner join totals
    on states.run_id = totals.run_id and states.suite = totals.suite
  inner join state_moments
    on states.n = state_moments.n and states.c = state_moments.c
  where state_moments.draws <= totals.min_n
  group by states.run_id, states.suite, states.metric, state_moments.draws
),

{# The intraclass correlation of a beta distribution that has the run's first two moments. #}
spreads as (
  select
    histogram.run_id,
    histogram.suite,
    sum(
      histogram.tasks * ({{ passk._as_double('histogram.c') }} / histogram.n - totals.pass_rate)
      * ({{ passk._as_double('histogram.c') }} / histogram.n - totals.pass_rate)
    ) / nullif(max(totals.used_tasks) - 1, 0) / max(totals.used_tasks) as scatter,
    sum(
      histogram.tasks * {{ passk._as_double('histogram.c') }} * (histogram.c - 1) / histogram.n / (histogram.n - 1)
    ) / max(totals.used_tasks) as second_moment
  from histogram
  inner join totals
    on histogram.run_id = totals.run_id and histogram.suite = totals.suite
  where histogram.n >= 2
  group by histogram.run_id, histogram.suite
),

fits as (
  select
    totals.*,
    spreads.second_moment - totals.pass_rate * totals.pass_rate + spreads.scatter as spread,
    totals.pass_rate - spreads.second_moment as chance
  from totals
  left join spreads
    on totals.run_id = spreads.run_id and totals.suite = spreads.suite
),

pilots as (
  select
    fits.*,
    metrics.metric,
    case when metrics.metric = 'pass_hat_k' then fits.pass_rate else 1 - fits.pass_rate end as mean_rate,
    case when fits.chance > {{ nothing }} and fits.spread > {{ nothing }} then fits.spread / (fits.chance + fits.spread) end
      as heterogeneity,
    case
      when not {{ passk._has_enough_tasks('fits.used_tasks', 'fits.total_tasks') }}
        then {{ passk._short_tasks_reason('fits.used_tasks', 'fits.total_tasks', k=2) }}
      when fits.used_tasks < 2 and fits.used_tasks < fits.total_tasks then 'fewer than 2 tasks with n >= 2'
      when fits.used_tasks < 2 then 'fewer than 2 tasks'
    end as no_pilot_reason
  from fits
  cross join metrics
),

{# Only where the run has too few attempts for moments of its own. #}
fitted_moments as (
  select
    pilots.run_id,
    pilots.suite,
    pilots.metric,
    draws.draws,
    {{ passk._exp(
      'sum(case when draws.draws = 1 then ln(pilots.mean_rate)'
      ~ ' else ln((pilots.mean_rate * (1 - pilots.heterogeneity) + (draws.draws - 1) * pilots.heterogeneity)'
      ~ ' / (1 - pilots.heterogeneity + (draws.draws - 1) * pilots.heterogeneity)) end)'
      ~ ' over (partition by pilots.run_id, pilots.suite, pilots.metric order by draws.draws)'
    ) }} as moment
  from pilots
  cross join draws
  cross join most_draws
  where pilots.heterogeneity is not null and pilots.min_n < most_draws.most
),

moments as {{ passk._made_once() }}(
  select
    run_moments.run_id,
    run_moments.suite,
    run_moments.metric,
    'moments' as basis,
    run_moments.draws,
    run_moments.moment,
    run_moments.squares
  from run_moments
  union all
  select
    fitted_moments.run_id,
    fitted_moments.suite,
    fitted_moments.metric,
    'beta_binomial' as basis,
    fitted_moments.draws,
    fitted_moments.moment,
    null as squares
  from fitted_moments
),

{# A moment without a row is 0: no task has so many passes. #}
based as (
  select
    pilots.run_id,
    pilots.suite,
    pilots.metric,
    pilots.used_tasks,
    pilots.total_tasks,
    pilots.heterogeneity,
    pilots.chance,
    pilots.no_pilot_reason,
    ks.k,
    case when pilots.min_n >= 2 * ks.k then 'moments' else 'beta_binomial' end as basis
  from pilots
  cross join ks
),

means as {{ passk._made_once() }}(
  select
    based.*,
    coalesce(firsts.moment, 0e0) as moment,
    coalesce(firsts.squares, 0e0) as squares,
    coalesce(seconds.moment, 0e0) as double_moment
  from based
  left join moments as firsts
    on based.run_id = firsts.run_id
    and based.suite = firsts.suite
    and based.metric = firsts.metric
    and based.basis = firsts.basis
    and based.k = firsts.draws
  left join moments as seconds
    on based.run_id = seconds.run_id
    and based.suite = seconds.suite
    and based.metric = seconds.metric
    and based.basis = seconds.basis
    and 2 * based.k = seconds.draws
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

{# The weights add up to 1, so that what is left of each moment is summed, and nothing cancels. #}
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
    on means.run_id = moments.run_id
    and means.suite = moments.suite
    and means.metric = moments.metric
    and means.basis = moments.basis
    and weights.draws = moments.draws
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
    cast(sum(states.tasks) as {{ bigint }}) as tasks
  from states
  inner join plans
    on states.c >= plans.k and states.n > states.c and states.n <= 2 * plans.attempts
  group by states.run_id, states.suite, states.metric, plans.k, plans.attempts
),

varied as {{ passk._made_once() }}(
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
    2 * (between_tasks.moment - between_tasks.double_moment) as differing_share,
    {{ passk._as_double('coalesce(deciding.tasks, 0)') }} / nullif(between_tasks.used_tasks, 0) as seen_share,
    case
      when between_tasks.no_pilot_reason is not null then between_tasks.no_pilot_reason
      when between_tasks.basis = 'beta_binomial' and between_tasks.heterogeneity is null
        then 'n < ' || cast(2 * between_tasks.k as {{ text }}) || ' in some task, and no beta distribution fits: '
          || case
            when between_tasks.chance > {{ nothing }} then 'tasks differ no more than by chance'
            else 'every task is perfect or hopeless'
          end
    end as no_variance_reason
  from between_tasks
  inner join within_tasks
    on between_tasks.run_id = within_tasks.run_id
    and between_tasks.suite = within_tasks.suite
    and between_tasks.metric = within_tasks.metric
    and between_tasks.k = within_tasks.k
  left join deciding
    on within_tasks.run_id = deciding.run_id
    and within_tasks.suite = deciding.suite
    and within_tasks.metric = deciding.metric
    and within_tasks.k = deciding.k
    and within_tasks.attempts = deciding.attempts
),

answered as (
  select
    run_id,
    suite,
    metric,
    k,
    attempts,
    case when no_variance_reason is null then used_tasks else total_tasks end as tasks,
    case when no_variance_reason is null then basis end as basis,
    case when no_variance_reason is null then mean end as mean,
    case when no_variance_reason is null then between_variance end as between_variance,
    case when no_variance_reason is null then within_variance end as within_variance,
    case when no_variance_reason is null then between_variance + within_variance end as variance,
    case
      when no_variance_reason is null and within_variance > {{ nothing }}
        then case when seen_share > differing_share then seen_share else differing_share end
    end as deciding_share,
    no_variance_reason,
    {{ width }} / 2 as half
  from varied
),

{# As if the quantile were that of the normal distribution: from 30 tasks on that is off by less than five of them. #}
roots as {{ passk._made_once() }}(
  select
    *,
    {{ passk._plan_root(passk.normal_quantile(), '(mean * mean + (1 - mean) * (1 - mean))') }} as root
  from answered
),

first_guesses as (
  select
    *,
    case
      when root > {{ criticals | length }} then {{ passk._as_double('floor(root)') }}
      else {{ passk._as_double(criticals | length) }}
    end as tried
  from roots
),

with_critical as {{ passk._made_once() }}(
  select
    *,
    {{ passk.student_quantile('tried + 1') }} as critical,
    {{ passk._padded_mean('mean', 'tried') }} as padded
  from first_guesses
),

{# Then with the quantile, and the rest of the error, at that number of tasks: off by less than one. #}
nearer as {{ passk._made_once() }}(
  select
    run_id,
    suite,
    metric,
    k,
    attempts,
    tasks,
    basis,
    mean,
    between_variance,
    within_variance,
    variance,
    deciding_share,
    no_variance_reason,
    half,
    {{ passk._plan_root(
      'critical', '(tried * (mean - padded) * (mean - padded) + padded * padded + (1 - padded) * (1 - padded))'
    ) }} as root
  from with_critical
),

few_tasks as (
  {%- for critical in criticals[1:] %}
  select
    {{ passk._as_double(loop.index) }} as tasks,
    {{ critical }} as critical
  {{- ' union all' if not loop.last }}
  {%- endfor %}
),

few_reaches as (
  select
    nearer.run_id,
    nearer.suite,
    nearer.metric,
    nearer.k,
    nearer.attempts,
    nearer.half,
    few_tasks.tasks,
    few_tasks.critical * {{ passk._padded_error('nearer.mean', 'nearer.variance', 'few_tasks.tasks') }} as reach
  from nearer
  cross join few_tasks
  where nearer.root < {{ criticals | length + 2 }}
),

least_few as (
  select
    run_id,
    suite,
    metric,
    k,
    attempts,
    min(tasks) as tasks
  from few_reaches
  where reach <= half * (1 + {{ slack }})
  group by run_id, suite, metric, k, attempts
),

offsets as (
  {%- for step in range(-2, 4) %}
  select {{ passk._as_double(step) }} as offset_by
  {{- ' union all' if not loop.last }}
  {%- endfor %}
),

candidates as (
  select
    nearer.*,
    case
      when floor(nearer.root) + offsets.offset_by > {{ criticals | length }} then floor(nearer.root) + offsets.offset_by
      else {{ passk._as_double(criticals | length) }}
    end as candidate
  from nearer
  cross join offsets
),

least_many as (
  select
    run_id,
    suite,
    metric,
    k,
    attempts,
    min(candidate) as tasks
  from candidates
  where {{ passk._plan_width('mean', 'variance', 'candidate') }} <= {{ width }} * (1 + {{ slack }})
  group by run_id, suite, metric, k, attempts
),

sized as (
  select
    nearer.*,
    cast(coalesce(least_few.tasks, least_many.tasks) as {{ bigint }}) as tasks_for_width,
    cast(ceil(
      (1 - {{ slack }}) * case
        when
          {{ reach }} * {{ reach }} * 2 * nearer.within_variance / ({{ difference }} * {{ difference }})
          > {{ power.deciding }} / nearer.deciding_share
          then {{ reach }} * {{ reach }} * 2 * nearer.within_variance / ({{ difference }} * {{ difference }})
        else {{ power.deciding }} / nearer.deciding_share
      end
    ) as {{ bigint }}) as tasks_for_difference
  from nearer
  left join least_few
    on nearer.run_id = least_few.run_id
    and nearer.suite = least_few.suite
    and nearer.metric = least_few.metric
    and nearer.k = least_few.k
    and nearer.attempts = least_few.attempts
  left join least_many
    on nearer.run_id = least_many.run_id
    and nearer.suite = least_many.suite
    and nearer.metric = least_many.metric
    and nearer.k = least_many.k
    and nearer.attempts = least_many.attempts
)

select
  sized.run_id,
  sized.suite,
  runs.agent,
  runs.agent_version,
  runs.model,
  sized.metric,
  sized.k,
  sized.attempts,
  sized.tasks,
  sized.basis,
  sized.mean as estimate,
  sized.between_variance as variance_between,
  sized.within_variance as variance_within,
  case when sized.variance > {{ nothing }} then sized.within_variance / sized.variance end as within_share,
  {{ passk._plan_width('sized.mean', 'sized.variance', 'sized.tasks') }} as expected_width,
  sized.tasks_for_width,
  sized.tasks_for_width * sized.attempts as attempts_for_width,
  case
    when sized.deciding_share is not null
      then {{ reach }} * sqrt(2 * sized.within_variance / sized.tasks)
  end as detectable_difference,
  sized.deciding_share,
  sized.tasks_for_difference,
  sized.tasks_for_difference * sized.attempts as attempts_for_difference,
  case
    when sized.no_variance_reason is not null then sized.no_variance_reason
    when sized.deciding_share is null then 'no task could come out differently in another run'
  end as null_reason,
  totals.loaded_at
from sized
inner join totals
  on sized.run_id = totals.run_id and sized.suite = totals.suite
inner join {{ ref('int_passk__runs') }} as runs
  on sized.run_id = runs.run_id and sized.suite = runs.suite

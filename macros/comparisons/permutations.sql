{#- What would be seen of a task if its two runs were the same: its attempts of both runs are one heap, from which as many as
    the candidate has are drawn without replacement. `pooled` holds the distinct (baseline_n, candidate_n, passes), passes
    being those of both runs together. -#}

{#- CTEs after `pooled`, up to `outcomes`: rows (baseline_n, candidate_n, passes, drawn, chance), the chance that so many of
    the passes are drawn for the candidate.

    The hypergeometric distribution, from the ratios of neighbours, summed as logarithms away from its mode: near the mode,
    where the chances are large, the sums are short, and what remains is made to add up to 1. -#}
{% macro _permuted_outcomes() -%}
{%- set double = passk.type_double() -%}
most_attempts as (
  select
    max(case when baseline_n > candidate_n then baseline_n else candidate_n end) as most
  from pooled
),

{{ passk._numbers_up_to('most_attempts') }},

drawn_passes as (
  select
    pooled.baseline_n,
    pooled.candidate_n,
    pooled.passes,
    numbers.number as drawn,
    floor(
      cast((pooled.candidate_n + 1) * (pooled.passes + 1) as {{ double }})
      / (pooled.baseline_n + pooled.candidate_n + 2)
    ) as mode
  from pooled
  inner join numbers
    on
      numbers.number >= pooled.passes - pooled.baseline_n
      and numbers.number <= pooled.passes
      and numbers.number <= pooled.candidate_n
),

steps as (
  select
    *,
    case
      when drawn > mode
        then ln(
          cast((passes - drawn + 1) * (candidate_n - drawn + 1) as {{ double }})
          / (drawn * (baseline_n - passes + drawn))
        )
    end as log_step_up,
    case
      when drawn < mode
        then ln(
          cast((drawn + 1) * (baseline_n - passes + drawn + 1) as {{ double }})
          / ((passes - drawn) * (candidate_n - drawn))
        )
    end as log_step_down
  from drawn_passes
),

heights as (
  select
    *,
    coalesce(
      case
        when drawn > mode then sum(log_step_up) over (partition by baseline_n, candidate_n, passes order by drawn)
      end,
      case
        when drawn < mode then sum(log_step_down) over (partition by baseline_n, candidate_n, passes order by drawn desc)
      end,
      0
    ) as log_height
  from steps
),

outcomes as (
  select
    baseline_n,
    candidate_n,
    passes,
    drawn,
    {{ passk._exp('log_height') }}
    / sum({{ passk._exp('log_height') }}) over (partition by baseline_n, candidate_n, passes) as chance
  from heights
)
{%- endmacro %}


{#- CTEs after `outcomes`, up to `variances`: rows (baseline_n, candidate_n, passes, k, variance), the variance of the
    difference of a task's two pass^k over all ways to deal its attempts to the runs. With failures for passes it is that of
    pass@k.

    Summed over the outcomes as the mean square of the difference, whose mean is 0 exactly. The closed form
    e(baseline_n) + e(candidate_n) - 2 C(C, 2k) / C(N, 2k) is shorter, but it is a small difference of large terms: where
    most attempts pass, few digits remain. -#}
{% macro _permutation_variances(ks) -%}
grid as (
  {{ passk._ks_rows(ks) }}
),

{#- pass^k of every number of passes that a run can be dealt, and what it lacks to 1. #}
sizes as (
  select distinct n
  from (
    select baseline_n as n from pooled
    union all
    select candidate_n as n from pooled
  ) as of_either
),

points as (
  select
    sizes.n,
    numbers.number as c,
    grid.k
  from sizes
  inner join numbers
    on numbers.number <= sizes.n
  inner join grid
    on grid.k <= sizes.n
),

{{ passk._point_formulas(['n', 'c', 'k']) }},

variances as (
  select
    differences.baseline_n,
    differences.candidate_n,
    differences.passes,
    differences.k,
    sum(differences.chance * differences.difference * differences.difference) as variance
  from (
    select
      outcomes.baseline_n,
      outcomes.candidate_n,
      outcomes.passes,
      outcomes.chance,
      candidate.k,
      {#- Of two shares near 1, what they lack to 1 has the digits. #}
      case
        when candidate.pass_hat_k + baseline.pass_hat_k > 1 then baseline.lost_reliability - candidate.lost_reliability
        else candidate.pass_hat_k - baseline.pass_hat_k
      end as difference
    from outcomes
    inner join results as candidate
      on outcomes.candidate_n = candidate.n and outcomes.drawn = candidate.c
    inner join results as baseline
      on
        outcomes.baseline_n = baseline.n
        and outcomes.passes - outcomes.drawn = baseline.c
        and candidate.k = baseline.k
  ) as differences
  group by differences.baseline_n, differences.candidate_n, differences.passes, differences.k
)
{%- endmacro %}


{#- The SQL of int_passk__permutation_variances after its CTE `states`, the distinct (fewer_n, more_n, passes): rows (fewer_n,
    more_n, passes, k, var_pass_at_k, var_pass_hat_k) in a CTE `results_by_state`, null where a run has n < k. Which of the two
    runs has the fewer attempts does not matter to a square. -#}
{% macro _pooled_variances_formulas(ks) -%}
{#- Failures too: with them in the place of passes, the formula of pass^k is that of pass@k. #}
pooled as (
  select distinct
    baseline_n,
    candidate_n,
    passes
  from (
    select
      fewer_n as baseline_n,
      more_n as candidate_n,
      passes
    from states
    union all
    select
      fewer_n as baseline_n,
      more_n as candidate_n,
      fewer_n + more_n - passes as passes
    from states
  ) as both_ways
),

{{ passk._permuted_outcomes() }},

{{ passk._permutation_variances(ks) }},

results_by_state as (
  select
    states.fewer_n,
    states.more_n,
    states.passes,
    grid.k,
    of_failures.variance as var_pass_at_k,
    of_passes.variance as var_pass_hat_k
  from states
  cross join grid
  left join variances as of_passes
    on states.fewer_n = of_passes.baseline_n
    and states.more_n = of_passes.candidate_n
    and states.passes = of_passes.passes
    and grid.k = of_passes.k
  left join variances as of_failures
    on states.fewer_n = of_failures.baseline_n
    and states.more_n = of_failures.candidate_n
    and states.fewer_n + states.more_n - states.passes = of_failures.passes
    and grid.k = of_failures.k
)
{%- endmacro %}

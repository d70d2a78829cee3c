{#- The distribution for a task whose two runs are the same: its attempts of both runs are one heap, from which as many as
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


{#- CTEs after `pooled`, the distinct (fewer_n, more_n, passes) with fewer_n <= more_n, up to `variances`: rows (fewer_n, more_n,
    passes, k, variance), the variance of the difference of a task's two pass^k over all ways to deal its attempts to the runs. No
    row where it is 0, because fewer than k attempts or none failed, or null, because a run has n < k. With failures for passes it is
    that of pass@k.

    Hoeffding's parts of the difference do not correlate: part j is a Hahn polynomial of degree j in the passes that are dealt. Of
    a and b attempts, N in all, with P passes and F failures among them,

        variance = [C(P, k) / C(N, k)]^2 * sum over j = 1..k of (1 - (-1)^j r_j)^2 * s_1 * ... * s_j
        r_j      = C(a, j) / C(b, j)
        s_j      = (k - j + 1)^2 / j * (b - j + 1) / (a - j + 1) * (F - j + 1) / (P - j + 1)
                   * (N - j + 2) (N - 2 j + 1) / [(N - 2 j + 3) (N - j + 1 - k)^2]

    No term is negative, so no digits cancel, and there are k of them, however many attempts a task has. Products are sums of
    logarithms, because some leave the range of doubles. tests/python/sql/test_permutations.py holds it against all ways to deal.

    Of many attempts only the first parts count: s_1 ... s_j is at most L^j / j!, where L is k^2 times the largest of the other
    factors of s_1 to s_k, so parts are left out from where that is below e^-40 of s_1. -#}
{% macro _permutation_variances(ks) -%}
grid as (
  {{ passk._ks_rows(ks) }}
),

largest_k as (
  select max(k) as most
  from grid
),

{{ passk._numbers_up_to('largest_k') }},

numbered as (
  select
    row_number() over (order by pooled.fewer_n, pooled.more_n, pooled.passes, grid.k) as base_number,
    pooled.fewer_n,
    pooled.more_n,
    pooled.passes,
    grid.k,
    pooled.fewer_n + pooled.more_n as attempts,
    pooled.fewer_n + pooled.more_n - pooled.passes as failures
  from pooled
  inner join grid
    on grid.k <= pooled.fewer_n and grid.k <= pooled.passes
  where pooled.passes < pooled.fewer_n + pooled.more_n
),

bases as (
  {{ passk._with_log_choose_ratio('numbered', 'attempts', 'passes', 'k', 'log_pass_hat_k') }}
),

numbers_of_parts as (
  select
    number,
    sum(ln(number)) over (order by number) as log_factorial
  from numbers
  where number >= 1
),

bounded as (
  select
    *,
    ln(
      {{ passk._as_double('k') }} * k * more_n / fewer_n * failures / passes * (attempts - 1) / (attempts - k) / (attempts - k)
    ) as log_first_part,
    ln(
      {{ passk._as_double('k') }} * k * (more_n - k + 1) / (fewer_n - k + 1)
      * case
        when failures > passes then {{ passk._as_double('failures - k + 1') }} / (passes - k + 1)
        else {{ passk._as_double('failures') }} / passes
      end
      * (attempts + 1) / (attempts - 2 * k + 1) / (attempts - 2 * k + 1)
    ) as log_bound
  from bases
),

steps as (
  select
    base_number,
    log_pass_hat_k,
    j,
    ln(
      (k - j + 1) * (k - j + 1) / j
      * (more_n - j + 1) / (fewer_n - j + 1)
      * (failures - j + 1) / (passes - j + 1)
      * (attempts - j + 2) / (attempts - 2 * j + 3)
      * (attempts - 2 * j + 1) / (attempts - j + 1 - k) / (attempts - j + 1 - k)
    ) as log_step,
    ln((fewer_n - j + 1) / (more_n - j + 1)) as log_step_of_ratio
  from (
    select
      bounded.*,
      {{ passk._as_double('numbers_of_parts.number') }} as j
    from bounded
    inner join numbers_of_parts
      on
        numbers_of_parts.number <= bounded.k
        and numbers_of_parts.number <= bounded.failures
        and numbers_of_parts.number * bounded.log_bound - numbers_of_parts.log_factorial >= bounded.log_first_part - 40
  ) as of_parts
),

parts as (
  select
    base_number,
    j,
    2 * log_pass_hat_k + sum(log_step) over (partition by base_number order by j) as log_weight,
    sum(log_step_of_ratio) over (partition by base_number order by j) as log_ratio
  from steps
),

sums_of_parts as (
  select
    base_number,
    sum(
      {{ passk._exp('log_weight') }}
      * power(case when floor(j / 2) * 2 = j then {{ passk._one_minus_exp('log_ratio') }} else 1 + {{ passk._exp('log_ratio') }} end, 2)
    ) as variance
  from parts
  group by base_number
),

variances as (
  select
    bases.fewer_n,
    bases.more_n,
    bases.passes,
    bases.k,
    sums_of_parts.variance
  from bases
  inner join sums_of_parts
    on bases.base_number = sums_of_parts.base_number
)
{%- endmacro %}

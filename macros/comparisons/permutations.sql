{#- The distribution for a task whose two runs are the same: its attempts of both runs are one heap, from which as many as
    the candidate has are drawn without replacement. `pooled` holds the distinct numbers of attempts of both runs, with the passes of both
    together. -#}

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

    The factors of s_j that know k, with those of the first parts multiplied, are computed once for all tasks with as many attempts,
    and the other ones once for all k. Of many attempts only the first parts count. The product of k - j + 1 over the first j parts
    is at most k^j e^(-j (j - 1) / 2k), so s_1 ... s_j is at most L^j e^(-j (j - 1) / k) / j!, where L is k^2 times the largest of
    the other factors of s_1 to s_k. Parts are left out from where that is below e^-40 of s_1 for the largest k of a task; for a
    smaller k it is smaller still. -#}
{% macro _permutation_variances(ks) -%}
{%- set double = passk.type_double() -%}
grid as (
  {{ passk._ks_rows(ks) }}
),

largest_k as (
  select max(k) as most
  from grid
),

{{ passk._numbers_up_to('largest_k') }},

numbers_of_parts as (
  select
    number,
    cast(number as {{ double }}) as j,
    sum(ln(number)) over (order by number) as log_factorial
  from numbers
  where number >= 1
),

heaps as (
  select
    *,
    row_number() over (order by fewer_n, more_n, passes) as heap_number,
    fewer_n + more_n as attempts,
    fewer_n + more_n - passes as failures
  from pooled
  where passes > 0 and passes < fewer_n + more_n
),

points as (
  select
    heaps.*,
    grid.k
  from heaps
  inner join grid
    on grid.k <= heaps.fewer_n and grid.k <= heaps.passes
),

bases as (
  {{ passk._with_log_choose_ratio('points', 'attempts', 'passes', 'k', 'log_pass_hat_k') }}
),

bounded as (
  select
    *,
    ln(k * k * more_n / fewer_n * failures / passes * (attempts - 1) / (attempts - k) / (attempts - k)) as log_first_part,
    ln(
      k * k * (more_n - k + 1) / (fewer_n - k + 1)
      * case when failures > passes then (failures - k + 1) / (passes - k + 1) else cast(failures as {{ double }}) / passes end
      * (attempts + 1) / (attempts - 2 * k + 1) / (attempts - 2 * k + 1)
    ) as log_bound
  from (
    select
      heap_number,
      attempts,
      fewer_n,
      more_n,
      passes,
      failures,
      cast(max(k) as {{ double }}) as k
    from points
    group by heap_number, attempts, fewer_n, more_n, passes, failures
  ) as with_largest_k
),

heap_steps as (
  select
    bounded.heap_number,
    numbers_of_parts.number,
    ln(
      (bounded.more_n - j + 1) / (bounded.fewer_n - j + 1)
      * (bounded.failures - j + 1) / (bounded.passes - j + 1)
      * (bounded.attempts - j + 2) / (bounded.attempts - 2 * j + 3)
      * (bounded.attempts - 2 * j + 1) / j
    ) as log_step,
    ln((bounded.fewer_n - j + 1) / (bounded.more_n - j + 1)) as log_step_of_ratio
  from bounded
  inner join numbers_of_parts
    on
      numbers_of_parts.number <= bounded.k
      and numbers_of_parts.number <= bounded.failures
      and j * (bounded.log_bound - (j - 1) / bounded.k) - numbers_of_parts.log_factorial >= bounded.log_first_part - 40
),

heap_sums as (
  select
    heap_number,
    number,
    sum(log_step) over (partition by heap_number order by number) as log_weight,
    sum(log_step_of_ratio) over (partition by heap_number order by number) as log_ratio
  from heap_steps
),

heap_parts as (
  select
    heap_number,
    number,
    log_weight,
    power(
      case when floor(number / 2.0) * 2 = number then {{ passk._one_minus_exp('log_ratio') }} else 1 + {{ passk._exp('log_ratio') }} end,
      2
    ) as difference
  from heap_sums
),

k_parts as (
  select
    numbers_of_attempts.attempts,
    grid.k,
    numbers_of_parts.number,
    2 * sum(ln((grid.k - j + 1) / (numbers_of_attempts.attempts - j + 1 - grid.k))) over (
      partition by numbers_of_attempts.attempts, grid.k order by numbers_of_parts.number
    ) as log_weight
  from (select distinct attempts from points) as numbers_of_attempts
  inner join grid
    on 2 * grid.k <= numbers_of_attempts.attempts
  cross join (select max(number) as most from heap_steps) as parts_that_count
  inner join numbers_of_parts
    on
      numbers_of_parts.number <= grid.k
      and numbers_of_parts.number <= parts_that_count.most
),

sums_of_parts as (
  select
    bases.heap_number,
    bases.k,
    sum({{ passk._exp('2 * bases.log_pass_hat_k + heap_parts.log_weight + k_parts.log_weight') }} * heap_parts.difference) as variance
  from bases
  inner join heap_parts
    on
      bases.heap_number = heap_parts.heap_number
      and heap_parts.number <= bases.k
  inner join k_parts
    on
      bases.attempts = k_parts.attempts
      and bases.k = k_parts.k
      and heap_parts.number = k_parts.number
  group by bases.heap_number, bases.k
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
    on
      bases.heap_number = sums_of_parts.heap_number
      and bases.k = sums_of_parts.k
)
{%- endmacro %}

{#- All of it is moments of Beta variables, which are pass^k of other counts:

    - the square of an unbiased estimate less the estimate of twice as many draws is the unbiased estimate of its variance
      within the task, a U-statistic of 2k different attempts, so that it needs n >= 2k;
    - under a uniform prior, E[p^k] is pass^k of c + k passes among n + 1 + k attempts, and the same with failures gives
      1 - pass@k.

    The limits are those of p, raised to k. #}
with states as (
  select distinct
    n,
    c
  from {{ ref('int_passk__estimates_by_count') }}
  where n > 0
  {%- if is_incremental() %}
  except
  select
    n,
    c
  from {{ this }}
  {%- endif %}
),

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

draws_of as (
  select 1 as times
  union all
  select 2 as times
),

metrics as (
  select 'pass_hat_k' as metric
  union all
  select 'pass_at_k' as metric
),

wanted as (
  select
    states.n as state_n,
    states.c as state_c,
    grid.k as state_k,
    metrics.metric,
    draws_of.times,
    states.n,
    case when metrics.metric = 'pass_hat_k' then states.c else states.n - states.c end as c,
    grid.k * draws_of.times as k
  from states
  cross join grid
  cross join draws_of
  cross join metrics
),

points as (
  select
    *,
    'estimate' as kind
  from wanted
  union all
  select
    state_n,
    state_c,
    state_k,
    metric,
    times,
    n + 1 + k as n,
    c + k as c,
    k,
    'posterior' as kind
  from wanted
),

{{ passk._point_formulas(['state_n', 'state_c', 'state_k', 'metric', 'times', 'kind']) }},

pivoted as (
  select
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    {%- for kind in ['estimate', 'posterior'] %}
    {%- for times in [1, 2] %}
    max(case when metric = '{{ metric }}' and kind = '{{ kind }}' and times = {{ times }} then pass_hat_k end)
      as {{ metric }}_{{ kind }}_{{ times }},
    {%- endfor %}
    {%- endfor %}
    {%- endfor %}
    state_n as n,
    state_c as c,
    state_k as k
  from results
  group by state_n, state_c, state_k
),

{# Limits follow from those of p, whatever k is, but an unbiased estimate is 0 where c < k, and 1 where n - c < k. #}
transformed as (
  select
    pivoted.*,
    {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
    {{ passk[metric ~ '_pooled']('limits.p_lower', 'pivoted.k') }} as {{ metric }}_low,
    {{ passk[metric ~ '_pooled']('limits.p_upper', 'pivoted.k') }} as {{ metric }}_high,
    {%- endfor %}
    1 - pivoted.pass_at_k_estimate_1 as pass_at_k,
    pivoted.pass_hat_k_estimate_1 as pass_hat_k
  from pivoted
  inner join {{ ref('int_passk__limits_by_count') }} as limits
    on pivoted.n = limits.n and pivoted.c = limits.c
)

{# Rounding may leave a difference of squares below 0. #}
select
  n,
  c,
  k,
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  {%- set estimate, posterior = metric ~ '_estimate_', metric ~ '_posterior_' %}
  case
    when n < k then null
    when {{ metric }}_low > {{ metric }} then {{ metric }}
    else {{ metric }}_low
  end as {{ metric }}_lower,
  case
    when n < k then null
    when {{ metric }}_high < {{ metric }} then {{ metric }}
    else {{ metric }}_high
  end as {{ metric }}_upper,
  case
    when {{ estimate }}2 is null then null
    when {{ estimate }}1 * {{ estimate }}1 > {{ estimate }}2
      then {{ estimate }}1 * {{ estimate }}1 - {{ estimate }}2
    else 0e0
  end as var_{{ metric }},
  {{ '1 - ' if metric == 'pass_at_k' }}{{ posterior }}1 as {{ metric }}_bayes,
  case
    when {{ posterior }}2 > {{ posterior }}1 * {{ posterior }}1
      then {{ posterior }}2 - {{ posterior }}1 * {{ posterior }}1
    else 0e0
  end as var_{{ metric }}_bayes,
  {%- endfor %}
  {{ passk._quoted(passk._built_with()) }} as built_with
from transformed

{#- pass_hat_k = C(c, k) / C(n, k) and pass_at_k = 1 - C(n - c, k) / C(n, k), by log_all_pass = ln(C(c, k) / C(n, k)) and log_all_fail =
    ln(C(n - c, k) / C(n, k)). In steps instead of one expression, so that no step is written or computed twice: from a CTE
    `points` with n, c, k, and maybe more columns that tell its rows apart, to a CTE `results` with the `keys` and the estimates. -#}
{% macro _point_formulas(keys) -%}
halves as {{ passk._made_once() }}(
  select
    *,
    {{ passk._stirling_half('passes', 'draws') }} as pass_half,
    {{ passk._stirling_half('failures', 'draws') }} as fail_half
  from (
    select
      *,
      {{ passk._as_double('n') }} as trials,
      {{ passk._as_double('c') }} as passes,
      {{ passk._as_double('n - c') }} as failures,
      {{ passk._as_double('k') }} as draws,
      n >= k as is_eligible
    from points
  ) as counted
),

shifted as {{ passk._made_once() }}(
  select
    *,
    {#- The four points x, a, b and d of `_log_moment`: macros/numerics/log_choose_ratio.sql. #}
    {%- for kind, count in [('pass', 'passes'), ('fail', 'failures')] %}
    trials + {{ kind }}_half as {{ kind }}_x,
    {{ count }} + {{ kind }}_half as {{ kind }}_a,
    trials - draws + {{ kind }}_half as {{ kind }}_b,
    {{ count }} - draws + {{ kind }}_half as {{ kind }}_d{%- if not loop.last %},{% endif %}
    {%- endfor %}
  from halves
),

logs as {{ passk._made_once() }}(
  select
    *,
    {%- for kind, count in [('pass', 'passes'), ('fail', 'failures')] %}
    case
      when is_eligible and draws <= {{ count }} and {{ count }} < trials
        then {{ passk._log_moment(
          kind ~ '_x', kind ~ '_a', kind ~ '_b', kind ~ '_d', 'trials', count, 'draws'
        ) }}
    end as log_all_{{ kind }},
    {%- endfor %}
    case
      when passes > 0 and failures > 0
        then draws * ({{ passk._log_of_rest('passes', 'trials') }})
    end as log_all_fail_plugin
  from shifted
),

results as (
  select
    {{ keys | join(',\n    ') }},
    {#- A pass among k, and a failure among k: what takes 1 - pass_hat_k off a perfect task, without a difference from 1. #}
    {%- for metric, wanted, others, log_none in [
      ('pass_at_k', 'passes', 'failures', 'log_all_fail'),
      ('lost_reliability', 'failures', 'passes', 'log_all_pass')
    ] %}
    case
      when not is_eligible then null
      when {{ wanted }} = 0 then {{ passk._as_double(0) }}
      when {{ others }} < draws then {{ passk._as_double(1) }}
      when k = 1 then {{ wanted }} / trials
      else {{ passk._one_minus_exp(log_none) }}
    end as {{ metric }},
    {%- endfor %}
    case
      when not is_eligible then null
      when passes < draws then {{ passk._as_double(0) }}
      when c = n then {{ passk._as_double(1) }}
      when k = 1 then passes / trials
      else {{ passk._exp('log_all_pass') }}
    end as pass_hat_k,
    case
      when n = 0 then null
      when c = 0 or c = n or k = 1 then passes / trials
      else {{ passk._one_minus_exp('log_all_fail_plugin') }}
    end as pass_at_k_plugin,
    case when n > 0 then {{ passk._power_of_ratio('trials', 'passes', 'draws') }} end as pass_hat_k_plugin,
    passes / nullif(trials, 0) as pass_rate
  from logs
)
{%- endmacro %}

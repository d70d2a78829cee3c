{%- set text = dbt.type_string() %}
{%- set tau = passk._setting('passk_minimum_change') %}
{%- set significant = 'abs(z) >= ' ~ passk.normal_quantile() %}

with comparisons as (
  select * from {{ ref('int_passk__comparisons') }}
),

{# Why no verdict is given, though there may be figures. #}
judged as (
  select
    *,
    {{ passk._as_double(tau) }} as minimum_change,
    case
      when null_reason is not null then null_reason
      when common_tasks * 10 < (common_tasks + baseline_only_tasks) * 9
        then 'only ' || cast(common_tasks as {{ text }}) || ' of ' || cast(common_tasks + baseline_only_tasks as {{ text }})
          || ' tasks of the baseline are in both runs, fewer than 90 %'
      when deciding_tasks < 6
        then 'only ' || cast(deciding_tasks as {{ text }}) || ' of ' || cast(eligible_tasks as {{ text }})
          || ' tasks could come out differently at k = ' || cast(k as {{ text }}) || ', fewer than 6'
    end as no_verdict_reason,
    case
      when metric = 'pass_hat_k' then 'pass^' || cast(k as {{ text }})
      else 'pass@' || cast(k as {{ text }})
    end as metric_name
  from comparisons
),

verdicts as (
  select
    *,
    case
      when no_verdict_reason is not null then 'insufficient'
      when {{ significant }} and abs(difference) < minimum_change then 'below_threshold'
      when {{ significant }} and difference < 0 then 'regression'
      when {{ significant }} then 'improvement'
      when difference_suite_lower > -minimum_change and difference_suite_upper < minimum_change then 'equivalent'
      else 'inconclusive'
    end as verdict
  from judged
),

hidden as (
  select
    *,
    {#- Sums of the same rates in another order differ in their last digits. #}
    case
      when metric = 'pass_hat_k' and difference is not null then verdict = 'regression' and rate_difference >= -1e-12
    end as hidden_regression,
    case when difference < 0 then 'fell' else 'rose' end || ' by ' || {{ passk._decimals('abs(difference)') }} as movement,
    '(' || {{ passk._decimals('case when difference < 0 then 0 - difference_suite_upper else difference_suite_lower end') }}
    || ' to '
    || {{ passk._decimals('case when difference < 0 then 0 - difference_suite_lower else difference_suite_upper end') }}
    || ')' as reach,
    {{ passk._decimals('minimum_change') }} as threshold
  from verdicts
)

select
  suite,
  baseline_run_id,
  candidate_run_id,
  pair_source,
  baseline_agent,
  baseline_agent_version,
  candidate_agent,
  candidate_agent_version,
  metric,
  k,
  common_tasks,
  baseline_only_tasks,
  candidate_only_tasks,
  eligible_tasks,
  informative_tasks,
  baseline,
  candidate,
  difference,
  z,
  p,
  difference_lower,
  difference_upper,
  difference_suite_lower,
  difference_suite_upper,
  minimum_change,
  verdict,
  hidden_regression,
  no_verdict_reason as null_reason,
  case
    when verdict = 'insufficient' then 'No verdict on ' || metric_name || ': ' || no_verdict_reason || '.'
    when verdict = 'below_threshold'
      then metric_name || ' ' || movement || ' ' || reach || ', less than the ' || threshold || ' that matter.'
    when verdict in ('regression', 'improvement')
      then metric_name || ' ' || movement || ' ' || reach || ': '
        || case when verdict = 'regression' then 'fewer' else 'more' end
        || case
          when k = 1 then ' tries succeed'
          when metric = 'pass_hat_k' then ' tasks succeed ' || cast(k as {{ text }}) || ' times in a row'
          else ' tasks succeed at least once in ' || cast(k as {{ text }}) || ' tries'
        end
        || case
          when hidden_regression and rate_difference > 1e-12
            then '. pass@1 hides it: it rose by ' || {{ passk._decimals('rate_difference') }}
          when hidden_regression then '. pass@1 hides it: it did not change'
          else ''
        end
        || '.'
    when verdict = 'equivalent' then metric_name || ' is the same to less than ' || threshold || '.'
    when difference = 0 then metric_name || ' did not change.'
    else metric_name || ' ' || movement || ' ' || reach || ', which chance alone can explain.'
  end as meaning,
  loaded_at
from hidden

{#- The verdicts of pairs: those of passk_comparisons, and those that gates judge instead, without the tasks in
    quarantine. -#}
{%- set text = dbt.type_string() %}
{%- set tau = passk._setting('passk_minimum_change') %}
{#- The distance of a limit from 0 on the side that the test excludes. #}
{%- set nearest = '1e-9' %}

with comparisons as (
  select *
  from {{ ref('int_passk__comparisons') }}
  where pair_source <> 'ranking'
),

{# Reason why there is no verdict, although there may be figures. #}
judged as (
  select
    *,
    {{ passk._as_double(tau) }} as minimum_change,
    {#- Where few tasks could differ, or one outweighs the others, z is far from normal. #}
    deciding_tasks >= 6 and not is_outweighed as is_tested,
    case
      when null_reason is not null then null_reason
      when not ({{ passk._are_nearly_all('common_tasks', '(common_tasks + baseline_only_tasks)') }})
        then 'only ' || cast(common_tasks as {{ text }}) || ' of ' || cast(common_tasks + baseline_only_tasks as {{ text }})
          || ' tasks of the baseline are in both runs, fewer than {{ passk._nearly_all_percent() }} %'
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

{# Tasks with n < k in either run may have any difference from -1 to 1. #}
widened as (
  select
    *,
    {%- for limits in ['difference', 'difference_suite'] %}
    {{ passk._with_short_tasks(limits ~ '_lower', 'eligible_tasks', 'common_tasks', -1) }} as {{ limits }}_least,
    {{ passk._with_short_tasks(limits ~ '_upper', 'eligible_tasks', 'common_tasks', 1) }} as {{ limits }}_most,
    {%- endfor %}
    eligible_tasks < common_tasks as has_short_tasks,
    no_verdict_reason is null and is_tested and abs(z) >= {{ passk.normal_quantile() }} as is_significant
  from judged
),

{# The test decides whether there is a difference; where tasks are short, only if they could not undo it. #}
decided as (
  select
    *,
    coalesce(
      is_significant and (
        not has_short_tasks
        or (difference < 0 and difference_suite_most < 0)
        or (difference > 0 and difference_suite_least > 0)
      ),
      false
    ) as is_decided
  from widened
),

{# One rule for the verdict and the interval beside it: the interval excludes 0 exactly where the test decides. It uses
   another variance than z and would otherwise contradict it now and then. #}
limited as (
  select
    *,
    case
      when is_decided and difference > 0 and difference_suite_least < {{ nearest }} then {{ nearest }}
      when not is_decided and difference_suite_least > 0 then 0e0
      else difference_suite_least
    end as suite_lower,
    case
      when is_decided and difference < 0 and difference_suite_most > -{{ nearest }} then -{{ nearest }}
      when not is_decided and difference_suite_most < 0 then 0e0
      else difference_suite_most
    end as suite_upper
  from decided
),

verdicts as (
  select
    *,
    case
      when no_verdict_reason is not null then 'insufficient'
      when is_decided and abs(difference) < minimum_change then 'below_threshold'
      when is_decided and difference < 0 then 'regression'
      when is_decided then 'improvement'
      when suite_lower > -minimum_change and suite_upper < minimum_change then 'equivalent'
      else 'inconclusive'
    end as verdict,
    case when difference < 0 then 0 - suite_upper else suite_lower end as near_end,
    case when difference < 0 then 0 - suite_lower else suite_upper end as far_end
  from limited
),

hidden as (
  select
    *,
    {#- Sums of the same rates in another order differ in their last digits. #}
    case
      when metric = 'pass_hat_k' and difference is not null then verdict = 'regression' and rate_difference >= -1e-12
    end as hidden_regression,
    case when difference < 0 then 'fell' else 'rose' end || ' by ' || {{ passk._decimals('abs(difference)') }} as movement,
    '('
    || case
      when is_decided and near_end < 0.0005e0 then 'above 0'
      else {{ passk._decimals('near_end') }}
    end
    || ' to '
    || {{ passk._decimals('far_end') }}
    || ')' as reach,
    {{ passk._decimals('minimum_change') }} as threshold
  from verdicts
)

select
  suite,
  baseline_run_id,
  candidate_run_id,
  pair_source,
  slice_name <> 'all' as is_judged,
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
  families,
  informative_tasks,
  least_n,
  baseline,
  candidate,
  difference,
  case when is_tested then z end as z,
  case when is_tested then p end as p,
  difference_least as difference_lower,
  difference_most as difference_upper,
  suite_lower as difference_suite_lower,
  suite_upper as difference_suite_upper,
  minimum_change,
  verdict,
  hidden_regression,
  no_verdict_reason as null_reason,
  case
    when difference is not null and has_short_tasks
      then {{ passk._short_tasks_reason('eligible_tasks', 'common_tasks', ' of both runs') }}
        || ', which the limits allow any difference'
  end as caveat,
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
    when is_significant
      then metric_name || ' ' || movement || ' ' || reach || ' over the ' || cast(eligible_tasks as {{ text }})
        || ' tasks with n >= ' || cast(k as {{ text }}) || ' in both runs, which the other '
        || cast(common_tasks - eligible_tasks as {{ text }}) || ' could undo.'
    when not is_tested
      then metric_name || ' ' || movement || ' ' || reach
        || ', where one task outweighs the others: too little to tell from chance.'
    else metric_name || ' ' || movement || ' ' || reach || ', which chance alone can explain.'
  end as meaning,
  loaded_at
from hidden

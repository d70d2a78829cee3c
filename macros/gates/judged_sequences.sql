{#- Whether a suite's metric reaches its threshold, by evidence that may be looked at often. CTEs up to `judged_sequences`. -#}
{% macro _judged_sequences(carried) -%}
{%- set text = dbt.type_string() %}
evidence as (
  select * from {{ ref('int_passk__sequential_gates') }}
),

sequences as (
  select
    gates.*,
    evidence.tasks,
    evidence.unfinished_tasks,
    evidence.estimate,
    evidence.estimate_lower,
    evidence.estimate_upper,
    evidence.needed_evidence,
    {{ passk._metric_name() }} as metric_name,
    case when evidence.estimate < gates.threshold then evidence.below_counted else evidence.above_counted end as evidence,
    case when evidence.estimate < gates.threshold then evidence.most_below else evidence.most_above end as most,
    case
      when evidence.above_counted >= evidence.needed_evidence then 'pass'
      when evidence.below_counted >= evidence.needed_evidence then 'fail'
    end as counted_result,
    coalesce(evidence.above_failed >= evidence.needed_evidence, false) as holds_if_failed,
    coalesce(evidence.below_passed >= evidence.needed_evidence, false) as holds_if_passed
  from gates
  left join evidence
    on {{ passk._same_keys(['gate', 'run_id', 'suite'], 'gates', 'evidence') }}
  where gates.rule_type = 'sequential' and gates.has_run
),

told_sequences as (
  select
    *,
    case
      when counted_result = 'pass' and holds_if_failed then 'pass'
      when counted_result = 'fail' and holds_if_passed then 'fail'
      else 'inconclusive'
    end as result
  from sequences
),

judged_sequences as (
  select
    {{ carried | join(',\n    ') }},
    cast(null as {{ text }}) as baseline_run_id,
    slice_name,
    slice_value,
    tasks,
    estimate,
    estimate_lower,
    estimate_upper,
    result,
    case
      when tasks is null then 'No task has ' || {{ passk._whole('first_attempts') }} || ' counted attempts yet.'
      else metric_name || ' is ' || {{ passk._decimals('estimate') }} || {{ passk._gate_interval() }}
        || ' over the first ' || {{ passk._whole('first_attempts') }} || ' attempts of ' || {{ passk._whole('tasks') }} || ' tasks'
        || case
          when result = 'pass' then ': even the lower limit reaches ' || threshold_text || '.'
          when result = 'fail' then ': even the upper limit is below ' || threshold_text || '.'
          when counted_result is not null
            then ', which would ' || counted_result || ', but not if the excluded attempts had '
              || case counted_result when 'pass' then 'failed' else 'passed' end || '.'
          else ', and ' || threshold_text || ' lies between these limits.'
        end
        {#- The evidence holds if the tasks finish in an order that does not depend on their results. #}
        || case
          when unfinished_tasks = 0 or result = 'inconclusive' then ''
          else ' ' || {{ passk._whole('unfinished_tasks') }} || case when unfinished_tasks = 1 then ' task is' else ' tasks are' end
            || ' not finished: if tasks that ' || case result when 'pass' then 'fail' else 'succeed' end || ' take longer, wait for '
            || case when unfinished_tasks = 1 then 'it.' else 'them.' end
        end
    end as reason,
    case
      when result <> 'inconclusive' then null
      when tasks is null then 'At least ' || {{ passk._whole('first_attempts') }} || ' counted attempts of a task.'
      when counted_result is not null then 'The excluded attempts, loaded again under their own numbers, or more tasks.'
      {#- The gain of the best bet grows with the tasks; the distance of the mean from it hardly does. #}
      when most * 10 < needed_evidence then 'Many more tasks. The estimate is near the threshold, or the tasks are few.'
      else {{ passk._about('(tasks * (needed_evidence + most - evidence) / most)', "'tasks'", fails='estimate < threshold') }}
    end as to_settle
  from told_sequences
)
{%- endmacro %}


{#- The estimate that a rule judges by, of a task with so many passes in its first attempts. -#}
{% macro _score_of_rule(rule, passes) -%}
  {%- if rule.metric == 'pass_hat_k' -%}
    {{ return(passk.pass_hat_k(rule.first_attempts, passes, rule.k)) }}
  {%- elif rule.metric == 'pass_at_k' -%}
    {{ return(passk.pass_at_k(rule.first_attempts, passes, rule.k)) }}
  {%- endif -%}
  {{ return(passk.pass_m_of_k(rule.first_attempts, passes, rule.m, rule.k)) }}
{%- endmacro %}

{{ config(materialized='ephemeral') }}

with used as (
  select
    run_id,
    suite,
    sum(case when grade = 'passed' then 1 else 0 end) as passes,
    sum(case when grade = 'failed' then 1 else 0 end) as failures,
    sum(case when grade = 'passed' and verdict = 'passed' then 1 else 0 end) as true_passes,
    sum(case when grade = 'failed' and verdict = 'passed' then 1 else 0 end) as false_failures
  from {{ ref('int_passk__labels') }}
  where kind = 'label' and reject_reason is null
  group by run_id, suite
),

graded as (
  select
    run_id,
    suite,
    {{ passk._as_double('sum(tasks * c)') }} / nullif(sum(tasks * n), 0) as graded,
    sum(tasks * n) as attempts
  from {{ ref('int_passk__tasks_by_count') }}
  where slice_name = 'all'
  group by run_id, suite
),

{# The weights of Mantel and Haenszel: a run of which only passes, or only failures, are labelled says nothing. #}
weighed as (
  select
    used.*,
    graded.graded,
    graded.attempts,
    {{ passk._as_double('used.failures') }} / (used.passes + used.failures) * graded.graded as pass_weight,
    {{ passk._as_double('used.passes') }} / (used.passes + used.failures) * (1 - graded.graded) as failure_weight
  from used
  inner join graded
    on used.run_id = graded.run_id and used.suite = graded.suite
),

summed as (
  select
    suite,
    count(*) as runs,
    sum(case when failures > 0 then passes else 0 end) as labelled_passes,
    sum(case when passes > 0 then failures else 0 end) as labelled_failures,
    sum(case when failures > 0 then passes - true_passes else 0 end) as false_passes,
    sum(case when passes > 0 then false_failures else 0 end) as false_failures,
    sum(case when passes > 0 and failures > 0 then attempts else 0 end) as attempts,
    sum(pass_weight * passes) as passes_weight,
    sum(failure_weight * failures) as failures_weight,
    sum(pass_weight * true_passes) as true_passes_weight,
    sum(failure_weight * false_failures) as false_failures_weight,
    sum(pass_weight * pass_weight * passes) as passes_square,
    sum(failure_weight * failure_weight * failures) as failures_square
  from weighed
  group by suite
)

select
  suite,
  runs,
  labelled_passes,
  labelled_failures,
  false_passes,
  false_failures,
  attempts,
  true_passes_weight / nullif(passes_weight, 0) as passes,
  false_failures_weight / nullif(failures_weight, 0) as failures,
  passes_weight / nullif(passes_weight + failures_weight, 0) as graded,
  {#- How many labels of equal weight say as much (Kish). #}
  passes_weight * passes_weight / nullif(passes_square, 0) as effective_passes,
  failures_weight * failures_weight / nullif(failures_square, 0) as effective_failures
from summed

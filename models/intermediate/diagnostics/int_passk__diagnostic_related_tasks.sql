{%- set least = passk._least_tasks() %}
{%- set start = "case when families.is_declared then 'passk_cluster names ' else 'The names of the tasks show ' end" %}

with families as (
  select
    *,
    {{ passk._as_double('family_tasks') }} as tasks,
    family_tasks >= {{ least }}
    and families >= 2
    and ((is_declared and families < family_tasks) or families * 2 <= family_tasks) as has_families,
    {#- With fewer tasks apart from the others, the chance distribution is no chi-square. #}
    squares > 1e-12 and squares * squares >= 5 * fourths * (1 - 1e-9) as has_spread
  from {{ ref('int_passk__family_checks') }}
),

{# If the scores were assigned to the tasks at random: the mean of the squares between families, and the mean products of
   scores of two, three and four tasks. #}
dealt as (
  select
    *,
    squares * (families - 1) / (tasks - 1) as expected,
    (squares * squares - fourths) / tasks / (tasks - 1) as of_two,
    (2 * fourths - squares * squares) / tasks / ((tasks - 1) * (tasks - 2)) as of_three,
    (3 * squares * squares - 6 * fourths) / tasks / ((tasks - 1) * (tasks - 2) * (tasks - 3)) as of_four,
    tasks - 3 * families + 2 * inverse_sizes as chained
  from families
  where has_families and has_spread
),

{# The squares between families are a quadratic form of the scores: its exact variance over all orders of the scores. #}
varied as (
  select
    *,
    inverse_sizes * fourths / tasks
    + (families * families - inverse_sizes + 2 * (families - inverse_sizes)) * of_two
    - 4 * (families - inverse_sizes) * fourths / tasks / (tasks - 1)
    + (4 * chained + 2 * (families * (tasks - families) - 2 * (families - inverse_sizes))) * of_three
    + ((tasks - families) * (tasks - families) - 4 * chained - 2 * (families - inverse_sizes)) * of_four
    - expected * expected as variance,
    squares_between / (families - 1) as by_family,
    (squares - squares_between) / (tasks - families) as by_task,
    (tasks - squares_of_sizes / tasks) / (families - 1) as family_size
  from dealt
),

compared as (
  select
    *,
    case when variance > 1e-12 * expected * expected then 2 * expected * expected / variance end as degrees,
    by_family + (family_size - 1) * by_task as spread
  from varied
),

{# A chi-square distribution with that mean and variance gives the tail. #}
likened as (
  select
    run_id,
    suite,
    case when spread > 0 then (by_family - by_task) / spread else 0e0 end as intraclass,
    sqrt(squares_of_sums / tasks * families / (families - 1) / (squares / (tasks - 1))) as widening,
    {{ passk._chi_square_deviate('(squares_between / expected * degrees)', 'degrees') }} as deviate
  from compared
  where degrees is not null
)

select
  checks.run_id,
  checks.suite,
  'related_tasks' as diagnostic,
  likened.intraclass as statistic,
  likened.deviate,
  1 as sides,
  families.family_tasks as informing_tasks,
  case
    when families.family_tasks < {{ least }} then 'insufficient'
    when not families.has_families then 'not_applicable'
    when likened.deviate is null then 'insufficient'
    {#- A chance of 0.01. Families that are declared are no surprise. #}
    when likened.deviate > 2.3263478740408408e0 and not families.is_declared then 'warning'
    else 'ok'
  end as verdict,
  case
    when families.family_tasks < {{ least }} then {{ passk._too_few_inform('families.family_tasks') }}
    when not families.has_families
      then {{ start }} || case when families.families = 1 then 'a single family.' else 'no families.' end || checks.some_read
    when likened.deviate is null
      then {{ start }} || {{ passk._whole('families.families') }}
        || ' families, and too few tasks differ from the others to tell.' || checks.some_read
    else {{ start }} || {{ passk._whole('families.families') }}
      || ' families, whose tasks have an intraclass correlation of ' || {{ passk._rounded('likened.intraclass') }}
      || ' in c / n. The standard error of pass@1 that knows of them is '
      || {{ passk._rounded('likened.widening', 2) }} || ' times that of unrelated tasks.' || checks.some_read
  end as finding,
  checks.loaded_at
from {{ ref('int_passk__diagnostic_checks') }} as checks
inner join families
  on checks.run_id = families.run_id and checks.suite = families.suite
left join likened
  on checks.run_id = likened.run_id and checks.suite = likened.suite

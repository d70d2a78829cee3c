with limited as (
  select
    *,
    {%- for share in ['passes', 'failures'] %}
    {%- for side, sign in [('lower', '-'), ('upper', '+')] %}
    {{ passk._label_limit(share, 'effective_' ~ share, sign) }} as {{ share }}_{{ side }},
    {%- endfor %}
    {%- endfor %}
    case
      {%- for share in ['passes', 'failures'] %}
      when labelled_{{ share }} < {{ passk._least_labels() }}
        then 'only ' || cast(labelled_{{ share }} as {{ dbt.type_string() }})
          || ' labels of attempts that the grader {{ 'passed' if share == 'passes' else 'failed' }}'
          || ', fewer than {{ passk._least_labels() }}'
      {%- endfor %}
    end as null_reason
  from {{ ref('int_passk__label_strata') }}
),

{# The estimate, and what it would be with each share at each of its limits: the limits of all that follows are made of
   these. #}
points as (
  {%- for point, passes, failures in [
    ('estimate', 'passes', 'failures'),
    ('passes_lower', 'passes_lower', 'failures'),
    ('passes_upper', 'passes_upper', 'failures'),
    ('failures_lower', 'passes', 'failures_lower'),
    ('failures_upper', 'passes', 'failures_upper')
  ] %}
  select
    suite,
    '{{ point }}' as assumed,
    {{ passes }} as passes,
    {{ failures }} as failures,
    graded
  from limited
  where null_reason is null
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

{# P(graded pass | true pass), null where no attempt truly passed, and P(graded pass | true failure). #}
rates as (
  select
    *,
    passes * graded / nullif(passes * graded + failures * (1 - graded), 0) as sensitivity,
    (1 - passes) * graded / nullif((1 - passes) * graded + (1 - failures) * (1 - graded), 0) as false_pass_rate
  from points
)

select
  limited.suite,
  rates.assumed,
  rates.passes,
  rates.failures,
  rates.sensitivity,
  rates.false_pass_rate,
  {#- Above 0 exactly if a graded pass is a true one more often than a graded failure is. #}
  case when rates.passes > rates.failures then rates.sensitivity - rates.false_pass_rate end as told_apart,
  limited.graded,
  limited.runs,
  limited.labelled_passes,
  limited.labelled_failures,
  limited.false_passes,
  limited.false_failures,
  limited.attempts,
  limited.effective_passes,
  limited.effective_failures,
  limited.null_reason
from limited
left join rates
  on limited.suite = rates.suite

with labels as (
  select
    suite,
    count(*) as labels,
    sum(case when reject_reason is null then 0 else 1 end) as rejected_labels,
    max(loaded_at) as loaded_at
  from {{ ref('int_passk__labels') }}
  where kind = 'label'
  group by suite
),

points as (
  select
    suite,
    max(null_reason) as null_reason,
    max(runs) as runs,
    {%- for name in [
      'labelled_passes', 'labelled_failures', 'false_passes', 'false_failures', 'attempts', 'effective_passes',
      'effective_failures', 'graded'
    ] %}
    max({{ name }}) as {{ name }},
    {%- endfor %}
    max(case when assumed = 'estimate' then 1 - passes end) as false_share_of_passes,
    max(case when assumed = 'passes_upper' then 1 - passes end) as false_share_of_passes_lower,
    max(case when assumed = 'passes_lower' then 1 - passes end) as false_share_of_passes_upper,
    {%- for side in ['lower', 'upper'] %}
    max(case when assumed = 'failures_{{ side }}' then failures end) as false_share_of_failures_{{ side }},
    {%- endfor %}
    max(case when assumed = 'estimate' then failures end) as false_share_of_failures,
    {%- for rate in ['sensitivity', 'false_pass_rate'] %}
    {%- for point in ['estimate', 'passes_lower', 'passes_upper', 'failures_lower', 'failures_upper'] %}
    max(case when assumed = '{{ point }}' then {{ rate }} end) as {{ rate }}_at_{{ point }},
    {%- endfor %}
    {%- endfor %}
    max(case when assumed = 'estimate' then told_apart end) as told_apart,
    max(case when assumed = 'estimate' then passes * graded + failures * (1 - graded) end) as true_share
  from {{ ref('int_passk__grader_points') }}
  group by suite
),

{# Each limit of a share that bears on a rate moves it by itself; the squares of the distances add up (Zou and Donner 2008), with
   that of a rate over all attempts of its kind, which is what the labels estimate. #}
limited as (
  select
    *,
    {%- for rate, kind, lower, upper in [
      ('sensitivity', 'true_share', ['passes_lower', 'failures_upper'], ['passes_upper', 'failures_lower']),
      ('false_pass_rate', '(1 - true_share)', ['passes_upper', 'failures_lower'], ['passes_lower', 'failures_upper'])
    ] %}
    {%- for side, sign, extreme, at in [('lower', '-', '0e0', lower), ('upper', '+', '1e0', upper)] %}
    {%- set reach -%}
    sqrt(
      {%- for point in at %}
      power({{ rate }}_at_{{ point }} - {{ rate }}_at_estimate, 2) +
      {%- endfor %}
      power({{ passk.normal_quantile() }}, 2) * {{ rate }}_at_estimate * (1 - {{ rate }}_at_estimate) / (attempts * {{ kind }})
    )
    {%- endset %}
    case
      when {{ rate }}_at_estimate is null then null
      when {{ rate }}_at_{{ at[0] }} is null or {{ rate }}_at_{{ at[1] }} is null then {{ extreme }}
      else {{ passk._clipped(rate ~ '_at_estimate ' ~ sign ~ ' ' ~ reach, 0, 1) }}
    end as {{ rate }}_{{ side }},
    {%- endfor %}
    {%- endfor %}
    case
      when null_reason is not null then null_reason
      when sensitivity_at_estimate is null then 'by the labels no attempt truly passed'
      when false_pass_rate_at_estimate is null then 'by the labels no attempt truly failed'
      when told_apart is null or told_apart <= 0 then 'it passes true failures at least as often as true passes: it is no better than chance'
    end as reason
  from points
)

select
  labels.suite,
  cast(labels.labels as {{ dbt.type_bigint() }}) as labels,
  cast(labels.rejected_labels as {{ dbt.type_bigint() }}) as rejected_labels,
  {%- for name in ['runs', 'attempts', 'labelled_passes', 'labelled_failures', 'false_passes', 'false_failures'] %}
  cast(coalesce(limited.{{ name }}, 0) as {{ dbt.type_bigint() }}) as {{ name }},
  {%- endfor %}
  {%- for name in ['effective_passes', 'effective_failures'] %}
  limited.{{ name }},
  {%- endfor %}
  limited.graded as graded_pass_rate,
  {%- for name in ['false_share_of_passes', 'false_share_of_failures'] %}
  limited.{{ name }},
  limited.{{ name }}_lower,
  limited.{{ name }}_upper,
  {%- endfor %}
  {%- for name in ['sensitivity', 'false_pass_rate'] %}
  limited.{{ name }}_at_estimate as {{ name }},
  limited.{{ name }}_lower,
  limited.{{ name }}_upper,
  {%- endfor %}
  case when limited.suite is null then 'no label can be used' else limited.reason end as null_reason,
  labels.loaded_at
from labels
left join limited
  on labels.suite = limited.suite

{#- CTEs up to `score_means`: the means of scores over tasks with limits, from a CTE `counts` with the `keys`, n, c and how many `tasks`
    have them, with families also `family` and `lone_task`, the task itself where its family is not known; and from a CTE `scores` with n, c, the
    columns of `names`, among them k, and the `estimate` of a task and its variance within the task, `var_estimate`. -#}
{% macro _score_means(keys, names) -%}
{%- set place = keys + names -%}
{%- set bigint = dbt.type_bigint() -%}
{%- set z = passk.normal_quantile() -%}
{%- set by_family = passk._family() is not none -%}
scored as (
  select
    counts.*,
    {%- for name in names %}
    scores.{{ name }},
    {%- endfor %}
    scores.estimate,
    scores.var_estimate,
    case when counts.n >= scores.k then counts.tasks else 0 end as eligible
  from counts
  inner join scores
    on counts.n = scores.n and counts.c = scores.c
),

means as (
  select
    {{ place | join(', ') }},
    sum(eligible * estimate) / nullif(sum(eligible), 0) as mean
  from scored
  group by {{ place | join(', ') }}
),

centered as (
  select
    scored.*,
    means.mean,
    case when scored.eligible > 0 then scored.estimate - means.mean end as off_estimate
  from scored
  inner join means
    on {{ passk._same_keys(place, 'scored', 'means') }}
),

averaged as (
  select
    {{ place | join(', ') }},
    cast(sum(eligible) as {{ bigint }}) as eligible_tasks,
    cast(sum(tasks) as {{ bigint }}) as total_tasks,
    cast(min(case when eligible > 0 then n end) as {{ bigint }}) as least_n,
    max(mean) as estimate,
    sum(eligible * off_estimate * off_estimate) / nullif(sum(eligible) - 1, 0) as variance,
    case
      when sum(case when eligible > 0 and var_estimate is null then 1 else 0 end) = 0
        then sum(case when eligible > 0 then eligible * var_estimate end)
    end as within
  from centered
  group by {{ place | join(', ') }}
),

{% if by_family -%}
families as (
  select
    {{ place | join(', ') }},
    {{ passk._as_double('sum(eligible)') }} as tasks,
    sum(case when eligible > 0 then eligible * off_estimate end) as off_estimate
  from centered
  group by {{ place | join(', ') }}, family, lone_task
),

related as (
  select
    {{ place | join(', ') }},
    cast(nullif(count(nullif(tasks, 0)), 0) as {{ bigint }}) as families,
    {#- A family of many tasks counts for more, so that unequal ones say as much as fewer equal ones. #}
    sum(tasks) * sum(tasks) / nullif(sum(tasks * tasks), 0) as units,
    {{ passk._variance_of_families('off_estimate', 'off_estimate') }} as variance
  from families
  group by {{ place | join(', ') }}
),
{%- endif %}

joined as (
  select
    {% for key in place %}averaged.{{ key }}, {% endfor %}
    averaged.eligible_tasks,
    averaged.total_tasks,
    averaged.least_n,
    averaged.estimate,
    averaged.within,
    {%- if by_family %}
    related.families,
    related.units,
    related.variance,
    {%- else %}
    cast(null as {{ bigint }}) as families,
    {{ passk._as_double('averaged.eligible_tasks') }} as units,
    averaged.variance,
    {%- endif %}
    {{ passk._has_enough_tasks('averaged.eligible_tasks', 'averaged.total_tasks') }} as is_answered
  from averaged
  {%- if by_family %}
  inner join related
    on {{ passk._same_keys(place, 'averaged', 'related') }}
  {%- endif %}
),

answered as (
  select
    {{ place | join(', ') }},
    eligible_tasks,
    total_tasks,
    least_n,
    {%- for column in ['estimate', 'within', 'families', 'units', 'variance'] %}
    case when is_answered then {{ column }} end as {{ column }},
    {%- endfor %}
    case when not is_answered then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} end as null_reason,
    case
      when is_answered and eligible_tasks < total_tasks
        then {{ passk._short_tasks_reason('eligible_tasks', 'total_tasks') }} || ', which the limits allow any value'
    end as caveat
  from joined
),

errors as (
  select
    *,
    {{ passk._padded_columns([('estimate', 'estimate', 'variance')]) }},
    sqrt(within + {{ passk._floor_of_suite('k', 'least_n') }}) / eligible_tasks as suite_error
  from answered
),

score_means as (
  select
    {{ place | join(', ') }},
    eligible_tasks,
    total_tasks,
    least_n,
    families,
    case when families is not null then units end as effective_families,
    estimate,
    {%- for side, sign, extreme in [('lower', '-', 0), ('upper', '+', 1)] %}
    {%- for name, limit in [
      (side, passk._padded_limit('estimate', sign)),
      ('suite_' ~ side, passk._clipped('estimate ' ~ sign ~ ' ' ~ z ~ ' * suite_error', 0, 1))
    ] %}
    {{ passk._with_short_tasks(limit, 'eligible_tasks', 'total_tasks', extreme) }} as {{ name }},
    {%- endfor %}
    {%- endfor %}
    null_reason,
    caveat
  from errors
)
{%- endmacro %}

{%- set keys = passk._pair_keys() %}
{%- set bigint = dbt.type_bigint() %}

{#- The limits for other tasks are not asked of pairs that are only ranked. #}
with changed_pairs as (
  {{ passk.changed_pairs(
    ref('int_passk__pair_states'),
    "upstream.baseline_n is null and upstream.candidate_n is null and upstream.pair_source <> 'ranking'",
    is_wanted=passk._family() is not none
  ) }}
),

pairs as (
  select
    *,
    row_number() over (order by {{ keys | join(', ') }}) as pair_number
  from changed_pairs
),

counts as (
  select
    run_id,
    suite,
    task_id,
    slice_name,
    family,
    n,
    c
  from {{ ref('int_passk__task_counts') }}
  where
    {{ passk._is_of_pairs() }}
    and attempts > 0
    and (
      run_id in (select pairs.baseline_run_id from pairs)
      or run_id in (select pairs.candidate_run_id from pairs)
    )
),

{# A task whose family is not known is a family of its own. #}
common as (
  select
    *,
    case when family is null then task_id end as lone_task
  from ({{ passk._pair_tasks() }}) as pair_tasks
),

histogram as (
  select
    pair_number,
    family,
    lone_task,
    baseline_n,
    baseline_c,
    candidate_n,
    candidate_c,
    count(*) as tasks
  from common
  group by pair_number, family, lone_task, baseline_n, baseline_c, candidate_n, candidate_c
),

scored as (
  {%- for metric in ['pass_at_k', 'pass_hat_k'] %}
  select
    histogram.pair_number,
    histogram.family,
    histogram.lone_task,
    histogram.tasks,
    '{{ metric }}' as metric,
    baselines.k,
    candidates.{{ metric }} - baselines.{{ metric }} as difference
  from histogram
  inner join {{ ref('int_passk__estimates_by_count') }} as baselines
    on histogram.baseline_n = baselines.n
    and histogram.baseline_c = baselines.c
    and histogram.baseline_n >= baselines.k
    and histogram.candidate_n >= baselines.k
  inner join {{ ref('int_passk__estimates_by_count') }} as candidates
    on histogram.candidate_n = candidates.n and histogram.candidate_c = candidates.c and baselines.k = candidates.k
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

means as (
  select
    pair_number,
    metric,
    k,
    sum(tasks * difference) / sum(tasks) as difference
  from scored
  group by pair_number, metric, k
),

families as (
  select
    scored.pair_number,
    scored.metric,
    scored.k,
    {{ passk._as_double('sum(scored.tasks)') }} as tasks,
    sum(scored.tasks * (scored.difference - means.difference)) as surplus
  from scored
  inner join means
    on {{ passk._same_keys(['pair_number', 'metric', 'k'], 'scored', 'means') }}
  group by scored.pair_number, scored.metric, scored.k, scored.family, scored.lone_task
),

summed as (
  select
    pair_number,
    metric,
    k,
    cast(count(*) as {{ bigint }}) as families,
    sum(tasks) * sum(tasks) / sum(tasks * tasks) as effective_families,
    {{ passk._variance_of_families('surplus', 'surplus') }} as variance
  from families
  group by pair_number, metric, k
)

select
  {% for key in keys %}pairs.{{ key }}, {% endfor %}
  summed.metric,
  summed.k,
  summed.families,
  summed.effective_families,
  summed.variance,
  pairs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pairs
inner join summed
  on pairs.pair_number = summed.pair_number

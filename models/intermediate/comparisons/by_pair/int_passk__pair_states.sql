{%- set keys = passk._pair_keys() %}
{%- set bigint = dbt.type_bigint() %}

with changed_pairs as (
  {{ passk.changed_pairs(ref('int_passk__pairs')) }}
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

common as (
  select
    pair_number,
    baseline_n,
    baseline_c,
    candidate_n,
    candidate_c,
    cast(count(*) as {{ bigint }}) as tasks
  from ({{ passk._pair_tasks() }}) as pair_tasks
  group by pair_number, baseline_n, baseline_c, candidate_n, candidate_c
),

run_states as (
  select
    run_id,
    suite,
    slice_name,
    n,
    c,
    count(*) as tasks
  from counts
  group by run_id, suite, slice_name, n, c
),

{# The tasks of a run less the common ones are in that run only. Postgres would read `common` for each row of a join. #}
histogram as (
  select *
  from common
  {%- for side in ['baseline', 'candidate'] %}
  union all
  select
    pair_number,
    {%- for one in ['baseline', 'candidate'] %}
    {%- for count in ['n', 'c'] %}
    {{ count if one == side else 'cast(null as ' ~ bigint ~ ')' }} as {{ one }}_{{ count }},
    {%- endfor %}
    {%- endfor %}
    cast(sum(part) as {{ bigint }}) as tasks
  from (
    select
      pairs.pair_number,
      run_states.n,
      run_states.c,
      run_states.tasks as part
    from pairs
    inner join run_states
      on pairs.{{ side }}_run_id = run_states.run_id
      and pairs.suite = run_states.suite
      and pairs.slice_name = run_states.slice_name
    union all
    select
      pair_number,
      {{ side }}_n as n,
      {{ side }}_c as c,
      0 - tasks as part
    from common
  ) as of_{{ side }}
  group by pair_number, n, c
  having sum(part) > 0
  {%- endfor %}
)

select
  {% for key in keys %}pairs.{{ key }}, {% endfor %}
  histogram.baseline_n,
  histogram.baseline_c,
  histogram.candidate_n,
  histogram.candidate_c,
  histogram.tasks,
  pairs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from histogram
left join pairs
  on histogram.pair_number = pairs.pair_number
union all
{#- Each pair has one row that can be found without the others; it is the only row where no task has an attempt. #}
select
  {{ keys | join(', ') }},
  cast(null as {{ bigint }}) as baseline_n,
  cast(null as {{ bigint }}) as baseline_c,
  cast(null as {{ bigint }}) as candidate_n,
  cast(null as {{ bigint }}) as candidate_c,
  cast(0 as {{ bigint }}) as tasks,
  log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from pairs

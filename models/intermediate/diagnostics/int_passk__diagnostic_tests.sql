with diagnostics as (
  {%- for name in passk._diagnostic_words() %}
  select * from {{ ref('int_passk__diagnostic_' ~ name) }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

{# All tails in one query, because planning a tail is expensive. #}
tested as (
  select
    *,
    case when sides > 0 then sides * {{ passk.normal_tail('deviate') }} end as p
  from diagnostics
),

{# A test decides where nothing else does, if enough tasks inform it. #}
counted as (
  select
    *,
    case
      when verdict is null and informing_tasks >= {{ passk._least_tasks() }} and p is not null then 1
      else 0
    end as is_test
  from tested
),

{# Over the tests of a run: Holm 1979. #}
ranked as (
  select
    *,
    row_number() over (partition by run_id, suite, is_test order by p, diagnostic) as place,
    sum(is_test) over (partition by run_id, suite) as tests
  from counted
),

held as (
  select
    *,
    case
      when is_test = 1
        then max((tests - place + 1) * p) over (
            partition by run_id, suite, is_test order by place rows unbounded preceding
          )
    end as p_of_run
  from ranked
),

{# Over the runs of a suite that were loaded no later than this run, so that a later run does not change earlier
   verdicts: how many there are, and how many have evidence at least as strong (Benjamini and Bogomolov 2014). #}
tested_runs as (
  select
    run_id,
    suite,
    loaded_at,
    min(p_of_run) as least_p
  from held
  where is_test = 1
  group by run_id, suite, loaded_at
),

many_runs as (
  select
    tested_runs.run_id,
    tested_runs.suite,
    cast(count(*) as {{ passk.type_double() }})
    {#- Values that differ only by rounding are equal. #}
    / sum(case when peers.least_p <= tested_runs.least_p * (1 + 1e-9) then 1 else 0 end) as per_rejection
  from tested_runs
  inner join tested_runs as peers
    on tested_runs.suite = peers.suite
    and (
      tested_runs.loaded_at >= peers.loaded_at
      or tested_runs.loaded_at is null
      or peers.loaded_at is null
    )
  group by tested_runs.run_id, tested_runs.suite
)

select
  held.run_id,
  held.suite,
  held.diagnostic,
  held.statistic,
  held.informing_tasks,
  held.verdict,
  held.finding,
  held.p,
  held.loaded_at,
  {{ passk._clipped('held.p_of_run * many_runs.per_rejection', 0, 1) }} as p_adjusted
from held
left join many_runs
  on held.run_id = many_runs.run_id and held.suite = many_runs.suite

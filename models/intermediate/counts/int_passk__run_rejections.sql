with rejected_rows as (
  select
    nullif(run_id, '') as run_id,
    coalesce(suite, 'default') as suite,
    coalesce(source_file, '') as source_file,
    count(*) as rejected
  from {{ ref('int_passk__rejected_attempts') }}
  group by nullif(run_id, ''), coalesce(suite, 'default'), coalesce(source_file, '')
),

rejected as (
  select
    run_id,
    suite,
    cast(sum(rejected) as {{ dbt.type_bigint() }}) as rejected
  from rejected_rows
  where run_id is not null
  group by run_id, suite
),

{# A row that names no run may belong to any run of its file, or to any run at all where no file is known. #}
unnamed as (
  select
    source_file,
    sum(rejected) as rejected
  from rejected_rows
  where run_id is null and source_file <> ''
  group by source_file
),

unplaced as (
  select coalesce(sum(rejected), 0) as rejected
  from rejected_rows
  where run_id is null and source_file = ''
),

{# Does not read the log where every rejected row names its run. #}
runs_of_files as (
  select distinct
    every.run_id,
    every.suite,
    every.source_file
  from (
    select
      run_id,
      suite,
      coalesce(source_file, '') as source_file
    from {{ ref('stg_passk__attempts') }}
    where coalesce(source_file, '') in (select unnamed.source_file from unnamed)
    union all
    select
      run_id,
      suite,
      source_file
    from rejected_rows
  ) as every
),

rejected_without_name as (
  select
    runs_of_files.run_id,
    runs_of_files.suite,
    sum(unnamed.rejected) as rejected
  from runs_of_files
  inner join unnamed
    on runs_of_files.source_file = unnamed.source_file
  group by runs_of_files.run_id, runs_of_files.suite
)

select
  runs.run_id,
  runs.suite,
  coalesce(rejected.rejected, 0) as rejected,
  cast(coalesce(rejected_without_name.rejected, 0) + unplaced.rejected as {{ dbt.type_bigint() }}) as rejected_unnamed
from {{ ref('int_passk__runs') }} as runs
left join rejected
  on runs.run_id = rejected.run_id and runs.suite = rejected.suite
left join rejected_without_name
  on runs.run_id = rejected_without_name.run_id and runs.suite = rejected_without_name.suite
cross join unplaced

with refused_rows as (
  select
    nullif(run_id, '') as run_id,
    coalesce(suite, 'default') as suite,
    coalesce(source_file, '') as source_file,
    count(*) as refused
  from {{ ref('int_passk__rejected_attempts') }}
  group by nullif(run_id, ''), coalesce(suite, 'default'), coalesce(source_file, '')
),

refused as (
  select
    run_id,
    suite,
    cast(sum(refused) as {{ dbt.type_bigint() }}) as rejected
  from refused_rows
  where run_id is not null
  group by run_id, suite
),

{# A row that names no run may belong to any run of its file, or to any run at all where no file is known. #}
unnamed as (
  select
    source_file,
    sum(refused) as refused
  from refused_rows
  where run_id is null and source_file <> ''
  group by source_file
),

unplaced as (
  select coalesce(sum(refused), 0) as refused
  from refused_rows
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
    from refused_rows
  ) as every
),

refused_unnamed as (
  select
    runs_of_files.run_id,
    runs_of_files.suite,
    sum(unnamed.refused) as refused
  from runs_of_files
  inner join unnamed
    on runs_of_files.source_file = unnamed.source_file
  group by runs_of_files.run_id, runs_of_files.suite
)

select
  runs.run_id,
  runs.suite,
  coalesce(refused.rejected, 0) as rejected,
  cast(coalesce(refused_unnamed.refused, 0) + unplaced.refused as {{ dbt.type_bigint() }}) as rejected_unnamed
from {{ ref('int_passk__runs') }} as runs
left join refused
  on runs.run_id = refused.run_id and runs.suite = refused.suite
left join refused_unnamed
  on runs.run_id = refused_unnamed.run_id and runs.suite = refused_unnamed.suite
cross join unplaced

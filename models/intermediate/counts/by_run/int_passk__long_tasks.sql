{%- set keys = ['run_id', 'suite', 'task_id', 'slice_name', 'slice_value'] %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__task_scans'), 'not upstream.is_masked') }}
),

scans as (
  select
    {%- for key in keys %}
    scans.{{ key }},
    {%- endfor %}
    scans.attempts,
    scans.attempt_mask,
    scans.pass_mask,
    scans.fail_mask,
    changed_runs.log_version
  from {{ ref('int_passk__task_scans') }} as scans
  inner join changed_runs
    on scans.run_id = changed_runs.run_id and scans.suite = changed_runs.suite
  where not scans.is_masked
),

{# The attempts that the masks of the scan have no bit for. #}
later as (
  {{ passk._later_attempts(ref('stg_passk__attempts')) }}
),

sliced as (
  {{ passk._sliced('later') }}
),

{# One mask after the other: `numbers_before` is how many numbers are before those of a mask. #}
words as {{ passk._made_once() }}(
  select
    {{ keys | join(', ') }},
    cast(0 as {{ dbt.type_bigint() }}) as numbers_before,
    attempt_mask,
    pass_mask,
    fail_mask
  from scans
  union all
  select
    {{ keys | join(', ') }},
    numbers_before,
    {{ passk._task_masks(passk._setting('passk_ordered_metrics')) }}
  from sliced
  group by {{ keys | join(', ') }}, numbers_before
),

{# As many numbers as rows: none occurs twice. Where few of the numbers are taken, texts of all would be too long. #}
whole_tasks as (
  select
    words.run_id,
    words.suite,
    words.task_id
  from words
  inner join scans
    on words.run_id = scans.run_id and words.suite = scans.suite and words.task_id = scans.task_id
  where words.slice_name = 'all' and scans.slice_name = 'all'
  group by words.run_id, words.suite, words.task_id, scans.attempts
  having sum({{ passk._mask_count('words.attempt_mask') }}) = scans.attempts and 8 * (count(*) - 1) <= scans.attempts
),

whole_words as (
  select
    words.*,
    lag(words.numbers_before) over (
      partition by words.run_id, words.suite, words.task_id, words.slice_name, words.slice_value
      order by words.numbers_before
    ) as previous
  from words
  inner join whole_tasks
    on words.run_id = whole_tasks.run_id and words.suite = whole_tasks.suite and words.task_id = whole_tasks.task_id
),

masks as (
  select
    {{ keys | join(', ') }},
    {{ passk._joined_masks('pass_mask') }} as pass_mask,
    {{ passk._joined_masks('fail_mask') }} as fail_mask
  from whole_words
  group by {{ keys | join(', ') }}
)

select
  {%- for key in keys %}
  scans.{{ key }},
  {%- endfor %}
  masks.run_id is not null as is_masked,
  masks.pass_mask,
  masks.fail_mask,
  {%- for verdict in ['pass', 'fail'] %}
  {{ passk._long_first_rank('masks.' ~ verdict ~ '_mask', 'masks.pass_mask', 'masks.fail_mask') }}
    as first_{{ verdict }}_rank,
  {%- endfor %}
  scans.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from scans
left join masks
  on {{ passk._same_keys(keys, 'scans', 'masks') }}

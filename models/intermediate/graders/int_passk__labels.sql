{%- set keys = ['run_id', 'suite', 'task_id', 'attempt'] %}
{%- set nulls = passk._nulls_last() %}
{%- set first = [
  'loaded_at' ~ nulls, passk._by_bytes('source_file') ~ nulls, 'source_line' ~ nulls, passk._by_bytes('labeller') ~ nulls,
  passk._by_bytes('note') ~ nulls
] | join(', ') %}
{%- set labelled = passk._told_kinds_of_labels() | length > 0 %}
{%- set told = ['labeller', 'verdict', 'labelled_at', 'note'] %}
{%- set alike = (['kind'] + keys) | join(', ') ~ ', told_' ~ told | join(', told_') %}

with labels as {{ passk._made_once() }}(
  select
    {%- for name in told %}
    case when kind = 'verdict' then {{ name }} end as told_{{ name }},
    {%- endfor %}
    *
  from {{ ref('stg_passk__labels') }}
),

{# Duplicates of a label count once, also those by different people; people who disagree leave no label. A judge may say the
   same again. #}
counted as (
  select
    *,
    row_number() over (partition by {{ alike }} order by {{ first }}) as copy_number,
    count(*) over (partition by {{ alike }}) as copies,
    case
      when min(verdict) over (partition by {{ alike }}) <> max(verdict) over (partition by {{ alike }}) then 1
      else 0
    end as is_contradictory
  from labels
  where reject_reason is null
),

labelled_attempts as (
  select distinct {{ keys | join(', ') }}
  from counted
),

{% if labelled -%}
{# Postgres, which expects few labels, would read the log again for each of them. #}
attempts as {{ passk._made_once() }}(
  select
    {{ keys | join(', ') }},
    outcome
  from {{ ref('int_passk__attempts') }}
),

{% endif -%}
graded as {{ passk._made_once() }}(
  {%- if labelled %}
  select
    {%- for key in keys %}
    attempts.{{ key }},
    {%- endfor %}
    attempts.outcome as grade
  from attempts
  inner join labelled_attempts
    on {{ passk._same_keys(keys, 'attempts', 'labelled_attempts') }}
  {%- else %}
  {#- Without labels the log is not read. #}
  select
    {{ keys | join(', ') }},
    cast(null as {{ dbt.type_string() }}) as grade
  from labelled_attempts
  {%- endif %}
),

matched as (
  select
    counted.*,
    graded.grade,
    case
      when graded.run_id is null then 'no_such_attempt: the log has no such attempt.'
      when graded.grade = 'excluded' then 'not_graded: the attempt is excluded, so that there is no grade to check.'
      when counted.is_contradictory = 1
        then 'contradictory: the attempt has ' || cast(counted.copies as {{ dbt.type_string() }})
          || ' labels, and they differ; none is used.'
      when counted.copy_number > 1 and counted.kind = 'verdict' and counted.labelled_at is not null
        then 'duplicate: the judge has ' || cast(counted.copies as {{ dbt.type_string() }})
          || ' equal verdicts of the same time on the attempt; the first is used.'
      when counted.copy_number > 1 and counted.kind = 'label'
        then 'duplicate: the attempt has ' || cast(counted.copies as {{ dbt.type_string() }})
          || ' labels of the same verdict; the first is used.'
    end as mistake
  from counted
  left join graded
    on {{ passk._same_keys(keys, 'counted', 'graded') }}
)

select
  kind,
  {%- for name, _ in passk._label_columns() %}
  {{ name }},
  {%- endfor %}
  grade,
  mistake as reject_reason
from matched
union all
select
  kind,
  {%- for name, _ in passk._label_columns() %}
  {{ name }},
  {%- endfor %}
  cast(null as {{ dbt.type_string() }}) as grade,
  reject_reason
from labels
where reject_reason is not null

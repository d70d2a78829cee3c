{#- The looks that gates took at runs, of which only builds know: docs/gates.md. No full refresh deletes a row, and no table
    is made from it, because tables follow from the log and the vars alone. #}
{%- set keys = ['gate', 'rule', 'run_id', 'suite'] %}

with judged as (
  select
    {% for key in keys %}gates.{{ key }}, {% endfor %}
    runs.log_rows as attempts
  from {{ ref('int_passk__gate_runs') }} as gates
  inner join {{ ref('int_passk__runs') }} as runs
    on gates.run_id = runs.run_id and gates.suite = runs.suite
  where gates.has_run and gates.rule_type in ('threshold', 'each_task', 'drop', 'rolling_drop', 'regressed_tasks')
)

select *
from judged
{%- if is_incremental() %}
where
  not exists (
    select 1
    from {{ this }} as earlier
    where {{ passk._same_keys(keys, 'earlier', 'judged') }} and earlier.attempts >= judged.attempts
  )
{%- endif %}

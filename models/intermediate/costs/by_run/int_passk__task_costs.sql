{%- set double = passk.type_double() %}
{%- set bigint = dbt.type_bigint() %}
{%- set measures = passk._setting('passk_costs') %}
{%- set keys = ['run_id', 'suite', 'task_id'] %}
{%- set outcomes = [('passed', 'passes'), ('failed', 'failures'), ('excluded', 'excluded')] %}

{# Runs without a measure have no row here, and must not be looked for in every build. #}
with changed_runs as (
  {{ passk.changed_runs(
    ref('int_passk__task_counts'), "upstream.slice_name = 'all' and " ~ passk._knows_a_measure('upstream')
  ) }}
),

{# Each measure reads the log by itself, so that an engine skips what has none. #}
measured as (
  {%- for measure in measures or ['cost_usd'] %}
  {%- set value = '(' ~ passk._cost_measures()[measure] ~ ')' %}
  select
    {{ keys | join(', ') }},
    {%- for outcome, name in outcomes %}
    cast(sum(case when outcome = '{{ outcome }}' then 1 else 0 end) as {{ bigint }}) as measured_{{ name }},
    sum(case when outcome = '{{ outcome }}' then cast({{ value }} as {{ double }}) else 0e0 end) as spent_on_{{ name }},
    {%- endfor %}
    '{{ measure }}' as measure
  from {{ ref('int_passk__attempts') }}
  where {{ value }} is not null and {{ passk._is_of_changed_runs(ref('int_passk__attempts')) if measures else '1 = 0' }}
  group by {{ keys | join(', ') }}
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
)

select
  measured.*,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from measured
inner join changed_runs
  on measured.run_id = changed_runs.run_id and measured.suite = changed_runs.suite

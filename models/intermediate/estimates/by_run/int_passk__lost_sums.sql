{%- set keys = ['run_id', 'suite', 'dimension', 'slice_name', 'part'] %}
{%- set counts = ['family_key', 'lone_task', 'n', 'c', 'failures', 'tasks', 'excluded'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set by_family = passk._family() is not none %}

with changed_runs as (
  {{ passk.changed_runs(ref('int_passk__lost_parts')) }}
),

of_runs as {{ passk._made_once() }}(
  select parts.*
  from {{ ref('int_passk__lost_parts') }} as parts
  inner join changed_runs
    on parts.run_id = changed_runs.run_id and parts.suite = changed_runs.suite
),

parts as {{ passk._made_once() }}(
  select
    {{ keys | join(', ') }},
    {{ counts | join(', ') }}
  from of_runs
  {%- if by_family %}
  union all
  select
    run_id,
    suite,
    'family' as dimension,
    slice_name,
    case when family_key = '' then '(no family)' else family_key end as part,
    {{ counts | join(', ') }}
  from of_runs
  where dimension = 'all'
  {%- endif %}
),

grid as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

{# The counts as they would be, had the failures of a part passed. #}
points as (
  select
    mended.n,
    mended.c,
    grid.k
  from (
    select distinct
      n,
      c + failures as c
    from parts
  ) as mended
  inner join grid
    on mended.n >= grid.k
),

mended_states as (
  select
    n,
    c,
    k,
    case when c < k then 0e0 when c = n then 1e0 else {{ passk._exp('log_all_pass') }} end as pass_hat_k
  from (
    {{ passk._with_log_choose_ratio('points', 'n', 'c', 'k', 'log_all_pass', 'k <= c and c < n') }}
  ) as log_points
),

{# The failed attempts of a task share its loss alike. #}
scored as {{ passk._made_once() }}(
  select
    parts.*,
    grid.k,
    case when parts.n >= grid.k then parts.tasks else 0 end as eligible,
    case
      when parts.failures = 0 then 0e0
      else states.lost_reliability * ({{ passk._as_double('parts.failures') }} / (parts.n - parts.c))
    end as loss,
    case when parts.n >= grid.k then states.lost_reliability end as whole_loss,
    case when parts.failures = 0 then 0e0 else mended_states.pass_hat_k - states.pass_hat_k end as gain
  from parts
  cross join grid
  inner join {{ ref('int_passk__estimates_by_count') }} as states
    on parts.n = states.n and parts.c = states.c and grid.k = states.k
  left join mended_states
    on parts.n = mended_states.n and parts.c + parts.failures = mended_states.c and grid.k = mended_states.k
),

{# The draws: tasks, or families. One without an eligible task is none, but its attempts are counted. -#}
units as (
  select
    {{ keys | join(', ') }},
    {%- if by_family %}
    family_key,
    lone_task,
    max(case when eligible > 0 then 1 else 0 end) as number,
    sum(case when eligible > 0 then eligible * loss else 0e0 end) as loss,
    {%- else %}
    eligible as number,
    case when eligible > 0 then loss else 0e0 end as loss,
    coalesce(whole_loss, 0e0) as whole_loss,
    {%- endif %}
    {%- for name, sql in [
      ('failing_tasks', 'case when failures > 0 then eligible else 0 end'),
      ('failed_attempts', 'eligible * failures'),
      ('excluded_attempts', 'excluded'),
      ('gain', 'case when eligible > 0 then eligible * gain else 0e0 end'),
    ] %}
    {{ 'sum(' ~ sql ~ ')' if by_family else sql }} as {{ name }},
    {%- endfor %}
    k
  from scored
  {%- if by_family %}
  group by {{ keys | join(', ') }}, k, family_key, lone_task
  {%- endif %}
),

{# Windows instead of joins: engines without statistics of these steps would join each row with each. #}
losses as (
  select
    *,
    {%- if by_family %}
    max(case when dimension = 'all' then loss end) over (partition by run_id, suite, k, family_key, lone_task) as whole_loss,
    {%- endif %}
    sum(number * loss) over (partition by {{ keys | join(', ') }}, k) as part_loss,
    sum(case when dimension = 'all' then number * loss end) over (partition by run_id, suite, k) as run_loss,
    sum(case when dimension = 'all' then number * loss * loss end) over (partition by run_id, suite, k) as run_squared
  from units
),

shared as (
  select
    *,
    {#- Rounding takes none above 1. #}
    case when part_loss > run_loss then 1e0 else part_loss / nullif(run_loss, 0) end as lost_share
  from losses
),

{# The squared residuals of a ratio; that of a draw without the part is of a loss of 0. #}
shares as (
  select
    {{ keys | join(', ') }},
    k,
    cast(sum(failing_tasks) as {{ bigint }}) as failing_tasks,
    cast(sum(failed_attempts) as {{ bigint }}) as failed_attempts,
    cast(sum(excluded_attempts) as {{ bigint }}) as excluded_attempts,
    max(part_loss) as loss,
    sum(gain) as gain,
    max(lost_share) as lost_share,
    max(run_loss) as whole_loss,
    max(run_squared) as squared,
    sum(number * power(loss - lost_share * whole_loss, 2)) as with_part,
    sum(number * power(whole_loss, 2)) as squared_with_part
  from shared
  group by {{ keys | join(', ') }}, k
)

select
  {% for key in keys %}shares.{{ key }}, {% endfor %}
  shares.k,
  shares.failing_tasks,
  shares.failed_attempts,
  shares.excluded_attempts,
  shares.loss,
  shares.gain,
  shares.lost_share,
  power(shares.whole_loss, 2) / nullif(shares.squared, 0) as units,
  {#- In units of a draw of the size that most of the loss is in; rounding takes nothing below 0. #}
  (
    shares.with_part
    + power(shares.lost_share, 2)
    * case when shares.squared_with_part < shares.squared then shares.squared - shares.squared_with_part else 0e0 end
  ) * power(shares.whole_loss / nullif(shares.squared, 0), 2) as squares,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from shares
inner join changed_runs
  on shares.run_id = changed_runs.run_id and shares.suite = changed_runs.suite

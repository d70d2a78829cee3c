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

{# Postgres, which expects few rows, would compute these again for each row that they are joined to. #}
mended_states as {{ passk._made_once() }}(
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
  inner join {{ ref('int_passk__states') }} as states
    on parts.n = states.n and parts.c = states.c and grid.k = states.k
  left join mended_states
    on parts.n = mended_states.n and parts.c + parts.failures = mended_states.c and grid.k = mended_states.k
),

{# The draws: tasks, or families. -#}
units as (
  {%- if by_family %}
  {#- Beside the loss of a part that of the whole family, by a window: in a join Postgres would try all pairs. #}
  select
    *,
    max(case when dimension = 'all' then loss end) over (partition by run_id, suite, k, family_key, lone_task) as whole_loss
  from (
    select
      {{ keys | join(', ') }},
      k,
      family_key,
      lone_task,
      1 as number,
      sum(eligible * loss) as loss
    from scored
    where eligible > 0
    group by {{ keys | join(', ') }}, k, family_key, lone_task
  ) as families
  {%- else %}
  select
    {{ keys | join(', ') }},
    k,
    eligible as number,
    loss,
    whole_loss
  from scored
  where eligible > 0
  {%- endif %}
),

{# The share of the part that a draw belongs to, by windows too. -#}
shared as {{ passk._made_once() }}(
  select
    *,
    sum(number * loss) over (partition by {{ keys | join(', ') }}, k)
    / nullif(
      sum(case when dimension = 'all' then number * loss else 0e0 end) over (partition by run_id, suite, k), 0
    ) as lost_share
  from units
),

wholes as (
  select
    run_id,
    suite,
    k,
    sum(number * loss) as loss,
    sum(number * loss * loss) as squared
  from shared
  where dimension = 'all'
  group by run_id, suite, k
),

sums as (
  select
    {{ keys | join(', ') }},
    k,
    cast(sum(case when failures > 0 then eligible else 0 end) as {{ bigint }}) as failing_tasks,
    cast(sum(eligible * failures) as {{ bigint }}) as failed_attempts,
    cast(sum(excluded) as {{ bigint }}) as excluded_attempts,
    sum(case when eligible > 0 then eligible * loss else 0e0 end) as loss,
    sum(case when eligible > 0 then eligible * gain else 0e0 end) as gain
  from scored
  group by {{ keys | join(', ') }}, k
),

shares as (
  select
    sums.*,
    wholes.loss as whole_loss,
    wholes.squared,
    {#- Rounding takes none above 1. #}
    case when sums.loss > wholes.loss then 1e0 else sums.loss / nullif(wholes.loss, 0) end as lost_share
  from sums
  left join wholes
    on {{ passk._same_keys(['run_id', 'suite', 'k'], 'sums', 'wholes') }}
),

{# The squared residuals of a ratio; that of a draw without the part is of a loss of 0. #}
residuals as (
  select
    {{ keys | join(', ') }},
    k,
    sum(number * power(loss - lost_share * whole_loss, 2)) as with_part,
    sum(number * power(whole_loss, 2)) as squared
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
    coalesce(residuals.with_part, 0e0)
    + power(shares.lost_share, 2)
    * case when residuals.squared < shares.squared then shares.squared - residuals.squared else 0e0 end
  ) * power(shares.whole_loss / nullif(shares.squared, 0), 2) as squares,
  changed_runs.log_version,
  {{ passk._quoted(passk._built_with()) }} as built_with
from shares
inner join changed_runs
  on shares.run_id = changed_runs.run_id and shares.suite = changed_runs.suite
left join residuals
  on {{ passk._same_keys(keys + ['k'], 'shares', 'residuals') }}

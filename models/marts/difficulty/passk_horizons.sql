{%- set fit = ['run_id', 'suite', 'k'] %}
{%- set axis = passk._difficulty() %}

with metrics as (
  select *
  from {{ ref('int_passk__suite_metrics') }}
  where slice_name = 'all' and {{ '1 = 1' if axis else '1 = 0' }}
),

lengths as (
  select
    {{ fit | join(', ') }},
    cast(max(fitted_tasks) as {{ dbt.type_bigint() }}) as fitted_tasks,
    max(shortest) as shortest,
    max(longest) as longest,
    max(mean_doublings) as mean_doublings,
    max(spread) as spread
  from {{ ref('int_passk__length_points') }}
  group by {{ fit | join(', ') }}
),

joined as (
  select
    metrics.run_id,
    metrics.suite,
    metrics.agent,
    metrics.agent_version,
    metrics.model,
    metrics.k,
    metrics.total_tasks,
    metrics.loaded_at,
    coalesce(lengths.fitted_tasks, 0) as fitted_tasks,
    lengths.shortest,
    lengths.longest,
    lengths.mean_doublings,
    lengths.spread,
    fits.power,
    fits.base_level,
    fits.slope,
    {#- One half at all lengths, but for rounding: nowhere in particular. #}
    fits.slope > -1e-9 and abs(fits.above_half) < 1e-6 as is_flat,
    fits.units,
    fits.above_half + fits.slope * (ln(lengths.shortest) / ln(2e0) - lengths.mean_doublings) / lengths.spread as above_first,
    fits.above_half + fits.slope * (ln(lengths.longest) / ln(2e0) - lengths.mean_doublings) / lengths.spread as above_last,
    lengths.mean_doublings + lengths.spread * fits.half_place as half_at,
    lengths.mean_doublings + lengths.spread * fits.lower_place as lower_at,
    lengths.mean_doublings + lengths.spread * fits.upper_place as upper_at,
    ln(lengths.shortest) / ln(2e0) as first_doubling,
    ln(lengths.longest) / ln(2e0) as last_doubling,
    case
      when not {{ passk._has_enough_tasks('coalesce(lengths.fitted_tasks, 0)', 'metrics.total_tasks') }}
        then 'n < k or no length in '
          || cast(metrics.total_tasks - coalesce(lengths.fitted_tasks, 0) as {{ dbt.type_string() }})
          || ' of ' || cast(metrics.total_tasks as {{ dbt.type_string() }}) || ' tasks'
      when lengths.fitted_tasks < 10 then 'fewer than 10 tasks'
      when lengths.spread is null then 'all tasks are of one length'
      when coalesce(fits.moved, 1e0) > 1e-6 then 'the fit does not settle'
    end as fit_reason
  from metrics
  left join lengths
    on {{ passk._same_keys(fit, 'metrics', 'lengths') }}
  left join {{ ref('int_passk__horizon_limits') }} as fits
    on {{ passk._same_keys(fit, 'metrics', 'fits') }}
)

select
  run_id,
  suite,
  agent,
  agent_version,
  model,
  {{ passk._quoted(axis.name) if axis else "''" }} as difficulty,
  k,
  fitted_tasks,
  total_tasks,
  shortest,
  longest,
  {#- Nothing is said of lengths that no task has. #}
  {%- for name, at, there in [
    ('horizon', 'half_at', 'slope < 0 and not is_flat and above_first >= 0 and above_last <= 0'),
    ('horizon_lower', 'lower_at', 'lower_at >= first_doubling and lower_at <= last_doubling'),
    ('horizon_upper', 'upper_at', 'upper_at >= first_doubling and upper_at <= last_doubling')
  ] %}
  case when fit_reason is null and {{ there }} then exp({{ at }} * ln(2e0)) end as {{ name }},
  {%- endfor %}
  case when fit_reason is null then base_level - slope * mean_doublings / spread end as curve_level,
  case when fit_reason is null then slope / spread end as curve_slope,
  case when fit_reason is null then power end as curve_power,
  case when fit_reason is null then units end as effective_draws,
  case
    when fit_reason is not null then fit_reason
    when is_flat then 'pass^k does not fall with length'
    when above_first > 0 and above_last > 0 then 'pass^k is above one half at all lengths of the tasks'
    when above_first < 0 and above_last < 0 then 'pass^k is below one half at all lengths of the tasks'
    when slope >= 0 then 'pass^k does not fall with length'
  end as null_reason,
  case
    when fit_reason is null and lower_at is null then 'no limits: that pass^k falls with length is not sure'
    when fit_reason is null and fitted_tasks < total_tasks
      then 'n < k or no length in ' || cast(total_tasks - fitted_tasks as {{ dbt.type_string() }})
        || ' of ' || cast(total_tasks as {{ dbt.type_string() }}) || ' tasks, which are left out'
  end as caveat,
  loaded_at
from joined

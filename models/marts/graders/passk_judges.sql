{%- set pair = ['suite', 'judge', 'other_judge'] %}
{%- set bigint = dbt.type_bigint() %}

{#- Two tasks more. In both of them two tries always differ: in one by the judge alone, in the other by the agent alone. -#}
with padded as {{ passk._made_once() }}(
  select
    *,
    (units * x + 1) / (units + 2) as padded_x,
    (units * y + 2) / (units + 2) as padded_y,
    power({{ passk.student_quantile('floor(units + 1.5e0)') }}, 2) / (units + 1) / (units + 2) as reach
  from {{ ref('int_passk__judge_figures') }}
),

errors as (
  select
    *,
    reach * (
      coalesce((units - 1) * var_x, 0e0) + units * power(x - padded_x, 2)
      + power(padded_x, 2) + power(1 - padded_x, 2)
    ) as square_x,
    reach * (
      coalesce((units - 1) * var_y, 0e0) + units * power(y - padded_y, 2) + 2 * power(1 - padded_y, 2)
    ) as square_y,
    reach * (
      coalesce((units - 1) * cov_xy, 0e0) + units * (x - padded_x) * (y - padded_y)
      + (1 - 2 * padded_x) * (1 - padded_y)
    ) as product
  from padded
),

{# Fieller's limits of a ratio r are the roots of (x - r y)^2 = square_x - 2 r product + r^2 square_y. #}
roots as (
  select
    *,
    padded_y * padded_y - square_y as quadratic,
    padded_x * padded_y - product as half_linear,
    power(padded_x * padded_y - product, 2)
    - (padded_y * padded_y - square_y) * (padded_x * padded_x - square_x) as discriminant
  from errors
),

limited as (
  select
    *,
    {%- for side, sign, extreme in [('lower', '-', 0), ('upper', '+', 1)] %}
    case
      when quadratic > 0 and discriminant >= 0
        then {{ passk._clipped('(half_linear ' ~ sign ~ ' sqrt(discriminant)) / quadratic', 0, 1) }}
      else {{ extreme }}e0
    end as ratio_{{ side }},
    {{ passk._clipped('padded_x ' ~ sign ~ ' sqrt(square_x)', 0, 1) }} as mean_{{ side }},
    {%- endfor %}
    case
      when tasks < 5
        then 'only ' || {{ passk._whole('cast(tasks as ' ~ bigint ~ ')') }}
          || ' tasks have two tries that both judged, fewer than 5'
      when y <= 0 then 'no two tries of a task were judged differently'
    end as reason
  from roots
),

joined as (
  select
    agreed.*,
    agreed.pass_rate * agreed.other_pass_rate + (1 - agreed.pass_rate) * (1 - agreed.other_pass_rate) as by_chance,
    coalesce(of_two.tasks, 0) as retried_tasks,
    case when of_two.reason is null then of_two.x end as same_try,
    case when of_two.reason is null then of_two.y end as other_try,
    case when of_two.reason is null then {{ passk._clipped('of_two.x / nullif(of_two.y, 0)', 0, 1) }} end as judges_share,
    case when of_two.reason is null then of_two.ratio_lower end as judges_share_lower,
    case when of_two.reason is null then of_two.ratio_upper end as judges_share_upper,
    case
      when of_two.suite is null then 'no task has two tries that both judged'
      else of_two.reason
    end as null_reason
  from limited as agreed
  left join limited as of_two
    on {{ passk._same_keys(pair, 'agreed', 'of_two') }} and of_two.figure = 'share'
  where agreed.figure = 'agreement'
),

newest as (
  select
    suite,
    max(loaded_at) as loaded_at
  from {{ ref('int_passk__labels') }}
  where kind = 'verdict'
  group by suite
)

select
  {% for key in pair %}joined.{{ key }}, {% endfor %}
  cast(joined.attempts as {{ bigint }}) as attempts,
  cast(joined.tasks as {{ bigint }}) as tasks,
  cast(joined.retried_tasks as {{ bigint }}) as retried_tasks,
  {%- if passk._family() is not none %}
  cast(joined.draws as {{ bigint }}) as families,
  {%- else %}
  cast(null as {{ bigint }}) as families,
  {%- endif %}
  joined.pass_rate,
  joined.other_pass_rate,
  joined.x as agreement,
  joined.mean_lower as agreement_lower,
  joined.mean_upper as agreement_upper,
  joined.by_chance as agreement_by_chance,
  case when joined.by_chance < 1 then (joined.x - joined.by_chance) / (1 - joined.by_chance) end as kappa,
  joined.same_try as disagreement_same_try,
  joined.other_try as disagreement_other_try,
  joined.judges_share,
  joined.judges_share_lower,
  joined.judges_share_upper,
  joined.null_reason,
  newest.loaded_at
from joined
left join newest
  on joined.suite = newest.suite

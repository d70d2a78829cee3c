{#- The difficulty axis over the contract's columns: {name, expression}; none where the var `passk_difficulty` is not set. A plain name is
    a column, or else a tag. -#}
{% macro _difficulty() -%}
  {%- set axis = passk._setting('passk_difficulty') -%}
  {%- if axis is none -%}
    {{ return(none) }}
  {%- elif axis is mapping -%}
    {{ return({'name': axis.name, 'expression': axis.expression}) }}
  {%- endif -%}
  {{ return({'name': axis, 'expression': axis if axis in passk._contract_names() else passk._tag('tags', axis)}) }}
{%- endmacro %}


{#- The curve at the points of a fit, in steps, so that none is written twice: of rows (`keys`, place, score, weight) in a CTE `points`
    and (`keys`, power, base_level, slope) in `fit`. The curve is mu = (1 + exp(-eta))^-power with eta = base_level + slope * place; `lean` is
    its derivative by eta over mu (1 - mu). Beyond 30, eta makes no difference. -#}
{% macro _curve_at_points(keys, columns, fit) -%}
select
      *,
      power * (odds / (1 + odds)) / above as lean
    from (
      select
        *,
        {{ passk._exp('log_curve') }} as curve,
        {{ passk._one_minus_exp('log_curve') }} as above
      from (
        select
          *,
          {#- ln(1 + x), exact for a small x too. #}
          0 - power * case when 1 + odds = 1 then odds else ln(1 + odds) * (odds / ((1 + odds) - 1)) end as log_curve
        from (
          select
            *,
            exp(0 - case when eta < -30 then -30e0 when eta > 30 then 30e0 else eta end) as odds
          from (
            select
              {%- for key in keys + columns %}
              points.{{ key }},
              {%- endfor %}
              fit.power,
              fit.base_level,
              fit.slope,
              fit.base_level + fit.slope * points.place as eta
            from points
            inner join {{ fit }} as fit
              on {{ passk._same_keys(keys, 'points', 'fit') }}
          ) as placed
        ) as raised
      ) as logs
    ) as curves
{%- endmacro %}


{#- One step of Fisher's scoring, from the fit before it. -#}
{% macro _fit_step(keys, fit) -%}
select
    {{ keys | join(', ') }},
    power,
    base_level + (s2 * g0 - s1 * g1) / nullif(s0 * s2 - s1 * s1, 0) as base_level,
    slope + (s0 * g1 - s1 * g0) / nullif(s0 * s2 - s1 * s1, 0) as slope,
    case
      when abs(s2 * g0 - s1 * g1) > abs(s0 * g1 - s1 * g0) then abs(s2 * g0 - s1 * g1) else abs(s0 * g1 - s1 * g0)
    end / nullif(s0 * s2 - s1 * s1, 0) as moved
  from (
    select
      {{ keys | join(', ') }},
      max(power) as power,
      max(base_level) as base_level,
      max(slope) as slope,
      sum(weight * lean * lean * curve * above) as s0,
      sum(weight * lean * lean * curve * above * place) as s1,
      sum(weight * lean * lean * curve * above * place * place) as s2,
      sum(weight * (score - curve) * lean) as g0,
      sum(weight * (score - curve) * lean * place) as g1
    from (
      {{ passk._curve_at_points(keys, ['place', 'score', 'weight'], fit) }}
    ) as at_points
    group by {{ keys | join(', ') }}
  ) as sums
{%- endmacro %}

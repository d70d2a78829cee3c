{#- Pieces of the sentences that gates say. -#}

{#- A metric as it is spoken of, from columns `metric` and `k`. -#}
{% macro _metric_name() -%}
case when metric = 'pass_hat_k' then 'pass^' else 'pass@' end || {{ passk._whole('k') }}
{%- endmacro %}


{#- The limits of an estimate, in brackets. -#}
{% macro _gate_interval() -%}
' (' || {{ passk._decimals('estimate_lower') }} || ' to ' || {{ passk._decimals('estimate_upper') }} || ')'
{%- endmacro %}


{#- The chance of a mistake that a gate allows. -#}
{% macro _gate_error() -%}
  {{ return(passk._as_double((1 - passk._setting('passk_confidence')) | round(10))) }}
{%- endmacro %}


{#- The last branches of a case: how much more must be measured until the limit between `estimate` and the threshold has come
    past it, were the estimate to stay: the distance of a limit falls with the root of what is measured. From columns `reach`
    (limit less estimate) and `distance` (threshold less estimate). -#}
{% macro _more_to_measure(tasks, is_suite) -%}
{%- set times -%}
(reach * reach / (distance * distance))
{%- endset -%}
{%- set needed -%}
case when {{ tasks }} * {{ times }} > 100 then 10 * ceil({{ tasks }} * {{ times }} / 10) else ceil({{ tasks }} * {{ times }}) end
{%- endset -%}
when abs(distance) * 10 <= abs(reach) then 'Hardly anything: the estimate is too near the threshold.'
      when {{ is_suite }}
        then 'About ' || {{ passk._rounded(times, 1) }} || ' times as many attempts of each task, if the estimate stays.'
      else 'About ' || {{ passk._whole('cast(' ~ needed ~ ' as ' ~ dbt.type_bigint() ~ ')') }}
        || ' tasks like these, if the estimate stays.'
{%- endmacro %}

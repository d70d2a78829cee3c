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


{#- The least difference that a rule about a drop lets pass. -#}
{% macro _drop_bar() -%}
case when threshold = 0 then '0' else '-' || threshold_text end
{%- endmacro %}


{#- The last branches of a case: how much more must be measured until the limit between `estimate` and the threshold has come
    past it, were the estimate to stay. From columns `scope`, `tasks`, `reach` (limit less estimate) and `distance` (threshold
    less estimate).

    Tasks take away all of the reach, with their root. Attempts take away what varies within tasks, but not the `floor` that
    stands for what no variance shows: the reach is z sqrt(variance + floor) / tasks. -#}
{% macro _more_to_measure(floor) -%}
{%- set z = passk.normal_quantile() -%}
{%- set variance = '(reach * tasks / ' ~ z ~ ') * (reach * tasks / ' ~ z ~ ') - ' ~ passk._as_double(floor) -%}
{%- set allowed = variance | replace('reach', 'distance') -%}
{%- set tasks = 'tasks * reach * reach / (distance * distance)' -%}
when abs(distance) * 10 <= abs(reach) then 'Hardly anything: the estimate is too near the threshold.'
      when scope = 'suite' and {{ allowed }} > 0
        then 'About ' || {{ passk._rounded('(' ~ variance ~ ') / (' ~ allowed ~ ')', 1) }}
          || ' times as many attempts of each task, if the estimate stays.'
      else 'About ' || {{ passk._whole('cast(case when ' ~ tasks ~ ' > 100 then 10 * ceil(' ~ tasks ~ ' / 10) else ceil('
        ~ tasks ~ ') end as ' ~ dbt.type_bigint() ~ ')') }} || ' tasks like these, if the estimate stays.'
{%- endmacro %}

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

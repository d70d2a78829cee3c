{#- Pieces of the sentences that gates say. -#}

{#- A metric as it is spoken of, from columns `metric` and `k`. -#}
{% macro _metric_name() -%}
case metric
      when 'pass_hat_k' then 'pass^' || {{ passk._whole('k') }}
      when 'pass_at_k' then 'pass@' || {{ passk._whole('k') }}
      else replace(replace(metric, 'pass_', ''), '_', '-') || ' pass rate'
    end
{%- endmacro %}


{#- The limits of an estimate, in brackets. -#}
{% macro _gate_interval() -%}
' (' || {{ passk._decimals('estimate_lower') }} || ' to ' || {{ passk._decimals('estimate_upper') }} || ')'
{%- endmacro %}


{#- The chance of a mistake that is allowed: of a gate, and of all tasks of a pair together. -#}
{% macro _gate_error() -%}
  {{ return(passk._as_double((1 - passk._setting('passk_confidence')) | round(10))) }}
{%- endmacro %}


{#- Columns `loss` and `gain`: how far the excluded attempts could move the limits. If they were counted, the limits would move about
    as the mean over `all_tasks` does, whose sum changes by `against` or `in_favour`. Excluded attempts may raise a limit that they are
    to lower; then the limit without them counts. -#}
{% macro _moves_of_limits(all_tasks, against, in_favour) -%}
case when {{ against }} < 0 then -{{ against }} / nullif({{ all_tasks }}, 0) else 0 end as loss,
    case when {{ in_favour }} > 0 then {{ in_favour }} / nullif({{ all_tasks }}, 0) else 0 end as gain
{%- endmacro %}


{#- Whether the limits without what they allow for short tasks would settle the rule; from columns `tasks`, `estimate_lower`
    and `estimate_upper`. -#}
{% macro _settled_without_short_tasks(all_tasks, worst, bar) -%}
tasks < {{ all_tasks }} and (
        (estimate_lower * {{ all_tasks }} - {{ worst }} * ({{ all_tasks }} - tasks)) / tasks >= {{ bar }}
        or (estimate_upper * {{ all_tasks }} - ({{ all_tasks }} - tasks)) / tasks < {{ bar }}
      )
{%- endmacro %}


{#- Over how many of the tasks an estimate is, where some are short. -#}
{% macro _over_tasks(all_tasks) -%}
case
          when tasks < {{ all_tasks }}
            then ' over ' || {{ passk._whole('tasks') }} || ' of ' || {{ passk._whole(all_tasks) }} || ' tasks'
          else ''
        end
{%- endmacro %}


{#- The end of a sentence on a difference: on which side of the least that a rule about a drop lets pass its limits are. -#}
{% macro _beside_drop_bar(had_against, had_for, if_undecided='') -%}
{%- set bar = "case when threshold = 0 then '0' else '-' || threshold_text end" -%}
case
          when result = 'pass' then ', at worst not below ' || {{ bar }} || '.'
          when result = 'fail' then ', at best below ' || {{ bar }} || '.'
          when estimate_lower >= -threshold then {{ passk._not_if_excluded('pass', had_against) }}
          when estimate_upper < -threshold then {{ passk._not_if_excluded('fail', had_for) }}
          else ', and ' || {{ bar }} || ' lies between these limits.'{{ ' || ' ~ if_undecided if if_undecided }}
        end
{%- endmacro %}


{#- The lack of a rule that can't pass with any scores of its tasks; from columns `units`, `unit_name` and `needed_tasks`. -#}
{% macro _too_few_tasks() -%}
case
              when units < needed_tasks
                then ' It cannot pass with fewer than ' || {{ passk._whole('needed_tasks') }} || ' ' || unit_name || ', and there '
                  || case when units = 1 then 'is 1' else 'are ' || {{ passk._whole('units') }} end || '.'
              else ''
            end
{%- endmacro %}


{% macro _at_least_tasks() -%}
'At least ' || {{ passk._whole('needed_tasks') }} || ' ' || unit_name || '.'
{%- endmacro %}


{#- A result that the excluded attempts could change; from a column `excluded`. -#}
{% macro _not_if_excluded(result, had) -%}
', which would {{ result }}, but not if the ' || {{ passk._whole('excluded') }}
              || ' excluded attempts {{ had }}.'
{%- endmacro %}


{% macro _excluded_again() -%} 'The excluded attempts, made again.' {%- endmacro %}


{#- Branches of a case, for a rule that compares with a baseline where there is none. -#}
{% macro _why_no_baseline() -%}
when baseline_run_id is null and baseline = run_id then 'The run is the baseline.'
      when baseline_run_id is null then 'There is no baseline: no earlier run of the agent on this suite, and no declared pair.'
{%- endmacro %}


{#- The advice that would settle a rule that compares with a baseline: where there is none, where the suite lacks it, and where too few
    of its tasks are in both runs. -#}
{% macro _name_a_baseline() -%} 'Another run of the agent, or a baseline that the gate names.' {%- endmacro %}


{% macro _another_baseline() -%} 'A run of it on this suite, or another baseline.' {%- endmacro %}


{% macro _over_baseline_tasks() -%} 'A run over the tasks of the baseline.' {%- endmacro %}


{#- The last branches of a case: how much more must be measured until the limit between `estimate` and the threshold has come
    past it, were the estimate to stay. From columns `scope`, `tasks`, `reach` (limit less estimate) and `distance` (threshold
    less estimate).

    Tasks take away all of the reach, with their root. Attempts take away what varies within tasks, but not the `floor` that
    stands for what no variance shows: the reach is z sqrt(variance + floor) / tasks. -#}
{% macro _more_to_measure(floor) -%}
{%- set z = passk.normal_quantile() -%}
{%- set variance = '(reach * tasks / ' ~ z ~ ') * (reach * tasks / ' ~ z ~ ') - ' ~ passk._as_double(floor) -%}
{%- set allowed = variance | replace('reach', 'distance') -%}
{%- set units = 'units * reach * reach / (distance * distance)' -%}
when units = 1 and unit_name <> 'tasks' then 'More families of tasks: how they differ is not known from one.'
      when abs(distance) * 10 <= abs(reach) then 'Hardly anything: the estimate is too near the threshold.'
      when scope = 'suite' and {{ allowed }} > 0
        then 'About ' || {{ passk._rounded('(' ~ variance ~ ') / (' ~ allowed ~ ')', 1) }}
          || ' times as many attempts of each task.' || {{ passk._then_decided('distance > 0') }}
      else {{ passk._about(units, 'unit_name', fails='distance > 0') }}
{%- endmacro %}


{#- The result of a gate that has been measured enough, were the estimate to stay; `fails` is the condition on which it fails. -#}
{% macro _then_decided(fails) -%}
' If the estimate stays, the gate then ' || case when {{ fails }} then 'fails.' else 'passes.' end
{%- endmacro %}


{#- About so many tasks or families, as `name` says, in tens above a hundred. -#}
{% macro _about(needed, name, fails) -%}
'About ' || cast(cast(
        case when {{ needed }} > 100 then 10 * ceil({{ needed }} / 10) else ceil({{ needed }}) end as {{ dbt.type_bigint() }}
      ) as {{ dbt.type_string() }}) || ' ' || {{ name }} || ' like these.' || {{ passk._then_decided(fails) }}
{%- endmacro %}

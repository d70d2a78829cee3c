{#- The share of an interval over a suite for tasks with n < k, from the numbers of eligible tasks and of all. -#}

{#- Whether enough of the tasks are eligible for the suite to have a value: at least the share `passk_min_eligible_share`. A
    share of exactly that must not fall below it by rounding. -#}
{% macro _has_enough_tasks(eligible, total) -%}
{%- set share = passk._as_double(passk._setting('passk_min_eligible_share')) -%}
coalesce({{ eligible }} > 0 and {{ eligible }} >= {{ total }} * {{ share }} * (1 - 1e-12), false)
{%- endmacro %}


{#- A limit of the mean over all tasks, from the `limit` over the eligible ones: the others may have any value up to
    `extreme`: the least that there is for a lower limit, the most for an upper one. -#}
{% macro _with_short_tasks(limit, eligible, total, extreme) -%}
(({{ limit }}) * {{ eligible }} + {{ extreme }} * ({{ total }} - {{ eligible }})) / {{ total }}
{%- endmacro %}


{#- How many tasks are short, as a reason for a null or beside a value; `or_lacking` is what else some of them lack, in SQL. -#}
{% macro _short_tasks_reason(eligible, total, of='', k='k', or_lacking="''") -%}
{%- set text = dbt.type_string() -%}
'n < ' || cast({{ k }} as {{ text }}) || {{ or_lacking ~ ' || ' if or_lacking != "''" }}' in ' || cast({{ total }} - {{ eligible }} as {{ text }}) || ' of '
      || cast({{ total }} as {{ text }}) || ' tasks{{ of }}'
{%- endmacro %}

{#- How few tasks a gate can be passed with, were all their attempts as good as can be. Numbers, not SQL: they follow from the
    rule alone. -#}

{% macro least_tasks(threshold, confidence=none) -%}
  {{- passk._check_least('least_tasks', 'threshold', threshold) -}}
  {{ return(passk._least('unseen', threshold | float, confidence)) }}
{%- endmacro %}


{% macro least_attempts(threshold, k, confidence=none) -%}
  {{- passk._check_least('least_attempts', 'threshold', threshold) -}}
  {{- passk._check_count('least_attempts', 'k', k, 1) -}}
  {%- do passk._quantiles_of('least_attempts', confidence) -%}
  {%- set level = passk._setting('passk_confidence') if confidence is none else confidence -%}
  {%- set error = ((1 - level) | round(10)) * (1 + 1e-9) -%}
  {#- The least n with threshold^(n / k) <= error: twice as many until it holds, then halves. -#}
  {%- set span = namespace(low=0, high=1) -%}
  {%- for _ in range(60) -%}
    {%- if (threshold | float) ** (span.high / (k | int)) > error -%}
      {%- set span.low = span.high -%}
      {%- set span.high = 2 * span.high -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for _ in range(60) -%}
    {%- set middle = (span.low + span.high) // 2 -%}
    {%- if span.high - span.low > 1 and (threshold | float) ** (middle / (k | int)) > error -%}
      {%- set span.low = middle -%}
    {%- elif span.high - span.low > 1 -%}
      {%- set span.high = middle -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(span.high) }}
{%- endmacro %}


{% macro _check_least(macro_name, argument_name, argument) -%}
  {%- if not passk._is_number(argument) or (argument | float) <= 0 or (argument | float) >= 1 -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, 'a number between 0 and 1') }}
  {%- endif -%}
{%- endmacro %}


{#- The least tasks of a rule of passk_gates; none where tasks have no part in it, or where the attempts decide how many: `_needed_tasks`. -#}
{% macro _least_tasks_of(rule) -%}
  {%- if rule.rule_type == 'threshold' and rule.scope == 'unseen' -%}
    {{ return(passk._least('unseen', rule.threshold, none)) }}
  {%- elif rule.rule_type == 'drop' and rule.scope == 'unseen' and rule.threshold > 0 -%}
    {{ return(passk._least('unseen_drop', rule.threshold, none)) }}
  {%- endif -%}
  {{ return(none) }}
{%- endmacro %}


{#- The least number of tasks with which a gate can pass: that of its rule, or, for these tasks only, the least T with
    z sqrt(floor) / T <= `distance`. A T that meets it exactly must not be passed over by rounding. -#}
{% macro _needed_tasks(floor, distance) -%}
case
      when gates.scope = 'suite'
        then cast(
          ceil({{ passk.normal_quantile() }} * sqrt({{ floor }}) / {{ distance }} * (1 - 1e-12)) as {{ dbt.type_bigint() }}
        )
      else gates.least_tasks
    end
{%- endmacro %}


{#- The draws that the limits of a gate are over, and their name: families where they are known and the gate is about tasks like
    these, else tasks. -#}
{% macro _gate_units(relation) -%}
case when gates.scope = 'unseen' and {{ relation }}.families is not null then {{ relation }}.families else {{ relation }}.eligible_tasks end
      as units,
    case when gates.scope = 'unseen' and {{ relation }}.families is not null then 'families of tasks' else 'tasks' end as unit_name
{%- endmacro %}


{#- The least T that meets the rule when nothing varies: twice as many until it does, then halves. -#}
{% macro _least(scope, threshold, confidence) -%}
  {%- set known = passk._quantiles_of('least_tasks', confidence) -%}
  {%- set span = namespace(low=1, high=2) -%}
  {%- for _ in range(60) -%}
    {%- if not passk._meets_at_best(scope, span.high, threshold, known) -%}
      {%- set span.low = span.high -%}
      {%- set span.high = 2 * span.high -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for _ in range(60) -%}
    {%- set middle = (span.low + span.high) // 2 -%}
    {%- if span.high - span.low > 1 -%}
      {%- if passk._meets_at_best(scope, middle, threshold, known) -%}
        {%- set span.high = middle -%}
      {%- else -%}
        {%- set span.low = middle -%}
      {%- endif -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(span.high) }}
{%- endmacro %}


{#- Whether T tasks of which every attempt passed (or, for a drop, passed in both runs) meet it: the formulas of the intervals
    with what is then 1, or 0, put in. -#}
{% macro _meets_at_best(scope, tasks, threshold, known) -%}
  {%- if scope == 'unseen' -%}
    {{ return((tasks + 1 - passk._student_number(tasks + 1, known)) / (tasks + 2) >= threshold) }}
  {%- endif -%}
  {{ return(passk._student_number(tasks + 1, known) * (2 / (tasks + 1) / (tasks + 2)) ** 0.5 <= threshold) }}
{%- endmacro %}


{#- The quantile of Student's t as a number; `student_quantile` is the same in SQL. -#}
{% macro _student_number(degrees, known) -%}
  {%- if degrees <= 30 -%}
    {{ return(known.student[degrees - 1][:-2] | float) }}
  {%- endif -%}
  {%- set z = known.normal[:-2] | float -%}
  {%- set value = namespace(sum=0.0) -%}
  {%- for term in passk._student_terms(z) | reverse -%}
    {%- set value.sum = (value.sum + term) / degrees -%}
  {%- endfor -%}
  {{ return(z + value.sum) }}
{%- endmacro %}

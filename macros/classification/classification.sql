{% macro task_class(n, c, consistent_rate=1.0, incapable_rate=0.0) -%}
  {{- passk._check_count('task_class', 'n', n, 0) -}}
  {{- passk._check_count('task_class', 'c', c, 0) -}}
  {{- passk._check_share('task_class', 'consistent_rate', consistent_rate) -}}
  {{- passk._check_share('task_class', 'incapable_rate', incapable_rate) -}}
  {{ return(adapter.dispatch('task_class', 'passk')(n, c, consistent_rate, incapable_rate)) }}
{%- endmacro %}

{% macro default__task_class(n, c, consistent_rate, incapable_rate) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
case
  when {{ c_ }} > {{ n_ }} or {{ c_ }} < 0 then null
  when {{ n_ }} = 0 then 'unknown'
  when {{ c_ }} / {{ n_ }} >= {{ passk._as_double(consistent_rate) }} then 'consistent'
  when {{ c_ }} / {{ n_ }} <= {{ passk._as_double(incapable_rate) }} then 'incapable'
  when {{ c_ }} > 0 then 'flaky'
end
{%- endmacro %}


{% macro suite_reading(pass_at_k, pass_hat_k, capable_threshold=0.8, consistent_threshold=0.95) -%}
  {{- passk._check_share('suite_reading', 'pass_at_k', pass_at_k) -}}
  {{- passk._check_share('suite_reading', 'pass_hat_k', pass_hat_k) -}}
  {{- passk._check_share('suite_reading', 'capable_threshold', capable_threshold) -}}
  {{- passk._check_share('suite_reading', 'consistent_threshold', consistent_threshold) -}}
  {{ return(adapter.dispatch('suite_reading', 'passk')(
    pass_at_k, pass_hat_k, capable_threshold, consistent_threshold)) }}
{%- endmacro %}

{% macro default__suite_reading(pass_at_k, pass_hat_k, capable_threshold, consistent_threshold) -%}
case
  when ({{ pass_at_k }}) is null or ({{ pass_hat_k }}) is null then null
  when ({{ pass_at_k }}) < {{ passk._as_double(capable_threshold) }} then 'not capable'
  when ({{ pass_hat_k }}) < {{ passk._as_double(consistent_threshold) }} then 'capable but flaky'
  else 'capable and consistent'
end
{%- endmacro %}

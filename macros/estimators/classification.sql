{% macro task_class(n, c, consistent_rate=1.0, incapable_rate=0.0) -%}
  {{- passk._check_count('task_class', 'n', n, 0) -}}
  {{- passk._check_count('task_class', 'c', c, 0) -}}
  {{- passk._check_share('task_class', 'consistent_rate', consistent_rate) -}}
  {{- passk._check_share('task_class', 'incapable_rate', incapable_rate) -}}
  {{- passk._check_at_most('task_class', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('task_class', 'passk')(n, c, consistent_rate, incapable_rate)) }}
{%- endmacro %}

{% macro default__task_class(n, c, consistent_rate, incapable_rate) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
case
  when {{ passk._is_count(n_) }} and {{ passk._is_count(c_) }} and {{ c_ }} <= {{ n_ }}
    then case
      when {{ n_ }} = 0 then 'unknown'
      when {{ c_ }} / {{ n_ }} >= {{ passk._as_double(consistent_rate) }} then 'consistent'
      when {{ c_ }} / {{ n_ }} <= {{ passk._as_double(incapable_rate) }} then 'incapable'
      else 'flaky'
    end
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
{%- set at, hat = passk._as_double(pass_at_k), passk._as_double(pass_hat_k) -%}
case
  when {{ passk._is_share(at) }} and {{ passk._is_share(hat) }}
    then case
      when {{ at }} < {{ passk._as_double(capable_threshold) }} then 'not capable'
      when {{ hat }} < {{ passk._as_double(consistent_threshold) }} then 'capable but flaky'
      else 'capable and consistent'
    end
end
{%- endmacro %}

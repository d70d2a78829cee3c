{#- The share of a task's sliding windows of k consecutive attempts in which any, or every, attempt passed. -#}

{% macro pass_at_k_window(fail_windows, windows) -%}
  {{- passk._check_count('pass_at_k_window', 'fail_windows', fail_windows, 0) -}}
  {{- passk._check_count('pass_at_k_window', 'windows', windows, 0) -}}
  {{- passk._check_at_most('pass_at_k_window', 'fail_windows', fail_windows, 'windows', windows) -}}
  {{ return(adapter.dispatch('pass_at_k_window', 'passk')(fail_windows, windows)) }}
{%- endmacro %}

{% macro default__pass_at_k_window(fail_windows, windows) -%}
{%- set failed, all_ = passk._as_double(fail_windows), passk._as_double(windows) -%}
case
  when {{ passk._is_part_of(failed, all_) }}
    then ({{ all_ }} - {{ failed }}) / {{ all_ }}
end
{%- endmacro %}


{% macro pass_hat_k_window(pass_windows, windows) -%}
  {{- passk._check_count('pass_hat_k_window', 'pass_windows', pass_windows, 0) -}}
  {{- passk._check_count('pass_hat_k_window', 'windows', windows, 0) -}}
  {{- passk._check_at_most('pass_hat_k_window', 'pass_windows', pass_windows, 'windows', windows) -}}
  {{ return(adapter.dispatch('pass_hat_k_window', 'passk')(pass_windows, windows)) }}
{%- endmacro %}

{% macro default__pass_hat_k_window(pass_windows, windows) -%}
{%- set passed, all_ = passk._as_double(pass_windows), passk._as_double(windows) -%}
case
  when {{ passk._is_part_of(passed, all_) }}
    then {{ passed }} / {{ all_ }}
end
{%- endmacro %}


{#- Counts of windows that a share can be made of. -#}
{% macro _is_part_of(part, windows) -%}
{{ passk._is_count(windows, 1) }} and {{ passk._is_count(part) }} and {{ part }} <= {{ windows }}
{%- endmacro %}

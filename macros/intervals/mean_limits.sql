{#- Limits of a mean over tasks, for tasks like these: Student's t with one task more that scores 0 and one that scores 1.
    Without those two, suites near 0 or 1 have intervals of no width. -#}

{% macro mean_lower(mean, variance, tasks, confidence=none) -%}
  {{- passk._check_mean_limits('mean_lower', mean, variance, tasks) -}}
  {{ return(adapter.dispatch('mean_lower', 'passk')(mean, variance, tasks, confidence)) }}
{%- endmacro %}

{% macro default__mean_lower(mean, variance, tasks, confidence) -%}
{{ passk._mean_limit('-', mean, variance, tasks, confidence) }}
{%- endmacro %}


{% macro mean_upper(mean, variance, tasks, confidence=none) -%}
  {{- passk._check_mean_limits('mean_upper', mean, variance, tasks) -}}
  {{ return(adapter.dispatch('mean_upper', 'passk')(mean, variance, tasks, confidence)) }}
{%- endmacro %}

{% macro default__mean_upper(mean, variance, tasks, confidence) -%}
{{ passk._mean_limit('+', mean, variance, tasks, confidence) }}
{%- endmacro %}


{% macro _mean_limit(sign, mean, variance, tasks, confidence) -%}
{%- set quantile_ = '(' ~ passk.student_quantile('(' ~ tasks ~ ') + 1', confidence) ~ ')' -%}
{%- set reach = passk._padded_error(mean, variance, tasks) ~ ' * ' ~ quantile_ -%}
{%- set tasks_ = passk._as_double(tasks) -%}
case
  when {{ passk._is_share(passk._as_double(mean)) }} and {{ passk._is_count(tasks_, 1) }}
    and ({{ tasks_ }} = 1 or {{ passk._is_share(passk._as_double(variance)) }})
    then {{ passk._clipped(passk._padded_mean(mean, tasks) ~ ' ' ~ sign ~ ' ' ~ reach, 0, 1) }}
end
{%- endmacro %}


{% macro _check_mean_limits(macro_name, mean, variance, tasks) -%}
  {{- passk._check_share(macro_name, 'mean', mean) -}}
  {{- passk._check_share(macro_name, 'variance', variance) -}}
  {{- passk._check_count(macro_name, 'tasks', tasks, 1) -}}
{%- endmacro %}


{#- The mean with the two tasks more. -#}
{% macro _padded_mean(mean, tasks) -%}
(({{ passk._as_double(tasks) }} * {{ passk._as_double(mean) }} + 1) / ({{ passk._as_double(tasks) }} + 2))
{%- endmacro %}


{#- Its standard error. One task has no variance of its own. -#}
{% macro _padded_error(mean, variance, tasks) -%}
{%- set tasks_ = passk._as_double(tasks) -%}
sqrt((
      coalesce(({{ tasks_ }} - 1) * {{ passk._as_double(variance) }}, 0e0) + {{ passk._padded_squares(mean, tasks) }}
    ) / (({{ tasks_ }} + 1) * ({{ tasks_ }} + 2)))
{%- endmacro %}


{#- The squares that the two tasks add around the mean: T (m - p)^2 + p^2 + (1 - p)^2 with the padded mean p. -#}
{% macro _padded_squares(mean, tasks) -%}
{%- set mean_, tasks_ = passk._as_double(mean), passk._as_double(tasks) -%}
0.5e0 + 2 * {{ tasks_ }} / ({{ tasks_ }} + 2) * ({{ mean_ }} - 0.5e0) * ({{ mean_ }} - 0.5e0)
{%- endmacro %}


{#- Limits of several means of int_passk__suite_metrics in two steps, so that each long expression is there once. First these columns, from
    the `means` (name, mean, variance): padded_quantile, and padded_NAME and error_NAME for each; then `_padded_limit` by the names. The draws are its `units`: tasks, or
    families, whose means vary by so much less than tasks as they are larger. -#}
{% macro _padded_columns(means) -%}
{{ passk.student_quantile('floor(units + 1.5e0)') }} as padded_quantile
{%- for name, mean, variance in means %},
    {{ passk._padded_mean(mean, 'units') }} as padded_{{ name }},
    {{ passk._padded_error(mean, '(' ~ variance ~ ' * (units / eligible_tasks))', 'units') }} as error_{{ name }}
{%- endfor %}
{%- endmacro %}


{% macro _padded_limit(name, sign) -%}
{{ passk._clipped('padded_' ~ name ~ ' ' ~ sign ~ ' padded_quantile * error_' ~ name, 0, 1) }}
{%- endmacro %}


{#- The variances and the covariance between tasks that the limits of a suite need: their names, and the two scores of each. -#}
{% macro _suite_variances() -%}
  {{ return([
    ['var_pass_rate', 'pass_rate', 'pass_rate'],
    ['var_pass_at_k', 'pass_at_k', 'pass_at_k'],
    ['var_pass_hat_k', 'pass_hat_k', 'pass_hat_k'],
    ['cov_pass_hat_k_pass_rate', 'pass_hat_k', 'pass_rate']
  ]) }}
{%- endmacro %}


{#- The number of tasks times the variance of the mean of a score, with families taken together: over families, of `tasks` each, from the
    columns with the sums of two scores less their means; null with one family. -#}
{% macro _variance_of_families(one, other) -%}
sum({{ one }} * {{ other }}) / sum(tasks) * count({{ one }}) / nullif(count({{ one }}) - 1, 0)
{%- endmacro %}

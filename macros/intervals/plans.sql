{#- The parts of passk_plans: constants of the vars, and the parts of its SQL that are formulas. -#}

{#- How many standard errors from no difference a true one must be, to be told as often as the var passk_plan_power says: the
    normal quantiles of the level and of the power. And how many tasks that could come out differently must be expected, so
    that six are there as often: of a Poisson variable. tests/python/models/test_plans.py computes them again. -#}
{% macro _power_quantiles() -%}
  {{ return({
    0.8: {'normal': '0.8416212335729143e0', 'deciding': '7.905993110948476e0'},
    0.9: {'normal': '1.2815515655446005e0', 'deciding': '9.274673893351622e0'},
    0.95: {'normal': '1.6448536269514727e0', 'deciding': '10.51303490874153e0'},
    0.99: {'normal': '2.3263478740408408e0', 'deciding': '13.108483652767916e0'},
  }) }}
{%- endmacro %}


{#- The width of the interval for tasks like these, with the two pseudo-tasks, that so many tasks can expect. -#}
{% macro _plan_width(mean, variance, tasks) -%}
2 * ({{ passk.student_quantile('floor(' ~ tasks ~ ' + 1.5e0)') }})
    * {{ passk._padded_error(mean, variance, tasks) }}
{%- endmacro %}


{#- The number of tasks at which `critical` standard errors are half the width, where the error's part that falls with the
    square of the tasks is `squares`: the larger root of a quadratic equation. -#}
{% macro _plan_root(critical, squares) -%}
{%- set linear = '(' ~ critical ~ ' * ' ~ critical ~ ' * variance - 3 * half * half)' -%}
{%- set constant = '(2 * half * half + ' ~ critical ~ ' * ' ~ critical ~ ' * (variance - ' ~ squares ~ '))' -%}
({{ linear }} + sqrt(
      case
        when {{ linear }} * {{ linear }} > 4 * half * half * {{ constant }}
          then {{ linear }} * {{ linear }} - 4 * half * half * {{ constant }}
        else 0e0
      end
    )) / (2 * half * half)
{%- endmacro %}

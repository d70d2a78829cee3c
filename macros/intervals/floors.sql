{#- The floors of the intervals for these tasks, beside the variances: n attempts that all passed, or all failed, have a variance of 0 and
    still prove little.

    T tasks with n attempts each, all passed, come with a chance of at least alpha / 2 from tasks whose mean pass^k is as low as
    1 + ln(alpha / 2) k / (n T). The limit, 1 - z sqrt(floor) / T, must be as low, so that the root of the floor is C k / n with
    C = -ln(alpha / 2) / z. With several n the least decides, because all that is lost may be lost there. Where n is large,
    the `least` floor keeps the limits honest near 0 and 1. -#}
{% macro _floor(least, k, n) -%}
{%- set outside = passk._as_double(((1 - passk._setting('passk_confidence')) / 2) | round(10)) -%}
{%- set unseen = '(ln(' ~ outside ~ ') / ' ~ passk.normal_quantile() ~ ' * ' ~ k ~ ' / ' ~ n ~ ')' -%}
case when power({{ unseen }}, 2) > {{ least }} then power({{ unseen }}, 2) else {{ least }} end
{%- endmacro %}


{% macro _floor_of_suite(k, n) -%} {{ passk._floor('0.25e0', k, n) }} {%- endmacro %}


{% macro _floor_of_difference(k, n) -%} {{ passk._floor('0.5e0', k, n) }} {%- endmacro %}

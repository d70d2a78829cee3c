{% macro chi_square_tail(x, degrees) -%}
  {{- passk._check_expression('chi_square_tail', 'x', x, 'a column, an SQL expression or a number') -}}
  {{- passk._check_count('chi_square_tail', 'degrees', degrees, 1) -}}
  {{ return(adapter.dispatch('chi_square_tail', 'passk')(x, degrees)) }}
{%- endmacro %}

{% macro default__chi_square_tail(x, degrees) -%}
{%- set x_, degrees_ = passk._as_double(x), passk._as_double(degrees) -%}
case
  when {{ passk._is_count(degrees_, 1) }} and {{ x_ }} >= 0 and {{ passk._is_finite(x_) }}
    then {{ passk.normal_tail(passk._chi_square_deviate(x_, degrees_)) }}
end
{%- endmacro %}


{#- Wilson and Hilferty: the cube root of x / degrees is nearly normal. -#}
{% macro _chi_square_deviate(x, degrees) -%}
{%- set spread = '(2 / (9 * ' ~ degrees ~ '))' -%}
(power({{ x }} / {{ degrees }}, 1e0 / 3) - 1 + {{ spread }}) / sqrt({{ spread }})
{%- endmacro %}

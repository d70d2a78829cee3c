{#- Checks of the arguments of public macros: a literal that can't be right is an error when the project compiles. Columns
    and expressions are data, whose bad values become null. -#}

{#- True for a number written as a number, or as text that is only a number. -#}
{% macro _is_number(argument) -%}
  {%- if argument is boolean -%}
    {{ return(false) }}
  {%- elif argument is number -%}
    {{ return(true) }}
  {%- elif argument is string -%}
    {{ return(modules.re.fullmatch('[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?', argument.strip()) is not none) }}
  {%- endif -%}
  {{ return(false) }}
{%- endmacro %}


{#- An integer literal of at least `least`, or an SQL expression. -#}
{% macro _check_count(macro_name, argument_name, argument, least) -%}
  {%- if argument is none or argument is boolean or (argument is not number and argument is not string) -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, 'a column, an SQL expression or an integer') }}
  {%- elif argument is string and not argument.strip() -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, 'a column, an SQL expression or an integer') }}
  {%- elif passk._is_number(argument) -%}
    {%- set value = argument | float -%}
    {%- if value != (value | int) or value < least -%}
      {{ passk._raise_argument(macro_name, argument_name, argument, 'an integer of at least ' ~ least) }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#- A number literal from `low` to `high`, or an SQL expression. -#}
{% macro _check_share(macro_name, argument_name, argument, low=0, high=1) -%}
  {%- if argument is none or argument is boolean or (argument is not number and argument is not string) -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, 'a column, an SQL expression or a number') }}
  {%- elif passk._is_number(argument) and not (low <= (argument | float) <= high) -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, 'a number from ' ~ low ~ ' to ' ~ high) }}
  {%- endif -%}
{%- endmacro %}


{#- n, c and k together. n < k is no mistake: it is null. -#}
{% macro _check_counts(macro_name, n, c, k) -%}
  {{ passk._check_count(macro_name, 'n', n, 0) }}
  {{- passk._check_count(macro_name, 'c', c, 0) }}
  {{- passk._check_count(macro_name, 'k', k, 1) }}
  {%- if passk._is_number(n) and passk._is_number(c) and (c | float) > (n | float) -%}
    {{ passk._raise_argument(macro_name, 'c', c, 'at most n, which is ' ~ n) }}
  {%- endif -%}
{%- endmacro %}


{% macro _raise_argument(macro_name, argument_name, argument, allowed) -%}
  {{ exceptions.raise_compiler_error(
    'passk.' ~ macro_name ~ ': ' ~ argument_name ~ ' is ' ~ (argument | tojson) ~ ', but must be ' ~ allowed ~ '.'
  ) }}
{%- endmacro %}

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
  {{- passk._check_expression(macro_name, argument_name, argument, 'a column, an SQL expression or an integer') -}}
  {%- if passk._is_number(argument) -%}
    {%- set value = argument | float -%}
    {%- if value < least or value > 9007199254740991 or value != (value | int) -%}
      {{ passk._raise_argument(macro_name, argument_name, argument, 'an integer of at least ' ~ least) }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#- A number literal from `low` to `high`, or an SQL expression. -#}
{% macro _check_share(macro_name, argument_name, argument, low=0, high=1) -%}
  {{- passk._check_expression(macro_name, argument_name, argument, 'a column, an SQL expression or a number') -}}
  {%- if passk._is_number(argument) and ((argument | float) < low or (argument | float) > high) -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, 'a number from ' ~ low ~ ' to ' ~ high) }}
  {%- endif -%}
{%- endmacro %}


{#- An argument that a select can hold: a number, or text that is not empty. -#}
{% macro _check_expression(macro_name, argument_name, argument, allowed) -%}
  {%- if argument is not defined or argument is none or argument is boolean
    or (argument is not number and argument is not string) or (argument is string and not argument.strip()) -%}
    {{ passk._raise_argument(macro_name, argument_name, argument, allowed) }}
  {%- endif -%}
{%- endmacro %}


{#- Two literals of which one is part of the other. -#}
{% macro _check_at_most(macro_name, part_name, part, whole_name, whole) -%}
  {%- if passk._is_number(part) and passk._is_number(whole) and (part | float) > (whole | float) -%}
    {{ passk._raise_argument(macro_name, part_name, part, 'at most ' ~ whole_name ~ ', which is ' ~ whole) }}
  {%- endif -%}
{%- endmacro %}


{#- n, c and k together. n < k is no mistake: it is null. -#}
{% macro _check_counts(macro_name, n, c, k) -%}
  {{ passk._check_count(macro_name, 'n', n, 0) }}
  {{- passk._check_count(macro_name, 'c', c, 0) }}
  {{- passk._check_count(macro_name, 'k', k, 1) }}
  {{- passk._check_at_most(macro_name, 'c', c, 'n', n) }}
{%- endmacro %}


{#- True for a list, empty or not; text and mappings can be iterated over too. -#}
{% macro _is_list(value) -%}
  {{ return(
    value is defined and value is not none and value is not string and value is not mapping and value is iterable
  ) }}
{%- endmacro %}


{#- A grid of k. -#}
{% macro _check_ks(macro_name, ks) -%}
  {%- if not passk._is_list(ks) or ks | length == 0 -%}
    {{ passk._raise_argument(macro_name, 'ks', ks, 'a list of integers of at least 1') }}
  {%- endif -%}
  {%- for k in ks if not passk._is_number(k) or (k | float) < 1 or (k | float) > 9007199254740991 or (k | float) != (k | int) -%}
    {{ passk._raise_argument(macro_name, 'ks', k, 'an integer of at least 1') }}
  {%- endfor -%}
{%- endmacro %}


{#- A relation, or the name of one. -#}
{% macro _check_relation(macro_name, argument_name, relation) -%}
  {%- if relation is not defined or relation is none or not (relation | string).strip() -%}
    {{ passk._raise_argument(macro_name, argument_name, relation, 'a relation, or the name of one') }}
  {%- endif -%}
{%- endmacro %}


{#- Names of columns. -#}
{% macro _check_columns(macro_name, argument_name, columns) -%}
  {%- if not passk._is_list(columns) or columns | length == 0 -%}
    {{ passk._raise_argument(macro_name, argument_name, columns, 'a list of column names') }}
  {%- endif -%}
{%- endmacro %}


{% macro _raise_argument(macro_name, argument_name, argument, allowed) -%}
  {{ exceptions.raise_compiler_error(
    'passk.' ~ macro_name ~ ': ' ~ argument_name ~ ' is ' ~ (argument | tojson if argument is defined else 'not given')
    ~ ', but must be ' ~ allowed ~ '.'
  ) }}
{%- endmacro %}


{#- Conditions on data, already doubles: not true where a value is null, NaN, infinite or can't be right. -#}

{% macro _is_count(value, least=0) -%}
({{ value }} between {{ least }} and 9007199254740991 and {{ value }} = floor({{ value }}))
{%- endmacro %}

{% macro _is_share(value) -%}
({{ value }} >= 0 and {{ value }} <= 1)
{%- endmacro %}

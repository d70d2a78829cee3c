{#- Redshift. dbt gives its adapter what is written for Postgres, of whose functions it has few: so it has the defaults, by name,
    and tags as JSON in a text. -#}

{% macro redshift__type_tags() -%} {{ return(passk.default__type_tags()) }} {%- endmacro %}

{% macro redshift___tags_as_told(expression) -%} {{ return(passk.default___tags_as_told(expression)) }} {%- endmacro %}

{#- A name that is not there gives an empty text. -#}
{% macro redshift___tag(column, name) -%}
nullif(json_extract_path_text({{ column }}, {{ passk._quoted(name) }}, true), '')
{%- endmacro %}

{% macro redshift___try_cast(expression, type) -%}
try_cast({{ expression }} as {{ type }})
{%- endmacro %}

{% macro redshift___as_text(expression) -%} {{ return(passk.default___as_text(expression)) }} {%- endmacro %}

{% macro redshift___by_bytes(expression) -%} {{ return(passk.default___by_bytes(expression)) }} {%- endmacro %}

{% macro redshift___made_once() -%} {{ return(passk.default___made_once()) }} {%- endmacro %}

{% macro redshift___plan_for_many_rows() -%} {{ return(passk.default___plan_for_many_rows()) }} {%- endmacro %}

{% macro redshift__create_sql_functions(database) -%} {{ return(passk.default__create_sql_functions(database)) }} {%- endmacro %}

{% macro redshift__type_mask() -%} {{ return(passk.default__type_mask()) }} {%- endmacro %}

{% macro redshift___mask_bits() -%} {{ return(passk.default___mask_bits()) }} {%- endmacro %}

{% macro redshift___mask(condition) -%} {{ return(passk.default___mask(condition)) }} {%- endmacro %}


{% macro redshift___mask_count(mask) -%} {{ return(passk.default___mask_count(mask)) }} {%- endmacro %}

{% macro redshift___first_rank(mask, counted) -%} {{ return(passk.default___first_rank(mask, counted)) }} {%- endmacro %}

{% macro redshift___mask_longest(mask) -%} {{ return(passk.default___mask_longest(mask)) }} {%- endmacro %}

{% macro redshift___mask_either(one, other) -%} {{ return(passk.default___mask_either(one, other)) }} {%- endmacro %}

{% macro redshift___mask_windows(relation, columns, ks) -%}
  {{ return(passk.default___mask_windows(relation, columns, ks)) }}
{%- endmacro %}

{% macro redshift___mask_window_sums(relation, columns, ks) -%}
  {{ return(passk.default___mask_window_sums(relation, columns, ks)) }}
{%- endmacro %}

{% macro redshift___mask_orders(relation, columns) -%} {{ return(passk.default___mask_orders(relation, columns)) }} {%- endmacro %}

{% macro redshift___mask_square_sums(relation, columns, mask) -%}
  {{ return(passk.default___mask_square_sums(relation, columns, mask)) }}
{%- endmacro %}

{% macro redshift___log_of_rest(part, whole) -%} {{ return(passk.default___log_of_rest(part, whole)) }} {%- endmacro %}

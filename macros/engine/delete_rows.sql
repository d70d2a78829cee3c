{#- The statement, in a hook of a model, that deletes the rows of its table for which a condition holds. -#}
{% macro _delete_rows(condition) -%}
  {{ return(adapter.dispatch('_delete_rows', 'passk')(condition)) }}
{%- endmacro %}

{% macro default___delete_rows(condition) -%}
delete from {{ this }}
where {{ condition }}
{%- endmacro %}

{#- Tables of plain files lose whole partitions, and the formats that delete rows take no subquery everywhere: so first it asks which
    units they are. -#}
{% macro spark___delete_rows(condition) -%}
  {%- set keys = config.get('partition_by') -%}
  {%- set units = run_query('select distinct ' ~ keys | join(', ') ~ ' from ' ~ this ~ ' where ' ~ condition).rows -%}
  {%- if not units -%}
    {{ return('') }}
  {%- endif -%}
  {%- set deletes_rows = config.get('file_format') in ['delta', 'iceberg', 'hudi'] -%}
  {%- set named = [] -%}
  {%- for unit in units -%}
    {%- set equal = [] -%}
    {%- for key in keys -%}
      {%- do equal.append(key ~ ' = ' ~ passk._quoted(unit[key])) -%}
    {%- endfor -%}
    {%- do named.append('(' ~ equal | join(' and ' if deletes_rows else ', ') ~ ')') -%}
  {%- endfor -%}
  {%- if deletes_rows -%}
delete from {{ this }}
where {{ named | join(' or ') }}
  {%- else -%}
alter table {{ this }} drop if exists partition {{ named | join(', partition ') }}
  {%- endif -%}
{%- endmacro %}

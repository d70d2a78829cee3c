{#- Rows of a relation with: copy_number, 1 for the first duplicate of an attempt; is_unanimous, 1 where all of them say the
    same; copy_count. Earlier batches and lines come first, so that the kept one does not depend on the build. -#}
{% macro _numbered_copies(relation) -%}
{%- set nulls = passk._nulls_last() -%}
with fingerprinted as (
    select *, {{ passk._row_fingerprint() }} as fingerprint
    from {{ relation }}
  ),

  numbered as (
    select
      *,
      row_number() over (
        partition by run_id, suite, task_id, attempt
        order by loaded_at{{ nulls }}, {{ passk._by_bytes('source_file') }}{{ nulls }}, source_line{{ nulls }}, {{ passk._by_bytes('fingerprint') }},
          {{ passk._by_bytes('transcript') }}{{ nulls }}
      ) as copy_number,
      count(*) over (partition by run_id, suite, task_id, attempt) as copy_count,
      min(fingerprint) over (partition by run_id, suite, task_id, attempt) as lowest_fingerprint,
      max(fingerprint) over (partition by run_id, suite, task_id, attempt) as highest_fingerprint
    from fingerprinted
  )

  select *, case when lowest_fingerprint = highest_fingerprint then 1 else 0 end as is_unanimous
  from numbered
{%- endmacro %}


{#- The columns on which duplicates of an attempt must agree, as one text: the contract without provenance and the transcript's
    place. Each value is preceded by its length, because a text may hold any separator. -#}
{% macro _row_fingerprint() -%}
  {%- set text = dbt.type_string() -%}
  {%- set parts = [] -%}
  {%- for name in passk._contract_names()[:18] -%}
    {%- set value = passk._tags_as_text(name) if name == 'tags' else passk._as_text(name) -%}
    {%- do parts.append(
      "coalesce(cast(length(" ~ value ~ ") as " ~ text ~ ") || '=' || " ~ value ~ ", '-')"
    ) -%}
  {%- endfor -%}
  {{ parts | join("\n      || ") }}
{%- endmacro %}

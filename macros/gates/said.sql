{#- Says in the log of a build why gates stop it or warn: which gate, of which run, its rule, the reason, and what would settle
    it. dbt itself says of a test only how many rows it gives. `rows` is a query of rows of passk_gates. -#}
{% macro _say_gates(rows) -%}
  {%- if execute and flags.WHICH not in ['compile', 'generate', 'show'] -%}
    {%- set most = 20 -%}
    {%- set found = run_query(
      'select * from (' ~ rows ~ ') as stopping order by gate, suite, run_id, slice_value, baseline_run_id'
    ).rows -%}
    {%- for row in found[:most] -%}
      {%- do log(passk._gate_said(row), info=true) -%}
    {%- endfor -%}
    {%- if found | length > most -%}
      {%- do log('passk: ' ~ (found | length - most) ~ ' more rows of passk_gates are like these.', info=true) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}


{#- A row of passk_gates in words. Names are written without characters that would break a line of the log. -#}
{% macro _gate_said(row) -%}
  {%- set place = [row['run_id'], row['suite']] -%}
  {%- if row['slice_name'] != 'all' -%}
    {%- do place.append(row['slice_name'] ~ ' = ' ~ row['slice_value']) -%}
  {%- endif -%}
  {%- if row['baseline_run_id'] -%}
    {%- do place.append('against ' ~ row['baseline_run_id']) -%}
  {%- endif -%}
  {%- set said = [
    'passk gate ' ~ row['gate'] ~ ': ' ~ row['result'] ~ ', ' ~ place | join(', '),
    'rule: ' ~ row['rule'],
    'reason: ' ~ row['reason']
  ] -%}
  {%- if row['to_settle'] -%}
    {%- do said.append('to settle it: ' ~ row['to_settle']) -%}
  {%- endif -%}
  {%- set lines = [] -%}
  {%- for line in said -%}
    {%- do lines.append(modules.re.sub('[\x00-\x1f\x7f-\x9f]', ' ', line)) -%}
  {%- endfor -%}
  {{ return(lines | join('\n    ')) }}
{%- endmacro %}

{#- No gate has the severity `level`: rows of passk_gates that fail, or can't be told, with their reasons, which go to the log
    too. One test for `error` and one for `warn` let each gate choose what it stops. The gates of the demo log stop nothing. -#}
{% test passk_gates_hold(model, level, gates=none) %}
{%- set stopping %}
select
  gate,
  suite,
  run_id,
  baseline_run_id,
  slice_name,
  slice_value,
  rule,
  result,
  reason,
  to_settle
from {{ model }}
where
  severity = '{{ level }}'
  {%- if gates %}
  and gate in ({% for gate in gates %}{{ passk._quoted(gate) }}{{ ', ' if not loop.last }}{% endfor %})
  {%- endif %}
  {%- if passk._has_demo_gates() %}
  and 1 = 0
  {%- endif %}
{%- endset %}
{%- do passk._say_gates(stopping) %}
{{ stopping }}
{% endtest %}

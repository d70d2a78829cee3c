{#- The gates of the demo log: one that passes, one that fails, one that can't be told. They stop no build, because the demo's is
    to succeed: see passk_gates_hold. -#}
{% macro _demo_gates() -%}
  {{ return([
    {'name': 'finds-an-answer', 'metric': 'pass_at_k', 'k': 4, 'min': 0.9, 'agent': 'walker'},
    {'name': 'no-worse-than-before', 'metric': 'pass_hat_k', 'k': 4, 'max_drop': 0.02, 'agent': 'scout'},
    {'name': 'runs-unattended', 'metric': 'pass_hat_k', 'k': 4, 'min': 0.6, 'agent': 'tracer'},
  ]) }}
{%- endmacro %}

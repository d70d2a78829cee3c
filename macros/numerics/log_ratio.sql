{#- ln(p / q) where q + difference = p is known exactly.

    p / q rounds; ln of the rounded ratio is off by as much as the ratio is. Kahan's factor puts back what was lost, so the
    result keeps its relative accuracy when p is close to q. -#}
{% macro _log_ratio(p, q, difference) -%}
case
  when ({{ p }}) / ({{ q }}) = 1 then ({{ difference }}) / ({{ q }})
  else ln(({{ p }}) / ({{ q }})) * ((({{ difference }}) / ({{ q }})) / (({{ p }}) / ({{ q }}) - 1))
end
{%- endmacro %}


{#- ln(1 + x) with the same correction. -#}
{% macro _log1p(x) -%}
case
  when 1 + ({{ x }}) = 1 then ({{ x }})
  else ln(1 + ({{ x }})) * (({{ x }}) / ((1 + ({{ x }})) - 1))
end
{%- endmacro %}

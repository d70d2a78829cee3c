{#- The density at phi, as a share of that at its peak, of the Jeffreys posterior in int_passk__limits_by_count. -#}
{% macro _jeffreys_density(phi) -%}
exp(
      case when sine_power > 0 then sine_power * ln(sin({{ phi }}) / sin(peak)) else 0e0 end
      + case when cosine_power > 0 then cosine_power * ln(cos({{ phi }}) / cos(peak)) else 0e0 end
    )
{%- endmacro %}


{#- Its integral from `start` over `width`. -#}
{% macro _jeffreys_mass(start, width) -%}
{%- set terms = [] -%}
{%- for node, weight in [
  ('0.86113631159405258e0', '0.34785484513745386e0'), ('0.33998104358485626e0', '0.65214515486254614e0')
] -%}
  {%- for side in ['-', '+'] -%}
    {%- set phi = start ~ ' + (' ~ width ~ ') * (1 ' ~ side ~ ' ' ~ node ~ ') / 2' -%}
    {%- do terms.append(weight ~ ' * ' ~ passk._jeffreys_density(phi)) -%}
  {%- endfor -%}
{%- endfor -%}
({{ width }}) / 2 * (
      {{ terms | join('\n      + ') }}
    )
{%- endmacro %}


{% macro _half_pi() -%} 1.5707963267948966e0 {%- endmacro %}

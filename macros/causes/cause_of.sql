{#- The cause of an attempt that did not pass, from its reason as text: the patterns of the var passk_causes come first, then those of
    the package; the first that fits decides. Patterns are those of `like`, with * for %. -#}
{% macro _cause_of(reason) -%}
case
    {%- for patterns in [passk._setting('passk_causes'), passk._cause_patterns()] %}
    {%- for pattern, cause in patterns.items() %}
    when lower({{ reason }}) like {{ passk._quoted(pattern | lower | replace('*', '%')) }} then {{ passk._quoted(cause) }}
    {%- endfor %}
    {%- endfor %}
    else 'unknown'
  end
{%- endmacro %}

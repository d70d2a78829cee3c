{#- Along k, or another column, within `partition_by`, the columns of `rising` do not fall and those of `falling` do not rise, by more
    than rounding. Nulls are passed over: a value that is null for some k says nothing of the others. -#}
{% test passk_follows_k(model, partition_by, rising=[], falling=[], along='k') %}
  {%- set claims = {} -%}
  {%- for column in rising + falling -%}
    {%- set sign = '>= previous_' ~ column ~ ' - 1e-12' if column in rising else '<= previous_' ~ column ~ ' + 1e-12' -%}
    {%- do claims.update({
      column: column ~ ' is null or previous_' ~ column ~ ' is null or ' ~ column ~ ' ' ~ sign
    }) -%}
  {%- endfor -%}
  {%- set steps %}
(
  select
    {%- for column in rising + falling %}
    {{ column }},
    lag({{ column }}) over (
      partition by {{ partition_by | join(', ') }}
      order by {{ along }}
    ) as previous_{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
  from {{ model }}
) as steps
  {%- endset %}
{{ passk._broken_claims(steps, claims) }}
{% endtest %}

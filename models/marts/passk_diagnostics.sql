{%- set words = passk._diagnostic_words() %}

with judged as (
  select
    *,
    coalesce(verdict, {{ passk.diagnostic_verdict('p_adjusted', 'informing_tasks') }}) as found_verdict,
    case
      when p_adjusted < 0.0005e0 then ' After correction, p < 0.001.'
      when p_adjusted is not null then ' After correction, p = ' || {{ passk._rounded('p_adjusted') }} || '.'
      else ''
    end as chance
  from {{ ref('int_passk__diagnostic_tests') }}
)

select
  run_id,
  suite,
  diagnostic,
  statistic,
  p,
  p_adjusted,
  informing_tasks as tasks,
  found_verdict as verdict,
  finding || chance as finding,
  case
    {%- for name, said in words.items() %}
    {%- if said.sign %}
    when diagnostic = '{{ name }}' and found_verdict = 'warning' then '{{ said.sign }}. {{ said.effect }}'
    {%- endif %}
    when diagnostic = '{{ name }}' and found_verdict = 'ok' then '{{ said.fine }}'
    when diagnostic = '{{ name }}' then 'Not known from this log. {{ said.effect }}'
    {%- endfor %}
  end as meaning,
  case
    {%- for name, said in words.items() %}
    {%- if said.sign %}
    when diagnostic = '{{ name }}' and found_verdict = 'warning' then '{{ said.advice }}'
    {%- endif %}
    when diagnostic = '{{ name }}' and found_verdict <> 'ok' then '{{ said.need }}'
    {%- endfor %}
  end as advice,
  loaded_at
from judged

with words as (
  {%- for name, said in passk._diagnostic_words().items() %}
  select
    '{{ name }}' as diagnostic,
    {{ passk._quoted(said.sign) if said.sign else 'null' }} as sign,
    {{ passk._quoted(said.effect) }} as effect,
    {{ passk._quoted(said.fine) }} as fine,
    {{ passk._quoted(said.advice) if said.sign else 'null' }} as advice,
    {{ passk._quoted(said.need) }} as need
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

judged as (
  select
    *,
    coalesce(verdict, {{ passk.diagnostic_verdict('p_adjusted', 'informing_tasks') }}) as found_verdict,
    case
      when p_adjusted < 0.0005e0 then ' After correction, p < 0.001.'
      when p_adjusted is not null then ' After correction, p = ' || {{ passk._rounded('p_adjusted') }} || '.'
      else ''
    end as chance
  from {{ ref('int_passk__diagnostic_tests') }}
),

said as (
  select
    judged.*,
    judged.finding || judged.chance as whole_finding,
    case
      when judged.found_verdict = 'warning' and words.sign is not null then words.sign || '. ' || words.effect
      when judged.found_verdict = 'ok' then words.fine
      else 'Not known from this log. ' || words.effect
    end as meaning,
    case
      when judged.found_verdict = 'warning' and words.sign is not null then words.advice
      when judged.found_verdict <> 'ok' then words.need
    end as advice
  from judged
  inner join words
    on judged.diagnostic = words.diagnostic
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
  whole_finding as finding,
  meaning,
  advice,
  loaded_at
from said

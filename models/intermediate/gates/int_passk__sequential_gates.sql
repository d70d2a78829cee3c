{{ config(materialized='table') }}
{#- The evidence of sequential rules: docs/sequential-gates.md. -#}
{%- set rules = passk._gates() | selectattr('rule_type', 'equalto', 'sequential') | list %}
{%- set keys = ['gate', 'run_id', 'suite'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set double = passk.type_double() %}
{%- set bets = 20 %}
{%- set needed = '(-ln(' ~ passk._as_double(((1 - passk._setting('passk_confidence')) / 2) | round(10)) ~ '))' %}

with gates as (
  select * from {{ ref('int_passk__gate_runs') }} where has_run and rule_type = 'sequential'
),

numbered as (
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    gates.first_attempts,
    attempts.task_id,
    attempts.attempt,
    case when attempts.outcome = 'passed' then 1 else 0 end as passed,
    case when attempts.outcome = 'excluded' then 1 else 0 end as excluded,
    row_number() over (
      partition by gates.gate, gates.run_id, gates.suite, attempts.task_id order by attempts.attempt
    ) as place,
    sum(case when attempts.outcome = 'excluded' then 0 else 1 end) over (
      partition by gates.gate, gates.run_id, gates.suite, attempts.task_id
      order by attempts.attempt
      rows between unbounded preceding and current row
    ) as counted_place
  from gates
  inner join {{ ref('int_passk__attempts') }} as attempts
    on gates.run_id = attempts.run_id and gates.suite = attempts.suite
  where {{ passk._is_judged_attempt('attempts') if rules else '1 = 0' }}
),

{# The first attempts of each task: the counted ones, and all, with the excluded ones as failures or as passes. A task with a gap is
   not finished: the attempt that is missing may land, and then another one would be among the first. #}
tasks as (
  {%- for variant, place, condition, passes in [
    ('counted', 'counted_place', 'excluded = 0', 'passed'),
    ('failed', 'place', '1 = 1', 'passed'),
    ('passed', 'place', '1 = 1', 'passed + excluded')
  ] %}
  select
    {{ keys | join(', ') }},
    '{{ variant }}' as variant,
    first_attempts,
    task_id,
    cast(sum({{ passes }}) as {{ bigint }}) as passes
  from numbered
  where {{ condition }} and {{ place }} <= first_attempts
  group by {{ keys | join(', ') }}, first_attempts, task_id
  having count(*) = first_attempts and max(attempt) = max(place)
  {{- '\n  union all' if not loop.last }}
  {%- endfor %}
),

histogram as (
  select
    {{ keys | join(', ') }},
    variant,
    case gate
      {%- for rule in rules %}
      when {{ passk._quoted(rule.gate) }} then {{ passk._score_of_rule(rule, 'passes') }}
      {%- else %}
      when '' then {{ passk._as_double(0) }}
      {%- endfor %}
    end as score,
    cast(count(*) as {{ double }}) as tasks
  from tasks
  group by {{ keys | join(', ') }}, variant, passes
),

digits as (
  {%- for digit in range(10) %}
  select {{ digit }} as digit{{ ' union all' if not loop.last }}
  {%- endfor %}
),

{# The threshold for each variant; every two hundredth, which it may be, for the limits of the counted attempts. #}
bars as (
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    variants.variant,
    gates.threshold as bar
  from gates
  cross join (select 'counted' as variant union all select 'failed' as variant union all select 'passed' as variant) as variants
  union
  select
    gates.gate,
    gates.run_id,
    gates.suite,
    'counted' as variant,
    cast(20 * tens.digit + 2 * ones.digit + halves.digit as {{ double }}) / 200 as bar
  from gates
  cross join digits as tens
  cross join digits as ones
  cross join digits as halves
  where halves.digit < 2 and tens.digit + ones.digit + halves.digit > 0
),

bets as (
  select cast(20 * tens.digit + 2 * ones.digit + 1 as {{ double }}) / {{ 2 * bets }} as bet
  from digits as tens
  cross join digits as ones
  where tens.digit < {{ bets // 10 }}
),

{# The capital after a bet of a share of it on every task, that scores are above the bar, or below: its logarithm. #}
growth as (
  select
    {% for key in keys %}bars.{{ key }}, {% endfor %}
    bars.variant,
    bars.bar,
    bets.bet,
    sum(histogram.tasks * ln(1 + bets.bet * (histogram.score / bars.bar - 1))) as above,
    sum(histogram.tasks * ln(1 + bets.bet * ((1 - histogram.score) / (1 - bars.bar) - 1))) as below
  from bars
  inner join histogram
    on {{ passk._same_keys(keys + ['variant'], 'bars', 'histogram') }}
  cross join bets
  group by {% for key in keys %}bars.{{ key }}, {% endfor %}bars.variant, bars.bar, bets.bet
),

highest as (
  select
    *,
    max(above) over (partition by {{ keys | join(', ') }}, variant, bar) as most_above,
    max(below) over (partition by {{ keys | join(', ') }}, variant, bar) as most_below
  from growth
),

{# The logarithm of the mean over bets. #}
evidence as (
  select
    {{ keys | join(', ') }},
    variant,
    bar,
    {%- for side in ['above', 'below'] %}
    max(most_{{ side }}) as most_{{ side }},
    max(most_{{ side }}) + ln(sum(exp({{ side }} - most_{{ side }})) / {{ bets }}) as {{ side }}{{ ',' if not loop.last }}
    {%- endfor %}
  from highest
  group by {{ keys | join(', ') }}, variant, bar
),

limits as (
  select
    {{ keys | join(', ') }},
    coalesce(max(case when above >= {{ needed }} then bar end), 0e0) as estimate_lower,
    coalesce(min(case when below >= {{ needed }} then bar end), 1e0) as estimate_upper
  from evidence where variant = 'counted' group by {{ keys | join(', ') }}
),

means as (
  select
    {{ keys | join(', ') }},
    cast(sum(tasks) as {{ bigint }}) as tasks,
    sum(tasks * score) / sum(tasks) as estimate
  from histogram where variant = 'counted' group by {{ keys | join(', ') }}
),

decided as (
  select
    {% for key in keys %}gates.{{ key }}, {% endfor %}
    {%- for side in ['above', 'below'] %}
    max(case when evidence.variant = 'counted' then evidence.most_{{ side }} end) as most_{{ side }},
    {%- for variant in ['counted', 'failed', 'passed'] %}
    max(case when evidence.variant = '{{ variant }}' then evidence.{{ side }} end) as {{ side }}_{{ variant }}
    {{- ',' if not (side == 'below' and loop.last) }}
    {%- endfor %}
    {%- endfor %}
  from gates
  inner join evidence
    on {{ passk._same_keys(keys, 'gates', 'evidence') }} and gates.threshold = evidence.bar
  group by {% for key in keys %}gates.{{ key }}{{ ', ' if not loop.last }}{% endfor %}
)

select
  {% for key in keys %}means.{{ key }}, {% endfor %}
  means.tasks,
  means.estimate,
  limits.estimate_lower,
  limits.estimate_upper,
  {{ needed }} as needed_evidence,
  decided.most_above,
  decided.most_below,
  decided.above_counted,
  decided.above_failed,
  decided.below_counted,
  decided.below_passed
from means
inner join limits
  on {{ passk._same_keys(keys, 'means', 'limits') }}
inner join decided
  on {{ passk._same_keys(keys, 'means', 'decided') }}

{{ config(materialized='table') }}
{#- The evidence of sequential rules: docs/sequential-gates.md. -#}
{%- set keys = ['gate', 'run_id', 'suite'] %}
{%- set bigint = dbt.type_bigint() %}
{%- set double = passk.type_double() %}
{%- set variants = ['counted', 'failed', 'passed'] %}
{%- set bets = 20 %}
{%- set needed = '(-ln(' ~ passk._as_double(((1 - passk._setting('passk_confidence')) / 2) | round(10)) ~ '))' %}

with gates as (
  select *
  from {{ ref('int_passk__gate_runs') }}
  where has_run and rule_type = 'sequential'
),

digits as (
  {%- for digit in range(10) %}
  select {{ digit }} as digit{{ ' union all' if not loop.last }}
  {%- endfor %}
),

variants as (
  {%- for variant in variants %}
  select '{{ variant }}' as variant
  {{- '\n  union all' if not loop.last }}
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
  cross join variants
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
    sum(scores.tasks * ln(1 + bets.bet * (scores.score / bars.bar - 1))) as above,
    sum(scores.tasks * ln(1 + bets.bet * ((1 - scores.score) / (1 - bars.bar) - 1))) as below
  from bars
  inner join {{ ref('int_passk__sequential_scores') }} as scores
    on {{ passk._same_keys(keys + ['variant'], 'bars', 'scores') }}
  cross join bets
  group by
    {% for key in keys %}bars.{{ key }}, {% endfor %}
    bars.variant,
    bars.bar,
    bets.bet
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
    {%- for side in ['above', 'below'] %}
    max(most_{{ side }}) as most_{{ side }},
    max(most_{{ side }}) + ln(sum(exp({{ side }} - most_{{ side }})) / {{ bets }}) as {{ side }},
    {%- endfor %}
    bar
  from highest
  group by {{ keys | join(', ') }}, variant, bar
),

limits as (
  select
    {{ keys | join(', ') }},
    coalesce(max(case when above >= {{ needed }} then bar end), 0e0) as estimate_lower,
    coalesce(min(case when below >= {{ needed }} then bar end), 1e0) as estimate_upper
  from evidence
  where variant = 'counted'
  group by {{ keys | join(', ') }}
),

{# All tasks that the rule judges, finished or not. #}
begun as (
  select
    {% for key in keys %}gates.{{ key }}, {% endfor %}
    cast(count(*) as {{ bigint }}) as tasks
  from gates
  inner join {{ ref('int_passk__task_counts') }} as counts
    on gates.run_id = counts.run_id and gates.suite = counts.suite
  where {{ passk._is_judged_of_suite('counts') }} and counts.attempts > 0
  group by gates.gate, gates.run_id, gates.suite
),

means as (
  select
    {{ keys | join(', ') }},
    cast(sum(tasks) as {{ bigint }}) as tasks,
    sum(tasks * score) / sum(tasks) as estimate
  from {{ ref('int_passk__sequential_scores') }}
  where variant = 'counted'
  group by {{ keys | join(', ') }}
),

decided as (
  select
    {%- for side in ['above', 'below'] %}
    max(case when evidence.variant = 'counted' then evidence.most_{{ side }} end) as most_{{ side }},
    {%- for variant in variants %}
    max(case when evidence.variant = '{{ variant }}' then evidence.{{ side }} end) as {{ side }}_{{ variant }},
    {%- endfor %}
    {%- endfor %}
    gates.gate,
    gates.run_id,
    gates.suite
  from gates
  inner join evidence
    on {{ passk._same_keys(keys, 'gates', 'evidence') }} and gates.threshold = evidence.bar
  group by gates.gate, gates.run_id, gates.suite
)

select
  {% for key in keys %}means.{{ key }}, {% endfor %}
  means.tasks,
  begun.tasks - means.tasks as unfinished_tasks,
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
inner join begun
  on {{ passk._same_keys(keys, 'means', 'begun') }}
inner join limits
  on {{ passk._same_keys(keys, 'means', 'limits') }}
inner join decided
  on {{ passk._same_keys(keys, 'means', 'decided') }}

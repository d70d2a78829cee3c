{#- CTEs after `trials`, the distinct (n, c, p) with 0 < p < 1, up to `tails`: rows (n, c, p, at_least, at_most), the chance
    that at least c of n independent attempts pass, and that at most c do, when each passes with chance p. Sums of the terms,
    each from its logarithm; n over `_most_numbered` has no row. -#}
{% macro _binomial_tails() -%}
most_trials as (
  select max(n) as most
  from trials
  where n <= {{ passk._most_numbered() }}
),

{{ passk._numbers_up_to('most_trials') }},

outcomes as (
  select
    trials.n,
    trials.c,
    trials.p,
    numbers.number
  from trials
  inner join numbers
    on numbers.number <= trials.n
  where trials.n <= {{ passk._most_numbered() }}
),

terms as (
  select
    *,
    {{ passk.log_choose('n', 'number') }} + number * ln(p) + (n - number) * ln(1 - p) as log_chance
  from outcomes
),

tails as (
  select
    n,
    c,
    p,
    sum(case when number >= c then {{ passk._exp('log_chance') }} else 0 end) as at_least,
    sum(case when number <= c then {{ passk._exp('log_chance') }} else 0 end) as at_most
  from terms
  group by n, c, p
)
{%- endmacro %}

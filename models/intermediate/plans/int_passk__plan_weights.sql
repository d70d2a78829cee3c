{# Two estimates of one task share so many of their k attempts as are drawn for both: as if k of the attempts were marked,
   and k drawn. #}
with ks as (
  {{ passk._ks_rows(passk._setting('passk_ks')) }}
),

planned as (
  {{ passk._ks_rows(passk._setting('passk_plan_attempts')) }}
),

pooled as (
  select
    ks.k as candidate_n,
    ks.k as passes,
    planned.k - ks.k as baseline_n
  from ks
  inner join planned
    on ks.k <= planned.k
),

{{ passk._permuted_outcomes() }}

select
  candidate_n as k,
  chance,
  baseline_n + candidate_n as attempts,
  2 * candidate_n - drawn as draws
from outcomes
where drawn > 0

{%- set ks = passk._setting('passk_ks') %}

{#- Rows for the pairs themselves have no counts. #}
with states as (
  select distinct
    case when baseline_n < candidate_n then baseline_n else candidate_n end as fewer_n,
    case when baseline_n < candidate_n then candidate_n else baseline_n end as more_n,
    baseline_c + candidate_c as passes
  from {{ ref('int_passk__pair_states') }}
  where
    baseline_n >= {{ ks | min }}
    and candidate_n >= {{ ks | min }}
    and baseline_c + candidate_c > 0
    and baseline_c + candidate_c < baseline_n + candidate_n
  {%- if is_incremental() %}
  except
  select
    fewer_n,
    more_n,
    passes
  from {{ this }}
  {%- endif %}
),

{# Failures too: with them instead of passes, the formula of pass^k is that of pass@k. #}
pooled as (
  select
    fewer_n,
    more_n,
    passes
  from states
  union
  select
    fewer_n,
    more_n,
    fewer_n + more_n - passes as passes
  from states
),

{{ passk._permutation_variances(ks) }}

select
  states.fewer_n,
  states.more_n,
  states.passes,
  grid.k,
  {%- for metric, side in [('pass_at_k', 'of_failures'), ('pass_hat_k', 'of_passes')] %}
  case when grid.k <= states.fewer_n then coalesce({{ side }}.variance, 0) end as var_{{ metric }},
  {%- endfor %}
  {{ passk._quoted(passk._built_with()) }} as built_with
from states
cross join grid
{%- for side, passes in [
  ('of_failures', 'states.fewer_n + states.more_n - states.passes'), ('of_passes', 'states.passes')
] %}
left join variances as {{ side }}
  on states.fewer_n = {{ side }}.fewer_n
  and states.more_n = {{ side }}.more_n
  and {{ passes }} = {{ side }}.passes
  and grid.k = {{ side }}.k
{%- endfor %}

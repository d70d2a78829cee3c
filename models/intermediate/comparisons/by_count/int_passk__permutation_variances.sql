{%- set ks = passk._setting('passk_ks') %}
{%- set most = passk._most_numbered() %}

{#- Rows for the pairs themselves have no counts. #}
with states as (
  select distinct
    case when baseline_n < candidate_n then baseline_n else candidate_n end as fewer_n,
    case when baseline_n < candidate_n then candidate_n else baseline_n end as more_n,
    baseline_c + candidate_c as passes
  from {{ ref('int_passk__pair_states') }}
  where
    baseline_n >= {{ ks | min }} and baseline_n <= {{ most }}
    and candidate_n >= {{ ks | min }} and candidate_n <= {{ most }}
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

{{ passk._pooled_variances_formulas(ks) }}

select
  *,
  {{ passk._quoted(passk._built_with()) }} as built_with
from results_by_state

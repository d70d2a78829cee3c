with states as (
  select distinct
    n,
    c
  from {{ ref('int_passk__states') }}
  where n > 0
  {%- if is_incremental() %}
  except
  select
    n,
    c
  from {{ this }}
  {%- endif %}
),

{{ passk._state_uncertainty_formulas(passk._setting('passk_ks')) }}

select
  *,
  {{ passk._quoted(passk._built_with()) }} as built_with
from results_by_state

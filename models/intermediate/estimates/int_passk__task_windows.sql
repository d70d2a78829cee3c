{%- set keys = ['run_id', 'suite', 'task_id', 'slice_name', 'slice_value'] %}
{%- set ks = passk._setting('passk_ks') %}

with masked as (
  select {{ keys | join(', ') }}, pass_mask, fail_mask
  from {{ ref('int_passk__task_counts') }}
  where pass_mask is not null
),

from_masks as (
  {{ passk._mask_windows('masked', keys, ks) }}
),

from_streaks as (
  {{ passk.window_counts(ref('int_passk__streaks'), keys, ks) }}
)

select {{ keys | join(', ') }}, k, windows, pass_windows, fail_windows from from_masks
union all
select {{ keys | join(', ') }}, k, windows, pass_windows, fail_windows from from_streaks

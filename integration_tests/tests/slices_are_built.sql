-- One easy and two hard cases a release that was worked by hand.
select run_id, slice_value, total_tasks
from {{ ref('passk', 'passk_suite_metrics') }}
where suite = 'billing'
  and run_id in ('v1', 'v2')
  and slice_name = 'difficulty'
  and k = 1
  and total_tasks <> case when slice_value = 'easy' then 1 else 2 end

select
  release,
  benchmark,
  case_id,
  trial,
  is_resolved,
  error_kind,
  map([ 'difficulty' ], [ difficulty ]) as tags
from {{ ref('eval_results') }}

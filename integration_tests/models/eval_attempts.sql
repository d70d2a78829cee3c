-- Tags as JSON text, which every engine has.
select
  release,
  benchmark,
  case_id,
  trial,
  is_resolved,
  error_kind,
  line,
  assistant,
  version,
  began,
  seconds,
  price,
  tokens,
  draw,
  answer,
  points,
  '{"difficulty": "' || difficulty || '"}' as tags
from {{ ref('eval_results') }}

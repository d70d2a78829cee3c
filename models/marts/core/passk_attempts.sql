{{ config(materialized='view') }}

select
  {{ passk._contract_names() | join(',\n  ') }}
from {{ ref('int_passk__attempts') }}

select *
from {{ ref('int_passk__missing_attempts') }}

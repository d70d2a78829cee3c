select *
from {{ ref('int_passk__rejected_attempts') }}

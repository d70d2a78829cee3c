{#- Tasks whose counted attempts have the same numbers: passes over the whole suite are looked at in them. With masks these tell;
    without, the attempts of the tasks do. -#}

{#- Aggregate: which attempts of a task are counted, as one value that tells tasks with the same numbers from others, and sorts by
    the highest number that two of them don't share. Without masks three integers of 42 bits, as a text: fewer than the 53 that
    doubles have, because some engines have powers in doubles only. Null where a number is above 126, as it is with masks. -#}
{% macro _counted_attempts() -%}
{%- if passk._mask_bits() -%}
{{ passk._mask("outcome <> 'excluded'") }}
{%- else -%}
case when max(attempt) <= 126 then
      {%- for first in [85, 43, 1] %}
      lpad(cast(coalesce(sum(case
        when outcome <> 'excluded' and attempt between {{ first }} and {{ first + 41 }}
          then cast(power(2, attempt - {{ first }}) as {{ dbt.type_bigint() }})
      end), 0) as {{ dbt.type_string() }}), 13, '0'){{ ' ||' if not loop.last }}
      {%- endfor %}
    end
{%- endif -%}
{%- endmacro %}


{#- Whether all n counted attempts of a task are in what _counted_attempts gave. -#}
{% macro _are_counted(attempts, n) -%}
{%- if passk._mask_bits() -%}
{{ passk._mask_count(attempts) }} = {{ n }}
{%- else -%}
{{ attempts }} is not null
{%- endif -%}
{%- endmacro %}


{#- Rows (run_id, suite, square_sum) from counted attempts and the tasks that have masks of what passed, or without masks from
    the attempts: over the attempt numbers, the sum of squares of how many of these tasks passed in them. -#}
{% macro _square_sums(tasks, attempts) -%}
{%- if passk._mask_bits() or not attempts -%}
{{ passk._mask_square_sums(tasks, ['run_id', 'suite'], 'pass_mask') }}
{%- else -%}
select
  run_id,
  suite,
  cast(sum(passes * passes) as {{ passk.type_double() }}) as square_sum
from (
  select
    attempts.run_id,
    attempts.suite,
    attempts.attempt,
    count(*) as passes
  from {{ attempts }} as attempts
  inner join {{ tasks }} as tasks
    on attempts.run_id = tasks.run_id
    and attempts.suite = tasks.suite
    and attempts.task_id = tasks.task_id
  where attempts.outcome = 'passed'
  group by attempts.run_id, attempts.suite, attempts.attempt
) as passes_of_attempts
group by run_id, suite
{%- endif -%}
{%- endmacro %}

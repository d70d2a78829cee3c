{#- Tasks in quarantine, which gates leave out until a date: docs/quarantine.md. -#}

{#- The entries of the var `passk_quarantine`. -#}
{% macro _quarantine() -%}
  {{ return(passk._setting('passk_quarantine') or []) }}
{%- endmacro %}


{#- The slices that the var adds: whether an attempt is in quarantine, and each slice without those that are. So all sums over
    tasks are there for gates as they are for any slice. -#}
{% macro _slices_of_quarantine(slices) -%}
  {%- set added = [] -%}
  {%- if passk._quarantine() -%}
    {%- set condition = passk._is_in_quarantine() -%}
    {%- do added.append({
      'name': 'quarantine', 'expression': "case when " ~ condition ~ " then 'in quarantine' else 'not in quarantine' end"
    }) -%}
    {%- for slice in slices -%}
      {%- do added.append({
        'name': passk._judged_slice(slice.name),
        'expression': "case when " ~ condition ~ " then 'in quarantine' else cast(" ~ slice.expression ~ ' as ' ~ dbt.type_string() ~ ') end'
      }) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(added) }}
{%- endmacro %}


{#- Whether an attempt is in quarantine: it was made up to the last day of an entry that names its task. One without a time is not. -#}
{% macro _is_in_quarantine() -%}
  {%- set conditions = [] -%}
  {%- for entry in passk._quarantine() -%}
    {%- set condition -%}
      {%- if entry.task.endswith('*') -%}
        substring(task_id, 1, {{ entry.task | length - 1 }}) = {{ passk._quoted(entry.task[:-1]) }}
      {%- else -%}
        task_id = {{ passk._quoted(entry.task) }}
      {%- endif -%}
      {{ ' and suite = ' ~ passk._quoted(entry.suite) if entry.get('suite') is not none }}
      {{- ' ' }}and cast(coalesce(started_at, loaded_at) as date) <= cast({{ passk._quoted(entry.until) }} as date)
    {%- endset -%}
    {%- do conditions.append('(' ~ condition ~ ')') -%}
  {%- endfor -%}
  {{ return(conditions | join(' or ')) }}
{%- endmacro %}


{#- The slice in which a rule about a slice finds what it judges. -#}
{% macro _judged_slice(name) -%}
  {%- if not passk._quarantine() or name is none -%}
    {{ return(name) }}
  {%- endif -%}
  {{ return('quarantine' if name == 'all' else name ~ ', not in quarantine') }}
{%- endmacro %}


{#- The condition that counts of tasks are those that rules about the whole suite judge. -#}
{% macro _is_judged_of_suite(counts) -%}
{{ counts }}.slice_name = {{ passk._quoted(passk._judged_slice('all')) }}
{%- if passk._quarantine() %} and {{ counts }}.slice_value = 'not in quarantine'{% endif %}
{%- endmacro %}


{#- The condition that an attempt is one that they judge; its slice comes after those of the var `passk_slices`. -#}
{% macro _is_judged_attempt(attempts) -%}
{%- if passk._quarantine() -%}
{{ attempts }}.slice_{{ passk._setting('passk_slices') | length + 1 }} = 'not in quarantine'
{%- else -%} 1 = 1 {%- endif -%}
{%- endmacro %}


{#- The mistakes in the var, as sentences. -#}
{% macro _quarantine_mistakes() -%}
  {%- set given = var('passk_quarantine', []) -%}
  {%- if given is none -%}
    {{ return([]) }}
  {%- elif not passk._is_list(given) -%}
    {{ return([passk._var_mistake('passk_quarantine', given, 'a list of entries, each a mapping with a task')]) }}
  {%- endif -%}
  {%- set schema = passk._rule_schema() -%}
  {%- set mistakes, seen = [], [] -%}
  {%- for entry in given -%}
    {%- if entry is not mapping or entry.get('task') is not string or not entry.get('task') -%}
      {%- set quotes = '; write it in quotes' if entry is mapping and passk._is_date(entry.get('task')) else '' -%}
      {%- do mistakes.append(
        'passk_quarantine holds ' ~ passk._shown(entry) ~ ', but must hold mappings, each with a task that is a text' ~ quotes ~ '.'
      ) -%}
    {%- else -%}
      {%- set name = 'passk_quarantine, ' ~ passk._shown(entry.task) -%}
      {%- set key = [entry.task, entry.get('suite')] -%}
      {%- if key in seen -%}
        {%- do mistakes.append(name ~ ': The list has it twice.') -%}
      {%- endif -%}
      {%- do seen.append(key) -%}
      {%- for one in entry if one not in schema.quarantine -%}
        {%- do mistakes.append(
          name ~ ': ' ~ one ~ ' has no meaning in an entry, which takes ' ~ schema.quarantine.keys() | join(', ') ~ '.'
        ) -%}
      {%- endfor -%}
      {%- for one, kind in schema.quarantine.items() if one in entry or one in schema.required_of_quarantine -%}
        {%- if not passk._is_allowed(entry.get(one), schema.allowed[kind]) -%}
          {%- do mistakes.append(name ~ ': ' ~ passk._var_mistake(one, entry.get(one), schema.allowed[kind].must)) -%}
        {%- endif -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for slice in (var('passk_slices', []) if given and passk._is_list(var('passk_slices', [])) else []) -%}
    {%- if slice == 'quarantine' or (slice is mapping and slice.get('name') == 'quarantine') -%}
      {%- do mistakes.append('passk_slices names "quarantine", which is the slice that passk_quarantine makes.') -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- Whether a value is a day of the calendar, as 2026-12-31. -#}
{% macro _is_day(value) -%}
  {%- if value is not string or not modules.re.fullmatch('[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]', value) -%}
    {{ return(false) }}
  {%- endif -%}
  {%- set year, month, day = value[:4] | int, value[5:7] | int, value[8:] | int -%}
  {%- set is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) -%}
  {%- set days = [31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] -%}
  {{ return(month >= 1 and month <= 12 and day >= 1 and day <= days[month - 1]) }}
{%- endmacro %}

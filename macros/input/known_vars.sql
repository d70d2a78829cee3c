{#- Vars that are set and that the package does not have, as sentences. dbt takes any name, so that gates under passk_gate would be
    no gates without a word. -#}
{% macro _unknown_vars() -%}
  {%- set known = passk._setting_names() -%}
  {%- set near = passk._misspelt(known) -%}
  {%- set mistakes = [] -%}
  {%- if invocation_args_dict.vars is mapping and invocation_args_dict.vars.passk is mapping -%}
    {%- do mistakes.append('passk: stands in --vars, where dbt reads nothing below it. Write its vars without it.') -%}
  {%- endif -%}
  {%- for name in passk._told_vars() | unique if name not in known -%}
    {%- if name[:6] in ['passk_', 'passk.'] -%}
      {%- set meant = passk._nearest(name, known) -%}
      {%- do mistakes.append(
        'There is no var ' ~ name ~ '.' ~ (' Did you mean ' ~ (meant | join(' or ')) ~ '?' if meant else '')
      ) -%}
    {%- elif name in near -%}
      {%- do mistakes.append('There is no var ' ~ name ~ '. Did you mean ' ~ near[name] ~ '?') -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(mistakes) }}
{%- endmacro %}


{#- The names of the vars that `--vars` and dbt_project.yml set for all models, for this package's, and for the project's own. Vars
    under `passk:` are meant for this package whatever their names are: those without the prefix are `passk.NAME`. -#}
{% macro _told_vars() -%}
  {%- set names = [] -%}
  {%- for told in [invocation_args_dict.vars, passk._project_vars()] if told is mapping -%}
    {%- for name, value in told.items() if name is string -%}
      {%- if value is mapping and name in ['passk', project_name] -%}
        {%- for scoped in value if scoped is string -%}
          {%- do names.append(scoped if scoped.startswith('passk_') or name != 'passk' else 'passk.' ~ scoped) -%}
        {%- endfor -%}
      {%- else -%}
        {%- do names.append(name) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(names) }}
{%- endmacro %}


{#- The vars of the project that dbt runs in, as its dbt_project.yml has them. `var` gives one that is named, and lists none; the
    configuration has them all in dbt 1.10 to 1.12. A dbt that does not show it has only what `--vars` sets looked at. -#}
{% macro _project_vars() -%}
  {%- set configuration = adapter.config if adapter.config is defined else {} -%}
  {{ return(configuration.vars.vars if configuration.vars is defined and configuration.vars.vars is defined else {}) }}
{%- endmacro %}


{#- Misspellings within the prefix of these names, a letter left out or two letters swapped, each with the name that was meant.
    `_nearest` finds those with the right prefix. -#}
{% macro _misspelt(names) -%}
  {%- set near = {} -%}
  {%- for name in names -%}
    {%- for place in range('passk_' | length) -%}
      {%- do near.update({
        name[:place] ~ name[place + 1:]: name,
        name[:place] ~ name[place + 1:place + 2] ~ name[place] ~ name[place + 2:]: name
      }) -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(near) }}
{%- endmacro %}


{#- Of these names, those that have most pairs of letters in common with `name`; none where they have few. The prefix
    that all of them have distinguishes nothing, and is left out. -#}
{% macro _nearest(name, names) -%}
  {%- set best = namespace(likeness=0.3, names=[]) -%}
  {%- set pairs = passk._pairs_of_letters(name) -%}
  {%- for one in names -%}
    {%- set others = passk._pairs_of_letters(one) -%}
    {%- set likeness = 2 * (pairs | select('in', others) | list | length) / (pairs | length + others | length) -%}
    {%- if likeness > best.likeness -%}
      {%- set best.likeness, best.names = likeness, [one] -%}
    {%- elif likeness == best.likeness -%}
      {%- do best.names.append(one) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(best.names) }}
{%- endmacro %}


{% macro _pairs_of_letters(name) -%}
  {%- set text = '^' ~ name[6:] ~ '$' -%}
  {%- set pairs = [] -%}
  {%- for place in range(text | length - 1) -%}
    {%- do pairs.append(text[place:place + 2]) -%}
  {%- endfor -%}
  {{ return(pairs | unique | list) }}
{%- endmacro %}

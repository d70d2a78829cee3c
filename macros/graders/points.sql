{#- How a grader errs, from the shares of labelled passes and failures that are true passes: `passes` and `failures`, both of what the
    grader said, and the share `graded` of attempts that it passes. Labels may be sampled by grade, so that these shares are what
    they can tell, and Bayes' rule turns them round. -#}

{#- A limit of a share of labels (Agresti and Coull 1998), which may be of an effective number of them. Wilson's is narrower, and with
    few labels too narrow. -#}
{% macro _label_limit(share, labels, sign) -%}
{%- set z = passk.normal_quantile() -%}
{%- set square = '(' ~ z ~ ' * ' ~ z ~ ')' -%}
{%- set middle = '((' ~ labels ~ ' * ' ~ share ~ ' + 0.5e0 * ' ~ square ~ ') / (' ~ labels ~ ' + ' ~ square ~ '))' -%}
{%- set limit = middle ~ ' ' ~ sign ~ ' ' ~ z ~ ' * sqrt(' ~ middle ~ ' * (1 - ' ~ middle ~ ') / (' ~ labels ~ ' + ' ~ square ~ '))' -%}
{{ passk._clipped(limit, 0, 1) }}
{%- endmacro %}


{#- The fewest labels of what the grader passed, and of what it failed. -#}
{% macro _least_labels() -%}
  {{ return(5) }}
{%- endmacro %}


{#- A power with a whole exponent from 0 on, also of 0. -#}
{% macro _whole_power(base, exponent) -%}
case
      when {{ exponent }} = 0 then 1e0
      when {{ base }} <= 0 then 0e0
      else {{ passk._exp(exponent ~ ' * ln(' ~ base ~ ')') }}
    end
{%- endmacro %}

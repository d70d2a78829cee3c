{#- Tests of order within a task. Given that c of its n attempts passed, exchangeable attempts pass in every order with the
    same chance; the moments here are exact under that, and say nothing of how hard the task is. -#}

{#- The moments of n attempts with c passes, both already doubles. -#}
{% macro _is_task(n, c) -%}
{{ passk._is_count(n, 1) }} and {{ passk._is_count(c) }} and {{ c }} <= {{ n }}
{%- endmacro %}


{% macro switches_expected(n, c) -%}
  {{- passk._check_count('switches_expected', 'n', n, 1) -}}
  {{- passk._check_count('switches_expected', 'c', c, 0) -}}
  {{- passk._check_at_most('switches_expected', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('switches_expected', 'passk')(n, c)) }}
{%- endmacro %}

{% macro default__switches_expected(n, c) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
case
  when {{ passk._is_task(n_, c_) }}
    then 2 * {{ c_ }} * ({{ n_ }} - {{ c_ }}) / {{ n_ }}
end
{%- endmacro %}


{% macro switches_variance(n, c) -%}
  {{- passk._check_count('switches_variance', 'n', n, 1) -}}
  {{- passk._check_count('switches_variance', 'c', c, 0) -}}
  {{- passk._check_at_most('switches_variance', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('switches_variance', 'passk')(n, c)) }}
{%- endmacro %}

{#- One verdict only has no switch, and its formula would be below 0. -#}
{% macro default__switches_variance(n, c) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
{%- set u = '(2 * ' ~ c_ ~ ' * (' ~ n_ ~ ' - ' ~ c_ ~ '))' -%}
case
  when {{ passk._is_task(n_, c_) }} and ({{ c_ }} = 0 or {{ c_ }} = {{ n_ }}) then {{ passk._as_double(0) }}
  when {{ passk._is_task(n_, c_) }}
    then {{ u }} * ({{ u }} - {{ n_ }}) / ({{ n_ }} * {{ n_ }} * ({{ n_ }} - 1))
end
{%- endmacro %}


{% macro rank_sum_expected(n, c) -%}
  {{- passk._check_count('rank_sum_expected', 'n', n, 1) -}}
  {{- passk._check_count('rank_sum_expected', 'c', c, 0) -}}
  {{- passk._check_at_most('rank_sum_expected', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('rank_sum_expected', 'passk')(n, c)) }}
{%- endmacro %}

{% macro default__rank_sum_expected(n, c) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
case
  when {{ passk._is_task(n_, c_) }}
    then {{ c_ }} * ({{ n_ }} + 1) / 2
end
{%- endmacro %}


{% macro rank_sum_variance(n, c) -%}
  {{- passk._check_count('rank_sum_variance', 'n', n, 1) -}}
  {{- passk._check_count('rank_sum_variance', 'c', c, 0) -}}
  {{- passk._check_at_most('rank_sum_variance', 'c', c, 'n', n) -}}
  {{ return(adapter.dispatch('rank_sum_variance', 'passk')(n, c)) }}
{%- endmacro %}

{% macro default__rank_sum_variance(n, c) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
case
  when {{ passk._is_task(n_, c_) }}
    then {{ c_ }} * ({{ n_ }} - {{ c_ }}) * ({{ n_ }} + 1) / 12
end
{%- endmacro %}


{% macro window_variance(n, c, k) -%}
  {{- passk._check_counts('window_variance', n, c, k) -}}
  {%- if not passk._is_number(k) -%}
    {{ passk._raise_argument('window_variance', 'k', k, 'an integer of at least 1') }}
  {%- endif -%}
  {{ return(adapter.dispatch('window_variance', 'passk')(n, c, k)) }}
{%- endmacro %}

{% macro default__window_variance(n, c, k) -%}
  {{ return(passk._window_variance(n, c, k, passk.pass_hat_k(n, c, k))) }}
{%- endmacro %}


{#- The same where pass^k, the mean, is known.

    The mean of the product of two windows that begin d attempts apart is pass^(k + d), or pass^(2 k) from d = k on. Each
    step from pass^j to pass^(j + 1) is a factor (c - j) / (n - j), so that one nested product sums all distances up. -#}
{% macro _window_variance(n, c, k, mean) -%}
{%- set n_, c_, k_ = passk._as_double(n), passk._as_double(c), k | int -%}
{%- set windows = '(' ~ n_ ~ ' - ' ~ (k_ - 1) ~ ')' -%}
{%- set apart = 'greatest(' ~ windows ~ ' - ' ~ k_ ~ ', 0)' -%}
{%- set sum_ = namespace(sql='(' ~ apart ~ ' * (' ~ apart ~ ' + 1))') -%}
{%- for distance in range(k_ - 1, -1, -1) -%}
  {%- set pairs = windows if distance == 0 else '2 * greatest(' ~ windows ~ ' - ' ~ distance ~ ', 0)' -%}
  {%- set from_ = k_ + distance -%}
  {%- set step = 'greatest(' ~ c_ ~ ' - ' ~ from_ ~ ', 0) / greatest(' ~ n_ ~ ' - ' ~ from_ ~ ', 1)' -%}
  {%- set sum_.sql = '(' ~ pairs ~ ' + ' ~ step ~ ' * ' ~ sum_.sql ~ ')' -%}
{%- endfor -%}
case
  when {{ passk._is_task(n_, c_) }} and {{ n_ }} >= {{ k_ }}
    then greatest({{ mean }} * ({{ sum_.sql }} / ({{ windows }} * {{ windows }}) - {{ mean }}), 0)
end
{%- endmacro %}


{#- The variance that pass^k of a task of n attempts adds to delta_k where all tasks pass with the chance p. Subtracting
    m^k removes the part that is linear in the passes, and leaves the other parts of Hoeffding's decomposition:

        sum over j = 2..k of C(k, j)^2 / C(n, j) p^(2k - j) (1 - p)^j

    Each term is a factor of the one before it, so that one nested product sums all up, and none is negative. Tasks that differ
    only raise delta_k. Null where hardly any p^k is left: its powers would leave the range of numbers. -#}
{% macro _alike_variance(n, p, k) -%}
{%- set n_, p_, k_ = passk._as_double(n), passk._as_double(p), k | int -%}
{%- set odds = '((1 - ' ~ p_ ~ ') / nullif(' ~ p_ ~ ', 0))' -%}
{%- set sum_ = namespace(sql='1') -%}
{%- for j in range(k_, 2, -1) -%}
  {%- set factor = ((k_ - j + 1) * (k_ - j + 1)) ~ 'e0 / (' ~ j ~ ' * (' ~ n_ ~ ' - ' ~ (j - 1) ~ ')) * ' ~ odds -%}
  {%- set sum_.sql = '(1 + ' ~ factor ~ ' * ' ~ sum_.sql ~ ')' -%}
{%- endfor -%}
{%- if k_ == 1 -%}
0e0
{%- else -%}
case
  when {{ p_ }} > {{ passk._as_double(10 ** (-30 / k_)) }}
    then {{ k_ * k_ * (k_ - 1) * (k_ - 1) // 2 }}e0 / (nullif({{ n_ }}, 0) * nullif({{ n_ }} - 1, 0))
      * power({{ p_ }}, {{ 2 * k_ - 2 }}) * (1 - {{ p_ }}) * (1 - {{ p_ }}) * {{ sum_.sql }}
end
{%- endif -%}
{%- endmacro %}


{% macro cochran_q(attempts, square_sum, passes, task_square_sum) -%}
  {{- passk._check_count('cochran_q', 'attempts', attempts, 1) -}}
  {{- passk._check_count('cochran_q', 'square_sum', square_sum, 0) -}}
  {{- passk._check_count('cochran_q', 'passes', passes, 0) -}}
  {{- passk._check_count('cochran_q', 'task_square_sum', task_square_sum, 0) -}}
  {{ return(adapter.dispatch('cochran_q', 'passk')(attempts, square_sum, passes, task_square_sum)) }}
{%- endmacro %}

{% macro default__cochran_q(attempts, square_sum, passes, task_square_sum) -%}
{%- set n, squares = passk._as_double(attempts), passk._as_double(square_sum) -%}
{%- set passes_, task_squares = passk._as_double(passes), passk._as_double(task_square_sum) -%}
case
  when {{ n }} * {{ passes_ }} > {{ task_squares }}
    then ({{ n }} - 1) * ({{ n }} * {{ squares }} - {{ passes_ }} * {{ passes_ }})
      / ({{ n }} * {{ passes_ }} - {{ task_squares }})
end
{%- endmacro %}

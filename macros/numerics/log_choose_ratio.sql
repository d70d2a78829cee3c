{#- ln( C(c, k) / C(n, k) ) for integers 1 <= k <= c < n: the logarithm of pass^k, and of 1 - pass@k with n - c for c.

    It is the log moment ln E[X^k] of X ~ Beta(c - k + 1, n - c). Differences of lgamma cancel: their relative error is
    2e-4 at n = 1e6. Here the O(n ln n) and O(k) parts are taken together, in terms that do not cancel, because
    a * b = x * d + (n - c) * k holds exactly for x = n + 1/2, a = c + 1/2, b = n - k + 1/2, d = c - k + 1/2. The rest is
    the tail of Stirling's formula at half integers (NIST DLMF 5.11.8), good from d = 10 on; below that, all four points
    move up by 11 and the product of the eleven ratios passed over is put back.

    Largest relative error of exp() of it against exact rationals: tests/python/sql/test_accuracy.py. -#}
{% macro _log_choose_ratio(n, c, k) -%}
{%- set n = passk._as_double(n) -%}
{%- set c = passk._as_double(c) -%}
{%- set k = passk._as_double(k) -%}
{%- set half = '(' ~ passk._stirling_half(c, k) ~ ')' -%}
{{ passk._log_moment(
  x='(' ~ n ~ ' + ' ~ half ~ ')',
  a='(' ~ c ~ ' + ' ~ half ~ ')',
  b='(' ~ n ~ ' - ' ~ k ~ ' + ' ~ half ~ ')',
  d='(' ~ c ~ ' - ' ~ k ~ ' + ' ~ half ~ ')',
  n=n,
  c=c,
  k=k
) }}
{%- endmacro %}


{#- The rows of `relation`, all its columns and `name`: the same for its columns n, c and k, as far as `condition` holds. In steps, so
    that no step is written twice. -#}
{% macro _with_log_choose_ratio(relation, n, c, k, name, condition='true') -%}
select
    *,
    case
      when {{ condition }}
        then {{ passk._log_moment('point_x', 'point_a', 'point_b', 'point_d', 'point_n', 'point_c', 'point_k') }}
    end as {{ name }}
  from (
    select
      *,
      point_n + point_half as point_x,
      point_c + point_half as point_a,
      point_n - point_k + point_half as point_b,
      point_c - point_k + point_half as point_d
    from (
      select
        *,
        {{ passk._as_double(n) }} as point_n,
        {{ passk._as_double(c) }} as point_c,
        {{ passk._as_double(k) }} as point_k,
        {{ passk._stirling_half(passk._as_double(c), passk._as_double(k)) }} as point_half
      from {{ relation }}
    ) as counted
  ) as shifted
{%- endmacro %}


{#- One half, and 11 more where the series would not be good enough. -#}
{% macro _stirling_half(c, k) -%}
case when {{ c }} - {{ k }} < 10 then 11.5e0 else 0.5e0 end
{%- endmacro %}


{#- `_log_choose_ratio` from its four points, for models that have them as columns. -#}
{% macro _log_moment(x, a, b, d, n, c, k) -%}
{%- set failures = '(' ~ n ~ ' - ' ~ c ~ ')' -%}
{%- set above = [] -%}
{%- set below = [] -%}
{%- for i in range(1, 12) -%}
  {%- do above.append('(' ~ c ~ ' - ' ~ k ~ ' + ' ~ i ~ ') / (' ~ c ~ ' + ' ~ i ~ ')') -%}
  {%- do below.append('(' ~ n ~ ' + ' ~ i ~ ') / (' ~ n ~ ' - ' ~ k ~ ' + ' ~ i ~ ')') -%}
{%- endfor -%}
(
  {{ d }} * {{ passk._log1p(failures ~ ' * ' ~ k ~ ' / (' ~ x ~ ' * ' ~ d ~ ')') }}
  + {{ k }} * {{ passk._log_ratio(a, x, '0 - ' ~ failures) }}
  + {{ failures }} * {{ passk._log_ratio(b, x, '0 - ' ~ k) }}
  + {{ passk._stirling(x) }} - {{ passk._stirling(a) }}
  + {{ passk._stirling(d) }} - {{ passk._stirling(b) }}
  + case
    when {{ c }} - {{ k }} < 10
      then ln({{ (above + below) | join(' * ') }})
    else 0
  end
)
{%- endmacro %}


{#- Tail of Stirling's series at half integers: ln gamma(x + 1/2) = x ln x - x + ln(2 pi) / 2 - _stirling(x).

    As Stieltjes' continued fraction, whose six terms have x six times where six terms of the series have it eleven times:
    off by 6e-17 at x = 10.5, the least that is asked for, where the series is off by 3e-16. -#}
{% macro _stirling(x) -%}
(4.1666666666666664e-2 / ({{ x }} + 5.8333333333333334e-2 / ({{ x }} + 0.25799319727891157e0
  / ({{ x }} + 0.55397669944708272e0 / ({{ x }} + 1.0103101158577248e0 / ({{ x }} + 1.5514626059658438e0 / {{ x }}))))))
{%- endmacro %}


{#- The argument as a double, once: expressions stay whole, numbers become literals that no engine takes for decimals. -#}
{% macro _as_double(argument) -%}
{%- if passk._is_number(argument) -%}
cast({{ argument }} as {{ passk.type_double() }})
{%- else -%}
cast(({{ argument }}) as {{ passk.type_double() }})
{%- endif -%}
{%- endmacro %}

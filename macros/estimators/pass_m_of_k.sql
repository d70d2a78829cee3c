{#- At least m of k: sum over j from m to k of C(c, j) C(n - c, k - j) / C(n, k). Each term is the number of orders in which j of k tries
    succeed, C(k, j), times the chance that the first j succeed and the others fail: pass^j of (n, c), and pass^(k - j) of the failures
    among the n - j attempts that are left. All terms are positive, so that none cancels another. -#}
{% macro pass_m_of_k(n, c, m, k) -%}
  {{- passk._check_counts('pass_m_of_k', n, c, k) -}}
  {{- passk._check_m_of_k('pass_m_of_k', m, k) -}}
  {{ return(adapter.dispatch('pass_m_of_k', 'passk')(n, c, m, k)) }}
{%- endmacro %}

{% macro default__pass_m_of_k(n, c, m, k) -%}
{%- set n_, c_ = passk._as_double(n), passk._as_double(c) -%}
{%- set failures = '(' ~ n_ ~ ' - ' ~ c_ ~ ')' -%}
case
  when {{ passk._is_eligible(n_, c_, passk._as_double(k)) }}
    then case
      when {{ c_ }} < {{ m }} then {{ passk._as_double(0) }}
      when {{ failures }} <= {{ k - m }} then {{ passk._as_double(1) }}
      else least(1e0,
        {%- for passed in range(m, k + 1) %}
        {%- set failed = k - passed %}
        {%- set logs = [passk._log_all_pass(n_, c_, passed)] %}
        {%- if failed %}
          {%- do logs.append(passk._log_all_pass('(' ~ n_ ~ ' - ' ~ passed ~ ')', failures, failed)) %}
        {%- endif %}
        case when {{ c_ }} >= {{ passed }} and {{ failures }} >= {{ failed }} then {{ passk._choose(k, passed) }}e0 * {{ passk._exp(logs | join(' + ')) }} else 0e0 end
        {{- ' +' if not loop.last }}
        {%- endfor %}
      )
    end
end
{%- endmacro %}


{#- The same with m and k in columns, for a function of the database, by the functions that it has already. -#}
{% macro _pass_m_of_k_by_functions(place) -%}
case
  when {{ passk._is_eligible('n', 'c', 'k') }} and {{ passk._is_count('k', 1) }} and {{ passk._is_count('m', 1) }} and m <= k and k <= 32
    then least(1e0, {{ passk._sum_over_j('m', 'k', 'case when j > c or k - j > n - c then 0e0 else exp(' ~ place ~ '.log_choose(k, j)) * '
      ~ place ~ '.pass_hat_k(n, c, j) * case when j = k then 1e0 else ' ~ place ~ '.pass_hat_k(n - j, n - c, k - j) end end') }})
end
{%- endmacro %}


{#- The literals that `pass_m_of_k` takes: it renders a term for each number of passes. -#}
{% macro _check_m_of_k(macro_name, m, k) -%}
  {%- if not passk._written_out(k) -%}
    {{ passk._raise_argument(macro_name, 'k', k, 'an integer from 1 to 32') }}
  {%- elif m is not integer or m is boolean or m < 1 or m > k -%}
    {{ passk._raise_argument(macro_name, 'm', m, 'an integer from 1 to k, which is ' ~ k) }}
  {%- endif -%}
{%- endmacro %}


{#- C(k, j) of numbers. -#}
{% macro _choose(k, j) -%}
  {%- set ways = namespace(found=1) -%}
  {%- for i in range(j) -%}
    {%- set ways.found = ways.found * (k - i) // (i + 1) -%}
  {%- endfor -%}
  {{ return(ways.found) }}
{%- endmacro %}


{#- The scores that the var passk_m_of_k asks for, as (metric, k, m, weights): a score of j passes in k tries is the sum of the `weights` from j = 0 to
    k. The weights of mG-Pass@k are 2 / k for every m from ceil(k / 2) + 1 that j reaches. -#}
{% macro _scores_of_k() -%}
  {%- set scores, means = [], [] -%}
  {%- for asked in passk._setting('passk_m_of_k') -%}
    {%- set weights = [] -%}
    {%- for j in range(asked.k + 1) -%}{%- do weights.append(1 if j >= asked.m else 0) -%}{%- endfor -%}
    {%- do scores.append(['pass_m_of_k', asked.k, asked.m, weights]) -%}
  {%- endfor -%}
  {%- for k in passk._setting('passk_m_of_k') | map(attribute='k') | unique | sort if k > 1 -%}
    {%- set least = (k + 1) // 2 + 1 -%}
    {%- set weights = [] -%}
    {%- for j in range(k + 1) -%}{%- do weights.append((j - least + 1) * 2.0 / k if j >= least else 0) -%}{%- endfor -%}
    {%- do means.append(['mg_pass_at_k', k, least, weights]) -%}
  {%- endfor -%}
  {{ return(scores + means) }}
{%- endmacro %}


{#- The terms of these scores as rows: `ways` is the weight of all orders of `passed` passes in `times` x k tries. Of 2k
    tries, the product of the scores of both halves is the unbiased estimate of the squared score. -#}
{% macro _m_of_k_terms() -%}
  {%- set bigint = dbt.type_bigint() -%}
  {%- for metric, k, m, weights in passk._scores_of_k() -%}
    {%- set terms = [[], []] -%}
    {%- for j in range(k + 1) if weights[j] -%}
      {%- do terms[0].append(weights[j] * passk._choose(k, j)) -%}
    {%- endfor -%}
    {%- set first = k + 1 - terms[0] | length -%}
    {%- for both in range(2 * first, 2 * k + 1) -%}
      {%- set ways = namespace(sum=0.0) -%}
      {%- for j in range(first, k + 1) if both - j >= first and both - j <= k -%}
        {%- set ways.sum = ways.sum + 1.0 * terms[0][j - first] * terms[0][both - j - first] -%}
      {%- endfor -%}
      {%- do terms[1].append(ways.sum) -%}
    {%- endfor -%}
    {%- set outer = loop -%}
    {%- for times in [1, 2] -%}
      {%- for ways in terms[times - 1] %}
  select
    '{{ metric }}' as metric,
    cast({{ k }} as {{ bigint }}) as k,
    cast({{ m }} as {{ bigint }}) as m,
    {{ times }} as times,
    cast({{ first * times + loop.index0 }} as {{ bigint }}) as passed,
    {{ passk._as_double(ways) }} as ways
        {{- '\n  union all' if not (outer.last and times == 2 and loop.last) }}
      {%- endfor -%}
    {%- endfor -%}
  {%- endfor -%}
{%- endmacro %}

{%- set text = dbt.type_string() %}
{%- set least_tasks = 10 %}
{%- set sides = ['public', 'private'] %}
{%- set measures = ['pass_at_1', 'pass_hat_k'] %}

with differences as (
  select
    *,
    {%- for measure in measures %}
    public_{{ measure }} - private_{{ measure }} as {{ measure }}_difference,
    {#- Limits of two independent means, each with its distance from its own mean; tasks with n < k may score anything. #}
    public_share * public_{{ measure }} - private_share * private_{{ measure }} - sqrt(
      power(public_share * (public_{{ measure }} - public_{{ measure }}_lower), 2)
      + power(private_share * (private_{{ measure }}_upper - private_{{ measure }}), 2)
    ) - (1 - private_share) as {{ measure }}_difference_lower,
    public_share * public_{{ measure }} - private_share * private_{{ measure }} + sqrt(
      power(public_share * (public_{{ measure }}_upper - public_{{ measure }}), 2)
      + power(private_share * (private_{{ measure }} - private_{{ measure }}_lower), 2)
    ) + (1 - public_share) as {{ measure }}_difference_upper,
    {%- endfor %}
    case
      when private_run_id is null and not is_named then 'the log does not say which agent made the run'
      when private_run_id is null then 'no run of the agent on the private suite'
      {%- for side in sides %}
      when {{ side }}_null_reason is not null then {{ side }}_null_reason || ' of the {{ side }} suite'
      {%- endfor %}
      {%- for side in sides %}
      when {{ side }}_tasks < {{ least_tasks }}
        then 'only ' || cast({{ side }}_tasks as {{ text }})
          || ' tasks on the {{ side }} suite, fewer than {{ least_tasks }}'
      {%- endfor %}
    end as null_reason,
    public_pass_at_1 - public_pass_hat_k as public_gap,
    private_pass_at_1 - private_pass_hat_k as private_gap
  from {{ ref('int_passk__private_counterparts') }}
),

{# Both limits from the nearer to the farther, as amounts. #}
amounts as (
  select
    *,
    {%- for measure in measures %}
    {%- set difference = measure ~ '_difference' %}
    case when {{ difference }} < 0 then 0 - {{ difference }}_upper else {{ difference }}_lower end as {{ measure }}_least,
    case when {{ difference }} < 0 then 0 - {{ difference }}_lower else {{ difference }}_upper end as {{ measure }}_most,
    {%- endfor %}
    'pass^' || cast(k as {{ text }}) as metric_name
  from differences
),

judged as (
  select
    *,
    {%- for measure in measures %}
    case when {{ measure }}_difference < 0 then 'lower' else 'higher' end || ' by '
    || {{ passk._decimals('abs(' ~ measure ~ '_difference)') }} || ' ('
    || {{ passk._decimals(measure ~ '_least') }} || ' to '
    || {{ passk._decimals(measure ~ '_most') }} || ')' as {{ measure }}_words,
    {%- endfor %}
    case
      when null_reason is not null then 'insufficient'
      when pass_at_1_difference_lower > 0 or pass_hat_k_difference_lower > 0 then 'higher_on_public'
      when pass_at_1_difference_upper < 0 or pass_hat_k_difference_upper < 0 then 'lower_on_public'
      else 'no_difference_seen'
    end as verdict
  from amounts
),

said as (
  select
    *,
    case
      when verdict = 'insufficient' then 'Nothing can be said: ' || null_reason || '.'
      when verdict = 'higher_on_public' and k = 1
        then 'On the public suite pass@1 is ' || pass_at_1_words
          || '. Its tasks may be known, or easier: evidence, not proof.'
      when verdict = 'higher_on_public' and pass_at_1_difference_lower > 0 and pass_hat_k_difference_lower > 0
        then 'On the public suite pass@1 is ' || pass_at_1_words || ' and ' || metric_name || ' ' || pass_hat_k_words
          || '. Its tasks may be known, or easier: evidence, not proof.'
      when verdict = 'higher_on_public' and pass_at_1_difference_lower > 0
        then 'On the public suite pass@1 is ' || pass_at_1_words || ', and ' || metric_name
          || ' is not seen to be. Easier tasks would lift both: a sharper sign that some are known, but no proof.'
      when verdict = 'higher_on_public'
        then 'On the public suite ' || metric_name || ' is ' || pass_hat_k_words
          || ', and pass@1 is not seen to be. The agent repeats itself there as if the tasks were known: a sharper sign,'
          || ' but no proof.'
      when verdict = 'lower_on_public'
        then 'On the public suite '
          || case
            when pass_at_1_difference_upper < 0 then 'pass@1 is ' || pass_at_1_words
            else metric_name || ' is ' || pass_hat_k_words
          end
          || ': no sign that its tasks are known, unless those of the private suite are easier.'
      when k = 1
        then 'On the public suite pass@1 is ' || pass_at_1_words
          || ', which chance alone can explain. What is within these limits may still be there.'
      else 'On the public suite pass@1 is ' || pass_at_1_words || ' and ' || metric_name || ' ' || pass_hat_k_words
        || ', which chance alone can explain. What is within these limits may still be there.'
    end as meaning
  from judged
)

select
  public_suite,
  private_suite,
  public_run_id,
  private_run_id,
  private_source,
  agent,
  agent_version,
  model,
  k,
  public_tasks,
  private_tasks,
  public_pass_at_1,
  private_pass_at_1,
  public_pass_hat_k,
  private_pass_hat_k,
  public_gap,
  private_gap,
  pass_at_1_difference,
  pass_at_1_difference_lower,
  pass_at_1_difference_upper,
  pass_hat_k_difference,
  pass_hat_k_difference_lower,
  pass_hat_k_difference_upper,
  verdict,
  null_reason,
  meaning,
  loaded_at
from said

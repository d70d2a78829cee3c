{#- What each diagnostic means, in the order in which they are shown: `effect` on pass@k and pass^k where it warns, what is
    `fine` where it does not, `advice`, and what the log would `need` where nothing can be said. passk_py/diagnostic_words.py
    has the same words. -#}
{% macro _diagnostic_words() -%}
  {{ return({
    'serial_dependence': {
      'effect': 'Attempts of a task depend on those before them. The estimates take every order as equally likely, so that '
        ~ 'pass@k and pass^k of tries in a row differ from them, and their intervals are too narrow.',
      'fine': 'No sign that an attempt depends on the one before it. What all attempts of a task share can not be seen: it '
        ~ 'looks like another chance of passing, and only attempts spread over sessions or days reveal it.',
      'advice': 'Reset environment, caches and limits between attempts, and read pass_hat_k_window beside pass_hat_k.',
      'need': 'Make three attempts or more of at least ten tasks that both pass and fail, numbered in the order of '
        ~ 'execution.'
    },
    'drift': {
      'effect': 'The chance of passing changes from the first attempt to the last. pass@k and pass^k are those of an '
        ~ 'average '
        ~ 'time, not of the agent as it is when it starts or ends.',
      'fine': 'No sign that the chance of passing rises or falls over the attempts.',
      'advice': 'Look for what lasts from one attempt to the next (memory, caches, a changed service), and make '
        ~ 'attempts anew.',
      'need': 'Make several attempts of at least ten tasks that both pass and fail, numbered in the order of execution.'
    },
    'shared_run_effect': {
      'effect': 'Some passes over the suite were better than others for all tasks at once. The means stay right; intervals '
        ~ 'for these tasks are too narrow, by the root of the ratio.',
      'fine': 'No sign that a pass over the suite was better or worse than the others as a whole.',
      'advice': 'Find what differed between the passes (time, load, version), or multiply the standard errors by the '
        ~ 'root of '
        ~ 'the ratio.',
      'need': 'Make the same number of attempts of every task, one pass over the suite after the other.'
    },
    'batch_effect': {
      'effect': 'Each task has sessions in which it passes and others in which it does not. pass^k of attempts within one '
        ~ 'session is higher than the estimate, pass@k lower, and few sessions say less than as many attempts.',
      'fine': 'The two sessions agree as well as chance lets them. Two sessions say little of how others would differ.',
      'advice': 'Spread attempts over more sessions or days, and count a session, not an attempt, as the unit.',
      'need': 'Log started_at, and make the attempts of a task in two sessions or more.'
    },
    'duplicate_seeds': {
      'effect': 'Attempts with one seed may be one attempt. Copies count as evidence that they are not: pass^k comes '
        ~ 'out too '
        ~ 'high, pass@k too low, and intervals too narrow.',
      'fine': 'No seed comes twice within a task.',
      'advice': 'Give each attempt of a task a seed of its own, or drop the copies.',
      'need': 'Log the seed of each attempt.'
    },
    'duplicate_outputs': {
      'effect': 'Many attempts are copies. Copies count as evidence that they are not: pass^k comes out too high, '
        ~ 'pass@k too '
        ~ 'low, and intervals too narrow.',
      'fine': 'Attempts of a task differ in what they produce.',
      'advice': 'Raise the temperature or turn off caches; if answers are short enough to agree, nothing is wrong.',
      'need': 'Log output_hash, a digest of what each attempt produced.'
    },
    'noisy_grader': {
      'effect': 'The grader judges one output in two ways. Its errors look like unreliable attempts: they cap pass^k, and '
        ~ 'give impossible tasks a pass@k.',
      'fine': 'The grader says the same of the same output.',
      'advice': 'Make the grader deterministic, or grade each output several times and take the majority.',
      'need': 'Log output_hash; where equal outputs never come by themselves, grade some outputs twice.'
    },
    'temperature_zero': {
      'effect': 'All attempts of a task look like one attempt. Then pass@k and pass^k are the same number at every k, and n '
        ~ 'attempts say no more than one.',
      'fine': 'Attempts of a task differ, as those of a sampled agent do.',
      'advice': 'Check that the agent samples (temperature above 0, no cache); if it is meant to be deterministic, '
        ~ 'read pass@1 only.',
      'need': 'Make three attempts or more of at least ten tasks.'
    },
    'retry_until_pass': {
      'effect': 'Attempts seem to have stopped at the first pass. Then every estimate is biased: tasks that pass early have '
        ~ 'few attempts, and the last of them always passed.',
      'fine': 'No sign that the number of attempts depends on their verdicts.',
      'advice': 'Switch retries off and fix the number of attempts in advance; of a log of every try read the pass rate of '
        ~ 'first attempts only.',
      'need': 'Nothing: few tasks have fewer attempts than others.'
    },
    'window_gap': {
      'effect': 'Passes come in a row more, or less, often than the estimate of pass^k has it, which takes every order as '
        ~ 'equally likely.',
      'fine': 'Attempts in a row pass as often as the estimate of pass^k has it.',
      'advice': 'Read pass_hat_k_window where attempts are deployed in a row, and look at serial_dependence and drift.',
      'need': 'Make more attempts than k of at least ten tasks, none of them excluded.'
    },
    'first_k_gap': {
      'effect': 'The first k attempts are not like the others. pass^k of a fresh start differs from the estimate, '
        ~ 'which takes '
        ~ 'every order as equally likely.',
      'fine': 'The first k attempts pass as often as the estimate of pass^k has it.',
      'advice': 'Read pass_hat_k_first_k where the agent starts fresh, and look at drift.',
      'need': 'Make more attempts than k of at least ten tasks.'
    },
    'dominant_tasks': {
      'effect': 'pass^k of the suite is about a few tasks. It moves with them whatever the others do, and another choice of '
        ~ 'tasks would give another number.',
      'fine': 'What pass^k lacks is spread over the tasks.',
      'advice': 'Look at these tasks first: they may be broken, and they are what there is to gain.',
      'need': 'Measure at least ten tasks with k attempts or more.'
    },
    'jensen_bounds': {
      'effect': 'pass^k is lower than identical tasks with independent attempts could make it. Attempts of a task '
        ~ 'work against '
        ~ 'each other, or their number depends on their verdicts.',
      'fine': 'pass^k lies where tasks of different difficulty with independent attempts can put it.',
      'advice': 'Look at serial_dependence and retry_until_pass, and at how attempts were chosen.',
      'need': 'Measure at least ten tasks that both pass and fail with k attempts or more, k above 1.'
    }
  }) }}
{%- endmacro %}

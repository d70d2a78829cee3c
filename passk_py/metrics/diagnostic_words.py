"""The meaning of a log's diagnostics, in words.

``scripts/written_macros.py`` writes ``macros/diagnostics/words.sql`` from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNKNOWN: Final = ("insufficient", "not_applicable")
"""The verdicts of what a log can't tell: too little of it, or not this log."""

VERDICTS: Final = ("warning", "ok", *UNKNOWN)
"""All verdicts, what a reader needs first in front."""


@dataclass(frozen=True, slots=True)
class Words:
    """The meaning of one diagnostic."""

    sign: str | None
    """How the log looks where it warns, without the full stop; None where it never does."""
    effect: str
    fine: str
    """The conclusion if it does not warn."""
    advice: str | None
    need: str

    def meaning(self, verdict: str) -> str:
        """Say what a verdict means."""
        if verdict == "ok":
            return self.fine
        sign = f"{self.sign}." if verdict == "warning" else "Not known from this log."
        return f"{sign} {self.effect}"


WORDS: Final[dict[str, Words]] = {
    "serial_dependence": Words(
        sign="Attempts of a task seem to depend on those before them",
        effect=(
            "If attempts depend on those before them, pass@k and pass^k of tries in a row differ "
            "from the estimates, which take every order as equally likely, and their intervals "
            "are too narrow."
        ),
        fine=(
            "No sign that an attempt depends on the one before it. What all attempts of a task "
            "share can not be seen: it looks like another chance of passing, and only attempts "
            "spread over sessions or days reveal it."
        ),
        advice=(
            "Reset environment, caches and limits between attempts, and read pass_hat_k_window "
            "beside pass_hat_k."
        ),
        need=(
            "Make three attempts or more of at least ten tasks that both pass and fail, numbered "
            "in the order of execution."
        ),
    ),
    "drift": Words(
        sign="Attempts of this run seem to drift",
        effect=(
            "If the chance of passing changes from the first attempt to the last, pass@k and "
            "pass^k are those of an average time, not of the agent as it is when it starts or "
            "ends."
        ),
        fine="No sign that the chance of passing rises or falls over the attempts.",
        advice=(
            "Look for what lasts from one attempt to the next (memory, caches, a changed "
            "service), and make attempts anew."
        ),
        need=(
            "Make several attempts of at least ten tasks that both pass and fail, numbered in the"
            " order of execution."
        ),
    ),
    "shared_run_effect": Words(
        sign="Some passes over the suite seem to be better than others for all tasks at once",
        effect=(
            "If passes over the suite differ, the means stay right, but intervals for these tasks"
            " are too narrow, by the root of the ratio."
        ),
        fine=("No sign that a pass over the suite was better or worse than the others as a whole."),
        advice=(
            "Find what differed between the passes (time, load, version), or multiply the "
            "standard errors by the root of the ratio."
        ),
        need=(
            "Make the same number of attempts of every task, one pass over the suite after the "
            "other."
        ),
    ),
    "batch_effect": Words(
        sign="Tasks seem to have sessions in which they pass and others in which they do not",
        effect=(
            "If sessions differ, pass^k of attempts within one session is higher than the "
            "estimate, pass@k lower, and few sessions say less than as many attempts."
        ),
        fine=(
            "The two sessions agree as well as chance lets them. Two sessions say little of how "
            "others would differ."
        ),
        advice=(
            "Spread attempts over more sessions or days, and count a session, not an attempt, as "
            "the unit."
        ),
        need="Log started_at, and make the attempts of a task in two sessions or more.",
    ),
    "duplicate_seeds": Words(
        sign="Attempts of a task that share a seed may be copies of one attempt",
        effect=(
            "Copies count as evidence that they are not: with them pass^k comes out too high, "
            "pass@k too low, and intervals too narrow."
        ),
        fine="No seed comes twice within a task.",
        advice="Give each attempt of a task a seed of its own, or drop the copies.",
        need="Log the seed of each attempt.",
    ),
    "duplicate_outputs": Words(
        sign="Many attempts may be copies of others",
        effect=(
            "Copies count as evidence that they are not: with them pass^k comes out too high, "
            "pass@k too low, and intervals too narrow."
        ),
        fine="Attempts of a task differ in what they produce.",
        advice=(
            "Raise the temperature or turn off caches; if answers are short enough to agree, "
            "nothing is wrong."
        ),
        need="Log output_hash, a digest of what each attempt produced.",
    ),
    "noisy_grader": Words(
        sign="The grader seems to judge one output in two ways",
        effect=(
            "If a grader judges one output in two ways, its errors look like unreliable attempts:"
            " they cap pass^k, and give impossible tasks a pass@k."
        ),
        fine="No equal outputs got two verdicts.",
        advice=(
            "Make the grader deterministic, or grade each output several times and take the "
            "majority."
        ),
        need=(
            "Log output_hash; where equal outputs never come by themselves, grade some outputs "
            "twice."
        ),
    ),
    "temperature_zero": Words(
        sign="All attempts of a task look like one attempt",
        effect=(
            "If every attempt of a task comes out the same, pass@k and pass^k are the same number"
            " at every k, and n attempts say no more than one."
        ),
        fine="Attempts of a task differ, as those of a sampled agent do.",
        advice=(
            "Check that the agent samples (temperature above 0, no cache); if it is meant to be "
            "deterministic, read pass@1 only."
        ),
        need="Make three attempts or more of at least ten tasks.",
    ),
    "retry_until_pass": Words(
        sign="Attempts seem to have stopped at the first pass",
        effect=(
            "If attempts stop at the first pass, every estimate is biased: tasks that pass early "
            "have few attempts, and the last of them always passed."
        ),
        fine="No sign that the number of attempts depends on their verdicts.",
        advice=(
            "Switch retries off and fix the number of attempts in advance; of a log of every "
            "try read the pass rate of first attempts only."
        ),
        need="Nothing: few tasks have fewer attempts than others.",
    ),
    "window_gap": Words(
        sign=(
            "Passes seem to come in a row more, or less, often than the estimate of pass^k has it"
        ),
        effect=(
            "If passes come in a row more or less often, pass^k of attempts in a row is another, "
            "because the estimate takes every order as equally likely."
        ),
        fine="Attempts in a row pass as often as the estimate of pass^k has it.",
        advice=(
            "Read pass_hat_k_window where attempts are deployed in a row, and look at "
            "serial_dependence and drift."
        ),
        need="Make more attempts than k of at least ten tasks, none of them excluded.",
    ),
    "first_k_gap": Words(
        sign="The first k attempts seem to differ from the others",
        effect=(
            "If the first k attempts differ from the others, pass^k of a fresh start is another, "
            "because the estimate takes every order as equally likely."
        ),
        fine="The first k attempts pass as often as the estimate of pass^k has it.",
        advice="Read pass_hat_k_first_k where the agent starts fresh, and look at drift.",
        need="Make more attempts than k of at least ten tasks.",
    ),
    "dominant_tasks": Words(
        sign=None,
        effect=(
            "Where few tasks make most of what is lost, pass^k of the suite moves with them "
            "whatever the others do, and another choice of tasks would give another number."
        ),
        fine=(
            "This is a description, not a test. Where few tasks make most of what is lost, pass^k"
            " of the suite moves with them whatever the others do, and another choice of tasks "
            "would give another number."
        ),
        advice=None,
        need="Measure at least ten tasks with k attempts or more.",
    ),
    "related_tasks": Words(
        sign="Tasks of a family seem to resemble each other",
        effect=(
            "Where tasks come in families, a suite holds fewer independent tasks than it has, and"
            " intervals for tasks like these are too narrow until they know of the families."
        ),
        fine=(
            "No sign that tasks of a family resemble each other, or the intervals for tasks like "
            "these know of the families. Families that no name shows can not be seen."
        ),
        advice=(
            "Set the var passk_cluster to the tag or column that names the family; docs/families.md"
            " shows how to read it from the names of the tasks."
        ),
        need=(
            "Name tasks after their families, as in django-11099, or set the var passk_cluster to "
            "the tag or column that names the family."
        ),
    ),
    "jensen_bounds": Words(
        sign=(
            "pass^k seems to be lower than identical tasks with independent attempts could make it"
        ),
        effect=(
            "If pass^k is lower than that, attempts of a task work against each other, or their "
            "number depends on their verdicts."
        ),
        fine=(
            "pass^k lies where tasks of different difficulty with independent attempts can put it."
        ),
        advice=("Look at serial_dependence and retry_until_pass, and at how attempts were chosen."),
        need=(
            "Measure at least ten tasks that both pass and fail with k attempts or more, k above 1."
        ),
    ),
}
"""By the name of the diagnostic, in the order in which they are shown."""

OF_LOG: Final = tuple(name for name in WORDS if name != "related_tasks")
"""The diagnostics that a gate on all of them asks: those that say whether a log can be trusted."""

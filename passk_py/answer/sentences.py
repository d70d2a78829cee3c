"""The verdicts in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.answer.verdicts import limits
from passk_py.answer.words import and_list, below, limit, percent, plural, points, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.answer import Answer
    from passk_py.answer.facts import Run
    from passk_py.answer.verdicts import Pick, Regression, Verdict

__all__ = ["Paragraph", "paragraphs", "pick_paragraph", "regression_paragraph"]

_LONGEST_NAME: Final = 48
_MOST_NAMES: Final = 4


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One verdict.

    Parameters
    ----------
    headline
        What to do, in a sentence.
    sentences
        Why, by how much, and what to mind.
    names
        The names in the headline, which may stand out.
    """

    headline: str
    sentences: tuple[str, ...]
    names: tuple[str, ...]


def paragraphs(answer: Answer, suite: str) -> list[Paragraph]:
    """Say all that follows from the runs of a suite.

    Parameters
    ----------
    answer
        The whole answer.
    suite
        The suite.

    Returns
    -------
    list of Paragraph
        Which run to use for what, for each set of tasks, and the regressions that pass@1 hides.
    """
    return [
        paragraph
        for verdict in answer.verdicts[suite]
        for paragraph in (
            pick_paragraph(verdict.reviewed, verdict, answer),
            pick_paragraph(verdict.unattended, verdict, answer),
            *(regression_paragraph(one) for one in verdict.regressions if one.is_told),
        )
    ]


def pick_paragraph(pick: Pick, verdict: Verdict, answer: Answer) -> Paragraph:
    """Say which run is the best for what, and why.

    Parameters
    ----------
    pick
        The best of the verdict's runs.
    verdict
        What follows from them.
    answer
        The whole answer, with its thresholds.
    """
    metric = symbol(pick.metric, pick.k)
    reviewed = pick.metric == "pass_at_k"
    several = len(verdict.runs) > 1
    names = [_called(run) for run in pick.runs]
    if pick.value is None:
        use = "where a person reviews the output" if reviewed else "unattended"
        reasons = sorted({run.null_reasons.get(pick.k, "no value") for run in pick.unknown})
        headline = f"What to use {use} can't be known."
        return Paragraph(headline, (f"{metric} is null: {and_list(reasons)}.",), ())
    said = [_value(pick, metric, answer), *_compared(pick, metric)]
    if reviewed:
        headline = _reviewed_headline(pick, answer, several=several)
        said += _not_capable(pick, answer, several=several)
        if not several:
            said += _alone(verdict, answer)
    else:
        headline = _unattended_headline(pick, answer, several=several)
        said += _not_consistent(pick, answer, several=several)
    said += [*_not_sure(pick, answer), *_left_out(pick)]
    if pick.k != answer.deployment_k:
        wanted = symbol(pick.metric, answer.deployment_k)
        said.append(f"It is not judged by {wanted}, for which no run has enough attempts.")
    if pick.unknown:
        left = and_list([_called(run) for run in pick.unknown])
        said.append(f"Not compared, because its {metric} is null: {left}.")
    return Paragraph(headline, tuple(said), tuple(names[:_MOST_NAMES]))


def _reviewed_headline(pick: Pick, answer: Answer, *, several: bool) -> str:
    best = _either(pick.runs)
    if not pick.reaches and pick.k < answer.deployment_k:
        # More tries only help.
        if several:
            return f"No run is known to be capable; where a person reviews the output, use {best}."
        return f"Whether {best} is capable is not known."
    if not pick.value:
        return "None is of use, even where a person reviews the output."
    if pick.value < answer.capable_threshold:
        if several:
            return f"No run is capable; where a person reviews the output, use {best}."
        return f"{best} is not capable, even where a person reviews the output."
    return f"Use {best} where a person reviews the output."


def _alone(verdict: Verdict, answer: Answer) -> list[str]:
    """Say why a run is compared with no other."""
    if answer.is_chosen:
        return []
    (run,) = verdict.runs
    if len(answer.verdicts[run.suite]) > 1:
        return ["No other run has tried just these tasks, so it is compared with none."]
    return ["No other run has tried these tasks."]


def _unattended_headline(pick: Pick, answer: Answer, *, several: bool) -> str:
    best = _either(pick.runs)
    if pick.reaches and pick.k < answer.deployment_k:
        return f"Whether {best} can run unattended is not known."
    if pick.reaches:
        # An estimate alone lets half of those through that are just at the threshold.
        return (
            f"Let {best} run unattended." if pick.is_sure else f"Perhaps {best} can run unattended."
        )
    if not several:
        return f"Do not let {best} run unattended on the whole suite."
    if not pick.value:
        return "Let none run unattended."
    comes = "comes" if len(pick.runs) == 1 else "come"
    return f"Let none run unattended on the whole suite; {best} {comes} closest."


def _value(pick: Pick, metric: str, answer: Answer) -> str:
    share = f"{metric} = {percent(pick.value)}%{_interval(pick, answer)}"
    if pick.k == 1:
        return f"{share}: the one try at a task is right."
    if pick.metric == "pass_hat_k":
        all_right = "are all right" if pick.value else "are never all right"
        return f"{share}: {pick.k} tries at a task {all_right}."
    least = "at least one is right" if pick.value else "none is right"
    return f"{share}: of {pick.k} tries at a task, {least}."


def _interval(pick: Pick, answer: Answer) -> str:
    """Write the interval of the best run; of several that are equal, each has its own."""
    if len(pick.runs) != 1:
        return ""
    run = pick.runs[0]
    low, high = limits(run, pick.metric)[pick.k]
    return f" ({limit(answer.confidence)}% interval {percent(low)} to {percent(high)})"


def _compared(pick: Pick, metric: str) -> list[str]:
    said = []
    if len(pick.runs) > 1:
        said.append(f"They are equal at {metric}.")
        if pick.metric == "pass_at_k":
            said += _steadiest(pick)
    if pick.gap is not None and pick.runner_up is not None:
        second = f"{_called(pick.runner_up)} is next with {percent(pick.runner_up_value)}%"
        said.append(f"{second}, {points(pick.gap)} behind.")
    return said


def _steadiest(pick: Pick) -> list[str]:
    """Of runs with the same pass@k, the one with the highest pass^k does it with fewer tries."""
    known = [(value, run) for run in pick.runs if (value := run.pass_hat_k.get(pick.k))]
    best = max((value for value, _ in known), default=0.0)
    first = [run for value, run in known if value == best]
    if len(first) != 1 or len(known) < len(pick.runs):
        return []
    hat = symbol("pass_hat_k", pick.k)
    return [f"Of these, {_called(first[0])} has the highest {hat}, {percent(best)}%."]


def _not_capable(pick: Pick, answer: Answer, *, several: bool) -> list[str]:
    if pick.value is None or pick.value >= answer.capable_threshold:
        return []
    more = "" if pick.k == answer.deployment_k else ", and with more tries it may"
    capable = limit(answer.capable_threshold)
    return [f"{_short_of(several=several)} {capable}%, where capable begins{more}."]


def _not_sure(pick: Pick, answer: Answer) -> list[str]:
    """Say how low a value may be that reaches its threshold."""
    if not pick.reaches or pick.is_sure:
        return []
    reviewed = pick.metric == "pass_at_k"
    threshold = answer.capable_threshold if reviewed else answer.consistent_threshold
    lower, which = min((limits(run, pick.metric)[pick.k][0], _called(run)) for run in pick.runs)
    who = "It" if len(pick.runs) == 1 else f"That of {which}"
    low, begins = below(lower, threshold), "capable" if reviewed else "consistent"
    return [f"{who} may be as low as {low}%, below {limit(threshold)}%, where {begins} begins."]


def _left_out(pick: Pick) -> list[str]:
    """Say how many tasks a value says nothing of."""
    short = [(run, left) for run in pick.runs if (left := run.left_out.get(pick.k))]
    if not short:
        return []
    counts = and_list(
        [
            f"{left:,} of the {plural(run.tasks, 'task')}"
            + ("" if len(pick.runs) == 1 else f" of {_called(run)}")
            for run, left in short
        ]
    )
    return [f"Left out, because n < {pick.k}: {counts}."]


def _not_consistent(pick: Pick, answer: Answer, *, several: bool) -> list[str]:
    """Say what the value is short of, and where to start in spite of it."""
    if pick.reaches:
        return []
    limits = limit(answer.consistent_threshold)
    said = [f"{_short_of(several=several)} {limits}%, where consistent begins."]
    steady = next((run for run in pick.runs if run.classes.get("consistent")), None)
    if steady is not None:
        tasks = f"{steady.classes['consistent']:,} of the {plural(steady.tasks, 'task')}"
        said.append(f"So far {_called(steady)} is consistent on {tasks}: the ones to start with.")
    return said


def _short_of(*, several: bool) -> str:
    return "No run reaches" if several else "It does not reach"


def regression_paragraph(regression: Regression) -> Paragraph:
    """Say what the average shows, and what it hides.

    Parameters
    ----------
    regression
        Two runs of one agent.
    """
    before, after, k = regression.before, regression.after, regression.k
    name, hat = _called(after), symbol("pass_hat_k", k)
    rose = f"{percent(before.pass_at_k[1])} to {percent(after.pass_at_k[1])}%"
    fell = f"{percent(before.pass_hat_k[k])} to {percent(after.pass_hat_k[k])}%"
    said = (
        f"Against {_called(before)}, pass@1 rose from {rose}, and {hat} fell from {fell}: "
        f"more tries succeed, and fewer tasks succeed {k} times in a row."
    )
    return Paragraph(f"{name} hides a regression behind a better pass@1.", (said,), (name,))


def _called(run: Run) -> str:
    return run.called(_LONGEST_NAME)


def _either(runs: Sequence[Run]) -> str:
    """Name the runs of which any will do."""
    return and_list([_called(run) for run in runs], most=_MOST_NAMES, word="or")

"""The verdicts in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from passk_py.answer.words import and_list, limit, percent, plain, plural, points, symbol

if TYPE_CHECKING:
    from passk_py.answer import Answer
    from passk_py.answer.verdicts import Pick, Regression, Verdict

__all__ = ["Paragraph", "pick_paragraph", "regression_paragraph"]


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
    use = "where a person reviews the output" if reviewed else "unattended"
    if pick.value is None:
        reasons = sorted({run.null_reasons.get(pick.k, "no value") for run in pick.unknown})
        headline = f"What to use {use} can't be known."
        return Paragraph(headline, (f"{metric} is null: {and_list(reasons)}.",), ())
    names = tuple(plain(run.label) for run in pick.runs)
    best = and_list(names)
    several = len(verdict.runs) > 1
    if reviewed:
        headline = f"Use {best} {use}."
    elif pick.reaches:
        headline = f"Let {best} run {use}."
    elif several and pick.value:
        headline = f"Let none run {use} on the whole suite; {best} comes closest."
    else:
        headline = f"Let {'none' if several else best + ' not'} run {use} on the whole suite."
    said = [_value(pick, metric), *_compared(pick, metric)]
    if pick.k != answer.deployment_k:
        wanted = symbol(pick.metric, answer.deployment_k)
        said.append(f"It is not judged by {wanted}, for which no run has enough attempts.")
    said += _reached(pick, answer, several=several)
    if pick.unknown:
        left = and_list([plain(run.label) for run in pick.unknown])
        said.append(f"Not compared, because its {metric} is null: {left}.")
    return Paragraph(headline, tuple(said), names)


def _value(pick: Pick, metric: str) -> str:
    share = f"{metric} = {percent(pick.value)}%"
    if pick.k == 1:
        return f"{share}: the one try at a task is right."
    if pick.metric == "pass_at_k":
        return f"{share}: of {pick.k} tries at a task, at least one is right."
    return f"{share}: {pick.k} tries at a task are all right."


def _compared(pick: Pick, metric: str) -> list[str]:
    said = [f"They are equal at {metric}."] if len(pick.runs) > 1 else []
    if pick.gap is not None and pick.runner_up is not None:
        second = f"{plain(pick.runner_up.label)} is next with {percent(pick.runner_up_value)}%"
        said.append(f"{second}, {points(pick.gap)} behind.")
    elif not said and not pick.unknown:
        said.append("No other run has tried these tasks.")
    return said


def _reached(pick: Pick, answer: Answer, *, several: bool) -> list[str]:
    """Say what the value is short of, and what can be had in spite of it."""
    whom = "No run reaches" if several else "It does not reach"
    if pick.metric == "pass_at_k":
        if pick.value is None or pick.value >= answer.capable_threshold:
            return []
        return [f"{whom} {limit(answer.capable_threshold)}%, where capable begins."]
    if pick.reaches:
        return []
    said = [f"{whom} {limit(answer.consistent_threshold)}%, where consistent begins."]
    steady = [run for run in pick.runs if run.classes.get("consistent")]
    if steady and pick.value:
        run = steady[0]
        tasks = f"{run.classes['consistent']:,} of the {plural(run.tasks, 'task')}"
        said.append(f"So far {plain(run.label)} is consistent on {tasks}: the ones to start with.")
    return said


def regression_paragraph(regression: Regression) -> Paragraph:
    """Say what the average shows, and what it hides.

    Parameters
    ----------
    regression
        Two runs of one agent.
    """
    before, after, k = regression.before, regression.after, regression.k
    name, hat = plain(after.label), symbol("pass_hat_k", k)
    rose = f"{percent(before.pass_at_k[1])} to {percent(after.pass_at_k[1])}%"
    fell = f"{percent(before.pass_hat_k[k])} to {percent(after.pass_hat_k[k])}%"
    said = (
        f"Against {plain(before.label)}, pass@1 rose from {rose}, and {hat} fell from {fell}: "
        f"more tries succeed, and fewer tasks succeed {k} times in a row."
    )
    return Paragraph(f"{name} hides a regression behind a better pass@1.", (said,), (name,))

"""The verdicts in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.common.words import (
    and_list,
    below,
    limit,
    percent,
    percents,
    plural,
    points,
    shortened,
    symbol,
)
from passk_py.reports.answer.verdicts import limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.reports.answer import Answer
    from passk_py.reports.answer.answer_facts import Run
    from passk_py.reports.answer.verdicts import Pick, Regression, Verdict

_LONGEST_NAME: Final = 48
_MOST_NAMES: Final = 4
_MOST_REGRESSIONS: Final = 3
_EQUAL: Final = 1e-12
_SHOWN: Final = 0.0005


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One verdict: what to do, then why, by how much, and what to mind."""

    kind: str
    """The metric that it goes by, or that it is about a regression."""
    headline: str
    sentences: tuple[str, ...]
    names: tuple[str, ...]
    """The names in the headline, which may stand out."""


def paragraphs(verdict: Verdict, answer: Answer) -> list[Paragraph]:
    """Say all that follows from runs that can be compared."""
    return [
        _of_pick(verdict.reviewed, verdict, answer),
        _of_pick(verdict.unattended, verdict, answer),
        *_of_regressions(verdict.regressions, answer.confidence),
    ]


def _of_pick(pick: Pick, verdict: Verdict, answer: Answer) -> Paragraph:
    """Say which run is the best for what, and why."""
    metric = symbol(pick.metric, pick.k)
    reviewed = pick.metric == "pass_at_k"
    several = len(verdict.runs) > 1
    names = [_called(run) for run in pick.named]
    if pick.value is None:
        use = "where a person picks the right try" if reviewed else "unattended"
        reasons = sorted({run.null_reasons.get(pick.k, "no value") for run in pick.unknown})
        headline = f"What to use {use} can't be known."
        why = f"{metric} is null: {and_list(reasons)}."
        return Paragraph(pick.metric, headline, (why,), ())
    said = [_value(pick, metric, answer), *_compared(pick, metric)]
    if reviewed:
        headline = _reviewed_headline(pick, answer, several=several)
        said += _not_capable(pick, verdict, answer)
        if not several:
            said += _alone(verdict, answer)
    else:
        headline = _unattended_headline(pick, answer, several=several)
        said += _not_consistent(pick, verdict, answer)
    if pick.is_walkover:
        headline = _walkover(pick, metric, reviewed=reviewed)
    said += [*_not_sure(pick, answer), *_left_out(pick)]
    if pick.k != answer.deployment_k:
        wanted = symbol(pick.metric, answer.deployment_k)
        said.append(f"It is not judged by {wanted}, for which no run has enough attempts.")
    if verdict.older:
        said.append(f"Not among them, because only the latest are ranked: {_older(verdict)}.")
    if several and not verdict.is_ranked:
        said.append("How sure this order is, is not known: passk_rankings has none of these runs.")
    if pick.unknown:
        left = and_list([_called(run) for run in pick.unknown])
        said.append(f"Not compared, because its {metric} is null: {left}.")
    return Paragraph(pick.metric, headline, tuple(said), tuple(names[:_MOST_NAMES]))


def _walkover(pick: Pick, metric: str, *, reviewed: bool) -> str:
    """Recommend no run because it is the only one with a value."""
    use = "where a person picks the right try" if reviewed else "unattended"
    runs = 1 + len(pick.unknown)
    return f"What to use {use} is not known: of {runs} runs only {_either(pick.runs)} has {metric}."


def _reviewed_headline(pick: Pick, answer: Answer, *, several: bool) -> str:
    best, apart = _either(pick.named), _not_apart(pick)
    use = f"where a person picks the right try, use {best}{apart}."
    if not pick.reaches and pick.k < answer.deployment_k:
        # More tries only help.
        if several:
            return f"No run is known to be capable; {use}"
        return f"Whether {best} is capable is not known."
    if not pick.value:
        return "None is of use, even where a person picks the right try."
    if pick.value < answer.capable_threshold:
        if several:
            return f"No run is capable; {use}"
        return f"{best} is not capable, even where a person picks the right try."
    return f"Use {best} where a person picks the right try{apart}."


def _alone(verdict: Verdict, answer: Answer) -> list[str]:
    """Say why a run is compared with no other."""
    if answer.is_chosen:
        return []
    (run,) = verdict.runs
    if verdict.older:
        return [f"It is compared with no other run of the same tasks: {_older(verdict)}."]
    if len(answer.verdicts[run.suite]) > 1:
        return ["No other run has tried just these tasks, so it is compared with none."]
    return ["No other run has tried these tasks."]


def _unattended_headline(pick: Pick, answer: Answer, *, several: bool) -> str:
    best, apart = _either(pick.named), _not_apart(pick)
    if pick.reaches and pick.k < answer.deployment_k:
        return f"Whether {best} can run unattended is not known."
    if pick.is_sure:
        return f"Let {_either(pick.sure)} run unattended."
    if pick.reaches:
        # An estimate alone lets half of those through that are just at the threshold.
        return f"Perhaps {best} can run unattended{apart}."
    if not several:
        return f"{best} is not reliable enough to work unattended on the whole suite."
    if not pick.value:
        return "No run is reliable enough to work unattended."
    comes = "comes" if len(pick.named) == 1 else "come"
    return (
        "No run is reliable enough to work unattended on the whole suite; "
        f"{best} {comes} closest{apart}."
    )


def _not_apart(pick: Pick) -> str:
    """Say of the runs of a headline why there are several."""
    return ": they are not told apart" if pick.rivals else ""


def _value(pick: Pick, metric: str, answer: Answer) -> str:
    share = f"{metric} = {percent(pick.value)}%{_interval(pick, answer)}"
    if pick.k == 1:
        return f"{share}: the chance that a try at a task is right."
    if pick.metric == "pass_hat_k":
        return f"{share}: the chance that all {pick.k} tries at a task are right."
    return f"{share}: the chance that at least one of {pick.k} tries at a task is right."


def _interval(pick: Pick, answer: Answer) -> str:
    """Write the interval of the best run; of several that are equal, each has its own."""
    if len(pick.runs) != 1:
        return ""
    run = pick.runs[0]
    ends = percents(*limits(run, pick.metric)[pick.k])
    return f" ({limit(answer.confidence)}% interval {ends})"


def _compared(pick: Pick, metric: str) -> list[str]:
    said = _luck(pick)
    if len(pick.runs) > 1:
        said.append(f"They are equal at {metric}.")
        if pick.metric == "pass_at_k":
            said += _steadiest(pick)
    if pick.gap is not None and pick.runner_up is not None:
        second = f"{_called(pick.runner_up)} is next with {percent(pick.runner_up_value)}%"
        by_chance = ", which chance alone can explain" if pick.runner_up in pick.rivals else ""
        said.append(f"{second}, {points(pick.gap)} behind{by_chance}.")
    return said


def _luck(pick: Pick) -> list[str]:
    """Say what the best is worth without the luck of having come out highest."""
    if not pick.rivals or pick.without_luck is None:
        return []
    worth = percent(pick.without_luck)
    if worth == percent(pick.value):
        return []
    many = len(pick.named)
    return [
        f"The highest of {many} that are not told apart looks better than it is: expect {worth}%."
    ]


def _steadiest(pick: Pick) -> list[str]:
    """Of runs with the same pass@k, the one with the highest pass^k does it with fewer tries."""
    known = [(value, run) for run in pick.runs if (value := run.pass_hat_k.get(pick.k))]
    best = max((value for value, _ in known), default=0.0)
    first = [run for value, run in known if value == best]
    if len(first) != 1 or len(known) < len(pick.runs):
        return []
    hat = symbol("pass_hat_k", pick.k)
    return [f"Of these, {_called(first[0])} has the highest {hat}, {percent(best)}%."]


def _not_capable(pick: Pick, verdict: Verdict, answer: Answer) -> list[str]:
    if pick.value is None or pick.value >= answer.capable_threshold:
        return []
    more = "" if pick.k == answer.deployment_k else ", and with more tries it may"
    capable = limit(answer.capable_threshold)
    return [f"{_short_of(verdict)} {capable}%, the threshold for a capable run{more}."]


def _not_sure(pick: Pick, answer: Answer) -> list[str]:
    """Say how low a value may be that reaches its threshold."""
    if not pick.reaches or pick.is_sure:
        return []
    reviewed = pick.metric == "pass_at_k"
    threshold = answer.capable_threshold if reviewed else answer.consistent_threshold
    unsure = next(run for run in pick.runs if run not in pick.sure)
    who = "It" if len(pick.runs) == 1 else _called(unsure)
    low, wanted = below(pick.lower or 0.0, threshold), "capable" if reviewed else "consistent"
    best = f" (the interval of the best of {pick.looked_at})" if pick.looked_at > 1 else ""
    least = f"{limit(threshold)}%, the threshold for a {wanted} run"
    return [f"{who} may be as low as {low}%{best}, below {least}."]


def _left_out(pick: Pick) -> list[str]:
    """Say how many tasks a value says nothing of."""
    short = [(run, left) for run in pick.runs if (left := run.left_out.get(pick.k))]
    if not short:
        return []
    counts = and_list(
        f"{left:,} of the {plural(run.tasks, 'task')}"
        + ("" if len(pick.runs) == 1 else f" of {_called(run)}")
        for run, left in short
    )
    return [f"Left out, because n < {pick.k}: {counts}; the interval allows them any value."]


def _not_consistent(pick: Pick, verdict: Verdict, answer: Answer) -> list[str]:
    """Say what the value is short of, and where to start in spite of it."""
    if pick.reaches:
        return []
    limits = limit(answer.consistent_threshold)
    said = [f"{_short_of(verdict)} {limits}%, the threshold for a consistent run."]
    steady = next((run for run in pick.runs if run.classes.get("consistent")), None)
    if steady is not None:
        tasks = f"{steady.classes['consistent']:,} of the {plural(steady.tasks, 'task')}"
        said.append(f"{_called(steady)} is consistent on {tasks} so far: start with those.")
    return said


def _short_of(verdict: Verdict) -> str:
    if len(verdict.runs) == 1:
        return "It does not reach"
    return "No ranked run reaches" if verdict.older else "No run reaches"


def _older(verdict: Verdict) -> str:
    """Count the runs that are too old to be ranked."""
    return f"{plural(verdict.older, 'run')} that {'is' if verdict.older == 1 else 'are'} older"


def _of_regressions(regressions: Sequence[Regression], confidence: float) -> list[Paragraph]:
    """Say which runs regressed, the newest first, and count those that are not said."""
    said = [_regression(one, confidence) for one in regressions[:_MOST_REGRESSIONS]]
    left = len(regressions) - len(said)
    if left:
        headline = f"{plural(left, 'regression')} more of older runs."
        where = "passk_comparisons has them, where verdict is 'regression'."
        said.append(Paragraph("regression", headline, (where,), ()))
    return said


def _regression(regression: Regression, confidence: float) -> Paragraph:
    """Say what fell, and what the average shows of it."""
    after, change = regression.after, regression.change
    name, hat = _called(after), symbol("pass_hat_k", change.k)
    fell = change.hat_k[0] - change.hat_k[1]
    near, far = -change.limits[1], -change.limits[0]
    ends = f"{'above 0' if near < _SHOWN else percent(near)} to {percent(far)}"
    by = f"by {points(fell)} ({limit(confidence)}% interval for these tasks {ends})"
    levels = f"from {percents(*change.hat_k)}%"
    against = f"Against {shortened(regression.before, _LONGEST_NAME)},"
    rose = change.at_1 is not None and change.at_1[1] - change.at_1[0] > _EQUAL
    if change.k == 1 or change.at_1 is None:
        said = f"{against} {hat} fell {levels}, {by}."
    else:
        rates = f"from {percents(*change.at_1)}%"
        if not change.is_hidden:
            said = f"{against} pass@1 fell {rates}, and {hat} {levels}, {by}."
        else:
            one = f"rose {rates}" if rose else "did not change"
            said = (
                f"{against} pass@1 {one}, and {hat} fell {levels}, {by}: "
                f"fewer tasks succeed {change.k} times in a row."
            )
    headline = f"{name} regressed."
    if change.is_hidden:
        kind = "a better" if rose else "an unchanged"
        headline = f"{name} hides a regression behind {kind} pass@1."
    return Paragraph("regression", headline, (said,), (name,))


def _called(run: Run) -> str:
    return run.called(_LONGEST_NAME)


def _either(runs: Sequence[Run]) -> str:
    """Name the runs of which any will do."""
    return and_list([_called(run) for run in runs], most=_MOST_NAMES, word="or")

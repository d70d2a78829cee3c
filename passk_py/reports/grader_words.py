"""Graders that err, and judges that agree or not, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.common.contract import LOG_JUDGE
from passk_py.common.words import percent, percents, plain, plural, symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_MOST_RUNS: Final = 4
_MIND: Final = "It holds if the grader errs by chance, and not on the same tasks every time."


def grader_sentences(grader: Row | None, corrected: Sequence[Row]) -> list[str]:
    """Say how often the grader of a suite errs, and what pass^k is without it.

    ``grader`` is a row of ``passk_graders``, None where there are no labels; ``corrected`` has rows
    of ``passk_corrected_metrics`` at one k, of which the last ones are said.
    """
    if grader is None:
        return []
    if grader["sensitivity"] is None or grader["false_pass_rate"] is None:
        labels = plural(grader["labels"], "label")
        reason = grader["null_reason"]
        return [f"How often the grader errs is not known from {labels}: {reason}."]
    passed = f"The grader passes {_rate(grader, 'false_pass_rate')} of failed attempts and "
    passed += f"{_rate(grader, 'sensitivity')} of those that succeeded, by "
    passed += f"{plural(grader['labelled_passes'] + grader['labelled_failures'], 'label')}."
    if grader["null_reason"] is not None:
        return [passed, f"No metric is corrected: {grader['null_reason']}."]
    known = [row for row in corrected if row["corrected"] is not None]
    if not known:
        reasons = sorted({row["null_reason"] for row in corrected})
        return [passed, *(f"No metric is corrected: {reason}." for reason in reasons)]
    several = len(corrected) > 1
    values = [_value(row, several=several) for row in known[-_MOST_RUNS:]]
    left = len(known) - len(values)
    more = f"; {plural(left, 'other run')} in passk_corrected_metrics" if left else ""
    hat = symbol("pass_hat_k", known[0]["k"])
    return [passed, f"Corrected {hat} {'; '.join(values)}{more}.", _MIND]


def _rate(grader: Row, name: str) -> str:
    limits = percents(grader[f"{name}_lower"], grader[f"{name}_upper"])
    return f"{percent(grader[name])}% ({limits})"


def _value(row: Row, *, several: bool) -> str:
    of = f"of {plain(row['run_id'])} " if several else ""
    limits = percents(row["corrected_lower"], row["corrected_upper"])
    return f"{of}is {percent(row['corrected'])} ({limits}), raw {percent(row['raw'])}"


def judge_sentences(pairs: Sequence[Row]) -> list[str]:
    """Say how far the judges of a suite agree, of the two that agree least.

    ``pairs`` are rows of ``passk_judges``, none where there are no verdicts of judges.
    """
    if not pairs:
        return []
    row = min(pairs, key=lambda pair: (pair["agreement"], pair["judge"], pair["other_judge"]))
    judge, other = plain(row["judge"]), plain(row["other_judge"])
    if row["judge"] == row["other_judge"]:
        agree, theirs = f"The judge {judge} agrees with itself", "the judge's"
    elif row["other_judge"] == LOG_JUDGE:
        agree, theirs = f"The judge {judge} agrees with the log", "the judge's or the log's"
    else:
        agree, theirs = f"The judges {judge} and {other} agree", "the judges'"
    said = f"{agree} on {_rate(row, 'agreement')} of attempts"
    if len(pairs) > 1:
        said += f", the least of {len(pairs)} pairs in passk_judges"
    if row["judges_share"] is None:
        unknown = f"how much of the disagreement between tries is {theirs} is not known"
        return [f"{said}; {unknown}: {row['null_reason']}."]
    share = _rate(row, "judges_share")
    return [f"{said}; {share} of the disagreement between tries is {theirs}."]

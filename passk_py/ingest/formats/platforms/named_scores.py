"""The verdict of a row with several scores that have names, by one rule for all platforms.

Platforms do not say which of the scores are verdicts, except MLflow, which knows yes and true.
Scores that say true or false, yes or no, 1 or 0 in every row are verdicts, and each of them has to
pass. If there are none, the lowest score decides with ``--score-threshold``.
:meth:`Scores.warning` says which ones decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.formats.harness import Unfit
from passk_py.ingest.formats.kinds import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from passk_py.ingest.containers.shape import Json

EVALUATOR_ERROR: Final = "evaluator_error"
RULE: Final = (
    "every score whose values are all true and false, yes and no, pass and fail or 1 and 0 passes; "
    "if there is none, the lowest score reaches --score-threshold"
)

_WORDS: Final = {
    **dict.fromkeys(("yes", "true", "pass", "passed", "correct"), True),
    **dict.fromkeys(("no", "false", "fail", "failed", "incorrect"), False),
}


def verdict_in(value: Json) -> bool | None:
    """Take true or false, a word for them, 1 or 0 as a verdict; None for everything else."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else None


def score_in(value: Json) -> bool | float | str | None:
    """Take a number, true or false, or a word; None for NaN and for everything else."""
    if isinstance(value, str):
        return value or None
    return value if isinstance(value, int | float) and math.isfinite(value) else None


def typed_cell(text: str | None) -> Json:
    """Take a cell of a table as a number, if it is one; None if it is empty or not a number."""
    if not text or text.lower() in ("nan", "none", "null"):
        return None
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else None


def judged_row(
    said: bool | None, graded: Sequence[float], *, is_broken: bool, highest: float | None
) -> dict[str, Any]:
    """Give the columns ``passed``, ``score`` and ``outcome_reason`` of a graded row.

    ``said`` is what its verdicts say together, ``graded`` its other scores, and ``highest`` the
    highest score of the log if no threshold was given. Raise Unfit if that is above 1 and the
    lowest score would decide.
    """
    only = graded[0] if len(graded) == 1 else None
    if said is False:
        return {"passed": False, "score": only}
    if is_broken:
        return {"outcome_reason": EVALUATOR_ERROR}
    if said:
        return {"passed": True, "score": only}
    lowest = min(graded, default=None)
    if lowest is not None and highest is not None and highest > 1:
        raise Unfit(
            "no_verdict",
            f"The score is {lowest:g}, and scores go up to {highest:g}. Say from which score on an "
            "attempt passes with --score-threshold.",
        )
    return {"score": lowest}


@dataclass
class Scores:
    """The facts about the scores of a log that its first reading finds out."""

    _kinds: dict[str, set[bool | None]] = field(default_factory=dict)
    """By name, which verdicts its values are; with None if it has values that are none."""
    _rows: int = 0
    """How many rows have a score."""
    _given: dict[str, int] = field(default_factory=dict)
    """By name, how many rows have it."""
    _numeric: set[str] = field(default_factory=set)
    _highest: float = 0.0

    def note(self, scores: Mapping[str, Json]) -> None:
        """Note the scores of a row."""
        self._rows += bool(scores)
        for name, given in scores.items():
            self._given[name] = self._given.get(name, 0) + 1
            kinds = self._kinds.setdefault(name, set())
            value = score_in(given)
            if value is None:
                continue
            kinds.add(verdict_in(value))
            if not isinstance(value, bool | str):
                self._numeric.add(name)
                self._highest = max(self._highest, value)

    @cached_property
    def verdicts(self) -> list[str]:
        """The scores whose values are all verdicts; asked once all rows are noted."""
        return [name for name, kinds in self._kinds.items() if kinds and None not in kinds]

    def judge(self, scores: Mapping[str, Json], *, has_threshold: bool) -> dict[str, Any]:
        """Judge a row; a score without a value is one of an evaluator that raised."""
        verdicts = self.verdicts
        said, graded, is_broken = None, list[float](), False
        for name, given in scores.items():
            value = score_in(given)
            if value is None:
                is_broken = is_broken or not verdicts or name in verdicts
            elif name in verdicts:
                said = verdict_in(value) and said is not False
            elif not isinstance(value, bool | str):
                graded.append(float(value))
        if said is None and verdicts:
            # The others decide only where no score is a verdict.
            graded = []
        highest = None if has_threshold else self._highest
        return judged_row(said, graded, is_broken=is_broken, highest=highest)

    def warning(self) -> Iterator[str]:
        """Say which scores decided, if another choice is as likely."""
        verdicts = self.verdicts
        others = [name for name, kinds in self._kinds.items() if None in kinds]
        silent = [name for name, kinds in self._kinds.items() if not kinds]
        graded = [name for name in others if name in self._numeric]
        choose = "To let another rule decide, write it as passed=... of --map."
        if verdicts and others:
            yield (
                f"{listed(verdicts)} decided what passed; {listed(others)} did not, because some "
                f"of the values are neither yes and no nor 1 and 0. {choose}"
            )
        elif len(verdicts) > 1:
            yield f"An attempt passed if each of {listed(verdicts)} says so. {choose}"
        elif len(graded) > 1:
            yield f"The lowest of {listed(graded)} decided what passed. {choose}"
        so = "were judged without it" if verdicts[1:] else "have no verdict"
        for name in verdicts:
            if (missing := self._rows - self._given[name]) > 0:
                yield f"{name} is missing in {missing} of {self._rows} rows with scores; they {so}."
        if silent:
            yield f"{listed(silent)} has no value in any row, so it decided nothing."

"""How two suites with different tasks differ, and whether that is beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from passk_py.common.words import decimals
from passk_py.metrics.states import all_pass, padded, related_states, short_reason

if TYPE_CHECKING:
    from passk_py.metrics.states import Families, States

DIFFERENCES: Final = tuple(
    f"{measure}_difference{end}"
    for measure in ("pass_at_1", "pass_hat_k")
    for end in ("", "_lower", "_upper")
)
"""The figures that a verdict depends on, in the order of :func:`judged_suites`."""
_LEAST_TASKS: Final = 10
"""With fewer tasks on a side there is no verdict."""


class Limited(NamedTuple):
    """A mean over tasks with its limits."""

    mean: float
    lower: float
    upper: float


class Score(NamedTuple):
    """pass@1 and pass^k of a run on a suite, or why there are none."""

    tasks: int
    share: float
    at_1: Limited | None = None
    hat_k: Limited | None = None
    reason: str | None = None


def score_of(
    states: States,
    k: int,
    confidence: float,
    min_eligible_share: float,
    families: Families | None = None,
) -> Score:
    """Give the score of a run from the counts of its tasks."""
    eligible = Counter({state: tasks for state, tasks in states.items() if state[0] >= k})
    tasks = eligible.total()
    reason = short_reason(k, tasks, states.total(), min_eligible_share=min_eligible_share)
    if reason is not None:
        return Score(tasks, tasks / states.total(), reason=reason)

    def of_draws(draws: int) -> Limited:
        def value(n: int, c: int) -> float:
            return all_pass(n, c, draws)

        scores = [(value(n, c), number) for (n, c), number in eligible.items()]
        if families is None:
            return limited(scores, confidence)
        mean = _mean(scores)
        found = related_states(families, k, value, mean)
        squares = (found.units - 1) * (found.variance or 0.0)
        return _limited(mean, squares, found.units, confidence)

    return Score(tasks, tasks / states.total(), of_draws(1), of_draws(k))


def limited(scores: list[tuple[float, int]], confidence: float) -> Limited:
    """Give the mean with the limits of Student's t over the scores and two more, 0 and 1."""
    mean = _mean(scores)
    squares = math.fsum(number * (score - mean) ** 2 for score, number in scores)
    return _limited(mean, squares, sum(number for _, number in scores), confidence)


def _mean(scores: list[tuple[float, int]]) -> float:
    total = sum(number for _, number in scores)
    return math.fsum(score * number for score, number in scores) / total


def _limited(mean: float, squares: float, units: float, confidence: float) -> Limited:
    middle, reach = padded(mean, squares, units, confidence)
    return Limited(mean, max(middle - reach, 0.0), min(middle + reach, 1.0))


def difference_of(
    first: Limited, second: Limited, shares: tuple[float, float]
) -> tuple[float, float, float]:
    """Give the difference with its limits; the tasks with n < k may score anything."""
    one, other = shares
    middle = one * first.mean - other * second.mean
    down = math.hypot(one * (first.mean - first.lower), other * (second.upper - second.mean))
    up = math.hypot(one * (first.upper - first.mean), other * (second.mean - second.lower))
    return first.mean - second.mean, middle - down - (1 - other), middle + up + (1 - one)


def compared_scores(seen: Score, held: Score | None, k: int, *, named: bool) -> dict[str, Any]:
    """Give what the table says of a run on a public suite and its counterpart, if there is one."""
    row: dict[str, Any] = {"public_tasks": seen.tasks, "private_tasks": held and held.tasks}
    for side, score in (("public", seen), ("private", held)):
        if score is not None and score.at_1 is not None and score.hat_k is not None:
            row |= {
                f"{side}_pass_at_1": score.at_1.mean,
                f"{side}_pass_hat_k": score.hat_k.mean,
                f"{side}_gap": score.at_1.mean - score.hat_k.mean,
            }
    figures = []
    if held is not None and not seen.reason and not held.reason:
        for measure in ("at_1", "hat_k"):
            both = (getattr(seen, measure), getattr(held, measure))
            figures.append(difference_of(*both, (seen.share, held.share)))
        row |= dict(zip(DIFFERENCES, chain.from_iterable(figures), strict=True))
    reason = _reason(seen, held, named=named)
    if reason is not None:
        verdict, meaning = "insufficient", f"Nothing can be said: {reason}."
    else:
        verdict, meaning = judged_suites(figures[0], figures[1], k)
    return row | {"verdict": verdict, "null_reason": reason, "meaning": meaning}


def _reason(seen: Score, held: Score | None, *, named: bool) -> str | None:
    if held is None:
        if not named:
            return "the log does not say which agent made the run"
        return "no run of the agent on the private suite"
    for side, score in (("public", seen), ("private", held)):
        if score.reason is not None:
            return f"{score.reason} of the {side} suite"
    for side, score in (("public", seen), ("private", held)):
        if score.tasks < _LEAST_TASKS:
            return f"only {score.tasks} tasks on the {side} suite, fewer than {_LEAST_TASKS}"
    return None


def judged_suites(
    at_1: tuple[float, float, float], hat_k: tuple[float, float, float], k: int
) -> tuple[str, str]:
    """Give the verdict and the sentence on differences, each with its two limits."""
    one, every = f"pass@1 is {_in_words(at_1)}", f"pass^{k}"
    both = one if k == 1 else f"{one} and {every} {_in_words(hat_k)}"
    if at_1[1] > 0 or hat_k[1] > 0:
        if k == 1 or (at_1[1] > 0 and hat_k[1] > 0):
            said = f"{both}. Its tasks may be known, or easier: evidence, not proof."
        elif at_1[1] > 0:
            said = (
                f"{one}, and {every} is not seen to be. Easier tasks would lift both: a sharper"
                " sign that some are known, but no proof."
            )
        else:
            said = (
                f"{every} is {_in_words(hat_k)}, and pass@1 is not seen to be. The agent repeats"
                " itself there as if the tasks were known: a sharper sign, but no proof."
            )
        return "higher_on_public", f"On the public suite {said}"
    if at_1[2] < 0 or hat_k[2] < 0:
        lower = one if at_1[2] < 0 else f"{every} is {_in_words(hat_k)}"
        return "lower_on_public", (
            f"On the public suite {lower}: no sign that its tasks are known, unless those of the"
            " private suite are easier."
        )
    return "no_difference_seen", (
        f"On the public suite {both}, which chance alone can explain. What is within these limits"
        " may still be there."
    )


def _in_words(figures: tuple[float, float, float]) -> str:
    difference, lower, upper = figures
    near, far = (-upper, -lower) if difference < 0 else (lower, upper)
    return (
        f"{'lower' if difference < 0 else 'higher'} by {decimals(abs(difference))}"
        f" ({decimals(near)} to {decimals(far)})"
    )

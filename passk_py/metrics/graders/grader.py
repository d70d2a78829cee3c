"""How often a grader errs, from counts of labels by run and grade."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from passk_py.stats.distributions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_LABELS: Final = 5
"""Fewer labels of graded passes, or of graded failures, say too little."""

POINTS: Final = ("estimate", "passes_lower", "passes_upper", "failures_lower", "failures_upper")
"""The estimate, and each of the two shares at each of its limits."""


class Stratum(NamedTuple):
    """The labels of a run that are used, and how much of it the grader passed."""

    passes: int
    true_passes: int
    failures: int
    false_failures: int
    graded: float
    attempts: int


class Rates(NamedTuple):
    """How a grader errs; None where no attempt truly passed, or failed."""

    sensitivity: float | None
    false_pass_rate: float | None
    is_told_apart: bool
    """Whether a graded pass is a true one more often than a graded failure is."""


@dataclass(frozen=True, slots=True)
class Grader:
    """What the labels of a suite say of its grader."""

    runs: int
    labelled_passes: int
    labelled_failures: int
    false_passes: int
    false_failures: int
    attempts: int
    """Counted attempts of the runs of which both kinds are labelled."""
    passes: float | None = None
    """The share of true passes among graded passes."""
    failures: float | None = None
    graded: float | None = None
    effective_passes: float | None = None
    effective_failures: float | None = None
    limits: dict[str, float] = field(default_factory=dict)
    """Of the two shares, by the names of :data:`POINTS`."""
    reason: str | None = None
    """Why there are no rates."""

    @property
    def true_share(self) -> float:
        """The share of attempts that truly passed."""
        passes, failures, graded = self._shares
        return passes * graded + failures * (1 - graded)

    @property
    def _shares(self) -> tuple[float, float, float]:
        assert self.passes is not None
        assert self.failures is not None
        assert self.graded is not None
        return self.passes, self.failures, self.graded

    def at(self, point: str) -> Rates:
        """Give the rates at a point, by Bayes' rule."""
        passes, failures, graded = self._shares
        if point.startswith("passes"):
            passes = self.limits[point]
        elif point.startswith("failures"):
            failures = self.limits[point]
        truly = passes * graded + failures * (1 - graded)
        falsely = (1 - passes) * graded + (1 - failures) * (1 - graded)
        return Rates(
            passes * graded / truly if truly else None,
            (1 - passes) * graded / falsely if falsely else None,
            passes > failures,
        )


def grader_of(strata: Sequence[Stratum], confidence: float) -> Grader:
    """Put the labels of runs together, with the weights of Mantel and Haenszel.

    In each run x true passes among m labelled passes, y among l labelled failures and a graded pass
    rate q have E[x l q] : E[y m (1 - q)] = s : (1 - s) whatever m and l are.
    """
    both = [one for one in strata if one.passes and one.failures]
    counts = (
        len(strata),
        sum(one.passes for one in both),
        sum(one.failures for one in both),
        sum(one.passes - one.true_passes for one in both),
        sum(one.false_failures for one in both),
        sum(one.attempts for one in both),
    )
    pass_weights, failure_weights = [], []
    for one in both:
        labels = one.passes + one.failures
        pass_weights.append(one.failures * one.graded / labels)
        failure_weights.append(one.passes * (1 - one.graded) / labels)
    passes = math.fsum(w * one.passes for w, one in zip(pass_weights, both, strict=True))
    failures = math.fsum(w * one.failures for w, one in zip(failure_weights, both, strict=True))
    known: dict[str, float] = {}
    if both:
        true = math.fsum(w * one.true_passes for w, one in zip(pass_weights, both, strict=True))
        false = math.fsum(
            w * one.false_failures for w, one in zip(failure_weights, both, strict=True)
        )
        square = math.fsum(w * w * one.passes for w, one in zip(pass_weights, both, strict=True))
        other = math.fsum(
            w * w * one.failures for w, one in zip(failure_weights, both, strict=True)
        )
        known = {
            "passes": true / passes,
            "failures": false / failures,
            "graded": passes / (passes + failures),
            "effective_passes": passes**2 / square,
            "effective_failures": failures**2 / other,
        }
    for labels, verb in ((counts[1], "passed"), (counts[2], "failed")):
        if labels < LEAST_LABELS:
            reason = (
                f"only {labels} labels of attempts that the grader {verb}, "
                f"fewer than {LEAST_LABELS}"
            )
            return Grader(*counts, **known, reason=reason)
    limits = {
        f"{name}_{side}": limit
        for name in ("passes", "failures")
        for side, limit in zip(
            ("lower", "upper"),
            share_limits(known[name], known[f"effective_{name}"], confidence),
            strict=True,
        )
    }
    return Grader(*counts, **known, limits=limits)


def share_limits(share: float, labels: float, confidence: float) -> tuple[float, float]:
    """Give the limits of a share of labels (Agresti and Coull 1998)."""
    square = normal_quantile(confidence) ** 2
    middle = (labels * share + square / 2) / (labels + square)
    reach = math.sqrt(square * middle * (1 - middle) / (labels + square))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)

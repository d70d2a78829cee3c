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


class Shares(NamedTuple):
    """The rates from the labels of all runs put together."""

    passes: float
    """The share of true passes among graded passes."""
    failures: float
    """The share of true passes among graded failures."""
    graded: float
    effective_passes: float
    """How many labels of graded passes with equal weights would say as much."""
    effective_failures: float

    @property
    def truly(self) -> float:
        """The share of attempts that truly passed."""
        return self.passes * self.graded + self.failures * (1 - self.graded)

    def rates(self) -> Rates:
        """Turn the shares round by Bayes' rule."""
        falsely = (1 - self.passes) * self.graded + (1 - self.failures) * (1 - self.graded)
        return Rates(
            self.passes * self.graded / self.truly if self.truly else None,
            (1 - self.passes) * self.graded / falsely if falsely else None,
            self.passes > self.failures,
        )


class Counts(NamedTuple):
    """How many labels there are."""

    runs: int
    labelled_passes: int
    labelled_failures: int
    false_passes: int
    false_failures: int
    attempts: int
    """Counted attempts of the runs of which both kinds are labelled."""


@dataclass(frozen=True, slots=True)
class Grader:
    """The grader of a suite, from its labels."""

    counts: Counts
    shares: Shares | None
    """None without a run of which both kinds are labelled."""
    limits: dict[str, float] = field(default_factory=dict)
    """The limits of the two shares, by the names of :data:`POINTS`."""
    at: dict[str, Rates] = field(default_factory=dict)
    """The rates at each of :data:`POINTS`; empty if there are too few labels."""
    reason: str | None = None
    """Why there are no rates."""


def grader_of(strata: Sequence[Stratum], confidence: float) -> Grader:
    """Put the labels of runs together, with the weights of Mantel and Haenszel.

    In each run x true passes among m labelled passes, y among l labelled failures and a graded pass
    rate q have E[x l q] : E[y m (1 - q)] = s : (1 - s) whatever m and l are.
    """
    both = [one for one in strata if one.passes and one.failures]
    counts = Counts(
        len(strata),
        sum(one.passes for one in both),
        sum(one.failures for one in both),
        sum(one.passes - one.true_passes for one in both),
        sum(one.false_failures for one in both),
        sum(one.attempts for one in both),
    )
    shares = _shares(both) if both else None
    for labels, verb in ((counts.labelled_passes, "passed"), (counts.labelled_failures, "failed")):
        if labels < LEAST_LABELS or shares is None:
            reason = f"only {labels} labels of attempts that the grader {verb}"
            return Grader(counts, shares, reason=f"{reason}, fewer than {LEAST_LABELS}")
    assert shares is not None  # noqa: S101 - or there would be too few labels
    limits = {}
    at = {"estimate": shares.rates()}
    for name, share, labels_of_it in (
        ("passes", shares.passes, shares.effective_passes),
        ("failures", shares.failures, shares.effective_failures),
    ):
        ends = share_limits(share, labels_of_it, confidence)
        for side, limit in zip(("lower", "upper"), ends, strict=True):
            limits[f"{name}_{side}"] = limit
            at[f"{name}_{side}"] = shares._replace(**{name: limit}).rates()
    return Grader(counts, shares, limits, at)


def _shares(runs: Sequence[Stratum]) -> Shares:
    of_pass = [one.failures * one.graded / (one.passes + one.failures) for one in runs]
    of_failure = [one.passes * (1 - one.graded) / (one.passes + one.failures) for one in runs]
    passes = math.fsum(w * one.passes for w, one in zip(of_pass, runs, strict=True))
    failures = math.fsum(w * one.failures for w, one in zip(of_failure, runs, strict=True))
    true_passes = math.fsum(w * one.true_passes for w, one in zip(of_pass, runs, strict=True))
    missed = math.fsum(w * one.false_failures for w, one in zip(of_failure, runs, strict=True))
    return Shares(
        true_passes / passes,
        missed / failures,
        passes / (passes + failures),
        passes**2 / math.fsum(w * w * one.passes for w, one in zip(of_pass, runs, strict=True)),
        failures**2
        / math.fsum(w * w * one.failures for w, one in zip(of_failure, runs, strict=True)),
    )


def share_limits(share: float, labels: float, confidence: float) -> tuple[float, float]:
    """Give the limits of a share of labels (Agresti and Coull 1998)."""
    square = normal_quantile(confidence) ** 2
    middle = (labels * share + square / 2) / (labels + square)
    reach = math.sqrt(square * middle * (1 - middle) / (labels + square))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)

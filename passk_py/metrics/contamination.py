"""A public suite beside a private one of the same skill: a sign of leaked tasks.

The definitions and the defaults are those of the SQL table ``passk_contamination``.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.common.words import decimals
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.run_order import in_order
from passk_py.metrics.states import all_pass, padded, short_reason, states_of_runs
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.metrics.states import States

__all__ = ["SuiteRun", "compared_suites", "contamination", "judged_suites"]

_LEAST_TASKS: Final = 10
"""With fewer tasks on a side there is no verdict."""
_IDENTITY: Final = ("agent", "agent_version", "model")

_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(
        (
            "public_suite",
            "private_suite",
            "public_run_id",
            "private_run_id",
            "private_source",
            *_IDENTITY,
        ),
        pl.String,
    ),
    **dict.fromkeys(("k", "public_tasks", "private_tasks"), pl.Int64),
    **dict.fromkeys(
        (
            "public_pass_at_1",
            "private_pass_at_1",
            "public_pass_hat_k",
            "private_pass_hat_k",
            "public_gap",
            "private_gap",
            *(
                f"{measure}_difference{end}"
                for measure in ("pass_at_1", "pass_hat_k")
                for end in ("", "_lower", "_upper")
            ),
        ),
        pl.Float64,
    ),
    **dict.fromkeys(("verdict", "null_reason", "meaning"), pl.String),
}


class SuiteRun(NamedTuple):
    """A run on a suite.

    Parameters
    ----------
    told
        ``run_id``, ``suite``, ``agent``, ``agent_version``, ``model``, ``started_at`` and
        ``loaded_at``.
    states
        The counts of its tasks.
    """

    told: Mapping[str, Any]
    states: States

    @property
    def run_id(self) -> str:
        """Its name."""
        return str(self.told["run_id"])

    @property
    def identity(self) -> tuple[str | None, ...]:
        """Whose run it is."""
        return tuple(self.told[name] for name in _IDENTITY)


class _Limited(NamedTuple):
    """A mean over tasks with its limits."""

    mean: float
    lower: float
    upper: float


class _Score(NamedTuple):
    """pass@1 and pass^k of a run on a suite, or why there are none."""

    tasks: int
    share: float
    at_1: _Limited | None = None
    hat_k: _Limited | None = None
    reason: str | None = None


def contamination(
    attempts: pl.DataFrame | pl.LazyFrame,
    suites: Iterable[Mapping[str, str]],
    *,
    ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Compare each run on a public suite with one of the same agent on a private suite.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Whose run it is, is
        read from ``agent``, ``agent_version`` and ``model``; which is the latest, from
        ``started_at`` where all have it, else from ``loaded_at``.
    suites
        Pairs of a ``public`` suite and the ``private`` one that tests the same skill.
    ks
        The k of pass^k, whole numbers from 1.
    min_eligible_share
        As in :func:`~passk_py.metrics.frames.suite_metrics`.
    confidence
        Level of the intervals, between 0 and 1.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per pair of suites, run on the public one, and k, with the columns of the table
        ``passk_contamination``: pass@1, pass^k and their gap on both suites, the differences with
        limits, ``verdict`` (``higher_on_public``, ``lower_on_public``, ``no_difference_seen`` or
        ``insufficient``), ``null_reason`` and ``meaning``.

    Raises
    ------
    ArgumentError
        If an option can't be right.

    Notes
    -----
    The suites have different tasks, so the means are independent, and their limits l and u, those
    of :func:`~passk_py.stats.estimators.mean_lower`, combine (Newcombe 1998; Zou and Donner 2008):

    .. math:: L = m_1 - m_2 - \sqrt{(m_1 - l_1)^2 + (u_2 - m_2)^2}

    A public suite may just be easier: what is seen is evidence, and no proof.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame(
    ...     [
    ...         {
    ...             "run_id": "r", "suite": suite, "task_id": str(task), "attempt": n,
    ...             "passed": task < easy,
    ...         }
    ...         for suite, easy in (("open", 36), ("held-out", 20))
    ...         for task in range(40)
    ...         for n in (1, 2)
    ...     ]
    ... )
    >>> found = contamination(log, [{"public": "open", "private": "held-out"}], ks=[2])
    >>> found.select("verdict", pl.col("pass_hat_k_difference_lower").round(3)).rows()
    [('higher_on_public', 0.201)]
    """
    pairs = _checked(suites)
    chosen = checked_ks("contamination", ks)
    share = checked_share("contamination", min_eligible_share)
    checked_confidence("contamination", confidence)
    runs = _runs(attempts.lazy(), threshold)
    return compared_suites(runs, pairs, chosen, confidence=confidence, min_eligible_share=share)


def compared_suites(
    runs: Iterable[SuiteRun],
    pairs: Iterable[tuple[str, str]],
    ks: Iterable[int],
    *,
    confidence: float,
    min_eligible_share: float,
) -> pl.DataFrame:
    """Compare suites from the counts of their runs: the rows of :func:`contamination`.

    Parameters
    ----------
    runs
        The runs of all suites.
    pairs
        A public and a private suite each.
    ks
        The k of pass^k.
    confidence
        Level of the intervals.
    min_eligible_share
        The share of a suite's tasks that must have n >= k.

    Returns
    -------
    polars.DataFrame
        The rows, by pair of suites, run and k.
    """
    by_suite: dict[str, list[SuiteRun]] = {}
    for run in runs:
        by_suite.setdefault(run.told["suite"], []).append(run)
    chosen = list(ks)
    rows = []
    for public_suite, private_suite in pairs:
        for run in by_suite.get(public_suite, []):
            other, source = _counterpart(run, by_suite.get(private_suite, []))
            start = {
                "public_suite": public_suite,
                "private_suite": private_suite,
                "public_run_id": run.run_id,
                "private_run_id": other and other.run_id,
                "private_source": source,
                **dict(zip(_IDENTITY, run.identity, strict=True)),
            }
            for k in chosen:
                seen = _score(run.states, k, confidence, min_eligible_share)
                held = (
                    None
                    if other is None
                    else _score(other.states, k, confidence, min_eligible_share)
                )
                named = any(name is not None for name in run.identity)
                rows.append({**start, "k": k, **_compared(seen, held, k, named=named)})
    return pl.DataFrame(rows, schema=_TYPES, orient="row")


def _checked(suites: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    pairs = []
    for pair in suites:
        known = not isinstance(pair, str) and set(pair) == {"public", "private"}
        if not known or pair["public"] == pair["private"]:
            raise ArgumentError(
                "contamination: suites must be mappings of 'public' and 'private' to two suites;"
                f" got {pair!r}"
            )
        pairs.append((pair["public"], pair["private"]))
    return list(dict.fromkeys(pairs))


# ---------------------------------------------------------------------------------------------
# finding the runs


def _runs(log: pl.LazyFrame, threshold: float) -> list[SuiteRun]:
    """Give the runs of a log, by run_id."""
    columns = log.collect_schema().names()
    suite = pl.col("suite").fill_null("default") if "suite" in columns else pl.lit("default")
    known = {
        name: pl.col(name) if name in columns else pl.lit(None)
        for name in (*_IDENTITY, "started_at", "loaded_at")
    }
    marked = log.select("run_id", suite.alias("suite"), "attempt", **known)
    # The first attempts tell whose run it is, where there are any.
    first = (pl.col("attempt") == 1) | ~(pl.col("attempt") == 1).any()
    about = {
        (row["run_id"], row["suite"]): row
        for row in marked.group_by("run_id", "suite")
        .agg(
            *(pl.col(name).filter(first).min() for name in _IDENTITY),
            pl.col("started_at").min(),
            pl.col("loaded_at").max(),
        )
        .collect()
        .to_dicts()
    }
    return [SuiteRun(about[run, of], states) for run, of, states in states_of_runs(log, threshold)]


def _counterpart(run: SuiteRun, others: list[SuiteRun]) -> tuple[SuiteRun | None, str | None]:
    """Find the run on the private suite: the same, or the latest of the same agent."""
    for other in others:
        if other.run_id == run.run_id:
            return other, "same_run"
    if not any(name is not None for name in run.identity):
        return None, None
    same = [other for other in others if other.identity == run.identity]
    if not same:
        return None, None
    latest = in_order(other.told for other in same)[-1]["run_id"]
    return next(other for other in same if other.run_id == latest), "same_agent"


# ---------------------------------------------------------------------------------------------
# the numbers


def _score(states: States, k: int, confidence: float, min_eligible_share: float) -> _Score:
    eligible = Counter({state: tasks for state, tasks in states.items() if state[0] >= k})
    tasks = eligible.total()
    reason = short_reason(k, tasks, states.total(), min_eligible_share=min_eligible_share)
    if reason is not None:
        return _Score(tasks, tasks / states.total(), reason=reason)
    at_1, hat_k = (
        _limited([(all_pass(n, c, of), number) for (n, c), number in eligible.items()], confidence)
        for of in (1, k)
    )
    return _Score(tasks, tasks / states.total(), at_1, hat_k)


def _limited(scores: list[tuple[float, int]], confidence: float) -> _Limited:
    """Give the mean with the limits of Student's t over the scores and two more, 0 and 1."""
    tasks = sum(number for _, number in scores)
    mean = math.fsum(score * number for score, number in scores) / tasks
    squares = math.fsum(number * (score - mean) ** 2 for score, number in scores)
    middle, reach = padded(mean, squares, tasks, confidence)
    return _Limited(mean, max(middle - reach, 0.0), min(middle + reach, 1.0))


def _difference(
    first: _Limited, second: _Limited, shares: tuple[float, float]
) -> tuple[float, float, float]:
    """Give the difference with its limits; the tasks with n < k may score anything."""
    one, other = shares
    middle = one * first.mean - other * second.mean
    down = math.hypot(one * (first.mean - first.lower), other * (second.upper - second.mean))
    up = math.hypot(one * (first.upper - first.mean), other * (second.mean - second.lower))
    return first.mean - second.mean, middle - down - (1 - other), middle + up + (1 - one)


def _compared(seen: _Score, held: _Score | None, k: int, *, named: bool) -> dict[str, Any]:
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
        for name, measure in (("pass_at_1", "at_1"), ("pass_hat_k", "hat_k")):
            found = _difference(
                getattr(seen, measure), getattr(held, measure), (seen.share, held.share)
            )
            figures.append(found)
            ends = ("", "_lower", "_upper")
            row |= {f"{name}_difference{end}": one for end, one in zip(ends, found, strict=True)}
    reason = _reason(seen, held, named=named)
    if reason is not None:
        verdict, meaning = "insufficient", f"Nothing can be said: {reason}."
    else:
        verdict, meaning = judged_suites(figures[0], figures[1], k)
    return row | {"verdict": verdict, "null_reason": reason, "meaning": meaning}


def _reason(seen: _Score, held: _Score | None, *, named: bool) -> str | None:
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


def _in_words(figures: tuple[float, float, float]) -> str:
    difference, lower, upper = figures
    near, far = (-upper, -lower) if difference < 0 else (lower, upper)
    return (
        f"{'lower' if difference < 0 else 'higher'} by {decimals(abs(difference))}"
        f" ({decimals(near)} to {decimals(far)})"
    )


def judged_suites(
    at_1: tuple[float, float, float], hat_k: tuple[float, float, float], k: int
) -> tuple[str, str]:
    """Give the verdict on two suites, and the sentence.

    Parameters
    ----------
    at_1, hat_k
        The difference of pass@1, and of pass^k, with its lower and its upper limit.
    k
        The k of pass^k.

    Returns
    -------
    tuple of str
        ``verdict`` and ``meaning``.
    """
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

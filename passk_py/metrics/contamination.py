"""A public suite beside a private one of the same skill: a sign of leaked tasks.

The definitions and the defaults are those of the SQL table ``passk_contamination``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from passk_py.metrics.any_frame import any_frame
from passk_py.metrics.frames import DEFAULT_KS
from passk_py.metrics.frames.columns import IDENTITY
from passk_py.metrics.logs import suite_of
from passk_py.metrics.run_order import in_order
from passk_py.metrics.states import states_of_runs
from passk_py.metrics.suite_differences import DIFFERENCES, compared_scores, score_of
from passk_py.stats.estimators.arguments import (
    ArgumentError,
    checked_confidence,
    checked_ks,
    checked_share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.metrics.states import Families, States
    from passk_py.metrics.suite_differences import Score

_TYPES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("public_suite", "private_suite"), pl.String),
    **dict.fromkeys(("public_run_id", "private_run_id", "private_source", *IDENTITY), pl.String),
    **dict.fromkeys(("k", "public_tasks", "private_tasks"), pl.Int64),
    **dict.fromkeys(("public_pass_at_1", "private_pass_at_1"), pl.Float64),
    **dict.fromkeys(("public_pass_hat_k", "private_pass_hat_k"), pl.Float64),
    **dict.fromkeys(("public_gap", "private_gap", *DIFFERENCES), pl.Float64),
    **dict.fromkeys(("verdict", "null_reason", "meaning"), pl.String),
}


class SuiteRun(NamedTuple):
    """A run on a suite."""

    told: Mapping[str, Any]
    """The row of ``passk_runs``: its names, its agent and its times."""
    states: States
    families: Families | None = None
    """The families of its tasks; None where no two tasks are related."""

    @property
    def run_id(self) -> str:
        """Its name."""
        return str(self.told["run_id"])

    @property
    def identity(self) -> tuple[str | None, ...]:
        """The agent, its version and its model."""
        return tuple(self.told[name] for name in IDENTITY)


@any_frame
def contamination(
    attempts: pl.DataFrame | pl.LazyFrame,
    suites: Iterable[Mapping[str, str]],
    *,
    ks: Iterable[int] = DEFAULT_KS,
    min_eligible_share: float = 0.95,
    cluster: str | None = None,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    r"""Compare each run on a public suite with one of the same agent on a private suite.

    Parameters
    ----------
    attempts
        A log of attempts, eager or lazy; see :mod:`passk_py.metrics.frames`. Runs with the
        same ``agent``, ``agent_version`` and ``model`` belong together. The latest of them is the
        one by ``started_at`` if all have it, otherwise by ``loaded_at``.
    suites
        Pairs of a ``public`` suite and the ``private`` one that tests the same skill.
    ks
        The k of pass^k, whole numbers from 1.
    min_eligible_share, cluster
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
    runs = _runs(attempts.lazy(), threshold, cluster)
    return compared_suites(runs, pairs, chosen, confidence=confidence, min_eligible_share=share)


def compared_suites(
    runs: Iterable[SuiteRun],
    pairs: Iterable[tuple[str, str]],
    ks: Iterable[int],
    *,
    confidence: float,
    min_eligible_share: float,
) -> pl.DataFrame:
    """Compare suites from the counts of their runs: the rows of :func:`contamination`."""
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
                **dict(zip(IDENTITY, run.identity, strict=True)),
            }
            for k in chosen:
                seen = _score(run, k, confidence, min_eligible_share)
                held = other and _score(other, k, confidence, min_eligible_share)
                named = any(name is not None for name in run.identity)
                rows.append({**start, "k": k, **compared_scores(seen, held, k, named=named)})
    return pl.DataFrame(rows, schema=_TYPES, orient="row")


def _score(run: SuiteRun, k: int, confidence: float, min_eligible_share: float) -> Score:
    return score_of(run.states, k, confidence, min_eligible_share, run.families)


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


def _runs(log: pl.LazyFrame, threshold: float, cluster: str | None) -> list[SuiteRun]:
    """Give the runs of a log, by run_id."""
    columns = log.collect_schema().names()
    known = {
        name: pl.col(name) if name in columns else pl.lit(None)
        for name in (*IDENTITY, "started_at", "loaded_at")
    }
    marked = log.select("run_id", suite_of(columns), "attempt", **known)
    # The first attempts tell whose run it is, where there are any.
    first = (pl.col("attempt") == 1) | ~(pl.col("attempt") == 1).any()
    about = {
        (row["run_id"], row["suite"]): row
        for row in marked.group_by("run_id", "suite")
        .agg(
            *(pl.col(name).filter(first).min() for name in IDENTITY),
            pl.col("started_at").min(),
            pl.col("loaded_at").max(),
        )
        .collect()
        .to_dicts()
    }
    return [
        SuiteRun(about[run, of], states, families)
        for run, of, states, families in states_of_runs(log, threshold, cluster)
    ]


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

"""Can a log be trusted? The diagnostics of ``passk_diagnostics``, from attempts in polars.

They ask whether attempts are what the metrics take them for: independent tries of one agent, as
many as were meant, judged the same way. Tests are exact in their moments given how often each task
passed, so that they do not depend on how hard tasks are: under the hypothesis, every order of the
verdicts of a task is equally likely.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from passk_py.diagnostic_words import WORDS
from passk_py.distributions import chi_square_tail, two_sided_p
from passk_py.errors import PasskError
from passk_py.estimators import ArgumentError
from passk_py.estimators.arguments import checked_confidence
from passk_py.logs import read_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

__all__ = ["diagnose"]

_LEAST: Final = 10
"""Tasks that a test needs."""
_MOST_READ: Final = 20_000
"""Counted attempts of a run whose seeds, outputs and times are looked at, all of a task or none."""
_LEAST_READ: Final = 50
"""Tasks of which they are, however many attempts they have."""
_NUMBERED: Final = 126
"""Attempt numbers up to here tell passes over the suite."""
_EXTRA: Final[dict[str, pl.DataType]] = {
    "seed": pl.Int64(),
    "output_hash": pl.String(),
    "started_at": pl.Datetime("us"),
    "loaded_at": pl.Datetime("us"),
}
_SCHEMA: Final[dict[str, pl.DataType]] = {
    "run_id": pl.String(),
    "suite": pl.String(),
    "diagnostic": pl.String(),
    "statistic": pl.Float64(),
    "p": pl.Float64(),
    "tasks": pl.Int64(),
    "verdict": pl.String(),
    "finding": pl.String(),
    "meaning": pl.String(),
    "advice": pl.String(),
    "loaded_at": pl.Datetime("us"),
}


@dataclass(frozen=True, slots=True)
class _Task:
    """The counted attempts of a task, in order."""

    name: str
    numbers: tuple[int, ...]
    passed: tuple[bool, ...]
    c: int
    read: bool
    """Whether seeds, outputs and times are known."""
    seeds: tuple[int | None, ...]
    outputs: tuple[str | None, ...]
    times: tuple[datetime | None, ...]

    @property
    def n(self) -> int:
        return len(self.passed)

    @property
    def informative(self) -> bool:
        return 0 < self.c < self.n

    @property
    def solid(self) -> bool:
        """Whether no number is left out."""
        return self.numbers[-1] - self.numbers[0] == self.n - 1

    @property
    def mask(self) -> int:
        return sum(1 << (number - 1) for number in self.numbers)


@dataclass(slots=True)
class _Sum:
    """A sum over tasks of what is seen less what chance gives, and its variance."""

    tasks: int = 0
    terms: list[float] = field(default_factory=list)
    variances: list[float] = field(default_factory=list)

    def add(self, excess: float, variance: float) -> None:
        self.tasks += 1
        self.terms.append(excess)
        self.variances.append(variance)

    @property
    def excess(self) -> float:
        return math.fsum(self.terms)

    @property
    def z(self) -> float | None:
        variance = math.fsum(self.variances)
        return self.excess / math.sqrt(variance) if variance > 0 else None


@dataclass(frozen=True, slots=True)
class _Result:
    """What one diagnostic says of one run."""

    statistic: float | None
    p: float | None
    tasks: int
    verdict: str
    finding: str


def diagnose(
    attempts: pl.DataFrame | pl.LazyFrame,
    *,
    k: int = 4,
    ordered: bool = True,
    confidence: float = 0.95,
    threshold: float = 1.0,
) -> pl.DataFrame:
    """Say whether a log can be trusted: the table ``passk_diagnostics``, from attempts.

    Parameters
    ----------
    attempts
        A frame whose rows are attempts; the columns ``seed``, ``output_hash`` and ``started_at``
        are used where they are there.
    k
        How many times in a row the agent must succeed once deployed.
    ordered
        Whether to ask what depends on the order of the attempts. If not, it is ``not_applicable``.
    confidence
        A test warns where p is below 1 less this.
    threshold
        An attempt that has only a ``score`` passes from here on.

    Returns
    -------
    polars.DataFrame
        One row per run_id, suite and diagnostic: ``statistic``, ``p`` (null where there is no
        test), ``tasks`` that informed it, ``verdict`` (``ok``, ``warning``, ``insufficient`` or
        ``not_applicable``), ``finding``, ``meaning``, ``advice`` and the latest ``loaded_at``.
        Tasks with an attempt number twice, or without one, are left out.

    Raises
    ------
    ArgumentError
        If k is no whole number from 1, or confidence is not between 0 and 1.
    PasskError
        If a column is missing or of the wrong type, or an outcome is unknown.

    Notes
    -----
    Given that c of the n attempts of a task passed, the number of switches of its verdict has the
    mean u / n and the variance u (u - n) / (n^2 (n - 1)) with u = 2 c (n - c), and the sum of the
    places of its passes c (n + 1) / 2 and c (n - c) (n + 1) / 12. What all attempts of a task share
    looks like another chance of passing, and nothing here sees it.

    Examples
    --------
    >>> import polars as pl
    >>> tasks = [f"t{i}" for i in range(12) for _ in range(8)]
    >>> sticky = [False] * 4 + [True] * 4
    >>> log = pl.DataFrame(
    ...     {
    ...         "run_id": "r",
    ...         "task_id": tasks,
    ...         "attempt": [1, 2, 3, 4, 5, 6, 7, 8] * 12,
    ...         "passed": sticky * 12,
    ...     }
    ... )
    >>> diagnose(log).filter(pl.col("verdict") == "warning")["diagnostic"].to_list()[:3]
    ['serial_dependence', 'drift', 'shared_run_effect']
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ArgumentError(f"diagnose: k must be a whole number from 1; got {k!r}")
    level = checked_confidence("diagnose", confidence)
    rows: list[dict[str, Any]] = []
    for run_id, suite, tasks, loaded_at in _runs(attempts, threshold):
        run = _Run(tasks, k, round(1 - level, 6))
        for diagnostic, words in WORDS.items():
            said = _NO_ORDER
            if ordered or diagnostic not in _BY_ORDER:
                said = _DIAGNOSTICS[diagnostic](run)
            meaning, advice = {
                "warning": (words.effect, words.advice),
                "ok": (words.fine, None),
            }.get(
                said.verdict,
                (f"Not known from this log. If it were so: {words.effect}", words.need),
            )
            rows.append(
                {
                    "run_id": run_id,
                    "suite": suite,
                    "diagnostic": diagnostic,
                    "statistic": said.statistic,
                    "p": said.p,
                    "tasks": said.tasks,
                    "verdict": said.verdict,
                    "finding": said.finding,
                    "meaning": meaning,
                    "advice": advice,
                    "loaded_at": loaded_at,
                }
            )
    return pl.DataFrame(rows, schema=_SCHEMA)


def _runs(
    attempts: pl.DataFrame | pl.LazyFrame, threshold: float
) -> Iterator[tuple[str, str, list[_Task], Any]]:
    """Give run after run its tasks, their counted attempts in order, and its latest loaded_at."""
    frame = attempts.collect() if isinstance(attempts, pl.LazyFrame) else attempts
    log = read_log(frame, threshold).collect()
    extra: dict[str, pl.Expr] = {}
    for name, kind in _EXTRA.items():
        if name not in frame.columns:
            extra[name] = pl.lit(None, kind).alias(name)
        elif name.endswith("_at") and not frame.schema[name].is_temporal():
            if frame.schema[name] != pl.Null:
                raise PasskError(
                    f"the column {name} is of type {frame.schema[name]}",
                    hint="It must be a time.",
                )
            extra[name] = pl.lit(None, kind).alias(name)
        else:
            extra[name] = pl.col(name).cast(kind)
    log = log.with_columns(frame.with_columns(**extra).select(*extra).get_columns())
    key = ["run_id", "suite", "task_id"]
    counted = pl.col("passed").is_not_null()
    order = pl.col("attempt").filter(counted)
    tasks = (
        log.sort(*key, "attempt")
        .group_by(key, maintain_order=True)
        .agg(
            numbers=order,
            latest=pl.col("loaded_at").max(),
            broken=pl.col("attempt").is_duplicated().any() | pl.col("attempt").is_null().any(),
            **{
                name: pl.col(name).filter(counted)
                for name in ("passed", "seed", "output_hash", "started_at")
            },
        )
        .filter(~pl.col("broken") & pl.all_horizontal(pl.col(name).is_not_null() for name in key))
    )
    for run in tasks.partition_by("run_id", "suite", maintain_order=True):
        read = _read_tasks(run["task_id"].to_list(), run["passed"].list.len().to_list())
        # Of the other tasks nothing more is made, which would be most of a large run's memory.
        seen = {
            task: (tuple(seeds), tuple(outputs), tuple(times))
            for task, seeds, outputs, times in run.filter(pl.col("task_id").is_in(read))
            .select("task_id", "seed", "output_hash", "started_at")
            .iter_rows()
        }
        made = [
            _Task(
                task,
                tuple(numbers),
                tuple(passed),
                sum(passed),
                task in seen,
                *seen.get(task, ((), (), ())),
            )
            for task, numbers, passed in run.select("task_id", "numbers", "passed").iter_rows()
        ]
        yield run["run_id"][0], run["suite"][0], made, run["latest"].max()


def _read_tasks(tasks: list[str], attempts: list[int]) -> list[str]:
    """Choose the tasks that are looked at: those whose digests come first."""
    if sum(attempts) <= _MOST_READ:
        return tasks
    ranked = sorted(
        zip(tasks, attempts, strict=True),
        key=lambda task: (hashlib.md5(task[0].encode()).hexdigest(), task[0]),  # noqa: S324
    )
    so_far = accumulate(n for _, n in ranked)
    return [
        task
        for place, ((task, _), total) in enumerate(zip(ranked, so_far, strict=True))
        if total <= _MOST_READ or place < _LEAST_READ
    ]


# ---------------------------------------------------------------------------------------------
# numbers


def _pass_hat(n: int, c: int, k: int) -> float:
    return math.comb(c, k) / math.comb(n, k)


@lru_cache(maxsize=4096)
def _window_variance(n: int, c: int, k: int) -> float:
    """Give the variance, over all orders, of the share of windows of k that all pass."""
    windows = n - k + 1
    pairs = sum(
        (windows - abs(distance)) * Fraction(math.comb(c, together), math.comb(n, together))
        for distance in range(-windows + 1, windows)
        if (together := min(k + abs(distance), 2 * k)) <= n
    )
    return float(pairs / windows**2 - Fraction(math.comb(c, k), math.comb(n, k)) ** 2)


@lru_cache(maxsize=4096)
def _session_moments(first: int, n: int, c: int) -> tuple[float, float]:
    """Give mean and variance of the squared distance of a hypergeometric variable to its mean."""
    mean = first * c / n
    ways = math.comb(n, first)
    second = fourth = 0.0
    for hits in range(max(0, first + c - n), min(first, c) + 1):
        chance = math.comb(c, hits) * math.comb(n - c, first - hits) / ways
        second += chance * (hits - mean) ** 2
        fourth += chance * (hits - mean) ** 4
    variance = fourth - second**2
    return second, variance if variance > 1e-12 * fourth else 0.0


# ---------------------------------------------------------------------------------------------
# words


def _rounded(value: float, digits: int = 3) -> str:
    """Round half away from zero, as SQL does."""
    scale = 10**digits
    return repr(math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value))


def _too_few(tasks: int) -> str:
    return f"{tasks} tasks inform it, and {_LEAST} are needed."


class _Run:
    """One run, with what several diagnostics need of it."""

    def __init__(self, tasks: Sequence[_Task], k: int, alpha: float) -> None:
        self.tasks = tasks
        self.k = k
        self.alpha = alpha
        self.informative = [task for task in tasks if task.informative]
        self.eligible = [task for task in tasks if task.n >= k]
        self.read = [task for task in tasks if task.read]

    @property
    def some_read(self) -> str:
        """Say that not all tasks were looked at, where they were not."""
        if len(self.read) == len(self.tasks):
            return ""
        return f" Read of {len(self.read)} of {len(self.tasks)} tasks."

    def verdict(self, p: float | None, tasks: int) -> str:
        if tasks < _LEAST or p is None:
            return "insufficient"
        return "warning" if p < self.alpha else "ok"

    def tested(
        self, statistic: float | None, found: _Sum, finding: Callable[[float], str]
    ) -> _Result:
        """Give the result of a test whose z is that of a sum over tasks."""
        z = found.z
        p = None if z is None else two_sided_p(z)
        enough = found.tasks >= _LEAST and z is not None
        return _Result(
            statistic,
            p,
            found.tasks,
            self.verdict(p, found.tasks),
            finding(z) if enough and z is not None else _too_few(found.tasks),
        )


# ---------------------------------------------------------------------------------------------
# the diagnostics


def _serial_dependence(run: _Run) -> _Result:
    found, switches, expected = _Sum(), 0, []
    for task in run.informative:
        n, u = task.n, 2 * task.c * (task.n - task.c)
        variance = u * (u - n) / (n * n * (n - 1))
        if variance > 0:
            seen = sum(a != b for a, b in zip(task.passed, task.passed[1:], strict=False))
            switches += seen
            expected.append(u / n)
            found.add(seen - u / n, variance)
    return run.tested(
        found.z,
        found,
        lambda z: (
            f"The verdict changes {switches} times within {found.tasks} tasks, where chance gives "
            f"{_rounded(math.fsum(expected), 1)} (z = {_rounded(z, 2)})."
        ),
    )


def _drift(run: _Run) -> _Result:
    found, passes = _Sum(), 0
    for task in run.informative:
        n, c = task.n, task.c
        places = sum(place for place, passed in enumerate(task.passed, 1) if passed)
        passes += c
        found.add(places - c * (n + 1) / 2, c * (n - c) * (n + 1) / 12)
    shift = found.excess / passes if passes else 0.0
    return run.tested(
        found.z,
        found,
        lambda z: (
            f"Passes come {_rounded(abs(shift), 2)} places {'earlier' if shift < 0 else 'later'} "
            f"than chance puts them, over {found.tasks} tasks (z = {_rounded(z, 2)})."
        ),
    )


def _shared_run_effect(run: _Run) -> _Result:
    sets: dict[int, list[_Task]] = defaultdict(list)
    for task in run.informative:
        if task.numbers[-1] <= _NUMBERED:
            sets[task.mask].append(task)
    _, tasks = (
        min(((-len(one), -one[0].n, mask), one) for mask, one in sets.items())
        if sets
        else (None, [])
    )
    q = p = phi = None
    n = tasks[0].n if tasks else 0
    if tasks:
        by_number = Counter(
            number
            for task in tasks
            for number, passed in zip(task.numbers, task.passed, strict=True)
            if passed
        )
        passes = sum(by_number.values())
        q = (
            (n - 1)
            * (n * sum(count**2 for count in by_number.values()) - passes**2)
            / (n * passes - sum(task.c**2 for task in tasks))
        )
        p, phi = chi_square_tail(q, n - 1), q / (n - 1)
    verdict = run.verdict(p, len(tasks))
    if len(tasks) >= _LEAST and q is not None and phi is not None:
        finding = (
            f"From pass to pass over the suite, {n} of them, the passes of {len(tasks)} tasks vary "
            f"{_rounded(phi, 2)} times as much as chance lets them (Q = {_rounded(q, 1)})."
        )
    elif len(run.informative) >= _LEAST:
        verdict = "not_applicable"
        finding = (
            "The counted attempts of the tasks have different numbers: the largest group of "
            f"informative tasks that share them has {len(tasks)}, and {_LEAST} are needed."
        )
    else:
        finding = _too_few(len(tasks))
    return _Result(q, p, len(tasks), verdict, finding)


def _batch_effect(run: _Run) -> _Result:
    moments = sorted(time for task in run.read for time in task.times if time is not None)
    if not moments:
        return _unknown(run, "The log does not say when attempts started.")
    clock = (moments[-1] - moments[0]).total_seconds()
    # A pause is what lies between two of a hundred bins of the run's time.
    pauses = [
        ((later - earlier).total_seconds(), later)
        for earlier, later in itertools.pairwise(moments)
        if later > earlier and 100 * (later - earlier) >= moments[-1] - moments[0]
    ]
    if not pauses:
        return _unknown(
            run, "The run was made in one go: no pause is as long as a hundredth of its time."
        )
    pause = max(length for length, _ in pauses)
    second = min(start for length, start in pauses if length == pause)
    found, squares, variances = _Sum(), [], []
    split = 0
    for task in run.read:
        known = [
            (time < second, passed)
            for time, passed in zip(task.times, task.passed, strict=True)
            if time is not None
        ]
        n, c = len(known), sum(passed for _, passed in known)
        first = sum(early for early, _ in known)
        if not (0 < first < n and 0 < c < n):
            continue
        variance, of_square = _session_moments(first, n, c)
        if of_square > 0:
            split += 1
            squared = (sum(early and passed for early, passed in known) - first * c / n) ** 2
            squares.append(squared)
            variances.append(variance)
            found.add(squared - variance, of_square)
    if not split:
        return _unknown(
            run,
            f"The longest pause, of {_rounded(pause / 3600)} hours, splits no task that both "
            "passes and fails.",
        )
    ratio = math.fsum(squares) / math.fsum(variances)
    said = run.tested(
        found.z,
        found,
        lambda z: (
            f"The longest pause, {_rounded(pause / 3600)} of {_rounded(clock / 3600)} hours, "
            f"splits {found.tasks} tasks, whose two sessions differ {_rounded(ratio, 2)} times as "
            "much as "
            f"chance lets them (z = {_rounded(z, 2)})."
        ),
    )
    return _Result(said.statistic, said.p, said.tasks, said.verdict, said.finding + run.some_read)


def _unknown(run: _Run, finding: str) -> _Result:
    return _Result(None, None, 0, "not_applicable", finding + run.some_read)


def _values(tasks: Iterable[_Task], name: str) -> list[list[tuple[Any, bool]]]:
    """Give the known values of tasks that have at least two, with the verdicts."""
    found = []
    for task in tasks:
        values = zip(getattr(task, name), task.passed, strict=True)
        known = [(value, passed) for value, passed in values if value is not None]
        if len(known) > 1:
            found.append(known)
    return found


def _duplicate_seeds(run: _Run) -> _Result:
    tasks = _values(run.read, "seeds")
    if not tasks:
        return _unknown(run, "No task has two attempts with a seed.")
    repeats = [len(task) - len({seed for seed, _ in task}) for task in tasks]
    attempts = sum(map(len, tasks))
    return _Result(
        sum(repeats) / attempts,
        None,
        len(tasks),
        "warning" if any(repeats) else "ok",
        f"{sum(repeats)} of {attempts} attempts repeat a seed of their task, in "
        f"{sum(map(bool, repeats))} of {len(tasks)} tasks.{run.some_read}",
    )


def _duplicate_outputs(run: _Run) -> _Result:
    tasks = _values(run.read, "outputs")
    if not tasks:
        return _unknown(run, "No task has two attempts with a digest of their output.")
    distinct = [len({output for output, _ in task}) for task in tasks]
    copied = sum(2 * few <= len(task) for few, task in zip(distinct, tasks, strict=True))
    return _Result(
        copied / len(tasks),
        None,
        len(tasks),
        "warning" if 10 * copied >= len(tasks) else "ok",
        f"{sum(map(len, tasks))} attempts have {sum(distinct)} different outputs within their "
        f"tasks; in {copied} of {len(tasks)} tasks at most half of them differ.{run.some_read}",
    )


def _noisy_grader(run: _Run) -> _Result:
    tasks = _values(run.read, "outputs")
    if not tasks:
        return _unknown(run, "No task has two attempts with a digest of their output.")
    graded, pairs, different = 0, 0, 0
    for task in tasks:
        groups = Counter(output for output, _ in task)
        passes = Counter(output for output, passed in task if passed)
        graded += any(copies > 1 for copies in groups.values())
        pairs += sum(copies * (copies - 1) // 2 for copies in groups.values())
        different += sum(passes[one] * (copies - passes[one]) for one, copies in groups.items())
    if not pairs:
        return _unknown(
            run,
            "No output came twice within a task, so that no two verdicts can be compared.",
        )
    rate = (1 - math.sqrt(max(1 - 2 * different / pairs, 0))) / 2
    best = (1 - rate) ** run.k
    finding = (
        f"{different} of {pairs} pairs of equal outputs have two verdicts: a verdict is wrong with "
        f"a chance of about {_rounded(rate)}. At k = {run.k} pass^k is at most {_rounded(best)}, "
        f"and pass@k of an impossible task {_rounded(1 - best)}."
        if different
        else f"None of {pairs} pairs of equal outputs has two verdicts."
    )
    verdict = "warning" if different else "ok"
    return _Result(rate, None, graded, verdict, finding + run.some_read)


def _temperature_zero(run: _Run) -> _Result:
    outputs = _values(run.read, "outputs")
    if len(outputs) >= _LEAST:
        same = sum(len({output for output, _ in task}) == 1 for task in outputs)
        return _Result(
            same / len(outputs),
            None,
            len(outputs),
            "warning" if 2 * same >= len(outputs) else "ok",
            f"In {same} of {len(outputs)} tasks every attempt has the same output.{run.some_read}",
        )
    repeated = [task for task in run.tasks if task.n > 2]
    passed = sum(task.c == task.n for task in repeated)
    failed = sum(task.c == 0 for task in repeated)
    statistic = (passed + failed) / len(repeated) if repeated else None
    if len(repeated) < _LEAST:
        return _Result(statistic, None, len(repeated), "insufficient", _too_few(len(repeated)))
    mixed = len(repeated) - passed - failed
    alike = 100 * mixed <= len(repeated) and passed > 0 and failed > 0
    return _Result(
        statistic,
        None,
        len(repeated),
        "warning" if alike else "ok",
        f"In {passed + failed} of {len(repeated)} tasks every attempt has the same verdict (all "
        f"passed in {passed}, all failed in {failed}); what they produced is not known.",
    )


def _retry_until_pass(run: _Run) -> _Result:
    counted = [task for task in run.tasks if task.n]
    if not counted:
        return _Result(None, None, 0, "not_applicable", "No attempt counts.")
    most = max(task.n for task in counted)
    ragged = [task for task in counted if task.n < most]
    if not ragged:
        finding = f"Every task has the same number of counted attempts, {most}."
        return _Result(None, None, 0, "ok", finding)
    ended = sum(task.c == 1 and task.passed[-1] for task in ragged)
    finding = (
        f"{ended} of {len(ragged)} tasks with fewer counted attempts than others end in their only "
        "pass."
    )
    verdict = "warning" if 2 * ended > len(ragged) else "ok"
    if len(ragged) < _LEAST:
        verdict = "insufficient"
    return _Result(ended / len(ragged), None, len(ragged), verdict, finding)


def _gap(run: _Run, found: _Sum, what: str) -> _Result:
    gap = found.excess / found.tasks if found.tasks else None
    return run.tested(
        gap,
        found,
        lambda z: (
            f"{what} all pass {_rounded(abs(gap or 0.0))} "
            f"{'less' if (gap or 0.0) < 0 else 'more'} often than pass^k has it, at k = {run.k} "
            f"over {found.tasks} tasks (z = {_rounded(z, 2)})."
        ),
    )


def _window_gap(run: _Run) -> _Result:
    k, found = run.k, _Sum()
    if k == 1:
        return _Result(None, None, 0, "not_applicable", "At k = 1 no attempts stand in a row.")
    for task in run.informative:
        if task.n > k and task.c >= k and task.solid:
            windows = task.n - k + 1
            passing = sum(all(task.passed[start : start + k]) for start in range(windows))
            found.add(
                passing / windows - _pass_hat(task.n, task.c, k),
                _window_variance(task.n, task.c, k),
            )
    return _gap(run, found, "Sliding windows of k attempts")


def _first_k_gap(run: _Run) -> _Result:
    k, found = run.k, _Sum()
    for task in run.informative:
        if task.c >= k:
            mean = _pass_hat(task.n, task.c, k)
            found.add(all(task.passed[:k]) - mean, mean * (1 - mean))
    return _gap(run, found, "The first k attempts")


def _dominant_tasks(run: _Run) -> _Result:
    tasks = len(run.eligible)
    losses = sorted(
        ((1 - _pass_hat(task.n, task.c, run.k), task.name) for task in run.eligible),
        key=lambda loss: (-loss[0], loss[1]),
    )
    total = math.fsum(lost for lost, _ in losses)
    if not total:
        finding = f"Nothing is lost at k = {run.k}: every attempt that counts passed."
        return (
            _Result(None, None, tasks, "insufficient", _too_few(tasks))
            if tasks < _LEAST
            else _Result(None, None, tasks, "ok", finding)
        )
    dominant, reached = 0, 0.0
    while reached <= total / 2 * (1 + 1e-9):
        reached += losses[dominant][0]
        dominant += 1
    most, worst = losses[0]
    as_much = sum(abs(lost - most) < 1e-12 for lost, _ in losses)
    finding = (
        f"{dominant} of {tasks} tasks make more than half of the lost reliability at k = {run.k}; "
        f"none loses more than {worst}, {_rounded(most / total)} of it"
        + (f", and {as_much - 1} more lose as much." if as_much > 1 else ".")
    )
    if tasks < _LEAST:
        return _Result(dominant / tasks, None, tasks, "insufficient", _too_few(tasks))
    verdict = "warning" if 10 * dominant <= tasks else "ok"
    return _Result(dominant / tasks, None, tasks, verdict, finding)


def _jensen_bounds(run: _Run) -> _Result:
    k, tasks = run.k, run.eligible
    informative = sum(task.informative for task in tasks)
    delta = ratio = None
    if len(tasks) > 1 and k > 1:
        rates = [task.c / task.n for task in tasks]
        hats = [_pass_hat(task.n, task.c, k) for task in tasks]
        count = len(tasks)
        mean, hat = math.fsum(rates) / count, math.fsum(hats) / count
        variance = math.fsum((rate - mean) ** 2 for rate in rates) / (count - 1)
        delta = hat - mean**k + k * (k - 1) / 2 * mean ** (k - 2) * variance / count
        slope = k * mean ** (k - 1)
        spread = math.fsum(
            (one - hat - slope * (rate - mean)) ** 2 for one, rate in zip(hats, rates, strict=True)
        ) / (count - 1)
        ratio = delta / math.sqrt(spread / count) if spread > 0 else None
    if k == 1:
        finding = "At k = 1 both bounds are the estimate."
        return _Result(None, None, informative, "not_applicable", finding)
    if informative < _LEAST or ratio is None or delta is None:
        return _Result(ratio, None, informative, "insufficient", _too_few(informative))
    return _Result(
        ratio,
        None,
        informative,
        "warning" if ratio < -2 else "ok",
        f"pass^k at k = {k} is {_rounded(abs(delta))} {'below' if delta < 0 else 'above'} the "
        f"least that the mean pass rate allows ({_rounded(ratio, 2)} standard errors).",
    )


_DIAGNOSTICS: Final[dict[str, Callable[[_Run], _Result]]] = {
    "serial_dependence": _serial_dependence,
    "drift": _drift,
    "shared_run_effect": _shared_run_effect,
    "batch_effect": _batch_effect,
    "duplicate_seeds": _duplicate_seeds,
    "duplicate_outputs": _duplicate_outputs,
    "noisy_grader": _noisy_grader,
    "temperature_zero": _temperature_zero,
    "retry_until_pass": _retry_until_pass,
    "window_gap": _window_gap,
    "first_k_gap": _first_k_gap,
    "dominant_tasks": _dominant_tasks,
    "jensen_bounds": _jensen_bounds,
}

_BY_ORDER: Final = frozenset(
    (
        "serial_dependence",
        "drift",
        "shared_run_effect",
        "retry_until_pass",
        "window_gap",
        "first_k_gap",
    )
)
"""What is asked of the order of the attempts."""

_NO_ORDER: Final = _Result(
    None,
    None,
    0,
    "not_applicable",
    "The order of the attempts was not computed: the var passk_ordered_metrics is false.",
)

"""The frame helpers against a slow computation in plain Python."""

from __future__ import annotations

import inspect
import math
import random
from collections import defaultdict
from fractions import Fraction
from math import comb
from pathlib import Path
from statistics import mean, variance
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

import passk_py as pk
from passk_py.common.errors import PasskError
from passk_py.metrics import frames
from passk_py.stats.estimators import suite_reading
from passk_py.warehouse.descriptions import described_tables

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]
KS = (1, 2, 3, 5)
SUITE_KEY = ("run_id", "suite", "slice_name", "slice_value", "k")
IDENTITY = ("agent", "agent_version", "model")
VALUES = (
    "k",
    "pass_at_k",
    "pass_hat_k",
    "pass_at_k_lower",
    "pass_at_k_upper",
    "pass_hat_k_lower",
    "pass_hat_k_upper",
)
WORD = {True: "passed", False: "failed", None: "excluded"}


def some_log(seed: int, *, tagged: bool = False) -> list[Row]:
    """Give ragged attempts with gaps and exclusions, in no order."""
    dice = random.Random(seed)
    rows = []
    for run in ("r1", "r2"):
        for suite in ("default", "other"):
            for task in range(dice.randint(2, 7)):
                rate, number = dice.choice([0.0, 0.3, 0.7, 1.0]), 0
                for _ in range(dice.randint(1, 12)):
                    number += dice.choice([1, 1, 1, 1, 2])
                    passed = None if dice.random() < 0.1 else dice.random() < rate
                    row: Row = {
                        "run_id": run,
                        "suite": suite,
                        "task_id": f"t{task}",
                        "attempt": number,
                        "outcome": WORD[passed],
                    }
                    if tagged:
                        row["tags"] = {"domain": dice.choice(["x", "y", None]), "split": "test"}
                        row["model"] = dice.choice(["m", None])
                    rows.append(row)
    dice.shuffle(rows)
    return rows


def by_task(rows: list[Row], *more: str) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in ("run_id", "suite", *more, "task_id"))].append(row)
    return {key: sorted(groups[key], key=lambda row: row["attempt"]) for key in sorted(groups)}


def verdicts(rows: list[Row]) -> list[bool]:
    return [row["outcome"] == "passed" for row in rows if row["outcome"] != "excluded"]


def windows(rows: list[Row], k: int) -> list[list[bool]]:
    by_number = {row["attempt"]: row["outcome"] for row in rows}
    found = []
    for start in by_number:
        window = [by_number.get(start + step, "excluded") for step in range(k)]
        if "excluded" not in window:
            found.append([outcome == "passed" for outcome in window])
    return found


def longest(rows: list[Row], outcome: str) -> int:
    best = length = 0
    last = None
    for row in rows:
        follows = last is not None and row["attempt"] == last + 1
        length = (length + 1 if follows else 1) if row["outcome"] == outcome else 0
        best, last = max(best, length), row["attempt"]
    return best


def slow_task(rows: list[Row], k: int) -> Row:
    counted = verdicts(rows)
    n, c = len(counted), sum(counted)
    known, complete = n >= k, windows(rows, k)
    return {
        "n": n,
        "c": c,
        "excluded": len(rows) - n,
        "pass_at_k": 1 - Fraction(comb(n - c, k), comb(n, k)) if known else None,
        "pass_hat_k": Fraction(comb(c, k), comb(n, k)) if known else None,
        "pass_at_k_plugin": 1 - (1 - Fraction(c, n)) ** k if known else None,
        "pass_hat_k_plugin": Fraction(c, n) ** k if known else None,
        "windows": len(complete),
        "pass_at_k_window": Fraction(sum(map(any, complete)), len(complete)) if complete else None,
        "pass_hat_k_window": Fraction(sum(map(all, complete)), len(complete)) if complete else None,
        "pass_at_k_first_k": Fraction(any(counted[:k])) if known else None,
        "pass_hat_k_first_k": Fraction(all(counted[:k])) if known else None,
        "null_reason": None if known else f"n = {n} < k = {k}" if n else "no counted attempt",
    }


MEANS = [
    f"{metric}{form}"
    for form in ("", "_plugin", "_window", "_first_k")
    for metric in ("pass_at_k", "pass_hat_k")
]


def slow_suite(tasks: list[list[Row]], k: int, *, whole_suite: bool) -> Row:
    rows = [slow_task(task, k) for task in tasks]
    eligible = [row for row in rows if row["n"] >= k]
    known = len(eligible) == len(rows) if whole_suite else bool(eligible)
    short = len(rows) - len(eligible)
    want: Row = {
        "eligible_tasks": len(eligible),
        "total_tasks": len(rows),
        "attempts": sum(len(task) for task in tasks),
        "n": sum(row["n"] for row in rows),
        "c": sum(row["c"] for row in rows),
        "excluded": sum(row["excluded"] for row in rows),
        "null_reason": None if known else f"n < {k} in {short} of {len(rows)} tasks",
        "caveat": f"n < {k} in {short} of {len(rows)} tasks, which the limits allow any value"
        if known and short
        else None,
    }
    for name in MEANS:
        values = [row[name] for row in eligible if row[name] is not None]
        enough = known and bool(values)
        if whole_suite and len(values) < len(rows):
            enough = False
        want[name] = mean(values) if enough else None
    rates = [Fraction(row["c"], row["n"]) for row in eligible]
    m = mean(rates) if known else None
    want["pass_at_k_pooled"] = 1 - (1 - m) ** k if known else None
    want["pass_hat_k_pooled"] = m**k if known else None
    want["delta_k_plugin"] = want["pass_hat_k_plugin"] - m**k if known else None
    want["delta_k_max"] = m - m**k if known else None
    want["delta_k"] = want["heterogeneity"] = None
    if known and k == 1:
        want["delta_k"] = Fraction(0)
    elif known and len(rates) > 1:
        noise = variance(rates) / len(rates)
        power = m ** (k - 2) if k > 2 else Fraction(1)
        want["delta_k"] = want["pass_hat_k"] - m**k + Fraction(k * (k - 1), 2) * power * noise
        if m not in (0, 1):
            want["heterogeneity"] = want["delta_k"] / (m - want["pass_hat_k"] + want["delta_k"])
    return want


def check(found: Row, want: Row) -> None:
    for name, value in want.items():
        got = found[name]
        if isinstance(value, Fraction):
            # Sums of a dozen numbers of size 1, some of them differences.
            assert got is not None, (name, value)
            assert math.isclose(got, value, rel_tol=1e-13, abs_tol=2e-15), (name, got, value)
        else:
            assert got == value, (name, got, value)


EAGER_AND_LAZY = pytest.mark.parametrize(
    "through",
    [
        lambda frame, f: f(frame),
        lambda frame, f: f(frame.lazy()).collect(),
        lambda frame, f: f(frame.lazy()).collect(engine="streaming"),
    ],
    ids=["eager", "lazy", "streaming"],
)
Through = "Callable[[pl.DataFrame, Callable[[Any], Any]], pl.DataFrame]"


@pytest.mark.long
@EAGER_AND_LAZY
@pytest.mark.parametrize("seed", range(8))
def test_task_metrics(seed: int, through: Through) -> None:
    log = some_log(seed)
    found = through(pl.DataFrame(log), lambda f: frames.task_metrics(f, ks=KS))
    assert isinstance(found, pl.DataFrame)
    want = [(key, k, slow_task(rows, k)) for key, rows in by_task(log).items() for k in KS]
    assert found.height == len(want)
    for row, (key, k, right) in zip(found.iter_rows(named=True), want, strict=True):
        assert (row["run_id"], row["suite"], row["task_id"], row["k"]) == (*key, k)
        check(row, right)


def test_columns_of_task_metrics() -> None:
    assert frames.task_metrics(pl.DataFrame(some_log(0))).columns == [
        "run_id",
        "task_id",
        *VALUES,
        "suite",
        *IDENTITY,
        "pass_at_k_plugin",
        "pass_hat_k_plugin",
        "windows",
        "pass_at_k_window",
        "pass_hat_k_window",
        "pass_at_k_first_k",
        "pass_hat_k_first_k",
        "excluded",
        "n",
        "c",
        "null_reason",
    ]


def test_a_terminal_shows_what_matters_of_suite_metrics() -> None:
    columns = frames.suite_metrics(pl.DataFrame(some_log(0))).columns
    slices = ("suite", "slice_name", "slice_value")
    assert columns[:15] == ["run_id", *VALUES, "reading", *slices, *IDENTITY]
    assert columns[-4:] == ["eligible_tasks", "total_tasks", "null_reason", "caveat"]


def test_the_first_attempts_of_a_run_name_its_agent() -> None:
    log = pl.DataFrame(
        {
            "run_id": ["r", "r", "s", "s"],
            "task_id": "t",
            "attempt": [1, 2, 2, 3],
            "passed": True,
            "agent": ["b", "a", "d", "c"],
            "model": [None, "m", None, "n"],
        }
    )
    for found in (
        frames.suite_metrics(log, ks=[1]),
        frames.task_metrics(log, ks=[1]),
        frames.task_counts(log),
        frames.tasks(log.lazy()).collect(),
    ):
        # Without a first attempt, all of them name it; null where the first ones do not say.
        assert found.select("run_id", *IDENTITY).rows() == [
            ("r", "b", None, None),
            ("s", "c", None, "n"),
        ]


def test_comparisons_and_gates_have_the_columns_of_their_tables_in_the_same_order() -> None:
    attempts = pl.DataFrame(
        {
            "run_id": ["old", "new"],
            "task_id": "t",
            "attempt": 1,
            "passed": [True, False],
            "agent": ["a", "b"],
            "agent_version": ["1", "2"],
            "model": ["m", "n"],
        }
    )
    rule = {"name": "g", "type": "coverage", "metric": "excluded_attempts", "max": 0, "run": "all"}
    compared, judged = pk.compare(attempts, "old", "new"), pk.judge_gates(attempts, [rule])
    for table, frame, of_database in (
        ("passk_comparisons", compared, {"pair_source", "loaded_at"}),
        ("passk_gates", judged, {"loaded_at"}),
    ):
        columns = [name for name in described_tables()[table].columns if name not in of_database]
        assert frame.columns == columns
    agents = [f"{side}_{name}" for side in ("baseline", "candidate") for name in IDENTITY[:2]]
    assert set(compared.select(agents).rows()) == {("a", "1", "b", "2")}
    assert judged.select("run_id", *IDENTITY).sort("run_id").rows() == [
        ("new", "b", "2", "n"),
        ("old", "a", "1", "m"),
    ]
    nobody = attempts.drop(IDENTITY)
    assert set(pk.compare(nobody, "old", "new").select(agents).rows()) == {(None,) * 4}
    assert set(pk.judge_gates(nobody, [rule]).select(IDENTITY).rows()) == {(None,) * 3}


def test_the_reading_follows_the_thresholds() -> None:
    log = pl.DataFrame(
        {
            "run_id": "r",
            "task_id": "t",
            "attempt": [1, 2, 3, 4],
            "passed": [True, True, True, False],
        }
    )

    def readings(**thresholds: float) -> list[str]:
        return frames.suite_metrics(log, ks=[1, 2, 8], **thresholds)["reading"].to_list()

    # pass@1 = pass^1 = 3/4; pass@2 = 1, pass^2 = 1/2.
    assert readings() == ["not capable", "capable but flaky", None]
    assert readings(capable_threshold=0.7, consistent_threshold=0.7) == [
        "capable and consistent",
        "capable but flaky",
        None,
    ]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_unordered_is_the_same_without_what_needs_order(seed: int) -> None:
    log = pl.DataFrame(some_log(seed))
    ordered = [name for name in MEANS if "window" in name or "first" in name]
    for function in (frames.task_metrics, frames.suite_metrics):
        whole, part = function(log, ks=KS), function(log, ks=KS, ordered=False)
        assert part.schema == whole.schema
        blank = [*ordered, "windows"] if "windows" in part.columns else ordered
        assert part.select(pl.col(blank).is_null().all()).row(0) == (True,) * len(blank)
        kept = [name for name in whole.columns if name not in blank]
        assert_frame_equal(part.select(kept), whole.select(kept), rel_tol=1e-15)


@pytest.mark.long
@pytest.mark.parametrize("share", [1, 0])
@EAGER_AND_LAZY
@pytest.mark.parametrize("seed", range(8))
def test_suite_metrics(seed: int, through: Through, share: Any) -> None:
    log = some_log(seed)
    found = through(
        pl.DataFrame(log), lambda f: frames.suite_metrics(f, ks=KS, min_eligible_share=share)
    )
    suites: dict[tuple[str, ...], list[list[Row]]] = defaultdict(list)
    for key, rows in by_task(log).items():
        suites[key[:2]].append(rows)
    want = [
        ((*key, "all", "all", k), slow_suite(tasks, k, whole_suite=share == 1))
        for key, tasks in suites.items()
        for k in KS
    ]
    assert found.height == len(want)
    for row, (key, right) in zip(found.iter_rows(named=True), want, strict=True):
        assert tuple(row[name] for name in SUITE_KEY) == key
        check(row, right)


@pytest.mark.long
@EAGER_AND_LAZY
@pytest.mark.parametrize("tags", ["struct", "map"])
def test_slices(through: Through, tags: str) -> None:
    log = some_log(11, tagged=True)
    frame = pl.DataFrame(log)
    if tags == "map":
        entry = pl.Struct({"key": pl.String, "value": pl.String})
        maps = [
            [{"key": key, "value": value} for key, value in row["tags"].items() if value]
            for row in log
        ]
        frame = frame.with_columns(tags=pl.Series(maps, dtype=pl.List(entry)))
    found = through(
        frame,
        lambda f: frames.suite_metrics(
            f, ks=(1, 2), min_eligible_share=0, slices=["model", "domain", "split"]
        ),
    )
    want: list[tuple[tuple[Any, ...], Row]] = []
    for run in ("r1", "r2"):
        for suite in ("default", "other"):
            for name in ("all", "model", "domain", "split"):
                slices: dict[str, list[Row]] = defaultdict(list)
                for row in log:
                    if (row["run_id"], row["suite"]) != (run, suite):
                        continue
                    value = "all" if name == "all" else {**row, **row["tags"]}[name]
                    slices[value or "(untagged)"].append(row)
                for value in sorted(slices):
                    tasks = list(by_task(slices[value]).values())
                    want += [
                        ((run, suite, name, value, k), slow_suite(tasks, k, whole_suite=False))
                        for k in (1, 2)
                    ]
    assert found.select(SUITE_KEY).rows() == [key for key, _ in want]
    for row, (_, right) in zip(found.iter_rows(named=True), want, strict=True):
        check(row, right)


@EAGER_AND_LAZY
@pytest.mark.parametrize("seed", range(4))
def test_task_counts_and_tasks(seed: int, through: Through) -> None:
    log = some_log(seed)
    frame = pl.DataFrame(log)
    counts = through(frame, frames.task_counts)
    classed = through(frame, frames.tasks)
    place, ranks = ("suite", *IDENTITY), ("first_pass_rank", "first_fail_rank")
    totals = ("attempts", "excluded", "n", "c")
    assert counts.columns == ["run_id", "task_id", *place, *ranks, *totals]
    streaks = ("longest_pass_streak", "longest_fail_streak")
    assert classed.columns == [
        "run_id",
        "task_id",
        "task_class",
        *place,
        *ranks,
        *streaks,
        *totals,
    ]
    assert classed.select(counts.columns).equals(counts)
    groups = by_task(log)
    assert counts.height == len(groups)
    for row, (key, rows) in zip(classed.iter_rows(named=True), groups.items(), strict=True):
        counted = verdicts(rows)
        assert (row["run_id"], row["suite"], row["task_id"]) == key
        right = {
            "attempts": len(rows),
            "n": len(counted),
            "c": sum(counted),
            "excluded": len(rows) - len(counted),
            "first_pass_rank": counted.index(True) + 1 if True in counted else None,
            "first_fail_rank": counted.index(False) + 1 if False in counted else None,
            "task_class": "unknown"
            if not counted
            else "consistent"
            if all(counted)
            else "flaky"
            if any(counted)
            else "incapable",
            "longest_pass_streak": longest(rows, "passed"),
            "longest_fail_streak": longest(rows, "failed"),
        }
        check(row, right)


# ---------------------------------------------------------------------------------------------
# the log


def log_of(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"run_id": "r", "task_id": "t", **columns})


def counts_of(frame: pl.DataFrame, **options: Any) -> tuple[Any, ...]:
    return frames.task_counts(frame, **options).select("n", "c", "excluded").row(0)


def test_every_form_of_the_verdict() -> None:
    attempt = [1, 2, 3, 4]
    outcome = ["passed", "failed", "excluded", None]
    assert counts_of(log_of(attempt=attempt, outcome=outcome)) == (2, 1, 2)
    for dtype in (pl.Categorical, pl.Enum(["passed", "failed", "excluded"])):
        as_dtype = pl.Series(outcome, dtype=dtype)
        assert counts_of(log_of(attempt=attempt, outcome=as_dtype)) == (2, 1, 2)
    assert counts_of(log_of(attempt=attempt, passed=[True, False, None, None])) == (2, 1, 2)
    assert counts_of(log_of(attempt=attempt, passed=[1, 0, None, None])) == (2, 1, 2)
    score = [1.0, 0.5, None, math.nan]
    assert counts_of(log_of(attempt=attempt, score=score)) == (2, 1, 2)
    assert counts_of(log_of(attempt=attempt, score=score), threshold=0.5) == (2, 2, 2)
    assert counts_of(log_of(attempt=attempt, score=[2, 1, 0, None])) == (3, 2, 1)


def test_the_first_verdict_that_is_not_null_counts() -> None:
    log = log_of(
        attempt=[1, 2, 3, 4, 5],
        outcome=["failed", "excluded", None, None, None],
        passed=[True, True, False, None, None],
        score=[1.0, 1.0, 1.0, 1.0, None],
    )
    assert frames.tasks(log).select("n", "c", "excluded").row(0) == (3, 1, 2)


def test_the_defaults_are_those_of_the_sql_tables() -> None:
    project = Path(__file__).resolve().parents[3] / "dbt_project.yml"
    defaults = yaml.safe_load(project.read_text(encoding="utf-8"))["vars"]["passk"]
    assert list(frames.DEFAULT_KS) == defaults["passk_ks"]
    share = defaults["passk_min_eligible_share"]

    def default(function: Callable[..., object], name: str) -> object:
        return inspect.signature(function).parameters[name].default

    assert default(frames.suite_metrics, "min_eligible_share") == share
    assert default(pk.rank_runs, "most_runs") == defaults["passk_ranked_runs"]
    assert default(pk.trends, "most_runs") == defaults["passk_trend_runs"]
    assert default(frames.suite_metrics, "ordered") == defaults["passk_ordered_metrics"]
    assert default(frames.suite_metrics, "threshold") == defaults["passk_score_threshold"]
    for name in ("consistent_rate", "incapable_rate"):
        assert default(frames.tasks, name) == defaults[f"passk_{name}"]
    for name in ("capable_threshold", "consistent_threshold"):
        assert default(suite_reading, name) == defaults[f"passk_{name}"]


def test_the_suite_is_default_where_the_log_has_none() -> None:
    plain = log_of(attempt=[1], passed=[True])
    assert frames.task_counts(plain)["suite"].to_list() == ["default"]
    null = plain.with_columns(suite=pl.lit(None, pl.String))
    assert frames.task_counts(null)["suite"].to_list() == ["default"]


@pytest.mark.long
@EAGER_AND_LAZY
@pytest.mark.parametrize("ordered", [True, False])
def test_attempts_that_cannot_be_told_apart_are_not_counted(
    through: Through, ordered: bool
) -> None:
    log = pl.DataFrame(
        {
            "run_id": "r",
            "task_id": ["twice", "twice", "null", "null", "good", "good", None],
            "attempt": [1, 1, None, 2, 1, 2, 1],
            "passed": True,
        }
    )
    found = through(log, lambda f: frames.task_metrics(f, ks=(1,), ordered=ordered))
    columns = ["task_id", "n", "pass_at_k", "pass_at_k_plugin", "windows", "null_reason"]
    assert found.sort("task_id").select(columns).rows() == [
        (None, None, None, None, None, "null in the key"),
        ("good", 2, 1.0, 1.0, 2 if ordered else None, None),
        ("null", None, None, None, None, "null in the key"),
        ("twice", None, None, None, None, "attempt number twice"),
    ]
    known = log.filter(pl.col("task_id").is_in(["twice", "good"]))
    suite = through(known, lambda f: frames.suite_metrics(f, ks=(1,), ordered=ordered))
    columns = ["eligible_tasks", "total_tasks", "attempts", "n", "pass_at_k", "null_reason"]
    assert suite.select(columns).row(0) == (
        1,
        2,
        4,
        2,
        None,
        "attempt number twice in 1 of 2 tasks",
    )
    left = through(
        known,
        lambda f: frames.suite_metrics(f, ks=(1,), ordered=ordered, min_eligible_share=0),
    )
    assert left.select(columns).row(0) == (1, 2, 4, 2, 1.0, None)


@EAGER_AND_LAZY
def test_no_attempts(through: Through) -> None:
    empty = pl.DataFrame(some_log(0)).clear()
    for function in (
        frames.task_counts,
        frames.task_metrics,
        frames.suite_metrics,
        frames.tasks,
    ):
        found = through(empty, function)
        full = function(pl.DataFrame(some_log(0)))
        assert found.height == 0
        assert found.schema == full.schema


def test_lazy_in_lazy_out() -> None:
    lazy = pl.LazyFrame(some_log(0))
    for function in (frames.task_counts, frames.task_metrics, frames.suite_metrics, frames.tasks):
        assert isinstance(function(lazy), pl.LazyFrame)
        assert isinstance(function(lazy.collect()), pl.DataFrame)


def test_other_columns_do_not_disturb() -> None:
    plain = pl.DataFrame(some_log(3))
    crowded = plain.with_columns(
        n=1, c=2, k=3, task=4, rank=5, slice_value=6, broken=7, windows=8, pass_at_k=9.0, part=10
    )
    assert frames.suite_metrics(crowded, ks=KS).equals(frames.suite_metrics(plain, ks=KS))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no task": (
        lambda: frames.task_counts(pl.DataFrame({"run_id": ["r"], "attempt": [1]})),
        "the attempts have no column task_id",
    ),
    "no run, no attempt": (
        lambda: frames.task_counts(pl.DataFrame({"task_id": ["t"]})),
        "the attempts have no column run_id and no attempt",
    ),
    "no verdict": (lambda: frames.task_counts(log_of(attempt=[1])), "the attempts have no verdict"),
    "score": (
        lambda: frames.task_counts(log_of(attempt=[1], score=["high"])),
        "the column score is of type String",
    ),
    "outcome": (
        lambda: frames.task_counts(log_of(attempt=[1], outcome=["pass"])),
        "an outcome is 'pass'",
    ),
    "passed": (
        lambda: frames.task_counts(log_of(attempt=[1], passed=["yes"])),
        "the column passed is of type String",
    ),
    "attempt": (
        lambda: frames.task_counts(log_of(attempt=[1.5], passed=[True])),
        "the column attempt is of type Float64",
    ),
    "not a frame": (
        lambda: frames.task_counts([{"run_id": "r"}]),  # type: ignore[type-var]
        "task_counts: attempts must be a frame, not list",
    ),
    "slice without tags": (
        lambda: frames.suite_metrics(log_of(attempt=[1], passed=[True]), slices=["domain"]),
        "the slice 'domain' is neither a column nor a tag: there is no column tags",
    ),
    "slice not a tag": (
        lambda: frames.suite_metrics(
            log_of(attempt=[1], passed=[True], tags=[{"split": "x"}]), slices=["domain"]
        ),
        "the slice 'domain' is neither a column nor a tag",
    ),
    "tags of text": (
        lambda: frames.suite_metrics(
            log_of(attempt=[1], passed=[True], tags=["{}"]), slices=["domain"]
        ),
        "the column tags is of type String",
    ),
    "slices as a text": (
        lambda: frames.suite_metrics(log_of(attempt=[1], passed=[True]), slices="domain"),
        "suite_metrics: slices must be different names other than 'all'; got 'domain'",
    ),
    "slice twice": (
        lambda: frames.suite_metrics(log_of(attempt=[1], passed=[True]), slices=["a", "a"]),
        "suite_metrics: slices must be different names other than 'all'; got ['a', 'a']",
    ),
    "share": (
        lambda: frames.suite_metrics(
            log_of(attempt=[1], passed=[True]),
            min_eligible_share="drop",  # type: ignore[arg-type]
        ),
        "suite_metrics: min_eligible_share must be a number from 0 to 1; got 'drop'",
    ),
    "capable": (
        lambda: frames.suite_metrics(log_of(attempt=[1], passed=[True]), capable_threshold=2),
        "suite_metrics: capable_threshold must be a number from 0 to 1; got 2",
    ),
    "consistent": (
        lambda: frames.suite_metrics(log_of(attempt=[1], passed=[True]), consistent_threshold=-1),
        "suite_metrics: consistent_threshold must be a number from 0 to 1; got -1",
    ),
    "no ks": (
        lambda: frames.task_metrics(log_of(attempt=[1], passed=[True]), ks=()),
        "task_metrics: ks must be whole numbers from 1, at least one of them; got ()",
    ),
    "k zero": (
        lambda: frames.suite_metrics(log_of(attempt=[1], passed=[True]), ks=(1, 0)),
        "suite_metrics: ks must be whole numbers from 1, at least one of them; got (1, 0)",
    ),
    "sweep without n": (
        lambda: frames.k_sweep(pl.DataFrame({"c": [1]}), (1,)),
        "k_sweep: the frame has no column n",
    ),
    "sweep with k": (
        lambda: frames.k_sweep(pl.DataFrame({"n": [1], "c": [1], "k": [1]}), (1,)),
        "k_sweep: the frame has a column k already",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(PasskError) as caught:
        call()
    assert caught.value.message == message


def test_an_unknown_outcome_or_number_fails_in_lazy_frames_too() -> None:
    for column in ({"outcome": ["pass"]}, {"passed": [2]}):
        lazy = frames.task_counts(log_of(attempt=[1], **column).lazy())
        with pytest.raises(pl.exceptions.InvalidOperationError):
            lazy.collect()


# ---------------------------------------------------------------------------------------------
# sweeps


@EAGER_AND_LAZY
def test_k_sweep(through: Through) -> None:
    frame = pl.DataFrame(
        {
            "task": ["a", "b", "c", "d", "e"],
            "tried": [4, 4, 8, None, 3],
            "good": [2, 2, 8, 1, 4],
            "n": ["kept"] * 5,
        }
    )
    found = through(frame, lambda f: frames.k_sweep(f, [5, 1, 2], n="tried", c="good"))
    assert found.columns == [*frame.columns, "k", "pass_at_k", "pass_hat_k"]
    assert found["task"].to_list() == [task for task in "abcde" for _ in range(3)]
    assert found["k"].to_list() == [1, 2, 5] * 5
    for row in found.iter_rows(named=True):
        n, c, k = row["tried"], row["good"], row["k"]
        if n is None or c > n or n < k:
            assert row["pass_at_k"] is None
            assert row["pass_hat_k"] is None
        else:
            assert row["pass_at_k"] == pytest.approx(1 - comb(n - c, k) / comb(n, k), rel=1e-15)
            assert row["pass_hat_k"] == pytest.approx(comb(c, k) / comb(n, k), rel=1e-15)


def test_k_sweep_of_task_counts() -> None:
    counts = frames.task_counts(pl.DataFrame(some_log(5)))
    swept = frames.k_sweep(counts, KS)
    metrics = frames.task_metrics(pl.DataFrame(some_log(5)), ks=KS)
    for column in ("k", "pass_at_k", "pass_hat_k"):
        assert swept[column].equals(metrics[column])

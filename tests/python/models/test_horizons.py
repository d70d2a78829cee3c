"""pass^k over length: the equations of the fit, Fieller's limits, bins, and why there is no horizon."""

from __future__ import annotations

import random
from collections import defaultdict
from math import comb, exp, floor, fsum, log2, prod, sqrt
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import passk_py as pk
from passk_py.stats.distributions import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Project

Rows = list[dict[str, Any]]

KS: Final = [1, 2, 4, 6]
VARS: Final = {
    "passk_ks": KS,
    "passk_deployment_k": 4,
    "passk_ordered_metrics": False,
    "passk_min_eligible_share": 0.6,
    "passk_difficulty": "minutes",
}
FAMILIES: Final = {**VARS, "passk_cluster": "repo"}
LONG: Final = "pass^k is above one half at all lengths of the tasks"
SHORT: Final = "pass^k is below one half at all lengths of the tasks"


def attempts_of(run: str, task: str, minutes: Any, verdicts: list[bool], **tags: str) -> Rows:
    told = {} if minutes is None else {"minutes": str(minutes)}
    return [
        {
            "run_id": run, "suite": "suite", "task_id": task, "attempt": number, "agent": "bot",
            "outcome": "passed" if passed else "failed", "tags": {**told, **tags},
        }
        for number, passed in enumerate(verdicts, 1)
    ]  # fmt: skip


def some_log() -> Rows:
    """Runs that fall over length, and one for each reason why there is no horizon."""
    dice = random.Random(2)
    rows: Rows = []
    for run, skill in (("weak", 3.0), ("strong", 6.5)):
        for task in range(46):
            minutes = round(2 ** dice.uniform(0, 9), 2) if task % 5 else [4, 32.0, 256][task % 3]
            rate = 1 / (1 + exp(log2(minutes) - skill + dice.gauss(0, 0.8)))
            n = dice.choice([5, 6, 8]) if task % 9 else 3
            verdicts = [dice.random() < rate for _ in range(n)]
            lost = None if task == 7 else "soon" if task == 8 else -1 if task == 9 else minutes
            repo = {"repo": f"f{task // 3 % 12}"} if task > 5 else {}
            rows += attempts_of(run, f"t{task}", lost, verdicts, **repo)
    for task in range(12):
        few = [(task + number) % 3 > 0 for number in range(6)]
        rows += attempts_of("perfect", f"t{task}", task + 1, [True] * 6)
        rows += attempts_of("hopeless", f"t{task}", max(task - 3, 1), [task == 0] * 6)
        rows += attempts_of("alike", f"t{task}", 5, few)
        rows += attempts_of("rising", f"t{task}", 2**task, [task > 5] * 6)
        rows += attempts_of("untold", f"t{task}", task + 1 if task < 6 else None, few)
        rows += attempts_of(
            "half", f"t{task}", [1, 2, 3, 7, 30, 100][task // 2], [task % 2 == 0] * 6
        )
    for task in range(9):
        rows += attempts_of("small", f"t{task}", task + 1, [task < 4] * 6)
    return rows


@pytest.fixture(scope="module")
def attempts() -> Rows:
    return some_log()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Rows) -> Iterator[Project]:
    made = make_project()
    made.land(attempts)
    tables = ["passk_horizons", "passk_difficulty_curve"]
    made.run(VARS, select=[f"+{table}" for table in tables])
    made.run(VARS, command="test", select=[*tables, "int_passk__task_lengths"])
    return made


def tasks_of(rows: Rows, run: str, k: int) -> list[tuple[float, float, str]]:
    """Give the length, pass^k and family of the tasks of a run that have a length and n >= k."""
    tasks: dict[str, Rows] = defaultdict(list)
    for row in rows:
        if row["run_id"] == run:
            tasks[row["task_id"]].append(row)
    found = []
    for task, of_task in tasks.items():
        n, c = len(of_task), sum(row["outcome"] == "passed" for row in of_task)
        told = of_task[0]["tags"].get("minutes", "")
        if n >= k and told not in ("", "soon", "-1"):
            family = of_task[0]["tags"].get("repo", task)
            found.append((float(told), comb(c, k) / comb(n, k), family))
    return found


class ByHand:
    """The fit as docs/difficulty.md says it, from a curve that is given: what the equations leave."""

    def __init__(self, tasks: list[tuple[float, float, str]], row: dict[str, Any]) -> None:
        lengths = [log2(length) for length, _, _ in tasks]
        self.mean = mean(lengths)
        self.spread = sqrt(mean((one - self.mean) ** 2 for one in lengths))
        self.power = sqrt(row["k"])
        self.slope = row["curve_slope"] * self.spread
        self.level = row["curve_level"] + row["curve_slope"] * self.mean
        places = [(one - self.mean) / self.spread for one in lengths]
        self.points = [
            (place, score, 1.0, family)
            for place, (_, score, family) in zip(places, tasks, strict=True)
        ]
        self.points += [(x, y, 0.5, "") for x in (-1.0, 1.0) for y in (0.0, 1.0)]

    def curve(self, place: float) -> float:
        return (1 + exp(-(self.level + self.slope * place))) ** -self.power

    def lean(self, place: float) -> float:
        """The derivative of the curve by eta, over curve (1 - curve), by a difference of two heights."""
        step, level = 1e-5, self.level
        ends = []
        for side in (-1, 1):
            self.level = level + side * step
            ends.append(self.curve(place))
        self.level = level
        height = self.curve(place)
        return (ends[1] - ends[0]) / (2 * step) / (height * (1 - height))

    def left(self) -> tuple[float, float]:
        """The remainders of the two equations of the fit: 0 where it is the fit."""
        terms = [
            (weight * (score - self.curve(place)) * self.lean(place), place)
            for place, score, weight, _ in self.points
        ]
        return fsum(term for term, _ in terms), fsum(term * place for term, place in terms)

    def excess(self, length: float, *, by_family: bool) -> float:
        """How far eta at a length is from one half, squared, over t^2 times its variance: 1 at a limit."""
        told = [
            (weight * self.lean(place) ** 2 * (h := self.curve(place)) * (1 - h), place)
            for place, _, weight, _ in self.points
        ]
        s0, s1, s2 = (fsum(one * place**power for one, place in told) for power in range(3))
        draws: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for number, (place, score, _, family) in enumerate(self.points[:-4]):
            off = (score - self.curve(place)) * self.lean(place)
            draw = draws[family if by_family else number]
            draw[0], draw[1], draw[2] = draw[0] + off, draw[1] + off * place, draw[2] + 1
        sizes = [size for _, _, size in draws.values()]
        units, typical = (
            sum(sizes) ** 2 / sum(size**2 for size in sizes),
            sum(size**2 for size in sizes) / sum(sizes),
        )
        squares = [(a * a, a * b, b * b, 1.0) for a, b, _ in draws.values()]
        for place, score, weight, _ in self.points[-4:]:
            off = (score - self.curve(place)) * self.lean(place) * typical
            squares.append((off * off, off * off * place, off * off * place * place, weight))
        m0, m1, m2 = (fsum(one[at] * one[3] for one in squares) for at in range(3))
        place = (log2(length) - self.mean) / self.spread
        # The gradient (1, place) times the inverse of the information.
        size = s0 * s2 - s1 * s1
        one, other = (s2 - s1 * place) / size, (s0 * place - s1) / size
        variance = (one * one * m0 + 2 * one * other * m1 + other * other * m2) * (1 + 2 / units)
        half = 0.5 ** (1 / self.power)
        from_half = self.level + self.slope * place - log2(half / (1 - half)) / log2(exp(1))
        return from_half**2 / (student_quantile(floor(units + 0.5), 0.95) ** 2 * variance)


def check_fit(rows: Rows, found: Rows, *, by_family: bool) -> int:
    limits = 0
    for row in found:
        tasks = tasks_of(rows, row["run_id"], row["k"])
        hand = ByHand(tasks, row)
        assert row["fitted_tasks"] == len(tasks)
        assert (row["shortest"], row["longest"]) == (min(tasks)[0], max(tasks)[0])
        assert hand.left() == pytest.approx((0, 0), abs=1e-6)
        if row["horizon"] is not None:
            height = hand.curve((log2(row["horizon"]) - hand.mean) / hand.spread)
            assert height == pytest.approx(0.5, rel=1e-12)
        for side in ("horizon_lower", "horizon_upper"):
            if row[side] is not None:
                limits += 1
                assert hand.excess(row[side], by_family=by_family) == pytest.approx(1, rel=1e-6)
        if row["horizon_lower"] and row["horizon_upper"]:
            assert row["horizon_lower"] < row["horizon"] < row["horizon_upper"]
    return limits


def rows_of(built: Project, table: str, where: str = "true") -> Rows:
    return built.records(f"select * from {built.relation(table)} where {where}")


def test_fits_solve_their_equations_and_limits_are_fiellers(built: Project, attempts: Rows) -> None:
    found = rows_of(built, "passk_horizons", "run_id in ('weak', 'strong')")
    assert all(row["null_reason"] is None for row in found if row["k"] <= 2)
    assert check_fit(attempts, found, by_family=False) >= 8


def test_families_are_draws(built: Project, attempts: Rows) -> None:
    log = pl.DataFrame(attempts)
    for k in (1, 2):
        found = pk.horizons(log, "minutes", [k], cluster="repo", min_eligible_share=0.6)
        rows = found.filter(pl.col("run_id").is_in(["weak", "strong"])).rows(named=True)
        check_fit(attempts, rows, by_family=True)
        assert all(row["effective_draws"] < 0.7 * row["fitted_tasks"] for row in rows)
    # Many small families, so that there are limits to hold.
    many = [
        {**row, "tags": {**row["tags"], "repo": f"f{int(row['task_id'][1:]) // 2}"}}
        for row in attempts
    ]
    found = pk.horizons(pl.DataFrame(many), "minutes", [1], cluster="repo", min_eligible_share=0.6)
    rows = found.filter(pl.col("run_id").is_in(["weak", "strong"])).rows(named=True)
    assert check_fit(many, rows, by_family=True) >= 3


def test_a_symmetric_log_has_its_horizon_in_the_middle() -> None:
    shares = [1, 0.75, 0.75, 0.5, 0.5, 0.25, 0.25, 0]
    rows: Rows = []
    for number, share in enumerate(shares * 3):
        minutes = 2.0 ** (number % 8)
        rows += attempts_of("r", f"t{number}", minutes, [place < 4 * share for place in range(4)])
    [found] = pk.horizons(pl.DataFrame(rows), "minutes", [1]).rows(named=True)
    assert found["horizon"] == pytest.approx(2**3.5, rel=1e-12)
    assert found["horizon_lower"] * found["horizon_upper"] == pytest.approx(2**7, rel=1e-9)


@pytest.mark.parametrize(
    ("run", "ks", "reason", "caveat"),
    [
        ("perfect", KS, LONG, "no limits"),
        ("alike", KS, "all tasks are of one length", None),
        ("rising", KS, "pass^k does not fall with length", "no limits"),
        # Exactly one half everywhere: rounding must put it neither above nor below, nor make a horizon.
        ("half", KS, "pass^k does not fall with length", "no limits"),
        ("untold", KS, "n < k or no length in 6 of 12 tasks", None),
        ("small", KS, "fewer than 10 tasks", None),
    ],
)
def test_reasons_why_there_is_no_horizon(
    built: Project, run: str, ks: list[int], reason: str, caveat: str | None
) -> None:
    found = rows_of(built, "passk_horizons", f"run_id = '{run}' order by k")
    assert [row["k"] for row in found] == ks
    for row in found:
        assert row["horizon"] is None
        assert row["null_reason"] == reason
        assert (row["horizon_lower"], row["horizon_upper"]) == (None, None)
        assert (row["caveat"] or "").startswith(caveat or "")
    if run == "untold":
        assert {row["fitted_tasks"] for row in found} == {6}


def test_a_run_below_one_half_from_the_start_says_so(built: Project) -> None:
    found = rows_of(built, "passk_horizons", "run_id = 'hopeless' and k = 1")
    assert [row["null_reason"] for row in found] == [SHORT]


def test_bins_are_fifths_of_the_tasks(built: Project, attempts: Rows) -> None:
    for run in ("weak", "strong", "alike"):
        for k in KS:
            tasks = sorted(tasks_of(attempts, run, k))
            bins: dict[int, list[tuple[float, float]]] = defaultdict(list)
            for length, score, _ in tasks:
                shorter = sum(one < length for one, _, _ in tasks)
                bins[5 * shorter // len(tasks) + 1].append((length, score))
            found = rows_of(
                built, "passk_difficulty_curve", f"run_id = '{run}' and k = {k} order by bin"
            )
            assert [row["bin"] for row in found] == sorted(bins)
            for row in found:
                of_bin = bins[row["bin"]]
                scores = [score for _, score in of_bin]
                assert row["tasks"] == len(of_bin)
                assert (row["shortest"], row["longest"]) == (of_bin[0][0], of_bin[-1][0])
                assert row["typical_length"] == pytest.approx(
                    prod(x for x, _ in of_bin) ** (1 / len(of_bin)), rel=1e-12
                )
                assert row["pass_hat_k"] == pytest.approx(mean(scores), rel=1e-12)
                padded = [*scores, 0.0, 1.0]
                middle = mean(padded)
                error = sqrt(
                    sum((one - middle) ** 2 for one in padded) / (len(padded) - 1) / len(padded)
                )
                reach = student_quantile(len(scores) + 1, 0.95) * error
                assert row["pass_hat_k_lower"] == pytest.approx(max(middle - reach, 0), abs=1e-9)
                assert row["pass_hat_k_upper"] == pytest.approx(min(middle + reach, 1), abs=1e-9)


def compared(built: Project, log: Rows, cluster: str | None) -> None:
    for name, function in (
        ("passk_horizons", pk.horizons),
        ("passk_difficulty_curve", pk.difficulty_curve),
    ):
        mine = function(pl.DataFrame(log), "minutes", KS, cluster=cluster, min_eligible_share=0.6)
        columns = ", ".join(mine.columns)
        stored = pl.DataFrame(
            built.records(f"select {columns} from {built.relation(name)}"), schema=mine.schema
        )
        key = ["run_id", "suite", "k", *(["bin"] if "bin" in mine.columns else [])]
        assert_frame_equal(stored.sort(key), mine.sort(key), rel_tol=1e-8, abs_tol=1e-11)
        exact = [
            one
            for one in ("horizon", "curve_level", "curve_slope", "pass_hat_k")
            if one in mine.columns
        ]
        assert_frame_equal(
            stored.sort(key).select(exact),
            mine.sort(key).select(exact),
            rel_tol=1e-10,
            abs_tol=1e-12,
        )


def test_tables_agree_with_polars(built: Project, attempts: Rows) -> None:
    compared(built, attempts, None)


@pytest.mark.long
def test_families_agree_too(built: Project, attempts: Rows) -> None:
    built.run(FAMILIES, select=["+passk_horizons", "+passk_difficulty_curve"])
    compared(built, attempts, "repo")


def test_a_wrong_difficulty_is_refused() -> None:
    with pytest.raises(pk.PasskError, match="the difficulty 'hours' is neither a column nor a tag"):
        pk.horizons(pl.DataFrame(some_log()), "hours", [1])

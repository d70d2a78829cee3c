"""Windows, first-k, ranks and streaks of the public tables against brute force over the log."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

KS: Final = (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 63, 64, 65, 100, 125, 126, 127, 128, 130)
TASKS: Final = 60

Outcomes = dict[int, str]
"""The kept attempts of a task: number to outcome."""
Row = dict[str, Any]


def numbers(chance: random.Random, task: int) -> list[int]:
    """Give the numbers of a task's attempts, of every kind: short, long, with gaps, large."""
    kinds: list[Callable[[], list[int]]] = [
        lambda: list(range(1, chance.randint(1, 12) + 1)),
        lambda: list(range(1, chance.choice([125, 126, 127, 128, 300]) + 1)),
        lambda: sorted(chance.sample(range(1, 127), chance.randint(1, 126))),
        lambda: sorted(chance.sample(range(1, 400), chance.randint(1, 300))),
        lambda: list(
            range(chance.choice([100, 126, 10**6, 2**62]), 2**63)[: chance.randint(1, 200)]
        ),
        lambda: [1, 126],
        lambda: [126],
        lambda: [127],
        lambda: [1, 2, 2**63 - 1],
    ]
    return kinds[task % len(kinds)]()


def verdicts(chance: random.Random, count: int) -> list[str]:
    """Give outcomes that come in streaks, some of them excluded."""
    share = chance.choice([0.0, 0.02, 0.5, 0.9, 0.98, 1.0])
    lost = chance.choice([0.0, 0.0, 0.02, 0.2, 1.0]) if chance.random() < 0.9 else 1.0
    stay = chance.choice([0.0, 0.9])
    found, last = [], "passed"
    for _ in range(count):
        if chance.random() >= stay:
            last = "passed" if chance.random() < share else "failed"
        found.append("excluded" if chance.random() < lost else last)
    return found


def random_log(seed: int) -> tuple[list[Row], dict[str, Outcomes]]:
    """Give the rows of a run, and what is left of each task once copies are settled."""
    chance = random.Random(seed)
    rows: list[Row] = []
    tasks: dict[str, Outcomes] = {}
    for task in range(TASKS):
        name = f"task {task}"
        attempts = numbers(chance, task)
        if task == 0:
            attempts = list(range(1, 301))
            outcomes = dict.fromkeys(attempts, "passed") | dict.fromkeys([7, 140, 141], "failed")
        else:
            outcomes = dict(zip(attempts, verdicts(chance, len(attempts)), strict=True))
        mine = [
            {"task_id": name, "attempt": attempt, "outcome": outcome}
            for attempt, outcome in outcomes.items()
        ]
        if task and chance.random() < 0.2:
            # Word for word: the first is kept.
            mine += [dict(row) for row in chance.sample(mine, chance.randint(1, len(mine)))]
        if task and chance.random() < 0.2:
            # Not word for word: no copy is kept, and the number is a gap.
            for row in chance.sample(mine, min(len(mine), 3)):
                other = "failed" if row["outcome"] != "failed" else "excluded"
                mine.append({**row, "outcome": other})
                outcomes.pop(row["attempt"], None)
        rows += mine
        tasks[name] = outcomes
    chance.shuffle(rows)
    return [{"run_id": "run", **row} for row in rows], tasks


class Brute:
    """Everything about the order of one task, by looking at each window."""

    def __init__(self, outcomes: Outcomes) -> None:
        self.passed = {a for a, outcome in outcomes.items() if outcome == "passed"}
        self.failed = {a for a, outcome in outcomes.items() if outcome == "failed"}
        self.counted = sorted(self.passed | self.failed)
        self.n = len(self.counted)

    def windows(self, k: int) -> list[list[int]]:
        known = set(self.counted)
        return [
            list(range(start, start + k))
            for start in self.counted
            if start + k - 1 in known and all(a in known for a in range(start, start + k))
        ]

    def window_means(self, k: int) -> tuple[int, float | None, float | None]:
        windows = self.windows(k)
        if not windows:
            return 0, None, None
        any_pass = sum(any(a in self.passed for a in window) for window in windows)
        all_pass = sum(all(a in self.passed for a in window) for window in windows)
        return len(windows), any_pass / len(windows), all_pass / len(windows)

    def first_k(self, k: int) -> tuple[float | None, float | None]:
        if self.n < k:
            return None, None
        first = [a in self.passed for a in self.counted[:k]]
        return float(any(first)), float(all(first))

    def rank(self, kind: set[int]) -> int | None:
        return next((i for i, a in enumerate(self.counted, 1) if a in kind), None)

    @staticmethod
    def longest(kind: set[int]) -> int:
        best = 0
        for start in kind:
            if start - 1 not in kind:
                length = 1
                while start + length in kind:
                    length += 1
                best = max(best, length)
        return best


@pytest.fixture(scope="module", params=[1, 0])
def built(
    request: pytest.FixtureRequest, make_project: Callable[[], Project]
) -> tuple[Project, dict[str, Brute], bool]:
    made = make_project()
    rows, tasks = random_log(10 if request.param else 13)
    made.land(rows)
    made.run(
        {"passk_ks": list(KS), "passk_min_eligible_share": request.param},
        select=["+passk_tasks", "+passk_task_metrics", "+passk_suite_metrics"],
    )
    left = {name: Brute(outcomes) for name, outcomes in tasks.items() if outcomes}
    return made, left, request.param == 0


Built = tuple["Project", dict[str, Brute], bool]


def test_the_log_has_tasks_with_masks_long_masks_and_none(built: Built) -> None:
    project, tasks, _ = built
    counts, long_tasks = map(project.relation, ("int_passk__task_counts", "int_passk__long_tasks"))
    ways = dict(
        project.query(
            f"select case when counts.pass_mask is not null then 'mask'"
            " when long_tasks.is_masked then 'long mask' else 'sorted' end, count(*)"
            f" from {counts} as counts left join {long_tasks} as long_tasks"
            " using (task_id, slice_name) where counts.attempts > 0 group by 1"
        )
    )
    assert set(ways) == {"mask", "long mask", "sorted"}
    assert min(ways.values()) >= 5
    assert sum(ways.values()) == len(tasks)
    assert max(task.n for task in tasks.values()) == 300


def test_windows_and_first_k_of_every_task(built: Built) -> None:
    project, tasks, _ = built
    rows = project.query(
        "select task_id, k, n, windows, pass_at_k_window, pass_hat_k_window,"
        " pass_at_k_first_k, pass_hat_k_first_k from passk_task_metrics"
    )
    assert len(rows) == len(tasks) * len(KS)
    for name, k, n, *found in rows:
        task = tasks[name]
        assert n == task.n
        assert tuple(found) == (*task.window_means(k), *task.first_k(k)), (name, k)


def test_ranks_and_longest_streaks_of_every_task(built: Built) -> None:
    project, tasks, _ = built
    rows = project.query(
        "select task_id, first_pass_rank, first_fail_rank, longest_pass_streak,"
        " longest_fail_streak from passk_tasks"
    )
    assert {name: tuple(found) for name, *found in rows} == {
        name: (
            task.rank(task.passed),
            task.rank(task.failed),
            task.longest(task.passed),
            task.longest(task.failed),
        )
        for name, task in tasks.items()
    }


def mean(values: list[float | None], is_any_enough: bool) -> float | None:
    known = [value for value in values if value is not None]
    if not known or (len(known) < len(values) and not is_any_enough):
        return None
    return fmean(known)


def test_means_over_the_suite(built: Built) -> None:
    project, tasks, is_any_enough = built
    rows = project.query(
        "select k, pass_at_k_window, pass_hat_k_window, pass_at_k_first_k, pass_hat_k_first_k"
        " from passk_suite_metrics"
    )
    assert sorted(row[0] for row in rows) == sorted(KS)
    for k, *found in rows:
        windows = [task.window_means(k) for task in tasks.values()]
        first = [task.first_k(k) for task in tasks.values()]
        expected = [
            mean([window[1] for window in windows], is_any_enough),
            mean([window[2] for window in windows], is_any_enough),
            mean([at for at, _ in first], is_any_enough),
            mean([hat for _, hat in first], is_any_enough),
        ]
        for value, wanted in zip(found, expected, strict=True):
            if wanted is None:
                assert value is None, k
            else:
                assert value == pytest.approx(wanted, rel=1e-13), k


@pytest.mark.long
def test_means_over_a_suite_in_which_every_task_has_windows(project: Project) -> None:
    chance = random.Random(11)
    rows, tasks = [], {}
    for task in range(40):
        outcomes = {a: "passed" if chance.random() < 0.8 else "failed" for a in range(1, 141)}
        tasks[f"task {task}"] = Brute(outcomes)
        rows += [
            {"run_id": "run", "task_id": f"task {task}", "attempt": a, "outcome": outcome}
            for a, outcome in outcomes.items()
        ]
    project.land(rows)
    project.run({"passk_ks": list(KS)})
    found = project.query(
        "select k, pass_at_k_window, pass_hat_k_window from passk_suite_metrics order by k"
    )
    for k, at, hat in found:
        windows = [task.window_means(k) for task in tasks.values()]
        assert at == pytest.approx(fmean(w[1] or 0.0 for w in windows), rel=1e-13)
        assert hat == pytest.approx(fmean(w[2] or 0.0 for w in windows), rel=1e-13)


@pytest.mark.long
def test_slices_have_an_order_of_their_own(project: Project) -> None:
    """A window is a streak of numbers within the slice: the others' attempts are gaps."""
    chance = random.Random(12)
    rows: list[Row] = []
    for task, count in (("short", 60), ("long", 200)):
        for attempt in range(1, count + 1):
            rows.append(
                {
                    "run_id": "run",
                    "task_id": task,
                    "attempt": attempt,
                    "outcome": chance.choice(["passed", "passed", "failed", "excluded"]),
                    "tags": {"part": chance.choice(["a", "a", "a", "b"])},
                }
            )
    project.land(rows)
    project.run({"passk_ks": list(KS), "passk_slices": ["part"], "passk_min_eligible_share": 0})
    for part in ("a", "b"):
        tasks = [
            Brute({
                row["attempt"]: row["outcome"]
                for row in rows
                if row["task_id"] == task and row["tags"]["part"] == part
            })
            for task in ("short", "long")
        ]  # fmt: skip
        found = project.query(
            "select k, pass_at_k_window, pass_hat_k_window, pass_at_k_first_k, pass_hat_k_first_k"
            " from passk_suite_metrics where slice_name = 'part' and slice_value = ?",
            part,
        )
        for k, *values in found:
            windows = [task.window_means(k) for task in tasks]
            first = [task.first_k(k) for task in tasks]
            expected = [
                mean([w[1] for w in windows], True),
                mean([w[2] for w in windows], True),
                mean([at for at, _ in first], True),
                mean([hat for _, hat in first], True),
            ]
            assert [v if v is None else round(v, 13) for v in values] == [
                e if e is None else round(e, 13) for e in expected
            ], (part, k)

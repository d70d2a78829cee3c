"""A project that installs the package: its own table of attempts, in its own words, and what must come out of it."""

from __future__ import annotations

import csv
import io
import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any, Final

import pytest

from .worlds import profile, query

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KS: Final = (1, 2, 3, 5)
COLUMNS: Final = ("release", "bench", "case_id", "trial", "is_ok", "why", "area", "level")


@dataclass(frozen=True, slots=True)
class Task:
    """The counts of a task of a run."""

    release: str
    case_id: str
    area: str
    level: str
    n: int
    c: int
    excluded: int

    def pass_at_k(self, k: int) -> Fraction | None:
        """Give one less the chance that none of k attempts, drawn from the n, passes."""
        if self.n < k:
            return None
        return 1 - Fraction(comb(self.n - self.c, k), comb(self.n, k))

    def pass_hat_k(self, k: int) -> Fraction | None:
        """Give the chance that all of k attempts, drawn from the n, pass."""
        return None if self.n < k else Fraction(comb(self.c, k), comb(self.n, k))


def log(seed: int = 5) -> list[tuple[Any, ...]]:
    """Give a log of three releases and twelve cases: unequal n, excluded attempts, strange names."""
    generator = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for release in ("2026.1", "2026.2", "it's new"):
        for i in range(12):
            chance = generator.choice([0, 0.3, 0.7, 0.95, 1])
            area, level = ("billing", "search", "O'Neil")[i % 3], ("easy", "hard")[i % 2]
            for trial in range(1, generator.choice([5, 6, 8]) + (release != "2026.1")):
                ok = generator.random() < chance
                why = None if ok else generator.choice(["timeout", "rate_limited", None])
                rows.append((release, "helpdesk", f"case {i}", trial, ok, why, area, level))
    return rows


def tasks_of(rows: Iterable[tuple[Any, ...]]) -> list[Task]:
    """Count a log by hand: attempts that were limited in rate count for nothing."""
    counted: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for release, _, case_id, _, ok, why, area, level in rows:
        numbers = counted[release, case_id, area, level]
        if why == "rate_limited":
            numbers[2] += 1
        else:
            numbers[0] += 1
            numbers[1] += ok
    return [Task(*place, *numbers) for place, numbers in counted.items()]


def as_csv(rows: Iterable[tuple[Any, ...]]) -> str:
    """Write a log as a seed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(
            ["" if v is None else str(v).lower() if isinstance(v, bool) else v for v in row]
        )
    return text.getvalue()


TRIALS: Final = """
select
  release,
  bench,
  case_id,
  trial,
  is_ok,
  why,
  '{"area": "' || area || '", "level": "' || level || '"}' as labels
from {{ ref('log') }}
"""

VARS: Final = {
    "passk_attempts_model": ["lab", "trials"],
    "passk_attempts_columns": {
        "run_id": "release",
        "suite": "bench",
        "task_id": "case_id",
        "attempt": "trial",
        "passed": "is_ok",
        "outcome_reason": "why",
        "tags": "labels",
    },
    "passk_outcome_policy": {"rate_limited": "excluded"},
    "passk_ks": list(KS),
    "passk_min_eligible_share": 0,
    "passk_slices": ["area", {"name": "hardness", "expression": "tags['level']"}],
    "passk_deployment_k": 3,
}


def project(rows: Iterable[tuple[Any, ...]], packages: list[dict[str, str]]) -> dict[str, Any]:
    """Give the files of a project that has its attempts in a schema of its own, and its own names for their columns."""
    return {
        "dbt_project.yml": {
            "name": "lab", "version": "1.0.0", "config-version": 2, "profile": "lab",
            "flags": {"require_generic_test_arguments_property": True, "send_anonymous_usage_stats": False},
            "vars": VARS,
            "models": {"lab": {"+schema": "experiments"}},
            "seeds": {"lab": {"+schema": "raw", "log": {"+column_types": {"is_ok": "boolean"}}}},
        },
        "profiles.yml": profile("lab"),
        "packages.yml": {"packages": packages},
        "seeds/log.csv": as_csv(rows),
        "models/trials.sql": TRIALS,
    }  # fmt: skip


def mean(values: Iterable[Fraction | None]) -> Fraction | None:
    """Give the mean of those that have a value."""
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def assert_exact(
    database: Path, schema: str, tasks: list[Task], *, named: str = "passk_tasks"
) -> None:
    """Hold counts and estimates of tasks, suites and slices against whole numbers."""
    found = query(
        database, f"select run_id, task_id, n, c, excluded from {schema}.{named} order by all"
    )
    assert found == sorted((t.release, t.case_id, t.n, t.c, t.excluded) for t in tasks)
    rows = query(
        database,
        f"select run_id, task_id, k, pass_at_k, pass_hat_k from {schema}.passk_task_metrics order by all",
    )
    by_place = {(t.release, t.case_id): t for t in tasks}
    assert [row[:3] for row in rows] == sorted((*place, k) for place in by_place for k in KS)
    for release, case_id, k, at, hat in rows:
        task = by_place[release, case_id]
        assert_close(at, task.pass_at_k(k))
        assert_close(hat, task.pass_hat_k(k))
    assert_exact_suites(database, schema, tasks)


def assert_exact_suites(database: Path, schema: str, tasks: list[Task]) -> None:
    """Hold the estimates of suites and slices against whole numbers."""
    rows = query(
        database,
        "select run_id, slice_name, slice_value, k, total_tasks, eligible_tasks, pass_at_k, pass_hat_k "
        f"from {schema}.passk_suite_metrics",
    )
    slices: dict[tuple[str, str, str | None], list[Task]] = defaultdict(list)
    for task in tasks:
        slices[task.release, "all", None].append(task)
        slices[task.release, "area", task.area].append(task)
        slices[task.release, "hardness", task.level].append(task)
    assert {
        (run, name, value if name != "all" else None, k) for run, name, value, k, *_ in rows
    } == {(*place, k) for place in slices for k in KS}
    assert len(rows) == len(slices) * len(KS)
    for run, name, value, k, total, eligible, at, hat in rows:
        own = slices[run, name, value if name != "all" else None]
        assert (total, eligible) == (len(own), sum(task.n >= k for task in own))
        assert_close(at, mean(task.pass_at_k(k) for task in own))
        assert_close(hat, mean(task.pass_hat_k(k) for task in own))


def assert_close(found: float | None, exact: Fraction | None) -> None:
    """Hold a double against a fraction; null against nothing."""
    if exact is None or found is None:
        assert found is None
        assert exact is None
    else:
        assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-15)

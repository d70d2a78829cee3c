"""An incremental build leaves the tables that a full refresh of the same landing tables leaves.

Random sequences of batches: new runs, late attempts, files loaded again with other rows, files
forgotten, copies of attempts in other files, attempts that fill gaps or have large numbers, tasks
that come back, everything deleted; and vars that change between builds. Each sequence has its own
database, built by increments. All sequences of a group take their steps together, so that one full
refresh of all their landing tables together says what every one of them must hold: no number of a
run depends on another run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.warehouse.freshness import unfinished_tables
from passk_py.warehouse.tables import open_tables

from .snapshots import Snapshot, differences, snapshot

if TYPE_CHECKING:
    from conftest import Project

STORED_TABLES: Final = (
    "int_passk__comparisons",
    "int_passk__pair_sums",
    "int_passk__copy_checks",
    "int_passk__expected_attempts",
    "int_passk__count_checks",
    "int_passk__long_tasks",
    "int_passk__family_checks",
    "int_passk__loss_checks",
    "int_passk__order_checks",
    "int_passk__slow_orders",
    "int_passk__suite_pass_checks",
    "int_passk__suite_families",
    "int_passk__suite_windows",
    "int_passk__tasks_by_count",
    "int_passk__window_checks",
    "int_passk__pair_families",
    "int_passk__pair_states",
    "int_passk__read_tasks",
    "int_passk__runs",
    "int_passk__session_checks",
    "int_passk__streaks",
    "int_passk__suite_metrics",
    "int_passk__task_scans",
    "int_passk__unmasked_tasks",
)
MADE_FROM_RUNS: Final = (
    "int_passk__comparisons",
    "int_passk__pair_sums",
    "int_passk__copy_checks",
    "int_passk__count_checks",
    "int_passk__family_checks",
    "int_passk__loss_checks",
    "int_passk__order_checks",
    "int_passk__slow_orders",
    "int_passk__suite_pass_checks",
    "int_passk__suite_families",
    "int_passk__suite_windows",
    "int_passk__tasks_by_count",
    "int_passk__window_checks",
    "int_passk__read_tasks",
    "int_passk__runs",
    "int_passk__session_checks",
    "int_passk__suite_metrics",
)
KS: Final = [1, 2, 3, 5, 8, 130]
BASE: Final = {"passk_ks": KS, "passk_deployment_k": 3, "passk_create_sql_functions": False}
TAG: Final = {**BASE, "passk_slices": ["kind"], "passk_cluster": "kind"}

START: Final = datetime(2026, 3, 1)

Row = dict[str, Any]
Vars = Mapping[str, Any]


# ---------------------------------------------------------------------------------------------
# what a loader leaves in the landing tables


@dataclass
class Landing:
    """The landing tables of one database, kept by the rules of the loader.

    A file's rows share the loaded_at of the batch that read it. A file that is read again loses its
    old rows first; a task that lost rows is listed in removed_tasks at the time of the batch.
    """

    batch: int = 0
    files: dict[str, list[Row]] = field(default_factory=dict)
    removed: list[Row] = field(default_factory=list)
    rejected: list[Row] = field(default_factory=list)

    def now(self) -> datetime:
        # Odd fractions of a second, and whole days: both must come through.
        return START + timedelta(days=self.batch, microseconds=(self.batch % 3) * 1234567)

    def load(self, name: str, rows: Iterable[Row]) -> None:
        self.forget(name)
        self.files[name] = [
            {**row, "source_file": name, "source_line": line, "loaded_at": self.now()}
            for line, row in enumerate(rows, 1)
        ]

    def forget(self, name: str) -> None:
        for key in {
            (row["run_id"], row["suite"], row["task_id"]) for row in self.files.pop(name, [])
        }:
            names = ("run_id", "suite", "task_id")
            self.removed.append({**dict(zip(names, key, strict=True)), "removed_at": self.now()})

    def rows(self) -> list[Row]:
        return [row for rows in self.files.values() for row in rows]


def write(project: Project, *logs: Landing) -> None:
    """Make the landing tables of a database hold these logs."""
    for table, rows in (
        ("attempts", [row for log in logs for row in log.rows()]),
        ("removed_tasks", [row for log in logs for row in log.removed]),
        ("rejected", [row for log in logs for row in log.rejected]),
    ):
        project.insert(f"landing.{table}", rows, replace=True)


@dataclass
class History:
    """One random history of a log."""

    name: str
    chance: random.Random
    landing: Landing = field(default_factory=Landing)
    history: list[str] = field(default_factory=list)
    made: int = 0

    def outcome(self, share: float) -> dict[str, Any]:
        if self.chance.random() < 0.1:
            reason = self.chance.choice(["infra_error", "timeout"])
            return {"outcome": "excluded", "outcome_reason": reason}
        if self.chance.random() < share:
            return {"outcome": "passed"}
        return {"outcome": "failed", "outcome_reason": self.chance.choice([None, "timeout"])}

    def attempt(self, run: str, suite: str, task: str, number: int) -> Row:
        chance = self.chance
        share = {"t0": 0.0, "t1": 1.0}.get(task, 0.6)
        known = chance.random() < 0.8
        tags = {"kind": chance.choice(["easy", "hard"])} if chance.random() < 0.8 else None
        return {
            "run_id": f"{self.name} {run}",
            # Each history has suites of its own: the runs of a suite are ranked together.
            "suite": suite if suite.startswith(self.name) else f"{self.name} {suite}",
            "task_id": task,
            "attempt": number,
            **self.outcome(share),
            # Two agents, of which one has two runs: those are compared, within a history only.
            "agent": f"{self.name} agent of {'r1' if run == 'r2' else run}",
            # Against the contract, but it must not depend on the order of the batches.
            "agent_version": chance.choices(["1", "2", None], [18, 1, 1])[0],
            "model": f"model of {run}" if run != "r0" else None,
            "score": chance.random() if known else None,
            "seed": chance.randint(0, 9) if known else None,
            "started_at": START + timedelta(seconds=chance.randint(0, 10**6)) if known else None,
            "duration_s": chance.random() * 100 if known else None,
            "cost_usd": chance.random() if known else None,
            "input_tokens": chance.randint(0, 10**6) if known else None,
            "output_tokens": chance.randint(0, 10**6) if known else None,
            "output_hash": f"{chance.getrandbits(32):x}" if known else None,
            "tags": tags,
        }

    def numbers(self) -> list[int]:
        """Give the numbers of a task's attempts: in a row, with gaps, or large."""
        chance = self.chance
        count = chance.randint(1, 10)
        kind = chance.random()
        if kind < 0.6:
            return list(range(1, count + 1))
        if kind < 0.8:
            return sorted(chance.sample(range(1, 25), count))
        start = chance.choice([100, 120, 126, 127, 128, 5000])
        return sorted(chance.sample(range(start, start + 14), count))

    def task_rows(self, run: str, suite: str, task: str) -> list[Row]:
        return [self.attempt(run, suite, task, number) for number in self.numbers()]

    def new_file(self, rows: Iterable[Row], what: str) -> None:
        rows = list(rows)
        name = f"{self.name} file {self.made}"
        self.made += 1
        self.landing.load(name, rows)
        self.history.append(f"{what}: {name} with {len(rows)} rows")

    # The steps of a history.

    def new_run(self) -> None:
        run, suite = self.chance.choice(["r0", "r1", "r2"]), self.chance.choice(["s", "s", "other"])
        tasks = self.chance.sample(["t0", "t1", "t2", "t3", "t4"], self.chance.randint(1, 5))
        self.new_file(
            (row for task in tasks for row in self.task_rows(run, suite, task)),
            f"attempts of {run} in {suite}",
        )

    def late_attempts(self) -> None:
        rows = self.landing.rows()
        if not rows:
            return self.new_run()
        found = []
        for row in self.chance.sample(rows, min(len(rows), 3)):
            run = row["run_id"].removeprefix(f"{self.name} ")
            key = ("run_id", "suite", "task_id")
            taken = {r["attempt"] for r in rows if all(r[name] == row[name] for name in key)}
            free = [n for n in range(1, max(taken) + 4) if n not in taken]
            for number in self.chance.sample(free, min(len(free), 2)):
                found.append(self.attempt(run, row["suite"], row["task_id"], number))
        self.new_file(found, "late attempts")
        return None

    def reload_file(self) -> None:
        if not self.landing.files:
            return self.new_run()
        name = self.chance.choice(list(self.landing.files))
        kept = []
        for row in self.landing.files[name]:
            change = self.chance.random()
            if change < 0.2:
                continue
            if change < 0.4:
                row = {**row, "outcome": self.chance.choice(["passed", "failed", "excluded"])}
            if 0.4 <= change < 0.45:
                row = {**row, "task_id": "t5"}
            kept.append(row)
        self.landing.load(name, kept)
        self.history.append(f"loaded again: {name} with {len(kept)} rows")
        return None

    def forget_file(self) -> None:
        if self.landing.files:
            name = self.chance.choice(list(self.landing.files))
            self.landing.forget(name)
            self.history.append(f"forgotten: {name}")

    def forget_run(self) -> None:
        rows = self.landing.rows()
        if rows:
            run = self.chance.choice(rows)["run_id"]
            for name, found in list(self.landing.files.items()):
                if any(row["run_id"] == run for row in found):
                    self.landing.forget(name)
            self.history.append(f"forgotten: the files of {run}")

    def forget_everything(self) -> None:
        for name in list(self.landing.files):
            self.landing.forget(name)
        self.history.append("forgotten: everything")

    def copies(self) -> None:
        rows = self.landing.rows()
        if not rows:
            return self.new_run()
        found = [dict(row) for row in self.chance.sample(rows, min(len(rows), 4))]
        if self.chance.random() < 0.5:
            found += [dict(found[0])]
        if self.chance.random() < 0.5:
            found[-1]["outcome"] = {"passed": "failed"}.get(found[-1]["outcome"], "passed")
        if self.chance.random() < 0.3:
            found[0]["cost_usd"] = 99.0
        return self.new_file(found, "copies")

    def refused_rows(self) -> None:
        run = f"{self.name} r{self.chance.randint(0, 2)}"
        self.landing.rejected.append({
            "run_id": self.chance.choice([run, None]), "suite": self.chance.choice([f"{self.name} s", None]),
            "task_id": "t1", "attempt": 1, "reason_code": "missing_field",
            "reason": "missing_field: ...", "source_file": f"{self.name} refused",
            "source_line": len(self.landing.rejected), "loaded_at": self.landing.now(),
        })  # fmt: skip
        self.history.append("a refused row")

    def nothing(self) -> None:
        self.history.append("nothing")

    def step(self, index: int) -> None:
        """Land zero to three batches."""
        steps: dict[Callable[[], None], int] = {
            self.new_run: 4, self.late_attempts: 4, self.reload_file: 4, self.forget_file: 2,
            self.forget_run: 1, self.forget_everything: 1, self.copies: 4, self.refused_rows: 1,
            self.nothing: 1,
        }  # fmt: skip
        self.history.append(f"step {index}")
        first = [self.new_run, self.new_run] if index == 0 else []
        drawn = self.chance.choices(list(steps), list(steps.values()), k=self.chance.randint(1, 3))
        for batch in first + drawn:
            self.landing.batch += 1
            batch()


# ---------------------------------------------------------------------------------------------
# comparison


def unfinished(project: Project) -> list[str]:
    """Name the tables that the last build did not come to, as `passk publish` sees it."""
    with open_tables(project.database) as tables:
        return unfinished_tables(tables)


OWNERS: Final = ("run_id", "candidate_run_id", "last_run_id", "source_file")


def part(whole: Snapshot, prefix: str) -> Snapshot:
    """Give the rows of the runs, or of the files, whose names start with the prefix."""
    return {
        table: [
            row
            for row in rows
            if next((str(row[name]) for name in OWNERS if row.get(name)), "").startswith(prefix)
        ]
        for table, rows in whole.items()
    }


# ---------------------------------------------------------------------------------------------
# random sequences

STEPS: Final = 4
STORED: Final = ("config.materialized:incremental", "config.materialized:table")
GROUPS: Final[dict[str, Sequence[Vars]]] = {
    "nothing else changes": [BASE] * STEPS,
    "slices": [TAG] * STEPS,
    "no order": [{**TAG, "passk_ordered_metrics": False}] * STEPS,
    "vars change": [
        BASE,
        {**BASE, "passk_ks": [1, 2, 3, 4, 6, 64]},
        {**BASE, "passk_slices": [{"name": "third", "expression": "attempt % 3"}, "kind"]},
        {**TAG, "passk_outcome_policy": {"timeout": "excluded"}, "passk_min_eligible_share": 0},
    ],
    "vars change and come back": [TAG, {**TAG, "passk_ordered_metrics": False}, TAG, BASE],
}
SEQUENCES: Final = int(os.environ.get("PASSK_SEQUENCES", "3"))
"""Of each group; 40, which are 200 in all, take most of an hour."""


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS)
def test_every_step_equals_a_full_refresh(make_project: Callable[[], Project], group: str) -> None:
    reference = make_project()
    seed = list(GROUPS).index(group)
    sequences = [
        History(f"q{number:02}", random.Random(100 * seed + number)) for number in range(SEQUENCES)
    ]
    projects = [make_project() for _ in sequences]
    for index, variables in enumerate(GROUPS[group]):
        for sequence, project in zip(sequences, projects, strict=True):
            sequence.step(index)
            write(project, sequence.landing)
            # A view's text depends on the vars alone, and is most of what a small build costs.
            is_new = index == 0 or variables != GROUPS[group][index - 1]
            project.run(variables, select=() if is_new else STORED)
        write(reference, *(sequence.landing for sequence in sequences))
        reference.run(variables, full_refresh=True)
        whole = snapshot(reference)
        for sequence, project in zip(sequences, projects, strict=True):
            found = differences(snapshot(project), part(whole, sequence.name))
            assert found == [], "\n".join([*found[:10], *sequence.history])
            assert unfinished(project) == [], "\n".join(sequence.history)


# ---------------------------------------------------------------------------------------------
# builds that die

CHILD: Final = """
import contextlib, json, sys
from dbt.cli.main import dbtRunner

def tell(event):
    if event.info.name == "NodeStart":
        print(event.data.node_info.node_name, flush=True)

folder, arguments = sys.argv[1], json.loads(sys.argv[2])
with contextlib.chdir(folder):
    done = dbtRunner(callbacks=[tell]).invoke(arguments)
print("done" if done.success else f"failed {done.exception}", flush=True)
"""
"""A build in a process of its own that says which model it starts."""


def killed_build(
    project: Project, variables: Vars, chance: random.Random, full_refresh: bool
) -> str:
    """Start a build, kill it at a random moment, and give the model that it died in."""
    arguments = ["run", *project.dbt.options(variables), *(["--full-refresh"] * full_refresh)]
    command = [sys.executable, "-c", CHILD, str(project.folder), json.dumps(arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        started: list[str] = []
        last = chance.randint(1, 12)
        for line in child.stdout:
            started.append(line.strip())
            assert not started[-1].startswith("failed"), started[-1]
            if len(started) == last:
                break
        time.sleep(chance.random() * 0.1)
        os.kill(child.pid, signal.SIGKILL)
    return started[-1]


def landed(history: History) -> None:
    """Land a log that is large enough for a model to take a while."""
    for run in ("r0", "r1", "r2"):
        history.landing.batch += 1
        rows = [
            history.attempt(run, "s", f"task {task}", number)
            for task in range(40)
            for number in range(1, history.chance.choice([5, 20, 140]))
        ]
        history.new_file(rows, "a large log")


@pytest.mark.long
@pytest.mark.parametrize("full_refresh", [False, True])
def test_a_killed_build_leaves_every_table_as_before_or_as_after(
    make_project: Callable[[], Project], full_refresh: bool
) -> None:
    chance = random.Random(40 + full_refresh)
    history = History("k", random.Random(9))
    project, after = make_project(), make_project()
    landed(history)
    write(project, history.landing)
    project.run(TAG)
    deaths = []
    for index in range(2):
        before = snapshot(project)
        for _ in range(3):
            history.step(index + 1)
        write(project, history.landing)
        write(after, history.landing)
        after.run(TAG, full_refresh=True)
        expected = snapshot(after)
        deaths.append(killed_build(project, TAG, chance, full_refresh))
        found = snapshot(project)
        for table in STORED_TABLES:
            alone = {name: rows if name == table else [] for name, rows in found.items()}
            assert any(
                differences(alone, {n: r if n == table else [] for n, r in whole.items()}) == []
                for whole in (before, expected)
            ), f"{table} is neither as before nor as after a build that died in {deaths}"
        if unfinished(project) == []:
            # The build has done nothing yet, or all that is made from the log.
            stored = {name: rows * (name in MADE_FROM_RUNS) for name, rows in found.items()}
            assert any(
                differences(stored, {n: r * (n in MADE_FROM_RUNS) for n, r in whole.items()}) == []
                for whole in (before, expected)
            ), f"{deaths} left tables of two states that are not named"
        project.run(TAG)
        assert differences(snapshot(project), expected) == [], deaths
        assert unfinished(project) == [], deaths


@pytest.mark.long
def test_a_build_that_fails_leaves_tables_that_the_next_one_completes(
    make_project: Callable[[], Project],
) -> None:
    history = History("f", random.Random(17))
    project, after = make_project(), make_project()
    history.step(0)
    write(project, history.landing)
    project.run(TAG)
    before = snapshot(project)
    history.step(1)
    write(project, history.landing)
    # A slice that no engine can compute: staging is a view, so the first table that reads it fails.
    broken = {**TAG, "passk_slices": [{"name": "kind", "expression": "cast(task_id as integer)"}]}
    with pytest.raises(Exception, match="Conversion Error"):
        project.run(broken)
    for table in ("int_passk__task_scans", "int_passk__suite_metrics", "int_passk__runs"):
        alone = f"select * exclude (built_with, log_version) from {project.relation(table)} order by all"
        assert len(project.query(alone)) == len(before[table])
    project.run(TAG)
    write(after, history.landing)
    after.run(TAG, full_refresh=True)
    assert differences(snapshot(project), snapshot(after)) == []

"""Tables that are not those of the log: no gate passes on them, and every other reader says so."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from passk_py.warehouse.freshness import stale
from passk_py.warehouse.tables import open_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Said

    Passk = Callable[..., Said]

RULE = ("--metric", "pass_hat_k", "--k", 2, "--min", 0.01)
COMMANDS = {
    "compare": ("compare", "old", "new"),
    "diagnose": ("diagnose", "old"),
    "plan": ("plan", "old", "--k", 2),
    "export": ("export", "passk_runs", "-o", "runs.csv"),
    "report": ("report", "-o", "report.md"),
    "card": ("card", "old"),
    "show": ("show",),
    "show TABLE": ("show", "passk_runs"),
    "show --csv": ("show", "passk_runs", "--csv"),
    "validate": ("validate",),
}
SWEEP: Final = "PASSK_ALL_STALE"
"""The variable that asks for every command on every state of a build that was stopped."""


def why_stale(database: Path) -> str | None:
    """Say why the tables of a database are not those of its log."""
    with open_tables(database) as tables:
        return stale(tables)


# ---------------------------------------------------------------------------------------------
# tables that are older than the log


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_what_landed_since_the_build_is_said_before_the_result(
    passk: Passk, letters: Path, make_log: Callable[..., Path], name: str
) -> None:
    words = COMMANDS[name]
    before = passk(*words)
    late = make_log("late.jsonl", [("late", "task", "PP")])
    assert passk("load", late).code == 0
    sentence = "2 attempts have landed since the last build."
    said = passk(*words)
    assert said.err.startswith(f"{sentence} `passk build` brings them up to date.\n")
    assert "have landed since" not in before.err
    # The tables lack the run, which is a difference to the attempts.
    assert said.code == (1 if name == "validate" else before.code)
    if name != "show --csv":
        said = passk(*words, "--json")
        assert sentence in said.err
        assert said.json["stale"] == sentence


@pytest.mark.long
@pytest.mark.parametrize("name", [*COMMANDS, "gate"])
def test_nothing_is_said_of_tables_that_are_those_of_the_log(
    passk: Passk, letters: Path, name: str
) -> None:
    words = {**COMMANDS, "gate": ("gate", "--run", "old", *RULE)}[name]
    assert why_stale(letters) is None
    if name == "show --csv":
        return
    said = passk(*words, "--json")
    assert (said.err, said.json["stale"]) == ("", None)


def test_tables_without_a_step_between_them_are_of_another_version(
    passk: Passk, letters: Path
) -> None:
    with duckdb.connect(str(letters)) as connection:
        ((schema,),) = connection.execute(
            "select schema_name from duckdb_tables() where table_name = 'int_passk__long_tasks'"
        ).fetchall()
        # A view that was made before the table does not read it.
        connection.execute(
            f"create table {schema}.counts as from {schema}.int_passk__task_counts;"
            f"drop view {schema}.int_passk__task_counts;"
            f"alter table {schema}.counts rename to int_passk__task_counts;"
            f"drop table {schema}.int_passk__long_tasks"
        )
    said = passk("gate", "--database", letters, "--run", "old", *RULE)
    assert said.code == 3
    assert "Another version of passk built the tables." in said.err


def land_more(passk: Passk, make_log: Callable[..., Path]) -> str:
    """Land a run."""
    assert passk("load", make_log("late.jsonl", [("late", "task", "PP")])).code == 0
    return "2 attempts have landed since the last build."


def forget_a_run(passk: Passk, _make_log: Callable[..., Path]) -> str:
    """Remove a run that had landed."""
    assert passk("unload", "--run", "new").code == 0
    return "3 tasks have lost attempts since the last build."


def replace_with_as_many(passk: Passk, make_log: Callable[..., Path]) -> str:
    """Land a file, build, and land as many other rows in its place."""
    assert passk("load", make_log("late.jsonl", [("late", "task", "PP")])).code == 0
    build(passk, Path("passk.duckdb"), "{}")
    assert passk("gate", "--run", "old", *RULE).code == 2
    assert passk("load", make_log("late.jsonl", [("late", "task", "FF")])).code == 0
    return "2 attempts have landed since the last build."


@pytest.mark.long
@pytest.mark.parametrize("change_log", [land_more, forget_a_run, replace_with_as_many])
def test_a_gate_on_tables_older_than_the_log_could_not_run(
    passk: Passk,
    letters: Path,
    make_log: Callable[..., Path],
    change_log: Callable[[Passk, Callable[..., Path]], str],
) -> None:
    sentence = change_log(passk, make_log)
    judged = ("gate", "--run", "old", *RULE)
    said = passk(*judged)
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        f"Error: No gate was judged. {sentence}\n"
        "`passk build` brings them up to date. --stale-ok judges them as they are.\n"
    )
    assert passk(*judged, "--json").json["error"] == f"No gate was judged. {sentence}"
    meant = passk(*judged, "--stale-ok", "--json", "--markdown", "gates.md")
    assert meant.code == 2
    assert meant.err == f"{sentence} `passk build` brings them up to date.\n"
    assert meant.json["stale"] == sentence
    assert f"The tables are not those of the log: {sentence}\n" in Path("gates.md").read_text()


def test_another_number_of_expected_attempts_is_a_change(
    passk: Passk, letters: Path, change: Callable[..., None]
) -> None:
    change(
        "insert into landing.expected_attempts values "
        "('old', 'letters', 'steady', 5, 'a', timestamp '2020-01-01')"
    )
    said = passk("gate", "--run", "old", "--metric", "missing_attempts", "--max", 0)
    assert said.code == 3
    assert "1 task has another number of expected attempts since the last build." in said.err


@pytest.mark.long
def test_a_copy_that_lacks_what_had_landed_is_stale(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    copy = ("--database", "bi/passk.duckdb")
    assert passk("publish", "-o", "bi").code == 0
    assert passk("gate", "--run", "old", *RULE, *copy).code == 2
    land_more(passk, make_log)
    assert passk("publish", "-o", "bi").code == 0
    said = passk("gate", "--run", "old", *RULE, *copy)
    assert said.code == 3
    assert said.err == (
        "Error: No gate was judged. This copy was published without 2 attempts that had landed.\n"
        "Build, and publish again. --stale-ok judges them as they are.\n"
    )


def test_the_build_that_takes_it_in_is_of_the_same_database(
    passk: Passk, letters: Path, make_log: Callable[..., Path]
) -> None:
    shutil.copyfile(letters, "other.duckdb")
    late = make_log("late.jsonl", [("late", "task", "PP")])
    assert passk("load", late, "--database", "other.duckdb").code == 0
    for words in (("report", "-o", "report.md"), ("card", "old"), ("diagnose",)):
        said = passk(*words, "--database", "other.duckdb")
        assert "`passk build --database other.duckdb` brings them up to date.\n" in said.err


@pytest.mark.parametrize(
    "words", [("compare", "old", "late"), ("plan", "late"), ("diagnose", "late"), ("card", "late")]
)
def test_a_run_that_landed_since_is_not_only_said_to_be_missing(
    passk: Passk, letters: Path, make_log: Callable[..., Path], words: tuple[str, ...]
) -> None:
    assert passk("load", make_log("late.jsonl", [("late", "task", "PP")])).code == 0
    said = passk(*words)
    assert said.code == 2
    first, second = said.err.splitlines()[:2]
    assert first == (
        "2 attempts have landed since the last build. `passk build` brings them up to date."
    )
    assert second.startswith("Error: There is no run late;")


def test_a_guess_reads_no_tables(passk: Passk) -> None:
    said = passk("plan", "--pass-rate", 0.6, "--heterogeneity", 0.4, "--json")
    assert (said.code, said.err) == (0, "")
    assert "stale" not in said.json


# ---------------------------------------------------------------------------------------------
# builds that were stopped

GATES: Final = "{passk_gates: [{name: works, type: threshold, metric: pass_hat_k, k: 2, min: 0.5, scope: suite}]%s}"
TASKS: Final = [f"task {number}" for number in range(12)]
GOOD: Final = [(run, task, "PPPPPPPP") for run in ("old", "new") for task in TASKS]
WORSE: Final = [("new", task, "F" * 21) for task in TASKS]


@dataclass(frozen=True)
class Stopped:
    """The databases that a build leaves which is stopped before a model, by the model's name."""

    databases: dict[str, Path]
    whole: Path


def land(passk: Passk, database: Path, log: list[tuple[str, str, str]], first: int) -> None:
    """Land rows, the first of some tasks twice, so that the build takes its sort-based fallback too."""
    rows = [
        {
            "run_id": run,
            "suite": "letters",
            "task_id": task,
            "attempt": attempt,
            "passed": letter == "P",
            "agent": "bot",
            "started_at": f"2026-01-0{1 if run == 'old' else 2}T00:00:00Z",
        }
        for run, task, letters in log
        for attempt, letter in enumerate(letters, first)
    ]
    rows += [row for row in rows if row["attempt"] == first and row["task_id"] in TASKS[:3]]
    path = database.with_name(f"from-{first}.jsonl")
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert passk("load", path, "--database", database).code == 0


@contextlib.contextmanager
def copies_before_models(database: Path, folder: Path) -> Iterator[dict[str, Path]]:
    """Copy the database before each model of a build if it is another than before the last one.

    With one thread nothing is written then. A copy of the file and of its log is what a killed
    build would leave.
    """
    from dbt.cli.main import dbtRunner

    copies: dict[str, Path] = {}
    log = database.with_name(f"{database.name}.wal")
    last: list[Any] = []
    invoke = dbtRunner.invoke

    def copy(event: Any) -> None:
        if event.info.name != "LogStartLine":
            return
        state = [
            (one.stat().st_size, one.stat().st_mtime_ns) for one in (database, log) if one.exists()
        ]
        if state == last:
            return
        last[:] = state
        name = event.data.description.split()[-1].rpartition(".")[2]
        place = folder / name
        place.mkdir()
        for one in (database, log):
            if one.exists():
                shutil.copyfile(one, place / one.name)
        copies[name] = place / database.name

    def with_one_thread(runner: dbtRunner, arguments: list[str]) -> Any:
        runner.callbacks.append(copy)
        return invoke(runner, [*arguments, "--threads", "1"])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dbtRunner, "invoke", with_one_thread)
        yield copies


@pytest.fixture(scope="module")
def passing(passk: Passk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose gate passes."""
    database = tmp_path_factory.mktemp("stopped") / "passk.duckdb"
    land(passk, database, GOOD, 1)
    build(passk, database, GATES % "")
    said = passk("gate", "--database", database)
    assert (said.code, said.err) == (0, "")
    return database


MODELS: Final = "resource_type:model"


def build(passk: Passk, database: Path, variables: str, select: str = MODELS) -> None:
    """Build the models, without tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DBT_INDIRECT_SELECTION", "empty")
        said = passk("build", "--select", select, "--vars", variables, "--database", database)
        assert said.code == 0, said.err


def copy_of(passing: Path, folder: Path) -> Path:
    """Copy a database, whose project is in the cache of the user as dbt has parsed it."""
    return Path(shutil.copyfile(passing, folder / passing.name))


def stopped_builds(passk: Passk, database: Path, variables: str) -> Stopped:
    """Build once, and keep what a build would leave that is stopped before each model."""
    with copies_before_models(database, database.parent) as copies:
        build(passk, database, variables)
    return Stopped(copies, database)


@pytest.fixture(scope="module")
def after_worse_attempts(
    passk: Passk, passing: Path, tmp_path_factory: pytest.TempPathFactory
) -> Stopped:
    """Builds that were stopped after worse attempts had landed."""
    database = copy_of(passing, tmp_path_factory.mktemp("worse"))
    land(passk, database, WORSE, 9)
    return stopped_builds(passk, database, GATES % "")


@pytest.mark.long
def test_a_gate_never_passes_on_what_a_stopped_build_leaves(
    passk: Passk, after_worse_attempts: Stopped
) -> None:
    """The run that is judged had 8 passes of each task, and has 21 failures more."""
    databases = after_worse_attempts.databases
    # One state for each table that a build adds to.
    assert len(databases) >= 12
    codes = {name: passk("gate", "--database", one).code for name, one in databases.items()}
    found = list(codes.values())
    assert set(found) <= {1, 3}, codes
    # Not all at once: what is complete is judged, by the attempts that there are now.
    assert found[: found.count(3)] == [3] * found.count(3), codes
    assert found.count(3) > 8, codes
    assert passk("gate", "--database", after_worse_attempts.whole).code == 1
    if os.environ.get(SWEEP):
        for name, one in databases.items():
            meant = passk("gate", "--stale-ok", "--json", "--database", one)
            assert (meant.json["stale"] is not None) == (codes[name] == 3)


@pytest.mark.long
def test_readers_say_what_a_stopped_build_left(
    passk: Passk, after_worse_attempts: Stopped, tmp_path: Path
) -> None:
    databases = after_worse_attempts.databases
    names = list(databases)
    # Before the first table there are views made anew, which read what is there.
    first = names.index("int_passk__log_runs")
    chosen = names if os.environ.get(SWEEP) else ["int_passk__estimates_by_count"]
    for name in chosen:
        sentence = why_stale(databases[name])
        if sentence is None:
            assert passk("gate", "--database", databases[name]).code == 1
            continue
        is_half_built = names.index(name) > first
        assert ("half built" in sentence) == is_half_built, name
        for words in COMMANDS.values():
            said = passk(*words, "--database", databases[name])
            assert said.err.startswith(f"{sentence} `passk build"), (name, words, said.err)
        published = passk("publish", "-o", tmp_path / "bi", "--database", databases[name])
        assert published.code == (2 if is_half_built else 0), (name, published.err)


@pytest.mark.long
@pytest.mark.parametrize("variable", ["passk_capable_threshold: 0.7", "passk_deployment_k: 2"])
def test_a_build_with_other_vars_that_was_stopped_is_seen(
    passk: Passk, passing: Path, tmp_path: Path, variable: str
) -> None:
    """No attempt comes or goes: what the tables were built with tells them apart."""
    other = GATES % f", {variable}"
    stopped = stopped_builds(passk, copy_of(passing, tmp_path), other)
    seen = [why_stale(one) is not None for one in stopped.databases.values()]
    # Before the first table is made, and when all are, the tables are of one kind.
    assert list(stopped.databases)[seen.index(True) - 1] == "int_passk__log_runs"
    changes = [one != other for one, other in itertools.pairwise(seen)]
    assert (seen[0], seen[-1], sum(changes)) == (False, False, 2)
    assert sum(seen) > 20
    database = stopped.databases["int_passk__estimates_by_count"]
    assert passk("gate", "--database", database).code == 3
    assert passk("gate", "--database", stopped.whole).code == 0


@pytest.mark.long
def test_a_build_of_a_part_is_half_a_build(passk: Passk, passing: Path, tmp_path: Path) -> None:
    database = copy_of(passing, tmp_path)
    land(passk, database, WORSE, 9)
    build(passk, database, GATES % "", select=f"+int_passk__task_counts,{MODELS}")
    said = passk("gate", "--database", database)
    assert said.code == 3
    assert said.err.startswith(
        "Error: No gate was judged. The tables are half built: the last build did not reach "
    )


@pytest.mark.parametrize("step", ["pair_states", "pair_sums", "comparisons"])
def test_pairs_that_a_build_did_not_come_to_are_of_comparisons_and_rankings(
    letters: Path, change: Callable[..., None], step: str
) -> None:
    change(f"delete from main_passk_internal.int_passk__{step}")
    assert why_stale(letters) == (
        "The tables are half built: the last build did not reach passk_comparisons, passk_rankings."
    )


WITHOUT_STATES: Final = (
    " ".join(
        f"int_passk__{name}"
        for name in (
            "log_runs",
            "task_scans",
            "long_tasks",
            "unmasked_tasks",
            "runs",
            "tasks_by_count",
            "streaks",
        )
    )
    + " int_passk__suite_metrics"
)


@pytest.mark.long
def test_a_build_that_leaves_out_a_table_is_half_a_build(
    passk: Passk, passing: Path, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    """The tables after the one that is left out are of two states: the next build makes them anew."""
    database = copy_of(passing, tmp_path)
    late = make_log(
        "late.jsonl", [("new", f"late task {number}", "PFFFPFFFPFP") for number in range(5)]
    )
    assert passk("load", late, "--database", database).code == 0
    build(passk, database, GATES % "", select=WITHOUT_STATES)
    said = passk("gate", "--database", database)
    assert said.code == 3
    assert "half built: the last build did not reach " in said.err
    build(passk, database, GATES % "")
    assert why_stale(database) is None
    tables = metrics_of(database)
    shutil.copyfile(database, whole := tmp_path / "whole.duckdb")
    assert passk("build", "--full-refresh", "--vars", GATES % "", "--database", whole).code == 0
    # Sums of doubles depend on the order in which threads add them up.
    for row, other in zip(tables, metrics_of(whole), strict=True):
        assert row[:4] == other[:4]
        for value, known in zip(row[4:], other[4:], strict=True):
            assert value == (None if known is None else pytest.approx(known, rel=1e-12))
    assert max(row[0] for row in tables) == 17


def metrics_of(database: Path) -> list[tuple[Any, ...]]:
    """Read what the suites of a database came to."""
    with open_tables(database) as tables:
        return tables.rows(
            "select eligible_tasks, run_id, slice_value, k, pass_at_k, pass_hat_k, pass_hat_k_window "
            "from passk_suite_metrics order by all"
        )


@pytest.mark.long
def test_diagnostics_that_a_stopped_build_did_not_come_to_are_seen(
    passk: Passk, passing: Path, tmp_path: Path
) -> None:
    """A table of checks is empty where diagnostics are switched off, and only there."""
    database = copy_of(passing, tmp_path)
    build(passk, database, GATES % ", passk_diagnostics: false")
    assert why_stale(database) is None
    stopped = stopped_builds(passk, database, GATES % "")
    names = list(stopped.databases)
    checks = [name for name in names if name.endswith("_checks") and name.startswith("int_")]
    assert len(checks) > 5
    for name in checks:
        assert "half built" in (why_stale(stopped.databases[name]) or ""), name
    assert why_stale(stopped.whole) is None


@pytest.mark.long
def test_the_bootstrap_of_other_attempts_is_seen(
    passk: Passk, letters: Path, models_only: tuple[str, ...], change: Callable[..., None]
) -> None:
    assert passk("build", *models_only, "--vars", "{passk_bootstrap: 100}").code == 0
    assert passk("show", "passk_suite_bootstrap").err.startswith("48 rows of")
    change("update passk_suite_bootstrap set estimate = 0.2 where estimate is not null")
    said = passk("show", "passk_suite_bootstrap")
    assert said.err.startswith(
        "The tables are half built: the last build did not reach passk_suite_bootstrap."
    )

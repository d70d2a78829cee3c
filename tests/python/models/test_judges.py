"""Judges that agree or not: the table against polars, verdicts of every kind, and a log without any."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk
from passk_py.ingest.landing import load_labels, load_verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

Rows = list[dict[str, Any]]

VARS: Final = {
    "passk_ks": [1, 2],
    "passk_deployment_k": 2,
    "passk_create_sql_functions": False,
    "passk_ordered_metrics": False,
}
MODELS: Final = ("passk_judges", "passk_rejected_labels")
SELECTED: Final = [f"+{name}" for name in MODELS]
KEY: Final = ["suite", "judge", "other_judge"]
SUITES: Final = {"many": 40, "few": 3, "once": 8, "sure": 8, "none": 8}


def suites() -> tuple[Rows, Rows]:
    """Give attempts of two runs in each suite, with excluded ones, and verdicts of three judges."""
    dice = random.Random(21)
    rows, verdicts = [], []
    for suite, tasks in SUITES.items():
        for run in ("early", "late"):
            for task in range(tasks):
                rate = 1.0 if suite == "sure" else dice.random()
                for number in range(1, 2 if suite == "once" else 6):
                    truly = dice.random() < rate
                    outcome = (
                        "excluded" if dice.random() < 0.03 else "passed" if truly else "failed"
                    )
                    key = {"run_id": run, "suite": suite, "task_id": f"t{task}", "attempt": number}
                    family = {"repo": f"f{task % 6}"} if task % 5 else {}
                    rows.append({**key, "outcome": outcome, "tags": family})
                    for judge, error in (("Zoe", 0.05), ("amy", 0.2), ("o'bot", 0.4)):
                        for again in range(0 if suite == "none" else dice.randint(0, 3)):
                            said = truly != (dice.random() < (0 if suite == "sure" else error))
                            # Some are told twice.
                            at = None if again else f"2026-11-0{1 + dice.randint(0, 1)} 10:00:00"
                            verdicts += [
                                {
                                    **key,
                                    "judge": judge,
                                    "verdict": "T" if said else "f",
                                    "judged_at": at,
                                }
                            ] * (1 + (dice.random() < 0.1))
    return rows, verdicts


@pytest.fixture(scope="module")
def log() -> tuple[Rows, Rows]:
    return suites()


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], log: tuple[Rows, Rows]) -> Project:
    made = make_project()
    attempts, verdicts = log
    made.land(attempts)
    path = made.folder / "verdicts.parquet"
    pl.DataFrame(verdicts).write_parquet(path)
    load_verdicts(path, database=made.database)
    made.run(VARS, select=SELECTED)
    made.run(VARS, command="test", select=[*MODELS, "int_passk__labels"])
    return made


def frames(log: tuple[Rows, Rows]) -> tuple[pl.DataFrame, pl.DataFrame]:
    attempts, verdicts = log
    return pl.DataFrame([{**row, "repo": row["tags"].get("repo")} for row in attempts]).drop(
        "tags"
    ), pl.DataFrame(verdicts)


def assert_table(project: Project, expected: pl.DataFrame) -> None:
    """Hold the table against polars: numbers up to 1e-12, limits up to the series of Student's t."""
    rows = project.records(f"select {', '.join(expected.columns)} from passk_judges")
    actual = pl.DataFrame(rows, schema=expected.schema, orient="row").sort(KEY)
    assert actual.height == expected.height > 0
    for column in expected.columns:
        one, other = actual[column], expected.sort(KEY)[column]
        if one.dtype == pl.Float64:
            assert one.is_null().equals(other.is_null()), column
            largest = (one - other).abs().max()
            limit = 3e-9 if column.endswith(("_lower", "_upper")) else 1e-12
            assert largest is None or largest <= limit, (column, largest)  # type: ignore[operator]
        else:
            assert one.equals(other), column


def test_the_table_is_that_of_polars(built: Project, log: tuple[Rows, Rows]) -> None:
    expected = pk.judge_agreement(*frames(log))
    assert_table(built, expected)
    # Every way to a share, or to none, is there, and upper case comes before lower case.
    assert set(expected.filter(suite="many")["null_reason"]) == {None}
    for suite, said in (
        ("few", "tasks have two tries that both judged, fewer than 5"),
        ("once", "no task has two tries that both judged"),
        ("sure", "no two tries of a task were judged differently"),
    ):
        reasons = expected.filter(suite=suite)["null_reason"]
        assert reasons.len() == 9
        assert reasons.str.ends_with(said).all()
    many = expected.filter(suite="many")
    assert many.select("judge", "other_judge").rows() == [
        *[("Zoe", other) for other in ("Zoe", "amy", "log", "o'bot")],
        *[("amy", other) for other in ("amy", "log", "o'bot")],
        *[("o'bot", other) for other in ("log", "o'bot")],
    ]
    assert set(expected["suite"]) == {"many", "few", "once", "sure"}


def test_the_noise_of_judges_is_found_where_it_was_planted(built: Project) -> None:
    for judge, error in (("Zoe", 0.05), ("amy", 0.2), ("o'bot", 0.4)):
        (row,) = built.records(
            f"select * from passk_judges where suite = 'many' and judge = {quoted(judge)} "
            f"and other_judge = {quoted(judge)}"
        )
        # Two verdicts on a try differ if one of them is wrong; the rate of a task is uniform.
        same = 2 * error * (1 - error)
        other = same + (1 - 2 * error) ** 2 / 3
        assert row["agreement_lower"] <= 1 - same <= row["agreement_upper"]
        assert row["judges_share_lower"] <= same / other <= row["judges_share_upper"]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.long
def test_families_widen_the_limits(
    built: Project, log: tuple[Rows, Rows], tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = built.copy(tmp_path_factory.mktemp("families"))
    project.run({**VARS, "passk_cluster": "repo", "passk_confidence": 0.9}, select=SELECTED)
    expected = pk.judge_agreement(*frames(log), cluster="repo", confidence=0.9)
    assert_table(project, expected)
    # Six families, and each fifth task is one of its own.
    assert set(expected.filter(suite="many")["families"]) == {6 + 8}


def test_without_verdicts_the_table_is_empty(project: Project) -> None:
    project.land([{"run_id": "r", "task_id": "t", "attempt": 1, "outcome": "passed"}])
    project.run(VARS, select=SELECTED)
    for name in MODELS:
        assert project.query(f"select count(*) from {name}") == [(0,)]


ODD: Final = [
    ("none", 1, "passed", "a", None, "no_such_attempt: the log has no such attempt."),
    (
        "t", 2, "passed", "a", None,
        "not_graded: the attempt is excluded, so that there is no grade to check.",
    ),
    ("t", 1, "passed", "a", None, None),
    ("t", 1, "passed", "a", None, None),
    ("t", 1, "failed", None, None, None),
    ("t", 3, "failed", "a", "2026-11-01", None),
    (
        "t", 3, "failed", "a", "2026-11-01",
        "duplicate: the judge has 2 equal verdicts of the same time on the attempt; the first is used.",
    ),
    ("t", 3, "passed", "a", "2026-11-01", None),
    ("t", 3, "failed", "b", "2026-11-01", None),
    ("t", 1, "unsure", "a", None, "unknown_verdict: verdict is unsure, but must be passed or failed."),
    ("", 1, "passed", "a", None, "missing_field: task_id is missing. Every row needs one."),
    ("t", 1, "passed", "LOG", None, "reserved_judge: judge is LOG, which names the outcomes of the log."),
    ("t", 1, "passed", "a", "soon", "wrong_type: judged_at is soon, which is not a time."),
]  # fmt: skip


def test_verdicts_that_are_not_used_have_their_reasons(project: Project) -> None:
    project.land(
        {"run_id": "r", "task_id": "t", "attempt": number, "outcome": outcome}
        for number, outcome in enumerate(["passed", "excluded", "failed"], 1)
    )
    path = project.folder / "verdicts.csv"
    pl.DataFrame(
        [("r", "suite", *row[:-1]) for row in ODD],
        schema=["run_id", "suite", "task_id", "attempt", "verdict", "judge", "judged_at"],
        orient="row",
    ).write_csv(path)
    load_verdicts(path, database=project.database)
    labels = project.folder / "labels.csv"
    labels.write_text("run_id,suite,task_id,attempt,verdict\nr,suite,t,8,pass\n", encoding="utf-8")
    load_labels(labels, database=project.database)
    project.run(VARS, select=[*SELECTED, "+passk_graders"])
    found = project.query(
        "select kind, source_line, reason from passk_rejected_labels order by all"
    )
    wanted = [("verdict", line, row[-1]) for line, row in enumerate(ODD, 1) if row[-1]]
    assert found == [("label", 1, "no_such_attempt: the log has no such attempt."), *wanted]
    # Verdicts of judges are no labels.
    assert project.query("select labels, rejected_labels from passk_graders") == [(1, 1)]
    pairs = project.query(
        "select judge, other_judge, attempts, agreement from passk_judges order by all"
    )
    assert pairs == [
        ("a", "a", 2, 0.5),
        ("a", "b", 1, 0.5),
        ("a", "judge", 1, 0.0),
        ("a", "log", 2, 0.75),
        ("b", "log", 1, 1.0),
        ("judge", "log", 1, 0.0),
    ]

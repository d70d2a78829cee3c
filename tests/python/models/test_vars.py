"""The vars: wrong ones are refused all at once; right ones do what they say, on anyone's table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Dbt, Project

CONTRACT: Final = (
    "run_id, suite, task_id, attempt, outcome, outcome_reason, score, agent, agent_version, model,"
    " seed, started_at, duration_s, cost_usd, input_tokens, output_tokens, output_hash, tags,"
    " source_file, source_line, source_format, loaded_at, passed"
)
DEFAULT_KS: Final = "[1, 2, 3, 4, 5, 6, 8, 10, 16, 32, 64, 100]"
AN_INPUT: Final = "are set, but at most one input can be."
KS: Final = "a list of integers of at least 1."
A_SHARE: Final = "a number from 0 to 1."
SLICES: Final = "a list of tags or of {name: ..., expression: ...}."


def refused(project: Project, variables: dict[str, Any], command: str = "run") -> str:
    """Give what a build with these vars says."""
    from importlib import import_module

    error = import_module(type(project).__module__).BuildError
    with pytest.raises(error) as caught:
        project.run(variables, command=command)
    return str(caught.value.message)


def said(*mistakes: str) -> str:
    """Give the whole message of these mistakes."""
    are = "1 var is" if len(mistakes) == 1 else f"{len(mistakes)} vars are"
    lines = "".join(f"\n  - {mistake}" for mistake in mistakes)
    return f"passk: {are} wrong.{lines}\nSee docs/vars.md for what each var takes."


# ---------------------------------------------------------------------------------------------
# wrong vars


@pytest.fixture(scope="module")
def landed(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    made = make_project()
    made.land(attempts("run", "task", "PFP"))
    return made


WRONG: Final[list[tuple[dict[str, Any], list[str]]]] = [
    ({"passk_ks": 5}, [f"passk_ks is 5, but must be {KS}"]),
    ({"passk_ks": None}, [f"passk_ks is null, but must be {KS}"]),
    ({"passk_ks": "1, 2"}, [f'passk_ks is "1, 2", but must be {KS}']),
    ({"passk_ks": []}, [f"passk_ks is [], but must be {KS}"]),
    ({"passk_ks": {"a": 1}}, [f'passk_ks is {{"a": 1}}, but must be {KS}']),
    (
        {"passk_ks": [0, 4, 1.5, True, "2", None, -1]},
        [
            f"passk_ks holds {shown}, but must hold integers of at least 1 only."
            for shown in ("0", "1.5", "true", '"2"', "null", "-1")
        ],
    ),
    (
        {"passk_ks": [1, 4, 4]},
        ["passk_ks is [1, 4, 4], but must hold each k once."],
    ),
    ({"passk_slices": 5}, [f"passk_slices is 5, but must be {SLICES}"]),
    ({"passk_slices": "difficulty"}, [f'passk_slices is "difficulty", but must be {SLICES}']),
    ({"passk_slices": {"name": "a"}}, [f'passk_slices is {{"name": "a"}}, but must be {SLICES}']),
    (
        {"passk_slices": [5, "", {"name": "a"}, ["b"]]},
        [
            f"passk_slices holds {shown}, but must hold tags or {{name: ..., expression: ...}}."
            for shown in ("5", '""', '{"name": "a"}', '["b"]')
        ],
    ),
    (
        {"passk_slices": ["a", "a"]},
        [
            'passk_slices names ["a", "a"], but names must differ, and \'all\' is the whole suite.'
        ],
    ),
    (
        {"passk_slices": ["all"]},
        ["passk_slices names [\"all\"], but names must differ, and 'all' is the whole suite."],
    ),
    (
        {"passk_attempts_model": 5},
        ["passk_attempts_model is 5, but must be a model name or [project, model]."],
    ),
    (
        {"passk_attempts_model": ["a", "b", "c"]},
        ['passk_attempts_model is ["a", "b", "c"], but must be a model name or [project, model].'],
    ),
    (
        {"passk_attempts_source": "evals.log"},
        ['passk_attempts_source is "evals.log", but must be [source, table].'],
    ),
    (
        {"passk_attempts_source": ["log"]},
        ['passk_attempts_source is ["log"], but must be [source, table].'],
    ),
    ({"passk_attempts_files": 5}, ["passk_attempts_files is 5, but must be a path or a glob."]),
    ({"passk_attempts_files": ""}, ['passk_attempts_files is "", but must be a path or a glob.']),
    (
        {"passk_attempts_columns": 5},
        [
            ("passk_attempts_columns is 5, but must be a mapping of contract columns to SQL"
            " expressions.")
        ],
    ),
    (
        {"passk_attempts_columns": {"task": "id", "run_id": 5, "suite": ""}},
        [
            ('passk_attempts_columns maps "task", but the contract has no such column. It has'
            f" {CONTRACT}."),
            "passk_attempts_columns.run_id is 5, but must be an SQL expression.",
            'passk_attempts_columns.suite is "", but must be an SQL expression.',
        ],
    ),
    ({"passk_landing_schema": ""}, ['passk_landing_schema is "", but must be a schema name.']),
    (
        {"passk_score_threshold": "high"},
        ['passk_score_threshold is "high", but must be a number.'],
    ),
    ({"passk_score_threshold": True}, ["passk_score_threshold is true, but must be a number."]),
    (
        {"passk_outcome_policy": 5},
        ["passk_outcome_policy is 5, but must be a mapping of outcome_reason to failed or excluded."],
    ),
    (
        {"passk_outcome_policy": {"timeout": "passed", "crash": None}},
        [
            'passk_outcome_policy.timeout is "passed", but must be failed or excluded.',
            "passk_outcome_policy.crash is null, but must be failed or excluded.",
        ],
    ),
    (
        {"passk_on_short": "skip"},
        ['passk_on_short is "skip", but must be null_suite or eligible_only.'],
    ),
    (
        {"passk_deployment_k": 7},
        [f"passk_deployment_k is 7, but must be one of passk_ks, which is {DEFAULT_KS}."],
    ),
    (
        {"passk_ks": [1, 2], "passk_deployment_k": 4},
        ["passk_deployment_k is 4, but must be one of passk_ks, which is [1, 2]."],
    ),
    (
        {"passk_deployment_k": "four"},
        ['passk_deployment_k is "four", but must be an integer of at least 1.'],
    ),
    ({"passk_deployment_k": 0}, ["passk_deployment_k is 0, but must be an integer of at least 1."]),
    *(
        ({name: wrong}, [f"{name} is {shown}, but must be {A_SHARE}"])
        for name in (
            "passk_capable_threshold",
            "passk_consistent_threshold",
            "passk_consistent_rate",
            "passk_incapable_rate",
        )
        for wrong, shown in ((1.5, "1.5"), (-0.1, "-0.1"), ("0.5", '"0.5"'), (None, "null"), (True, "true"))
    ),
    *(
        ({name: wrong}, [f"{name} is {shown}, but must be true or false."])
        for name in (
            "passk_ordered_metrics",
            "passk_create_sql_functions",
            "passk_incremental_by_loaded_at",
        )
        for wrong, shown in (("yes", '"yes"'), (1, "1"), (None, "null"))
    ),
]  # fmt: skip


def named(case: tuple[dict[str, Any], list[str]]) -> set[str]:
    """Give the vars that a case is about: what k may be deployed depends on the ks."""
    together = {"passk_ks", "passk_deployment_k"}
    names = set(case[0])
    return names | together if names & together else names


def batches() -> list[list[tuple[dict[str, Any], list[str]]]]:
    """Put cases of different vars together: a build refuses them all, and costs a second."""
    found: list[list[tuple[dict[str, Any], list[str]]]] = []
    for case in WRONG:
        for batch in found:
            if not any(named(case) & named(other) for other in batch):
                batch.append(case)
                break
        else:
            found.append([case])
    return found


@pytest.mark.parametrize("batch", range(len(batches())))
def test_wrong_vars_are_refused_in_words(landed: Project, batch: int) -> None:
    cases = batches()[batch]
    variables = {name: value for case, _ in cases for name, value in case.items()}
    inputs = [f"passk_attempts_{kind}" for kind in ("model", "source", "files")]
    several = [name for name in inputs if variables.get(name) is not None]
    expected = [mistake for _, mistakes in cases for mistake in mistakes]
    if len(several) > 1:
        expected.append(f"{' and '.join(several)} {AN_INPUT}")
    head, *lines, tail = refused(landed, variables).splitlines()
    assert sorted(lines) == sorted(f"  - {mistake}" for mistake in expected)
    assert [head, tail] == [said(*expected).splitlines()[0], said().splitlines()[-1]]


def test_all_mistakes_are_reported_at_once(landed: Project) -> None:
    wrong = {
        "passk_attempts_model": 5,
        "passk_attempts_source": "x",
        "passk_attempts_files": "",
        "passk_attempts_columns": {"colour": "x"},
        "passk_landing_schema": "",
        "passk_score_threshold": "x",
        "passk_outcome_policy": {"timeout": "x"},
        "passk_ks": [0, 2, 2],
        "passk_on_short": "x",
        "passk_slices": 5,
        "passk_deployment_k": 3,
        "passk_capable_threshold": 2,
        "passk_consistent_threshold": 2,
        "passk_consistent_rate": 2,
        "passk_incapable_rate": 2,
        "passk_ordered_metrics": "x",
        "passk_create_sql_functions": "x",
        "passk_incremental_by_loaded_at": "x",
    }
    inputs = "passk_attempts_model and passk_attempts_source and passk_attempts_files"
    assert refused(landed, wrong) == said(
        f"{inputs} {AN_INPUT}",
        "passk_attempts_model is 5, but must be a model name or [project, model].",
        'passk_attempts_source is "x", but must be [source, table].',
        'passk_attempts_files is "", but must be a path or a glob.',
        'passk_attempts_columns maps "colour", but the contract has no such column. It has'
        f" {CONTRACT}.",
        'passk_landing_schema is "", but must be a schema name.',
        'passk_score_threshold is "x", but must be a number.',
        'passk_outcome_policy.timeout is "x", but must be failed or excluded.',
        "passk_ks holds 0, but must hold integers of at least 1 only.",
        "passk_ks is [0, 2, 2], but must hold each k once.",
        'passk_on_short is "x", but must be null_suite or eligible_only.',
        f"passk_slices is 5, but must be {SLICES}",
        "passk_deployment_k is 3, but must be one of passk_ks, which is [0, 2, 2].",
        f"passk_capable_threshold is 2, but must be {A_SHARE}",
        f"passk_consistent_threshold is 2, but must be {A_SHARE}",
        f"passk_consistent_rate is 2, but must be {A_SHARE}",
        f"passk_incapable_rate is 2, but must be {A_SHARE}",
        'passk_ordered_metrics is "x", but must be true or false.',
        'passk_create_sql_functions is "x", but must be true or false.',
        'passk_incremental_by_loaded_at is "x", but must be true or false.',
    )


def test_a_wrong_var_leaves_the_tables_as_they_were(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land(attempts("run", "task", "PFP"))
    project.run()
    before = project.query("select * from passk_suite_metrics order by k")
    project.land(attempts("other run", "task", "PFP"))
    refused(project, {"passk_on_short": "x"})
    assert project.query("select * from passk_suite_metrics order by k") == before


def test_without_a_landed_log_it_says_what_to_do(project: Project) -> None:
    project.execute("drop table landing.attempts")
    message = 'passk: there is no table "passk"."landing"."attempts".'
    assert refused(project, {}) == (
        f"{message} Load a log with `passk load FILE`, or name your own table in the var"
        " passk_attempts_model: [project, model]."
    )


def test_an_empty_log_gives_empty_tables(project: Project) -> None:
    project.run()
    project.run()
    for table in (
        "attempts", "rejected_attempts", "runs", "suite_metrics", "task_metrics", "tasks",
    ):  # fmt: skip
        assert project.query(f"from passk_{table}") == []


# ---------------------------------------------------------------------------------------------
# what they do


def suite(project: Project, k: int, *columns: str) -> tuple[Any, ...]:
    sql = f"select {', '.join(columns)} from passk_suite_metrics where k = ? and slice_name = 'all'"
    rows = project.query(sql, k)
    assert len(rows) == 1
    return rows[0]


@pytest.fixture
def ragged(project: Project, attempts: Callable[..., list[Any]]) -> Project:
    """Three tasks with n = 4, 3 and 2 counted attempts, one of 5 excluded."""
    project.land(
        attempts("run", "long", "PPFPX") + attempts("run", "middle", "FFP") +
        attempts("run", "short", "PP")
    )  # fmt: skip
    return project


def test_a_short_task_makes_the_suite_null(ragged: Project) -> None:
    ragged.run({"passk_ks": [1, 2, 3, 4], "passk_deployment_k": 2})
    columns = ("eligible_tasks", "total_tasks", "null_reason", "pass_at_k", "pass_hat_k", "reading")
    assert suite(ragged, 3, *columns) == (2, 3, "n < 3 in 1 of 3 tasks", None, None, None)
    assert suite(ragged, 4, *columns)[:4] == (1, 3, "n < 4 in 2 of 3 tasks", None)
    eligible, total, reason, at, hat, _ = suite(ragged, 2, *columns)
    assert (eligible, total, reason) == (3, 3, None)
    # 1 - C(1,2)/C(4,2) = 1, 1 - C(2,2)/C(3,2) = 2/3, 1; and C(3,2)/C(4,2) = 1/2, 0, 1.
    assert at == pytest.approx(8 / 9, rel=1e-15)
    assert hat == pytest.approx(1 / 2, rel=1e-15)


def test_eligible_only_takes_the_mean_of_those_that_are_long_enough(ragged: Project) -> None:
    ragged.run(
        {"passk_ks": [1, 2, 3, 4, 5], "passk_deployment_k": 2, "passk_on_short": "eligible_only"}
    )
    columns = ("eligible_tasks", "total_tasks", "null_reason", "pass_at_k", "pass_hat_k")
    assert suite(ragged, 3, *columns) == (2, 3, None, 1.0, pytest.approx(1 / 8, rel=1e-15))
    assert suite(ragged, 4, *columns) == (1, 3, None, 1.0, 0.0)
    assert suite(ragged, 5, *columns) == (0, 3, "n < 5 in every task", None, None)


def test_deployment_k_is_the_k_of_the_tasks_table(ragged: Project) -> None:
    ragged.run({"passk_ks": [1, 2, 3], "passk_deployment_k": 3})
    rows = ragged.query(
        "select task_id, k, pass_hat_k, lost_reliability from passk_tasks order by 1"
    )
    assert rows == [
        ("long", 3, pytest.approx(0.25, rel=1e-15), pytest.approx(0.75, rel=1e-15)),
        ("middle", 3, 0.0, 1.0),
        ("short", 3, None, None),
    ]


def test_thresholds_of_tasks_and_suites(ragged: Project) -> None:
    variables = {
        "passk_ks": [1, 2],
        "passk_deployment_k": 2,
        "passk_consistent_rate": 0.75,
        "passk_incapable_rate": 0.34,
        "passk_capable_threshold": 0.88,
        "passk_consistent_threshold": 0.5,
    }
    ragged.run(variables)
    classes = dict(ragged.query("select task_id, task_class from passk_tasks"))
    assert classes == {"long": "consistent", "middle": "incapable", "short": "consistent"}
    assert suite(ragged, 2, "reading") == ("capable and consistent",)
    ragged.run({**variables, "passk_consistent_threshold": 0.51})
    assert suite(ragged, 2, "reading") == ("capable but flaky",)
    ragged.run({**variables, "passk_capable_threshold": 0.89})
    assert suite(ragged, 2, "reading") == ("not capable",)


def test_without_ordered_metrics_they_are_null_and_nothing_else_changes(ragged: Project) -> None:
    ordered = ("windows", "pass_at_k_window", "pass_hat_k_window", "pass_at_k_first_k",
               "pass_hat_k_first_k", "first_pass_rank", "first_fail_rank", "longest_pass_streak",
               "longest_fail_streak")  # fmt: skip
    variables = {"passk_ks": [1, 2], "passk_deployment_k": 2}
    keys = {
        "passk_suite_metrics": "k",
        "passk_task_metrics": "task_id, k",
        "passk_tasks": "task_id",
    }
    ragged.run(variables)
    first = {table: ragged.records(f"from {table} order by {key}") for table, key in keys.items()}
    ragged.run({**variables, "passk_ordered_metrics": False})
    for table, key in keys.items():
        second = ragged.records(f"from {table} order by {key}")
        assert len(second) == len(first[table]) > 0
        for row, before in zip(second, first[table], strict=True):
            assert {name: row[name] for name in row if name in ordered} == {
                name: None for name in row if name in ordered
            }
            for name in row.keys() - set(ordered):
                expected = before[name]
                if isinstance(expected, float):
                    expected = pytest.approx(expected, rel=1e-12, abs=1e-15)
                assert row[name] == expected, (table, name)


def test_the_policy_decides_what_failures_count(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land([
        *attempts("run", "task", "FF", outcome_reason="timeout"),
        *attempts("run", "task", "P", first=3, outcome_reason="timeout"),
        *attempts("run", "task", "X", first=4, outcome_reason="o'clock"),
        *attempts("run", "task", "F", first=5, outcome_reason="crash"),
        *attempts("run", "task", "P", first=6),
    ])  # fmt: skip
    columns = "n, c, excluded"
    project.run()
    assert project.query(f"select {columns} from passk_tasks") == [(5, 2, 1)]
    project.run({"passk_outcome_policy": {"timeout": "excluded", "o'clock": "failed"}})
    assert project.query(f"select {columns} from passk_tasks") == [(4, 2, 2)]
    outcomes = project.query("select outcome from passk_attempts order by attempt")
    assert [o for (o,) in outcomes] == [
        "excluded", "excluded", "passed", "failed", "failed", "passed",
    ]  # fmt: skip


def test_slices_are_tags_or_expressions(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land([
        *attempts("run", "a", "PP", tags={"it's": "hard", "other": "x"}, model="m1"),
        *attempts("run", "b", "PF", tags={"it's": "easy"}, model="m2"),
        *attempts("run", "c", "FF", model="m1"),
    ])  # fmt: skip
    project.run({
        "passk_ks": [1, 2], "passk_deployment_k": 2,
        "passk_slices": ["it's", {"name": "half", "expression": "case when attempt > 1 then 'late' end"}],
    })  # fmt: skip
    rows = project.query(
        "select slice_name, slice_value, k, total_tasks, n, c, pass_hat_k from passk_suite_metrics"
        " order by 1, 2, 3"
    )
    assert rows == [
        ("all", "all", 1, 3, 6, 3, 0.5),
        ("all", "all", 2, 3, 6, 3, pytest.approx(1 / 3)),
        ("half", "(untagged)", 1, 3, 3, 2, pytest.approx(2 / 3)),
        ("half", "(untagged)", 2, 3, 3, 2, None),
        ("half", "late", 1, 3, 3, 1, pytest.approx(1 / 3)),
        ("half", "late", 2, 3, 3, 1, None),
        ("it's", "(untagged)", 1, 1, 2, 0, 0.0),
        ("it's", "(untagged)", 2, 1, 2, 0, 0.0),
        ("it's", "easy", 1, 1, 2, 1, 0.5),
        ("it's", "easy", 2, 1, 2, 1, 0.0),
        ("it's", "hard", 1, 1, 2, 2, 1.0),
        ("it's", "hard", 2, 1, 2, 2, 1.0),
    ]


def test_another_landing_schema(project: Project, attempts: Callable[..., list[Any]]) -> None:
    project.land(attempts("run", "task", "PFP"))
    project.execute(
        "create schema elsewhere",
        *(
            f"create table elsewhere.{table} as from landing.{table}"
            for table in ("attempts", "rejected", "removed_tasks")
        ),
        "update elsewhere.attempts set run_id = 'elsewhere'",
    )
    project.run({"passk_landing_schema": "elsewhere"})
    assert project.query("select run_id from passk_runs") == [("elsewhere",)]


def test_changing_the_landing_schema_leaves_nothing_of_the_other(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land(attempts("first", "task", "PFP"))
    project.execute(
        "create schema elsewhere",
        *(
            f"create table elsewhere.{table} as from landing.{table}"
            for table in ("attempts", "rejected", "removed_tasks")
        ),
        "update elsewhere.attempts set run_id = 'second'",
    )
    for schema, run in (("landing", "first"), ("elsewhere", "second"), ("landing", "first")):
        project.run({"passk_landing_schema": schema})
        assert project.query("select run_id from passk_runs") == [(run,)]
        assert project.query("select distinct run_id from passk_suite_metrics") == [(run,)]


# ---------------------------------------------------------------------------------------------
# anyone's own table


@pytest.fixture(scope="module")
def consumer_dbt(
    tmp_path_factory: pytest.TempPathFactory, dbt: Dbt, request: pytest.FixtureRequest
) -> Dbt:
    """A project that installs this one: a source `evals.log`, and a model that selects from it."""
    folder = tmp_path_factory.mktemp("consumer")
    root = request.config.rootpath
    files: dict[str, Any] = {
        "dbt_project.yml": {
            "name": "consumer", "version": "1.0.0", "config-version": 2, "profile": "consumer",
            "model-paths": ["models"],
            "flags": {"require_generic_test_arguments_property": True},
        },
        "packages.yml": {"packages": [{"local": str(root)}]},
        "models/sources.yml": {
            "sources": [{"name": "evals", "schema": "evals", "tables": [{"name": "log"}]}]
        },
    }  # fmt: skip
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    model = "select * from {{ source('evals', 'log') }}\n"
    (folder / "models" / "my_attempts.sql").write_text(model, encoding="utf-8")
    packages = folder / "dbt_packages"
    packages.mkdir()
    (packages / "passk").symlink_to(root)
    return type(dbt)(folder / "dbt", project_dir=folder, profile="consumer")


@pytest.fixture
def consumer(tmp_path: Path, consumer_dbt: Dbt, project: Project) -> Project:
    made = type(project)(tmp_path, consumer_dbt)
    made.execute("create schema evals")
    return made


MODEL: Final = {"passk_attempts_model": "my_attempts", "passk_ks": [1, 2, 4]}


def build(consumer: Project, log: str, variables: dict[str, Any] | None = None) -> None:
    """Make the table evals.log, and build over it."""
    consumer.execute(f"create or replace table evals.log as {log}")
    consumer.run({**MODEL, **(variables or {})})


KEPT: Final = "select run_id, suite, task_id, attempt, outcome, outcome_reason from passk_attempts"


def test_three_columns_and_a_verdict_are_enough(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, i as attempt, i % 2 = 0 as passed from range(1, 4) x(i)",
    )
    assert consumer.query(f"{KEPT} order by attempt") == [
        ("r", "default", "t", 1, "failed", None),
        ("r", "default", "t", 2, "passed", None),
        ("r", "default", "t", 3, "failed", None),
    ]
    assert consumer.query("select n, c, min_n, rejected from passk_runs") == [(3, 1, 3, 0)]


@pytest.mark.parametrize(
    "variables",
    [
        {"passk_attempts_model": "my_attempts"},
        {"passk_attempts_model": ["consumer", "my_attempts"]},
        {"passk_attempts_source": ["evals", "log"]},
    ],
)
def test_a_model_or_a_source(consumer: Project, variables: dict[str, Any]) -> None:
    consumer.execute(
        'create table evals.log as select \'r\' as "Run_ID", 1 as "TASK_ID", 2 as "Attempt",'
        ' 1 as "Passed"'
    )
    consumer.run(variables)
    assert consumer.query(KEPT) == [("r", "default", "1", 2, "passed", None)]


@pytest.mark.parametrize(
    ("ending", "how"),
    [
        ("csv", "(header)"),
        ("tsv", "(header, delimiter '\t')"),
        ("parquet", "(format parquet)"),
        ("jsonl", "(format json)"),
        ("json", "(format json, array true)"),
    ],
)
def test_files_by_a_glob(consumer: Project, ending: str, how: str) -> None:
    folder = consumer.folder / "it's a folder"
    folder.mkdir()
    quoted = str(folder).replace("'", "''")
    select = "select '{}' as run_id, 't' as task_id, i as attempt, i > 1 as passed{} from range(1, 4) x(i)"
    consumer.execute(
        f"copy ({select.format('one', '')}) to '{quoted}/a.{ending}' {how}",
        f"""copy ({select.format("two", ", 'x' as agent")}) to '{quoted}/b.{ending}' {how}""",
    )
    consumer.run({"passk_attempts_files": f"{folder}/*.{ending}"}, select=["package:passk"])
    rows = consumer.query("select run_id, agent, n, c from passk_runs order by 1")
    assert rows == [("one", None, 3, 2), ("two", "x", 3, 2)]
    files = consumer.query("select distinct run_id, source_file from passk_attempts order by 1")
    assert files == [("one", f"{folder}/a.{ending}"), ("two", f"{folder}/b.{ending}")]


def test_files_of_an_unknown_kind(consumer: Project) -> None:
    assert refused(consumer, {"passk_attempts_files": "logs/*.xlsx"}) == (
        'passk_attempts_files is "logs/*.xlsx", but must name files that end in .parquet, .csv,'
        " .tsv, .json, .jsonl or .ndjson."
    )


def test_columns_of_other_names_and_expressions(consumer: Project) -> None:
    build(
        consumer,
        "select 'v1' as release, 'case ''a''' as case_id, i as trial, 'solved' as status, 7 as ms"
        " from range(3) x(i)",
        {
            "passk_attempts_columns": {
                "run_id": "release || '-x'",
                "task_id": "case_id",
                "attempt": "trial + 1",
                "outcome": "case status when 'solved' then 'passed' else 'failed' end",
                "duration_s": "ms / 1000.0",
                "suite": "'own'",
            }
        },
    )
    sql = "select run_id, suite, task_id, n, c, duration_s from passk_tasks"
    assert consumer.query(sql) == [("v1-x", "own", "case 'a'", 3, 3, pytest.approx(0.021))]


@pytest.mark.parametrize("missing", ["run_id", "task_id", "attempt"])
def test_a_required_column_that_is_missing(consumer: Project, missing: str) -> None:
    names = [name for name in ("run_id", "task_id", "attempt", "passed") if name != missing]
    consumer.execute(
        f"create table evals.log as select {', '.join(f'1 as {name}' for name in names)}"
    )
    assert refused(consumer, MODEL) == (
        f'passk: "passk"."main"."my_attempts" has no column {missing}. Its columns are'
        f" {', '.join(names)}. Name the one to use in the var passk_attempts_columns, e.g."
        f" {{{missing}: my_column}}."
    )


def test_a_table_without_a_verdict(consumer: Project) -> None:
    consumer.execute("create table evals.log as select 1 as run_id, 1 as task_id, 1 as attempt")
    assert refused(consumer, MODEL) == (
        'passk: "passk"."main"."my_attempts" has no verdict: none of the columns outcome, passed'
        " and score. Its columns are run_id, task_id, attempt. Name one in the var"
        " passk_attempts_columns, e.g. {passed: is_resolved}."
    )


def words(column: str, values: str) -> str:
    """Give a log of one task whose attempts have these values."""
    return (
        "select 'r' as run_id, 't' as task_id, place as attempt, word as"
        f" {column} from (values {values}) x(place, word)"
    )


@pytest.mark.parametrize(
    ("column", "values", "outcomes"),
    [
        ("passed", "(1, true), (2, false), (3, null)", ["passed", "failed", "excluded"]),
        ("passed", "(1, 1), (2, 0), (3, null)", ["passed", "failed", "excluded"]),
        ("passed", "(1, 1.0::double), (2, 0.0::double)", ["passed", "failed"]),
        ("passed", "(1, 'True'), (2, ' no '), (3, 'F')", ["passed", "failed", "failed"]),
        ("outcome", "(1, 'Passed'), (2, ' FAILED '), (3, 'excluded')",
         ["passed", "failed", "excluded"]),
        ("score", "(1, 1.0), (2, 0.999999), (3, 0.99), (4, 0), (5, null)",
         ["passed", "passed", "failed", "failed", "excluded"]),
    ],
)  # fmt: skip
def test_verdicts_of_every_form(
    consumer: Project, column: str, values: str, outcomes: list[str]
) -> None:
    build(consumer, words(column, values))
    rows = consumer.query("select outcome, outcome_reason from passk_attempts order by attempt")
    assert [outcome for outcome, _ in rows] == outcomes
    assert {reason for outcome, reason in rows if outcome == "excluded"} <= {None, "no_verdict"}


@pytest.mark.parametrize(
    ("threshold", "passing"),
    [(0.5, [0.5, 1.0]), (0, [0.0, 1e-8, 1e-7, 0.5, 1.0]), (1e-7, [1e-7, 0.5, 1.0]),
     (-1.5, [-1.0, 0.0, 1e-8, 1e-7, 0.5, 1.0]), (1e16, [])],
)  # fmt: skip
def test_score_thresholds(consumer: Project, threshold: float, passing: list[float]) -> None:
    values = "(1, 1.0::double), (2, 0.5), (3, 1e-7), (4, 1e-8), (5, 0.0), (6, -1.0), (7, -2.0)"
    build(consumer, words("score", values), {"passk_score_threshold": threshold})
    rows = consumer.query("select score from passk_attempts where outcome = 'passed' order by 1")
    assert [score for (score,) in rows] == passing


COUNT: Final = "but must be an integer of at least 1."
MISSING: Final = "is missing. Every attempt needs one."

BROKEN: Final[dict[str, tuple[dict[str, str], str]]] = {
    # what the row has, as SQL, and the reason that it is refused for
    "half": ({"attempt": "'1.5'"}, f"wrong_type: attempt is 1.5, {COUNT}"),
    "word": ({"attempt": "'one'"}, f"wrong_type: attempt is one, {COUNT}"),
    "zero": ({"attempt": "'0'"}, f"out_of_range: attempt is 0, {COUNT}"),
    "negative": ({"attempt": "'-1'"}, f"out_of_range: attempt is -1, {COUNT}"),
    "too large": ({"attempt": "'9223372036854775808'"},
                  f"wrong_type: attempt is 9223372036854775808, {COUNT}"),
    "no number": ({"attempt": "null"},
                  "missing_field: attempt is missing. Number the tries of a task from 1."),
    "empty run": ({"run_id": "''"}, f"missing_field: run_id {MISSING}"),
    "no run": ({"run_id": "null"}, f"missing_field: run_id {MISSING}"),
    "maybe": ({"outcome": "'maybe'"},
              "unknown_outcome: outcome is maybe, but must be passed, failed or excluded."),
    "yes and no": ({"passed": "false"},
                   "contradictory_verdict: outcome is passed, but passed is false."),
    "no and yes": ({"outcome": "'failed'", "passed": "true"},
                   "contradictory_verdict: outcome is failed, but passed is true."),
    "score in words": ({"score": "'high'"}, "wrong_type: score is high, which is not a number."),
    "score nan": ({"score": "'nan'"}, "not_finite: score is nan, but must be a finite number."),
    "score inf": ({"score": "'-inf'"}, "not_finite: score is -inf, but must be a finite number."),
    "back in time": ({"duration_s": "'-1.5'"},
                     "out_of_range: duration_s is -1.5, but can not be negative."),
    "free": ({"cost_usd": "'free'"}, "wrong_type: cost_usd is free, which is not a number."),
    "tokens": ({"input_tokens": "'-1'"},
               "out_of_range: input_tokens is -1, but can not be negative."),
    "half a token": ({"output_tokens": "'2.5'"},
                     "wrong_type: output_tokens is 2.5, which is not a whole number."),
    "half a seed": ({"seed": "'0.5'"}, "wrong_type: seed is 0.5, which is not a whole number."),
    "yesterday": ({"started_at": "'yesterday'"},
                  "wrong_type: started_at is yesterday, which is not a time."),
}  # fmt: skip
NOTHING_WRONG: Final = {
    "run_id": "'r'", "attempt": "'7'", "outcome": "'passed'", "passed": "null",
    "score": "null", "duration_s": "null", "cost_usd": "null", "input_tokens": "null",
    "output_tokens": "null", "seed": "null", "started_at": "null",
}  # fmt: skip


@pytest.fixture(scope="module")
def broken(
    make_project: Callable[[], Project], consumer_dbt: Dbt, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    made = type(make_project())(tmp_path_factory.mktemp("broken"), consumer_dbt)
    cases = {**{name: row for name, (row, _) in BROKEN.items()}, "good": {}}
    rows = [
        f"select '{name}' as task_id, "
        + ", ".join(f"{value} as {column}" for column, value in {**NOTHING_WRONG, **row}.items())
        for name, row in cases.items()
    ]
    made.execute("create schema evals")
    build(made, " union all ".join(rows))
    return made


@pytest.mark.parametrize("task", BROKEN)
def test_a_row_that_breaks_the_contract_is_refused(broken: Project, task: str) -> None:
    rows = broken.query("select reason, reason_code from passk_rejected_attempts where task_id = ?", task)  # fmt: skip
    reason = BROKEN[task][1]
    assert rows == [(reason, reason.split(":")[0])]


def test_the_other_rows_are_kept(broken: Project) -> None:
    assert broken.query("select task_id, attempt from passk_attempts") == [("good", 7)]
    assert broken.query("select sum(n) from passk_runs") == [(1,)]


def test_a_row_without_a_task_is_refused(consumer: Project) -> None:
    row = "select 'r' as run_id, {} as task_id, 1 as attempt, true as passed"
    build(consumer, " union all ".join(row.format(task) for task in ("''", "null", "'t'")))
    rows = consumer.query("select reason from passk_rejected_attempts")
    assert rows == [(f"missing_field: task_id {MISSING}",)] * 2


def test_doubles_that_are_no_numbers_of_attempts(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, i as attempt, true as passed from (values"
        " (1.0::double), (2.5), ('nan'), ('inf'), (1e300)) x(i)",
    )
    rows = consumer.query("select reason from passk_rejected_attempts order by 1")
    assert [reason for (reason,) in rows] == [
        f"wrong_type: attempt is {shown}, {COUNT}" for shown in ("1e+300", "2.5", "inf", "nan")
    ]
    assert consumer.query("select attempt from passk_attempts") == [(1,)]


@pytest.mark.parametrize(
    ("values", "tags"),
    [
        ("""(1, '{"a": "x"}'), (2, null), (3, '{}')""", [{"a": "x"}, None, {}]),
        ("(1, map {'a': 1}), (2, null)", [{"a": "1"}, None]),
        ("(1, {'a': 'x', 'b': 2})", [{"a": "x", "b": "2"}]),
        ("""(1, '{"a": "x"}'::json)""", [{"a": "x"}]),
    ],
)
def test_tags_of_every_form(
    consumer: Project, values: str, tags: list[dict[str, str] | None]
) -> None:
    log = words("tags", values).replace("as tags", "as tags, true as passed")
    build(consumer, log, {"passk_slices": ["a"]})
    rows = consumer.query("select tags from passk_attempts order by attempt")
    assert [found for (found,) in rows] == tags


def test_tags_that_are_not_json_spoil_their_row_only(consumer: Project) -> None:
    values = """(1, '{"a": "x"}'), (2, 'hard, easy')"""
    build(consumer, words("tags", values).replace("as tags", "as tags, true as passed"))
    assert consumer.query("select attempt from passk_attempts") == [(1,)]
    assert consumer.query("select attempt, reason_code from passk_rejected_attempts") == [
        (2, "wrong_type")
    ]


def test_copies_in_anyones_table(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, t as task_id, i as attempt, p as passed from (values ('same', 1, true),"
        " ('same', 1, true), ('differ', 1, true), ('differ', 1, false), ('differ', 2, true)) x(t, i, p)",
    )
    assert consumer.query("select task_id, n, c from passk_tasks order by 1") == [
        ("differ", 1, 1),
        ("same", 1, 1),
    ]
    rejected = "select task_id, reason_code, count(*) from passk_rejected_attempts group by all"
    assert sorted(consumer.query(rejected)) == [
        ("differ", "conflicting_duplicate", 2),
        ("same", "duplicate", 1),
    ]


def test_columns_that_have_the_names_of_the_models_own(consumer: Project) -> None:
    build(
        consumer,
        "select 'r' as run_id, 't' as task_id, 1 as attempt, true as passed, 1 as told, 2 as raw,"
        " 3 as reject_reason, 4 as slice_1, 5 as score_told, 6 as attempt_told, 7 as slice_name",
        {"passk_slices": ["a"]},
    )
    assert consumer.query("select n, c from passk_runs") == [(1, 1)]


BY_TIME: Final = {"passk_incremental_by_loaded_at": True}
LOG: Final = (
    "select 'r' as run_id, 't' as task_id, 1 as attempt, true as passed,"
    " timestamp '2026-01-01' as loaded_at"
)


@pytest.mark.parametrize("variables", [{}, BY_TIME])
def test_new_rows_of_anyones_table_are_seen(consumer: Project, variables: dict[str, Any]) -> None:
    build(consumer, LOG, variables)
    consumer.execute(
        "insert into evals.log values ('r', 't', 2, false, '2026-01-01'),"
        " ('other', 't', 1, true, '2026-01-02')"
    )
    consumer.run({**MODEL, **variables})
    rows = consumer.query("select run_id, n, c from passk_runs order by 1")
    assert rows == [("other", 1, 1), ("r", 2, 1)]


def test_rows_gone_from_anyones_table_are_gone(consumer: Project) -> None:
    build(consumer, f"{LOG} union all select 'other', 't', 1, true, timestamp '2026-01-01'")
    consumer.execute("delete from evals.log where run_id = 'r'")
    consumer.run(MODEL)
    assert consumer.query("select run_id from passk_runs") == [("other",)]
    assert consumer.query("select distinct run_id from passk_suite_metrics") == [("other",)]


def test_by_loaded_at_a_table_must_have_it(consumer: Project) -> None:
    """Else nothing would ever be new."""
    consumer.execute(f"create table evals.log as select * exclude (loaded_at) from ({LOG})")
    message = refused(consumer, {**MODEL, **BY_TIME})
    assert message.startswith('passk: "passk"."main"."my_attempts" has no column loaded_at, by')


def test_by_loaded_at_a_row_without_it_is_seen(consumer: Project) -> None:
    build(consumer, LOG, BY_TIME)
    consumer.execute("insert into evals.log values ('other', 't', 1, true, null)")
    consumer.run({**MODEL, **BY_TIME})
    assert consumer.query("select run_id from passk_runs order by 1") == [("other",), ("r",)]


def test_from_a_demo_to_a_landed_log_nothing_of_the_demo_is_left(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    """Both targets may be pointed at one database."""
    project.run(command="seed", target="demo", select=["passk_demo_attempts"])
    project.run(target="demo")
    demo = project.query("select count(*) from passk_runs")[0][0]
    assert demo >= 3
    project.land(attempts("mine", "task", "PFP"))
    project.run()
    assert project.query("select run_id from passk_runs") == [("mine",)]
    assert project.query("select distinct run_id from passk_suite_metrics") == [("mine",)]
    assert project.query("select distinct run_id from passk_tasks") == [("mine",)]


# ---------------------------------------------------------------------------------------------
# what was set is told


def test_the_vars_of_a_build_are_in_the_database(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    from passk_py.project import default_variables

    mine = {
        "passk_ks": [1, 2],
        "passk_deployment_k": 2,
        "passk_consistent_threshold": 0.9,
        "passk_slices": ["it's", {"name": "été", "expression": "coalesce(agent, 'none')"}],
        "passk_outcome_policy": {"it's late": "failed"},
    }
    project.land(attempts("run", "task", "PFP"))
    project.run(mine)
    rows = project.query("select var_name, var_value from main_passk_internal.int_passk__settings")
    assert {name: json.loads(value) for name, value in rows} == default_variables() | mine

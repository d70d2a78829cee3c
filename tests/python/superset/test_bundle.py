"""``passk superset``: what the bundle asks is there, and can't be aggregated wrongly."""

from __future__ import annotations

import json
import re
import zipfile
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import duckdb
import polars as pl
import pytest
import sqlglot
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner

import passk_py as pk
from passk_py.cli import cli
from passk_py.common.errors import PasskError
from passk_py.ingest.landing import load_labels, load_verdicts
from passk_py.reports.superset.bundle import bundle_files
from passk_py.reports.superset.dashboards import DASHBOARDS, Dashboard
from passk_py.reports.superset.datasets import DATASETS, Dataset
from passk_py.warehouse.descriptions import described_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Project

    from passk_py.reports.superset.superset_charts import Chart

URI: Final = "duckdb:////srv/bi/passk.duckdb"
CHARTS: Final = [
    pytest.param(dashboard, chart, id=f"{dashboard.name}: {chart.name}")
    for dashboard in DASHBOARDS
    for row in dashboard.rows
    for chart in row
]
datasets = pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.name)
dashboards = pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard.name)
charts = pytest.mark.parametrize(("dashboard", "chart"), CHARTS)


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    """Three runs with costs, scores, lengths, labels and verdicts; one agent's times are not known."""
    rows: list[Any] = []
    for place, (run, agent) in enumerate({"old": "bot", "new": "bot", "lone": "other"}.items()):
        for task, letters in {"a": "PPPP", "b": "PFPF", "c": "FFFF", "d": "PFXF"}.items():
            rows += attempts(
                run, task, letters[place:] + letters[:place], suite="desk", agent=agent,
                started_at=None if agent == "other" else datetime(2026, 1, 3 - place)
                + timedelta(minutes=ord(task)),
                cost_usd=0.25 * (place + 1), duration_s=3.0 * ord(task),
                tags={"minutes": str(ord(task) - 90)},
            )  # fmt: skip
    for row in rows:
        row["score"] = {"passed": 0.8, "failed": 0.1}.get(row["outcome"])
    made = make_project()
    made.land(rows)
    labels = made.folder / "labels.parquet"
    named = ("run_id", "suite", "task_id", "attempt", "outcome")
    pl.DataFrame([{name: row[name] for name in named} for row in rows]).filter(
        pl.col("outcome") != "excluded"
    ).rename({"outcome": "verdict"}).write_parquet(labels)
    load_labels(labels, database=made.database)
    verdicts = made.folder / "verdicts.parquet"
    pl.read_parquet(labels).with_columns(judge=pl.lit("model-b")).write_parquet(verdicts)
    load_verdicts(verdicts, database=made.database)
    made.run(
        {
            "passk_ks": [1, 2, 3, 9],
            "passk_deployment_k": 2,
            "passk_difficulty": "minutes",
            "passk_m_of_k": [{"m": 2, "k": 3}],
            "passk_score_thresholds": [0.5, 0.9],
            "passk_gates": [
                {"name": "works", "type": "threshold", "metric": "pass_hat_k", "k": 2, "min": 0.5}
            ],
        }
    )
    return made


def datasets_of(schema: str | None) -> dict[str, dict[str, Any]]:
    files = bundle_files(URI, schema=schema, name="passk")
    return {
        content["table_name"].removeprefix("passk: "): content
        for path, content in files.items()
        if path.startswith("datasets/")
    }


def relation(dataset: Dataset, schema: str = "main") -> str:
    return f"({datasets_of(schema)[dataset.name]['sql']})"


@datasets
def test_a_dataset_has_the_columns_that_it_declares(dataset: Dataset, built: Project) -> None:
    declared = {
        column["column_name"]: column for column in datasets_of("main")[dataset.name]["columns"]
    }
    found = dict(
        row[:2] for row in built.query(f"describe select * from {relation(dataset)} as asked")
    )
    assert set(declared) == set(found)
    for name, data_type in found.items():
        assert declared[name]["is_dttm"] == data_type.startswith("TIMESTAMP"), name
        # A number with fractions is no group.
        assert declared[name]["groupby"] == (data_type != "DOUBLE"), name
        assert declared[name]["description"].strip(), name


@datasets
def test_a_dataset_has_the_rows_of_its_table(dataset: Dataset, built: Project) -> None:
    columns = [
        column
        for column in described_table(dataset.table).columns
        if column not in dataset.left_out
    ]
    only = " where slice_name = 'all'" if dataset.name == "points" else ""
    asked = f"select {', '.join(columns)} from {relation(dataset)} as asked"
    held = f"select {', '.join(columns)} from {dataset.table}{only}"
    if dataset.name in {"graders", "judges"}:
        # A row for each run of the suite, and no other column differs between them.
        (runs,) = built.query("select count(*) from passk_runs")[0]
        held = f"select held.* from ({held}) as held cross join range({runs})"
    if dataset.name == "pairs":
        # A row for each baseline of a run, and one without.
        held = (
            f"select held.* from ({held}) as held inner join (select suite, run_id from passk_runs "
            "union all (select suite, candidate_run_id from passk_comparisons "
            "group by suite, candidate_run_id, baseline_run_id)) as pairs using (suite, run_id)"
        )
    assert built.query(f"select count(*) from ({held}) as held")[0][0] > 0
    for one, other in ((asked, held), (held, asked)):
        assert built.query(f"({one}) except all ({other})") == []


# docs/superset.md has a second rule for gates and pairs. The agent "other" has one run: no trend and no pair.
@pytest.mark.parametrize(
    "dataset",
    [
        dataset
        for dataset in DATASETS
        if dataset.name not in {"gates", "trends", "comparisons", "task comparisons"}
    ],
    ids=lambda dataset: dataset.name,
)
def test_a_dataset_names_no_run_of_another_agent(dataset: Dataset, built: Project) -> None:
    """A rule of rows leaves the rows of one agent, and texts about others would be in them."""
    found = built.query(
        f"select asked::varchar from {relation(dataset)} as asked where agent = 'other'"
    )
    assert found
    for (row,) in found:
        assert not re.search(r"\b(old|new|bot)\b", row)


@datasets
def test_a_dataset_is_what_every_engine_understands(dataset: Dataset) -> None:
    sql = datasets_of("reliability")[dataset.name]["sql"]
    if sql:
        assert "{" not in sql
        for dialect in ("duckdb", "postgres", "spark", "snowflake", "bigquery"):
            (parsed,) = sqlglot.parse(sql, read=dialect, error_level=sqlglot.ErrorLevel.RAISE)
            assert parsed is not None
            tables = {f"{table.db}.{table.name}" for table in parsed.find_all(sqlglot.exp.Table)}
            assert f"reliability.{dataset.table}" in tables
            assert all(table.startswith("reliability.passk_") for table in tables)


def test_without_a_schema_a_table_is_named_alone() -> None:
    found = datasets_of(None)
    assert {content["schema"] for content in found.values()} == {None}
    assert " from passk_suite_metrics as" in " ".join(found["points"]["sql"].split())


@pytest.mark.long
@datasets
def test_a_metric_of_pass_at_k_is_null_for_more_than_one_row(
    dataset: Dataset, built: Project
) -> None:
    rows = built.query(f"select count(*) from {relation(dataset)} as asked")[0][0]
    for metric in dataset.metrics:
        whole, *_ = built.query(f"select {metric.expression} from {relation(dataset)} as asked")[0]
        if metric.expression.startswith("case when count(*) = 1 then"):
            assert rows != 1
            assert whole is None, metric.name
        elif metric.expression.startswith(("count", "sum")):
            assert not metric.number_format.endswith("%")
            assert whole is not None, metric.name
            assert "count" in metric.expression or not re.search(
                "pass_|delta|rate|difference|share|cost|slope", metric.expression
            )
        else:
            assert metric.name.endswith(" first"), metric.name


def test_a_metric_is_the_column_of_the_only_row(built: Project) -> None:
    (points,) = (dataset for dataset in DATASETS if dataset.name == "points")
    for metric in points.metrics:
        match = re.fullmatch(r"case when count\(\*\) = 1 then max\((\w+)\) end", metric.expression)
        if match is None:
            continue
        asked = built.query(
            f"select run_id, k, {metric.expression} from {relation(points)} as asked "
            "group by run_id, k order by run_id, k"
        )
        held = built.query(
            f"select run_id, k, {match[1]} from passk_suite_metrics where slice_name = 'all' "
            "order by run_id, k"
        )
        assert asked == held
        # Four tasks are too few for limits of delta_k.
        known = any(value is not None for *_, value in asked)
        assert known != metric.name.startswith("delta_k "), metric.name


def test_runs_have_an_age(built: Project) -> None:
    (points,) = (dataset for dataset in DATASETS if dataset.name == "points")
    ages = built.query(
        f"select distinct run_id, age, age_in_suite from {relation(points)} as asked order by 1"
    )
    # The times of "bot" say that "old" is the newer one. "lone" has none: it was loaded since 2026.
    loaded, newest = built.query("select max(loaded_at), max(started_at) from passk_runs")[0]
    lone = 1 if loaded > newest else 3
    assert ages == [
        ("lone", 1, lone),
        ("new", 2, 3 if lone == 1 else 2),
        ("old", 1, 2 if lone == 1 else 1),
    ]
    marked = built.query(
        f"select distinct k from {relation(points)} as asked where is_deployment_k = 1"
    )
    assert marked == [(2,)]


@pytest.mark.long
def test_long_names_are_short_on_axes_and_stay_apart(
    make_project: Callable[[], Project], attempts: Callable[..., list[Any]]
) -> None:
    long = [f"{'the same beginning ' * 3}{middle}{' and the same end' * 3}" for middle in "abc"]
    rows = [
        row
        for run in long
        for task in (*long, "short")
        for row in attempts(run, task, "PFP", suite="desk")
    ]
    made = make_project()
    made.land(rows)
    made.run({"passk_ks": [1, 2], "passk_deployment_k": 2})
    (tasks,) = (dataset for dataset in DATASETS if dataset.name == "tasks")
    named = made.query(f"select run_id, run, task_id, task from {relation(tasks)} as asked")
    runs = {(run_id, run) for run_id, run, _, _ in named}
    of_tasks = {(task_id, task) for _, _, task_id, task in named}
    assert len(runs) == len({run for _, run in runs}) == 3
    assert len(of_tasks) == len({task for _, task in of_tasks}) == 4
    assert ("short", "short") in of_tasks
    for name, label in runs | of_tasks:
        if name != "short":
            assert re.fullmatch(re.escape(name[:11]) + "…" + re.escape(name[-11:]) + r" #\d", label)


def asked(chart: Chart) -> tuple[set[str], list[Any]]:
    """Give the columns that a chart names, and its metrics."""
    settings = chart.settings
    columns: set[str] = {
        condition["subject"]
        for name in ("adhoc_filters", "adhoc_filters_b")
        for condition in settings.get(name, ())
    }
    for name in ("x_axis", "groupby", "groupby_b", "all_columns", "x_axis_sort"):
        value = settings.get(name, [])
        columns |= {value} if isinstance(value, str) else set(value)
    columns |= {json.loads(order)[0] for order in settings.get("order_by_cols", [])}
    columns |= set(settings.get("column_config", {}))
    metrics = [*settings.get("metrics", ()), *settings.get("metrics_b", ())]
    metrics += [
        settings[name]
        for name in ("metric", "timeseries_limit_metric", "timeseries_limit_metric_b")
        if name in settings
    ]
    return columns, metrics


@charts
def test_a_chart_asks_what_its_dataset_has(dashboard: Dashboard, chart: Chart) -> None:
    del dashboard
    (dataset,) = (found for found in DATASETS if found.name == chart.dataset)
    columns, metrics = asked(chart)
    has = {column["column_name"] for column in datasets_of("main")[chart.dataset]["columns"]}
    assert columns <= has
    # Superset would sort by the metric, and so put the rows of a table into groups.
    by = {json.loads(order)[0] for order in chart.settings.get("order_by_cols", [])}
    assert not by & {metric.name for metric in dataset.metrics}
    # A name: never a sum or a mean that is made on the chart. Only the picture of several runs has
    # metrics of its own, which are as null for several rows.
    own = [metric["sqlExpression"] for metric in metrics if isinstance(metric, dict)]
    assert bool(own) == (
        chart.name == "pass@k and pass^k over k" and chart.settings["groupby"] == ["run"]
    )
    assert all(sql.startswith("case when count(*) = 1 then max(pass_") for sql in own)
    names = {metric for metric in metrics if isinstance(metric, str)}
    assert names <= {metric.name for metric in dataset.metrics}


def test_the_picture_of_several_runs_takes_the_newest() -> None:
    (chart,) = (
        chart
        for dashboard in DASHBOARDS
        for row in dashboard.rows
        for chart in row
        if chart.settings.get("groupby") == ["run"] and "metrics_b" in chart.settings
    )
    for metrics, column in (("metrics", "pass_at_k"), ("metrics_b", "pass_hat_k")):
        (metric,) = chart.settings[metrics]
        # The value is that of the only row; the oldest run has a single k, and the highest value.
        points = (
            "(values (1, 1, 2e-1), (1, 2, 1e-1), (2, 1, 9e-1), (2, 2, 8e-1), (12, 1, 3e-1), "
            f"(12, 2, 3e-1), (40, 1, 1e0)) as points (age_in_suite, k, {column})"
        )
        sql = metric["sqlExpression"]
        ages = f"select age_in_suite from {points} group by age_in_suite order by {sql} desc"
        assert duckdb.sql(ages).fetchall() == [(1,), (2,), (12,), (40,)]
        values = f"select {column}, {sql} from {points} group by age_in_suite, k, {column}"
        assert all(stored == shown for stored, shown in duckdb.sql(values).fetchall())


def rows_of(chart: Chart, built: Project, chosen: str) -> list[dict[str, Any]]:
    """Ask what a table asks, with a choice of the filters."""
    (dataset,) = (found for found in DATASETS if found.name == chart.dataset)
    conditions = [chosen]
    for asked in chart.settings["adhoc_filters"]:
        value = asked["comparator"]
        quoted = f"'{value}'" if isinstance(value, str) else "" if value is None else value
        conditions.append(f"{asked['subject']} {asked['operator']} {quoted}")
    return built.records(
        f"select {', '.join(chart.settings['all_columns'])} from {relation(dataset)} as asked "
        f"where {' and '.join(conditions)}"
    )


def chart_named(name: str) -> Chart:
    (found,) = (
        chart
        for dashboard in DASHBOARDS
        for row in dashboard.rows
        for chart in row
        if chart.name == name
    )
    return found


def test_the_shares_of_the_causes_add_up_to_one(built: Project) -> None:
    for run in ("old", "new", "lone"):
        for k in (1, 2, 3):
            chosen = f"run_id = '{run}' and suite = 'desk' and k = {k}"
            rows = rows_of(chart_named("Where reliability is lost"), built, chosen)
            assert sum(row["lost_share"] for row in rows) == pytest.approx(1, abs=1e-12)
            assert {row["k"] for row in rows} == {k}
            ((hat,),) = built.query(
                f"select pass_hat_k from passk_suite_metrics where slice_name = 'all' and {chosen}"
            )
            assert sum(row["lost"] for row in rows) == pytest.approx(1 - hat, abs=1e-12)


@pytest.mark.parametrize("name", ["The order of runs by pass^k", "From run to run"])
def test_a_run_has_one_row_at_one_k(name: str, built: Project) -> None:
    rows = rows_of(chart_named(name), built, "suite = 'desk' and k = 2")
    key = "run_id" if "order" in name else "agent"
    assert sorted(row[key] for row in rows) == (
        ["lone", "new", "old"] if key == "run_id" else ["bot"]
    )
    if key == "run_id":
        held = built.query(
            "select run_id, estimate, lower, upper, rank_lower, rank_upper, may_be_best, "
            "estimate_of_top from passk_rankings where k = 2 and metric = 'pass_hat_k'"
        )
        assert sorted(
            (
                *(row[column] for column in ("run_id", "estimate", "lower", "upper")),
                *(row[column] for column in ("rank_lower", "rank_upper")),
                {"yes": True, "no": False}[row["best"]],
                row["estimate_of_top"],
            )
            for row in rows
        ) == sorted(held)


@dashboards
def test_a_filter_reaches_the_charts(dashboard: Dashboard) -> None:
    on_it = {chart.name: chart for row in dashboard.rows for chart in row}
    assert len(on_it) == sum(map(len, dashboard.rows))
    assert len(dashboard.rows) == len(dashboard.heights)
    found = datasets_of("main")
    for choice in dashboard.filters:
        (dataset,) = (one for one in DATASETS if one.name == choice.dataset)
        names = {column["column_name"] for column in found[choice.dataset]["columns"]}
        assert choice.column in names
        assert not choice.first or choice.first in {metric.name for metric in dataset.metrics}
        assert set(choice.but_not) <= set(on_it)
        assert set(choice.within) <= {other.name for other in dashboard.filters}
        # A chart whose rows have the column is filtered by it, or is said to be left alone.
        for chart in on_it.values():
            has = {column["column_name"] for column in found[chart.dataset]["columns"]}
            if choice.column not in has:
                assert chart.name not in choice.but_not or choice.name in {"k", "Task"}
            elif chart.name in choice.but_not:
                assert re.search(rf"Not filtered by .*\b{choice.name.lower()}\b", chart.text), (
                    chart.name
                )


def test_names_stay_from_one_bundle_to_the_next() -> None:
    def ids(name: str) -> set[str]:
        text = json.dumps(bundle_files(URI, schema=None, name=name))
        return set(re.findall(r'"(?:\w+_)?uuid": "([0-9a-f-]{36})"', text))

    assert ids("passk") == ids("passk")
    assert len(ids("passk")) == 1 + len(DATASETS) + len(CHARTS) + len(DASHBOARDS)
    assert not ids("passk") & ids("passk on Postgres")


def test_duckdb_is_opened_for_reading_only() -> None:
    databases = [
        bundle_files(uri, schema=None, name="passk")["databases/passk.yaml"]
        for uri in (URI, "postgresql://reader@db/evals")
    ]
    assert databases[0]["extra"]["engine_params"] == {"connect_args": {"read_only": True}}
    assert "engine_params" not in databases[1]["extra"]
    for database in databases:
        assert not database["allow_dml"]


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "superset"
    files = pk.superset_bundle(folder, uri=URI)
    stale = folder / "charts" / "of_an_older_version.yaml"
    stale.write_text("x", encoding="utf-8")
    assert pk.superset_bundle(folder, uri=URI) == files
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.relative_to(folder).as_posix() for path in written) == files
    assert [path.name for path in tmp_path.iterdir()] == ["superset"]
    for path in written:
        assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


@pytest.mark.parametrize("there", ["a file", "a folder with other things"])
def test_something_else_is_left_alone(there: str, tmp_path: Path) -> None:
    target = tmp_path / "mine"
    if there == "a file":
        target.write_text("mine", encoding="utf-8")
    else:
        target.mkdir()
        (target / "metadata.yaml").write_text("mine", encoding="utf-8")
        (target / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(PasskError, match="is not a Superset bundle"):
        pk.superset_bundle(target, uri=URI)
    (left, *_) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left.read_text(encoding="utf-8") == "mine"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "superset").mkdir()
    assert "metadata.yaml" in pk.superset_bundle(tmp_path / "superset", uri=URI)


def test_a_zip_file_has_one_folder(tmp_path: Path) -> None:
    files = pk.superset_bundle(tmp_path / "one.zip", uri=URI)
    pk.superset_bundle(tmp_path / "two.ZIP", uri=URI)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.ZIP").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == [f"passk/{file}" for file in files]
        database = yaml.safe_load(archive.read("passk/databases/passk.yaml"))
    assert database["sqlalchemy_uri"] == URI


def call(*words: object) -> Any:
    return CliRunner().invoke(cli, ["superset", *map(str, words)])


def test_the_command_takes_the_published_copy(tmp_path: Path) -> None:
    copy = tmp_path / "passk.duckdb"
    copy.touch()
    said = call("-o", tmp_path / "superset", "--copy", copy)
    assert said.exit_code == 0, said.output
    charts = len(CHARTS)
    assert f"{len(DASHBOARDS)} dashboards, {charts} charts, {len(DATASETS)} datasets" in said.stdout
    assert f"superset import-directory --overwrite {tmp_path / 'superset'}" in said.stdout
    written = (tmp_path / "superset" / "databases" / "passk.yaml").read_text(encoding="utf-8")
    assert f"sqlalchemy_uri: duckdb:///{copy}\n" in written


def test_the_command_says_where_a_password_went(tmp_path: Path) -> None:
    said = call("-o", tmp_path / "a.zip", "--uri", "postgresql://reader:secret@db/evals")
    assert said.exit_code == 0
    assert "contains the password" in said.stderr
    assert "secret" not in said.output
    as_json = call(
        "-o", tmp_path / "b.zip", "--uri", "postgresql://reader:secret@db/evals", "--json"
    )
    assert json.loads(as_json.stdout)["uri"] == "postgresql://reader:***@db/evals"
    quiet = call("-o", tmp_path / "c.zip", "--uri", "postgresql://reader@db/evals")
    assert quiet.stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give either --copy or --uri."),
        (("--copy", "x.duckdb", "--uri", URI), "Give either --copy or --uri."),
        (("--uri", "/srv/bi/passk.duckdb"), "is not an address"),
        (("--copy", "nowhere.duckdb"), "There is no file nowhere.duckdb."),
    ],
)
def test_the_command_says_what_is_wrong(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    said = call("-o", tmp_path / "superset", *words)
    assert said.exit_code == 2
    assert message in said.stderr
    assert not (tmp_path / "superset").exists()

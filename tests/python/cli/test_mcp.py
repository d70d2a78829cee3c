"""``passk mcp``, asked over stdio by the SDK's own client: answers are those of the other commands."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

from passk_py.warehouse.descriptions import described_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Demo, Said

    Passk = Callable[..., Said]

ROOT: Final = Path(__file__).resolve().parents[3]
RUN: Final = "walker-2026-03"
PAIR: Final = ("scout-2026-02", "scout-2026-03")


class Asked(Exception):  # noqa: N818 - the answer of a tool that can not answer
    """An answer that is an error."""


@contextmanager
def serving(database: Path) -> Iterator[Callable[..., Any]]:
    """Start the command, and give a function that calls a tool."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "passk_py", "mcp", "--database", str(database)],
        env={"PYTHONPATH": str(ROOT)},
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):

        def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            done = portal.call(client.call_tool, tool, arguments)
            if done.is_error:
                raise Asked(done.content[0].text)
            # Clients that know no structured results read the same as text.
            assert json.loads(done.content[0].text) == done.structured_content
            return done.structured_content

        ask.tools = portal.call(client.list_tools).tools  # type: ignore[attr-defined]
        yield ask


@pytest.fixture(scope="module")
def ask(published_demo: Path) -> Iterator[Callable[..., Any]]:
    """Ask about the published copy of the demo."""
    copy = published_demo / "bi" / "passk.duckdb"
    before = hashlib.sha256(copy.read_bytes()).digest()
    with serving(copy) as asked:
        yield asked
    assert hashlib.sha256(copy.read_bytes()).digest() == before
    assert [path.name for path in copy.parent.glob("passk.duckdb*")] == ["passk.duckdb"]


def test_tools_only_read_and_say_what_they_take(ask: Any) -> None:
    assert [tool.name for tool in ask.tools] == [
        *("runs", "answer", "metrics", "tasks", "comparison", "gates", "diagnostics"),
        *("tables", "rows"),
    ]
    for tool in ask.tools:
        assert tool.annotations.read_only_hint
        assert tool.description
        for name, about in tool.input_schema["properties"].items():
            assert about.get("description"), f"{tool.name} {name}"
            if name == "limit":
                assert about["maximum"] == 200


def test_runs_are_those_of_show(ask: Any, passk: Passk, demo: Demo) -> None:
    shown = passk("show", "passk_runs", "--database", demo.database, "--json").json["rows"]
    found = ask("runs")
    assert found["stale"] is None
    assert found["total_rows"] == len(shown) == 4
    for row, expected in zip(found["rows"], shown, strict=True):
        assert row.items() <= expected.items()


def test_the_answer_is_that_of_show(ask: Any, passk: Passk, demo: Demo) -> None:
    found = ask("answer", suite="puzzles")
    (suite,) = passk("show", "--database", demo.database, "--json").json["suites"]
    assert found["verdicts"] == suite["verdicts"]
    said = passk("show", "--database", demo.database).out
    # Without the bars, which say nothing to a program.
    assert "pass^4 = 56.3% (95% interval 41.8 to 70.3)" in found["text"]
    assert (
        found["text"].partition("Use walker")[2]
        == said.partition("Use walker")[2].partition("\n\nDatabase")[0]
    )
    one = ask("answer", suite="puzzles", runs=[RUN])
    assert [verdict["runs"] for verdict in one["verdicts"]] == [[RUN]]


def test_metrics_have_their_limits(ask: Any, passk: Passk, demo: Demo) -> None:
    found = ask("metrics", run_id=RUN)
    shown = passk(
        "show", "passk_suite_metrics", "--database", demo.database, "--run", RUN, "--json"
    ).json["rows"]
    whole = [row for row in shown if row["slice_name"] == "all"]
    assert found["total_rows"] == len(found["rows"]) == len(whole)
    for row, expected in zip(found["rows"], whole, strict=True):
        assert row.items() <= expected.items()
    # n is 14 at least, so a null has its reason.
    (null,) = ask("metrics", run_id=RUN, k=16)["rows"]
    assert null["pass_hat_k"] is None
    assert null["null_reason"]


def test_tasks_come_by_class_and_the_worst_first(ask: Any) -> None:
    found = ask("tasks", run_id=RUN, limit=200)
    rates = [row["pass_rate"] for row in found["rows"]]
    assert rates == sorted(rates)
    counted = {one["task_class"]: one["tasks"] for one in found["classes"]}
    assert sum(counted.values()) == found["total_rows"] == len(rates) == 48
    flaky = ask("tasks", run_id=RUN, task_class="flaky", limit=5)
    assert flaky["total_rows"] == counted["flaky"]
    assert len(flaky["rows"]) == 5
    assert all(0 < row["c"] < row["n"] for row in flaky["rows"])


def test_the_comparison_is_that_of_compare(ask: Any, passk: Passk, demo: Demo) -> None:
    found = ask("comparison", baseline=PAIR[0], candidate=PAIR[1], k=4, limit=3)
    shown = passk("compare", *PAIR, "--k", "4", "--database", demo.database, "--json").json
    for row, expected in zip(found["rows"], shown["comparisons"], strict=True):
        assert row["difference"] == expected["difference"]
        assert row["verdict"] == expected["verdict"]
    assert len(found["tasks"]) == 3
    assert found["total_tasks"] == 48


def test_gates_are_those_of_gate(ask: Any, passk: Passk, demo: Demo) -> None:
    shown = passk("gate", "--database", demo.database, "--json").json["gates"]
    found = ask("gates")
    told = ("gate", "run_id", "result", "reason", "to_settle")
    assert [[row[name] for name in told] for row in found["rows"]] == [
        [row[name] for name in told] for row in shown
    ]
    assert {row["run_id"] for row in ask("gates", run_id=RUN)["rows"]} == {RUN}


def test_diagnostics_are_those_of_diagnose(ask: Any, passk: Passk, demo: Demo) -> None:
    (shown,) = passk("diagnose", RUN, "--database", demo.database, "--json").json["runs"]
    found = ask("diagnostics", run_id=RUN)
    assert {row["diagnostic"]: row["finding"] for row in found["rows"]} == {
        row["diagnostic"]: row["finding"] for row in shown["diagnostics"]
    }


def test_every_table_can_be_described_and_read(ask: Any) -> None:
    names = [one["table"] for one in ask("tables")["tables"]]
    assert len(names) > 20
    for name in names:
        described = [one["column"] for one in ask("tables", table=name)["columns"]]
        found = ask("rows", table=name, limit=2)
        assert len(found["rows"]) == min(2, found["total_rows"])
        for row in found["rows"]:
            assert list(row) == described


def test_pages_of_rows_make_the_table_and_filters_hold(ask: Any) -> None:
    pages = [
        ask("rows", table="passk_attempts", run_id=RUN, limit=200, offset=offset)["rows"]
        for offset in range(0, 1000, 200)
    ]
    keys = [(row["task_id"], row["attempt"]) for page in pages for row in page]
    assert len(keys) == len(set(keys)) == 812
    failed = ask(
        "rows", table="passk_attempts", run_id=RUN, columns=["outcome", "attempt"],
        equals={"outcome": "failed", "attempt": 2},
    )  # fmt: skip
    kept = [
        row for page in pages for row in page if (row["outcome"], row["attempt"]) == ("failed", 2)
    ]
    assert failed["total_rows"] == len(kept) > 0
    assert failed["rows"] == [{"outcome": "failed", "attempt": 2}] * len(kept)
    unscored = ask("rows", table="passk_attempts", run_id=RUN, equals={"score": None}, limit=1)
    assert unscored["total_rows"] == sum(row["score"] is None for page in pages for row in page)
    advised = ask("rows", table="passk_gates", equals={"is_advisory": False})
    assert advised["total_rows"] == len(ask("gates")["rows"])


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("rows", {"table": "landing.attempts"}, "no public table 'landing.attempts'"),
        ("rows", {"table": "int_passk__settings"}, "no public table"),
        ("rows", {"table": "passk_runs; select 1"}, "no public table"),
        ("rows", {"table": "passk_runs", "columns": ["run_id, 1"]}, "has no column run_id, 1"),
        ("rows", {"table": "passk_runs", "equals": {"1=1 or run_id": "x"}}, "has no column"),
        ("rows", {"table": "passk_runs", "columns": ["runid"]}, "Did you mean run_id?"),
        ("rows", {"table": "passk_runs", "limit": 201}, "less than or equal to 200"),
        ("rows", {"table": "passk_runs", "limit": 0}, "greater than or equal to 1"),
        ("rows", {"table": "passk_runs", "k": 4}, "has no k to filter by"),
        ("metrics", {"run_id": "walker"}, "no run walker"),
        ("metrics", {"run_id": RUN, "k": 7}, "no k 7"),
        ("tasks", {"run_id": RUN, "task_class": "odd"}, "consistent"),
        ("answer", {"suite": "puzzle"}, "no suite puzzle"),
        ("comparison", {"baseline": RUN, "candidate": RUN}, "can't be compared with itself"),
    ],
)
def test_a_wrong_question_says_what_is_wrong(
    ask: Any, tool: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(Asked, match=says.replace(".", r"\.").replace("?", r"\?")):
        ask(tool, **arguments)


def test_values_are_no_sql(ask: Any) -> None:
    everything = "x' or '1' = '1"
    assert ask("rows", table="passk_runs", equals={"agent": everything})["rows"] == []
    with pytest.raises(Asked, match="no run"):
        ask("rows", table="passk_runs", run_id=everything)


def test_a_database_may_come_later_and_be_written_between_questions(
    tmp_path: Path, letters: Path, make_log: Callable[..., Path], passk: Passk
) -> None:
    place = tmp_path / "later.duckdb"
    with serving(place) as ask:
        with pytest.raises(Asked, match=r"There is no database .*later\.duckdb"):
            ask("runs")
        shutil.copyfile(letters, place)
        assert ask("runs")["stale"] is None
        assert (
            passk(
                "load", make_log("more.jsonl", [("more", "steady", "PP")]), "--database", place
            ).code
            == 0
        )
        assert ask("runs")["stale"]
        with pytest.raises(Asked, match="No gate was judged"):
            ask("gates")


def test_rejected_rows_are_given_without_their_text_and_folder(tmp_path: Path) -> None:
    values = dict.fromkeys(described_table("passk_rejected_attempts").columns, "null::varchar")
    values |= {"run_id": "'new'", "raw": "'the key is k3y'", "source_file": "'/home/me/bad.jsonl'"}
    place = tmp_path / "some.duckdb"
    with closing(duckdb.connect(str(place))) as connection:
        shown = ", ".join(f"{value} as {name}" for name, value in values.items())
        connection.execute(f"create table passk_rejected_attempts as select {shown}")
    with serving(place) as ask:
        found = ask("rows", table="passk_rejected_attempts")
        assert found["total_rows"] == 1
        assert found["rows"][0]["raw"] is None
        assert found["rows"][0]["source_file"] == "bad.jsonl"
        # A filter can not guess the hidden values either.
        guess = {"raw": "the key is k3y"}
        assert ask("rows", table="passk_rejected_attempts", equals=guess)["total_rows"] == 0


def test_without_the_sdk_it_says_what_to_install(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "passk_py.cli.mcp.find_spec", lambda name: None if name == "mcp" else find(name)
    )
    said = passk("mcp")
    assert said.code == 2
    assert "is not installed" in said.err
    assert "pip install 'mcp>=2'" in said.err

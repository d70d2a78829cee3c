"""The exit status of a session with gates is that of `passk gate`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import duckdb
import pytest

pytest_plugins = ["pytester"]

if TYPE_CHECKING:
    from collections.abc import Callable

    from .sessions import Ended

    Session = Callable[..., Ended]


def suite(tasks: int, fails: str) -> str:
    """A suite of tasks, of which an attempt fails where the condition holds."""
    return (
        "import pytest\n"
        f"@pytest.mark.parametrize('task', range({tasks}))\n"
        f"def test_a(task, passk_attempt):\n    assert not ({fails})\n"
    )


@pytest.mark.parametrize(
    ("tasks", "fails", "code", "word"),
    [
        # least_tasks(0.8) is 14: with fewer, not even a suite that always passes is sure to meet it.
        (14, "False", 0, "PASS"),
        (13, "False", 2, "INCONCLUSIVE"),
        (14, "passk_attempt % 2", 1, "FAIL"),
    ],
)
def test_one_rule_passes_fails_or_is_inconclusive(
    session: Session, tasks: int, fails: str, code: int, word: str
) -> None:
    ended = session(suite(tasks, fails), "--passk-repeat=4", "--passk-min=0.8")
    assert ended.code == code, ended.out
    assert f"\n{word} " in ended.out
    assert "pass^4 at least 0.8 on tasks like these" in ended.out


def test_failed_attempts_do_not_fail_a_session_whose_gate_passes(session: Session) -> None:
    text = suite(40, "task == 7 and passk_attempt == 2")
    words = ("--passk-repeat=2", "--passk-metric=pass_at_k", "--passk-k=2", "--passk-min=0.9")
    ended = session(text, *words)
    assert "1 failed, 79 passed" in ended.out
    assert ended.code == 0, ended.out
    # A failure that no gate judges does.
    marked = f"{text}\n@pytest.mark.skip\ndef test_b(): pass\n"
    assert session(marked, *words).code == 0
    ended = session(
        f"{text}\nimport unittest\nclass TestB(unittest.TestCase):\n    def test_b(self): 1/0\n",
        *words,
    )
    assert ended.code == 1
    assert "1 failure of tests that no gate judges" in ended.out


def test_a_file_of_rules_is_judged_as_by_gate(session: Session, pytester: pytest.Pytester) -> None:
    rules = (
        "- {name: once, type: threshold, metric: pass_hat_k, k: 1, min: 0.5, scope: suite}\n"
        "- {name: whole, type: coverage, metric: excluded_attempts, max: 0}\n"
        "- {name: wish, type: threshold, metric: pass_hat_k, k: 2, min: 0.999, severity: warn}\n"
    )
    text = suite(20, "passk_attempt == 1 and task == 3")
    (pytester.path / "gates.yml").write_text(rules)
    ended = session(text, "--passk-repeat=4", "--passk-gate=gates.yml")
    assert ended.code == 0, ended.out
    assert "PASS          once" in ended.out
    assert "PASS          whole" in ended.out
    assert "wish (advisory)" in ended.out
    # A rule that is not about results judges no failure.
    (ended.folder / "gates.yml").write_text(rules.splitlines()[1])
    ended = session(None, "--passk-repeat=4", "--passk-gate=gates.yml")
    assert ended.code == 1
    assert "no gate judges" in ended.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--passk-gate=nothing.yml",), "nothing.yml can't be read"),
        (("--passk-gate=gates.yml",), "The gate drop compares two runs"),
        (("--passk-gate=gates.yml", "--passk-min=0.9"), "can't be combined with --passk-min"),
        (("--passk-min=1",), "min is 1"),
        (("--passk-metric=pass_at_k",), "are for --passk-min"),
        (("--passk-min=0.9", "--lf"), "--lf selects tests by their results"),
    ],
    ids=str,
)
def test_wrong_rules_are_an_error_before_any_test_runs(
    session: Session, pytester: pytest.Pytester, words: tuple[str, ...], says: str
) -> None:
    (pytester.path / "gates.yml").write_text(
        "- {name: drop, type: drop, metric: pass_hat_k, k: 2, max_drop: 0.1}\n"
    )
    ended = session(suite(2, "1/0"), "--passk-repeat=4", *words)
    assert ended.code == 4
    assert says in ended.out
    assert "failed" not in ended.out


def test_the_gate_of_a_marker_is_about_its_tests(session: Session) -> None:
    # 0.5^(1/2) = 0.7071: after 9 of 9 passes a chance of 0.7071^9 = 0.044 is below 5 %, after 8 it
    # is not; 0 of 9 at that rate is impossible: (1 - 0.7071)^9.
    text = """
import pytest

@pytest.mark.passk(repeat={}, k=2, min_pass_hat_k=0.5)
def test_gated(passk_attempt):
    assert {}

def test_other(passk_attempt):
    assert passk_attempt != 2
"""
    for repeat, holds, code in ((9, True, 0), (8, True, 2), (9, False, 1)):
        ended = session(text.format(repeat, holds))
        assert ended.code == code, ended.out
        assert "marker: pass^2 >= 0.5" in ended.out
    # With repeats of the other test, its failures are in no gate.
    ended = session(text.format(9, True), "--passk-repeat=3")
    assert ended.code == 1
    assert "1 failure of tests that no gate judges" in ended.out


def test_a_session_that_stopped_is_not_judged(session: Session) -> None:
    ended = session(suite(14, "task == 3"), "--passk-repeat=4", "--passk-min=0.1", "-x")
    assert ended.code == 3
    assert "No gate was judged" in ended.out


def test_attempts_land_in_a_database_run_by_run(session: Session) -> None:
    text = suite(3, "passk_attempt == 2")
    words = ("--passk-repeat=3", "--passk-database=p.duckdb", "--passk-agent=helper")
    for run in ("one", "two", "two"):
        ended = session(text, *words, f"--passk-run-id={run}")
        assert "Database  p.duckdb" in ended.out
    with closing(duckdb.connect(str(ended.folder / "p.duckdb"))) as connection:
        found = connection.execute(
            "select run_id, agent, count(*), count(*) filter (outcome = 'failed') "
            "from landing.attempts group by all order by all"
        ).fetchall()
    assert found == [("one", "helper", 9, 3), ("two", "helper", 9, 3)]
    expected = session(None, *words)
    assert expected.code == 1
    with closing(duckdb.connect(str(ended.folder / "p.duckdb"))) as connection:
        runs = connection.execute("select distinct run_id from landing.attempts").fetchall()
    assert len(runs) == 3


def test_what_is_no_database_keeps_the_log_and_says_so(
    session: Session, pytester: pytest.Pytester
) -> None:
    (pytester.path / "p.duckdb").write_text("a text")
    words = ("--passk-repeat=4", "--passk-database=p.duckdb")
    ended = session(suite(2, "False"), *words)
    assert ended.code == 3
    assert "is not a DuckDB database" in " ".join(ended.out.split())
    assert len(ended.rows) == 8
    # Without a gate too, and whatever the rule says.
    assert session(None, *words, "--passk-min=0.01", "--passk-scope=suite").code == 3

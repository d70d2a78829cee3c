"""Which tests are repeated, what their attempts hold, and when there are no numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

pytest_plugins = ["pytester"]

if TYPE_CHECKING:
    from collections.abc import Callable

    from .sessions import Ended

    Session = Callable[..., Ended]

FAILS_AT_2: Final = """
def test_one(passk_attempt):
    assert passk_attempt != 2

def test_two(passk_attempt):
    assert passk_attempt != 2

def test_sure():
    pass
"""
NO_NUMBERS: Final = "would be biased, so there are none"


def test_fixtures_of_each_scope_live_as_long_as_without_repeats(session: Session) -> None:
    ended = session(
        """
import pytest
made = []
for scope in ("session", "module", "class", "function"):
    def make(scope=scope):
        made.append(scope)
        return len(made)
    globals()[f"of_{scope}"] = pytest.fixture(scope=scope, name=f"of_{scope}")(
        eval("lambda: make()", {"make": make})
    )

class TestClass:
    def test_a(self, of_session, of_module, of_class, of_function): pass
    def test_b(self, of_session, of_module, of_class, of_function): pass

def test_end():
    assert {one: made.count(one) for one in made} == {
        "session": 1, "module": 1, "class": 1, "function": 6
    }
""",
        "--passk-repeat=3",
    )
    assert ended.code == 0, ended.out
    assert len(ended.rows) == 9
    assert {row["task_id"] for row in ended.rows} == {
        "test_agent.TestClass::test_a",
        "test_agent.TestClass::test_b",
        "test_agent::test_end",
    }


def test_rows_hold_what_the_options_and_the_test_say(session: Session) -> None:
    ended = session(
        """
def test_a(passk_seed, record_property):
    record_property("input_tokens", 100 * passk_seed)
    record_property("cost_usd", float("nan"))
    record_property("domain", "refunds")
""",
        *("--passk-repeat=2", "--passk-seed=40", "--passk-run-id=nightly/7", "--passk-suite=shop"),
        *("--passk-agent=helper", "--passk-model=tiny", "--passk-log=out/log.jsonl"),
    )
    assert ended.code == 0, ended.out
    log = (ended.folder / "out" / "log.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in log.splitlines()]
    for number, row in enumerate(rows, 1):
        assert row.pop("started_at").endswith("+00:00")
        assert 0 <= row.pop("duration_s") < 1
        assert row == {
            "run_id": "nightly/7", "suite": "shop", "agent": "helper", "model": "tiny",
            "task_id": "test_agent::test_a", "attempt": number, "expected_attempts": 2,
            "outcome": "passed", "seed": 40 + number, "input_tokens": 100 * (40 + number),
            "cost_usd": "nan", "tags": {"domain": "refunds"},
        }  # fmt: skip
    assert "2 attempts broke the contract" in ended.out


def test_without_option_and_marker_nothing_is_repeated_written_or_said(session: Session) -> None:
    ended = session(
        "def test_a(passk_attempt, passk_seed):\n    assert (passk_attempt, passk_seed) == (1, 1)\n"
    )
    assert ended.code == 0, ended.out
    assert "1 passed" in ended.out
    assert "pass^" not in ended.out
    assert not (ended.folder / ".pytest_cache" / "d" / "passk").exists()


def test_a_marker_is_for_its_tests_and_comes_before_the_option(session: Session) -> None:
    text = """
import pytest

@pytest.mark.passk(repeat=5)
def test_own(): pass

@pytest.mark.passk(repeat=1)
def test_once(): pass

def test_other(): pass
"""
    ended = session(text)
    assert [row["task_id"] for row in ended.rows] == [
        *["test_agent::test_own"] * 5,
        "test_agent::test_once",
    ]
    assert "7 passed" in ended.out
    ended = session(text, "--passk-repeat=2")
    counted = [row["task_id"] for row in ended.rows]
    assert {task: counted.count(task) for task in counted} == {
        "test_agent::test_own": 5, "test_agent::test_once": 1, "test_agent::test_other": 2
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("times=3", "takes repeat=, k=, min_pass_hat_k="),
        ("3", "takes repeat=, k=, min_pass_hat_k="),
        ("repeat=0", "repeat is 0, but must be a whole number from 1"),
        ("repeat=True", "repeat is True"),
        ("repeat=4, min_pass_hat_k=1.5", "min_pass_hat_k is 1.5"),
        ("repeat=4, k=2", "which is missing"),
    ],
)
def test_a_wrong_marker_is_an_error_that_names_the_test(
    session: Session, arguments: str, says: str
) -> None:
    ended = session(
        f"import pytest\n@pytest.mark.passk({arguments})\ndef test_a(): pass\n", "--tb=short"
    )
    assert ended.code == 2
    assert "test_agent.py::test_a" in ended.out
    assert says in " ".join(ended.out.split())
    assert "Traceback" not in ended.out


def test_doctests_and_unittest_run_once_are_in_no_number_and_are_named(session: Session) -> None:
    ended = session(
        """
import unittest
def test_a():
    '''
    >>> 1 + 1
    2
    '''
class TestOld(unittest.TestCase):
    def test_b(self): self.fail()
""",
        *("--passk-repeat=2", "--doctest-modules", "--passk-min=0.01", "--passk-k=1"),
    )
    assert {row["task_id"] for row in ended.rows} == {"test_agent::test_a"}
    assert "2 tests ran once and are in no number" in ended.out
    assert "test_agent.py::TestOld::test_b" in ended.out
    assert ended.code == 1, "no gate judges the failure of a test that is in no number"


def test_a_file_that_can_not_be_collected_is_a_task_without_verdict(
    session: Session, pytester: pytest.Pytester
) -> None:
    session("def test_a(): pass\n")
    (pytester.path / "test_broken.py").write_text("import nothing_there\n")
    ended = session(None, "--passk-repeat=2")
    assert ended.code == 2
    assert "pass^" not in ended.out
    ended = session(None, "--passk-repeat=2", "--continue-on-collection-errors")
    assert ended.code == 1
    assert ended.outcomes("test_broken") == [("excluded", "collection")]
    assert ended.outcomes("test_agent::test_a") == [("passed", None)] * 2


@pytest.mark.parametrize(
    "words",
    [
        ("-x",),
        ("--maxfail=1", "-n", "2"),
        ("-k", "2-4"),
        ("test_agent.py::test_one[2-4]",),
        ("--dist=each", "-n", "2"),
    ],
    ids=" ".join,
)
def test_attempts_that_were_cut_short_chosen_or_doubled_give_no_numbers(
    session: Session, words: tuple[str, ...]
) -> None:
    ended = session(
        FAILS_AT_2,
        "--passk-repeat=4",
        "--passk-database=p.duckdb",
        *words,
        plugins=("xdist.plugin",),
    )
    assert NO_NUMBERS in " ".join(ended.out.split())
    assert "pass^" not in ended.out
    assert not (ended.folder / "p.duckdb").exists()
    assert ended.code != 0
    assert all(row["expected_attempts"] == 4 for row in ended.rows)


def test_last_failed_selects_whole_tests(session: Session) -> None:
    assert session(FAILS_AT_2, "--passk-repeat=4", "--deselect=test_agent.py::test_two").code == 1
    ended = session(None, "--passk-repeat=4", "--lf")
    assert ended.outcomes("test_agent::test_one") == [
        ("passed", None), ("failed", None), ("passed", None), ("passed", None)
    ]  # fmt: skip
    assert len(ended.rows) == 4
    assert "--lf selected tests by their results" in ended.out
    repaired = session(FAILS_AT_2.replace("!= 2", "!= 9"), "--passk-repeat=4", "--lf")
    assert repaired.code == 0, repaired.out
    assert len(repaired.rows) == 4
    everything = session(None, "--passk-repeat=4", "--lf")
    assert "no previously failed tests" in everything.out
    assert len(everything.rows) == 12


def test_a_worker_that_crashes_leaves_an_attempt_without_verdict(session: Session) -> None:
    ended = session(
        "import os\n"
        "def test_a(passk_attempt):\n    if passk_attempt == 2: os._exit(1)\n"
        "def test_b(): pass\n",
        *("--passk-repeat=3", "-n", "2"),
        plugins=("xdist.plugin",),
    )
    assert ended.code == 1
    assert sorted(ended.outcomes("test_agent::test_a"), key=str) == [
        ("excluded", "setup"), ("passed", None), ("passed", None)
    ]  # fmt: skip
    assert ended.outcomes("test_agent::test_b") == [("passed", None)] * 3


@pytest.mark.parametrize(
    ("plugin", "words", "says"),
    [
        ("pytest_repeat", ("--count=2",), "--count of pytest-repeat repeats tests too"),
        ("pytest_rerunfailures", ("--reruns=2",), "--reruns stops at the first pass"),
        ("pytest_rerunfailures", ("-o", "reruns=2"), "--reruns stops at the first pass"),
    ],
)
def test_another_plugin_that_repeats_is_an_error(
    session: Session, plugin: str, words: tuple[str, ...], says: str
) -> None:
    ended = session(FAILS_AT_2, "--passk-repeat=4", *words, plugins=(plugin,))
    assert ended.code == 4
    assert says in " ".join(ended.out.split())
    # By a marker alone, it is an error of its test.
    marked = FAILS_AT_2.replace(
        "def test_one", "import pytest\n@pytest.mark.passk(repeat=2)\ndef test_one"
    )
    ended = session(marked, *words, "--tb=short", plugins=(plugin,))
    assert ended.code == 2
    assert says in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("plugin", "marker"),
    [("pytest_repeat", "repeat(3)"), ("pytest_rerunfailures", "flaky(reruns=2)")],
)
def test_markers_of_another_plugin_are_an_error_only_where_it_is_there(
    session: Session, plugin: str, marker: str
) -> None:
    text = f"import pytest\n@pytest.mark.{marker}\ndef test_a(): pass\n"
    ended = session(text, "--passk-repeat=2", "--tb=short", plugins=(plugin,))
    assert ended.code == 2
    assert "Take one of the two markers off" in " ".join(ended.out.split())
    assert session(text, "--passk-repeat=2", "-W", "ignore").code == 0
    assert session(text, plugins=(plugin,)).code == 0


def test_a_plugin_that_tries_again_unnoticed_takes_the_numbers_away(session: Session) -> None:
    ended = session(FAILS_AT_2, "--passk-repeat=4")
    assert "pass^4" in ended.out
    (ended.folder / "conftest.py").write_text(
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    for _ in range(2):\n"
        "        for report in runtestprotocol(item, nextitem=nextitem, log=False):\n"
        "            item.ihook.pytest_runtest_logreport(report=report)\n"
        "    return True\n",
        encoding="utf-8",
    )
    ended = session(None, "--passk-repeat=4")
    assert "Another plugin ran 12 attempts several times" in " ".join(ended.out.split())
    assert "pass^4" not in ended.out


@pytest.mark.parametrize(
    "words", [("--collect-only",), ("--setup-only",), ("--setup-plan",)], ids=str
)
def test_without_a_test_run_there_is_nothing_to_say(
    session: Session, words: tuple[str, ...]
) -> None:
    ended = session(FAILS_AT_2, "--passk-repeat=4", *words)
    assert ended.code == 0, ended.out
    assert "test_agent.py" in ended.out
    assert "== passk" not in ended.out


def test_without_the_cache_there_is_an_answer_and_no_log(session: Session) -> None:
    ended = session(FAILS_AT_2, "--passk-repeat=4", "-p", "no:cacheprovider")
    assert "pass^4" in ended.out
    assert "Attempts  " not in ended.out
    assert [path.name for path in ended.folder.iterdir() if path.suffix == ".jsonl"] == []


def test_a_session_without_tests_keeps_its_status(session: Session) -> None:
    assert session("", "--passk-repeat=4", "--passk-min=0.9").code == 5

"""The end of a session: its attempts are written and landed, answered from, and judged."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.cli.answer_output import show_answer
from passk_py.cli.gate import gate_code, read_gates, say_gates, unmatched
from passk_py.cli.gate_options import rule_of_options
from passk_py.cli.log_tables import in_memory, settings_of_log, tables_of_log
from passk_py.cli.next_steps import command_line, say_next
from passk_py.cli.session import GATE_COULD_NOT_RUN, Session
from passk_py.common.errors import PasskError
from passk_py.common.files import absolute, write_report
from passk_py.common.words import and_list, plain, plural
from passk_py.ingest.landing import load
from passk_py.metrics.gates import judge_gates, rules_of
from passk_py.pytest_plugin.attempt_rows import rows_of, task_of, write_rows
from passk_py.reports.answer import Answer, find_answer
from passk_py.reports.queries.attempt_queries import count_rejected
from passk_py.warehouse.gates_of_tables import judge_tables
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    import argparse

    import duckdb
    import pytest

    from passk_py.metrics.gates.rules import Rule
    from passk_py.pytest_plugin.reported_attempts import Attempt, Recorder
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

_OK, _FAILED = 0, 1
_OF_PAIRS: Final = ("drop", "rolling_drop", "cost_increase", "regressed_tasks")
_OF_RESULTS: Final = ("threshold", "sequential", "each_task")
_MOST_TESTS: Final = 10
_FLAKY_SQL: Final = """
select task_id, c, n from passk_tasks
where task_class <> 'consistent' and n > 0 order by c / n, task_id
"""
Row = dict[str, Any]


@dataclass(slots=True)
class SessionEnd:
    """The results of a session, to be printed, and its exit status."""

    status: int
    log: Path | None = None
    database: Path | None = None
    """Where the attempts landed."""
    notes: list[str] = field(default_factory=list)
    answer: Answer | None = None
    flaky: list[tuple[str, int, int]] = field(default_factory=list)
    """Tests that did not pass every time: name, passes, counted attempts."""
    gates: list[Row] = field(default_factory=list)
    without_run: list[Row] = field(default_factory=list)
    is_one_rule: bool = False
    """Whether there is only the rule of the options, which has no name."""

    def print(self) -> None:
        """Print all of it, in the words of `passk peek` and `passk gate`."""
        session = Session(command="pytest")
        if self.answer is not None:
            show_answer(session, self.answer)
            session.say()
        if self.flaky:
            session.say("Tests that did not pass every time")
            shown = [(f"{c} of {n}", plain(name)) for name, c, n in self.flaky[:_MOST_TESTS]]
            width = max(len(passed) for passed, _ in shown)
            for passed, name in shown:
                session.say(f"  {passed:>{width}}  {name}")
            if (others := len(self.flaky) - len(shown)) > 0:
                session.say(f"  and {plural(others, 'other test')}")
            session.say()
        if self.gates:
            say_gates(session, self.gates, self.without_run, alone=self.is_one_rule)
            session.say()
        for note in self.notes:
            session.say_wrapped(note)
        if self.log is not None:
            here = self.log.is_relative_to(Path.cwd())
            log = self.log.relative_to(Path.cwd()) if here else self.log
            session.say(f"Attempts  {plain(str(log))}")
        if self.database is not None:
            session.say(f"Database  {plain(str(self.database))}")
            session.say("Next")
            say_next(session, ("all tables", command_line("build", database=self.database)))
        elif self.log is not None and self.answer is not None:
            session.say("Next")
            say_next(session, ("keep the attempts", command_line("load", str(log))))


def read_rules_of_session(option: argparse.Namespace) -> list[Rule]:
    """Read the rule of the options, or those of the file; rules that need two runs are an error."""
    if option.passk_gate is not None and option.passk_min is not None:
        raise PasskError(
            "--passk-gate can't be combined with --passk-min.",
            hint="Give a file of rules, or one rule.",
        )
    one = None
    if option.passk_min is not None:
        metric = option.passk_metric or "pass_hat_k"
        one = rule_of_options(
            {"metric": metric, "least": option.passk_min, "scope": option.passk_scope}
        )
    rules = read_gates(one, option.passk_gate, (), settings_of_log(option.passk_k))
    needy = [rule.gate for rule in rules if rule.type in _OF_PAIRS]
    if needy:
        raise PasskError(
            f"The gate {plain(needy[0])} compares two runs, and a session of pytest is one run.",
            hint="Load the attempts with --passk-database, and judge them with `passk gate`.",
        )
    return rules


def end_session(session: pytest.Session, recorder: Recorder, exitstatus: int) -> SessionEnd:
    """Write and land the attempts of a session, answer from them, and judge them.

    The exit status stays that of pytest unless gates are asked for: then it is that of `passk
    gate`, and 1 if a test failed that no gate judges. If gates can't be judged, it is 3.
    """
    option = session.config.option
    end = SessionEnd(exitstatus)
    attempts = [one for one in recorder.attempts.values() if one.is_whole]
    if not attempts and exitstatus not in (_OK, _FAILED):
        return end
    has_gates = _has_rules(option) or any(one.gate for one in attempts)
    with tempfile.TemporaryDirectory(prefix="passk-pytest-") as made:
        folder = Path(made)
        try:
            log = _write_log(session, recorder, attempts, end, folder)
            if log is not None and _is_whole(session, recorder, attempts, end):
                _answer_and_judge(session, attempts, end, log)
                _land(option.passk_database, end, log)
        except PasskError as error:
            end.notes.append(" ".join(filter(None, (f"Error: {error.message}", error.hint))))
            end.status = GATE_COULD_NOT_RUN
    if has_gates and not end.gates and exitstatus in (_OK, _FAILED):
        end.notes.append("No gate was judged, so the exit status is 3.")
        end.status = GATE_COULD_NOT_RUN
    return end


def _has_rules(option: argparse.Namespace) -> bool:
    return option.passk_gate is not None or option.passk_min is not None


def _write_log(
    session: pytest.Session,
    recorder: Recorder,
    attempts: list[Attempt],
    end: SessionEnd,
    folder: Path,
) -> Path | None:
    """Write the attempts to a file, which stays if there is a place for it; None without any."""
    option = session.config.option
    more = []
    if option.passk_repeat is not None:
        # A file that was not collected is a task without a verdict, as in pytest's JUnit XML.
        more = list(recorder.uncollected.values())
        if others := [*recorder.unmeasured]:
            are = "is" if len(others) == 1 else "are"
            end.notes.append(
                f"{plural(len(others), 'test')} ran once and {are} in no number, because doctests "
                f"and methods of unittest.TestCase can't be repeated: "
                f"{and_list(map(plain, others))}."
            )
    if not attempts and not more:
        end.notes.append("No test was repeated, so there is nothing to answer from.")
        return None
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    run_id = option.passk_run_id or f"pytest-{now}"
    name = f"{re.sub(r'[^A-Za-z0-9._-]', '-', run_id)}.jsonl"
    if option.passk_log is not None:
        end.log = absolute(option.passk_log)
    elif (cache := getattr(session.config, "cache", None)) is not None:
        end.log = cache.mkdir("passk") / name
    log = end.log or folder / name
    given = {"run_id": run_id, "suite": option.passk_suite}
    given |= {"agent": option.passk_agent, "model": option.passk_model}
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PasskError(f"{log} can't be written: {error.strerror}.") from error
    write_report(log, write_rows(rows_of([*attempts, *more], given)))
    return log


def _is_whole(
    session: pytest.Session, recorder: Recorder, attempts: list[Attempt], end: SessionEnd
) -> bool:
    """Tell whether every attempt was made once, else note why there are no numbers."""
    made = Counter((one.nodeid, one.of) for one in attempts)
    short = [(nodeid, of, count) for (nodeid, of), count in made.items() if count < of]
    if recorder.retried:
        first = plain(next(iter(recorder.retried)))
        why = (
            f"Another plugin ran {plural(len(recorder.retried), 'attempt')} several times, such as "
            f"{first}. Switch it off."
        )
    elif end.status not in (_OK, _FAILED) or session.shouldfail or session.shouldstop:
        why = f"The session stopped early, after {plural(len(attempts), 'attempt')}."
    elif short:
        nodeid, of, count = short[0]
        why = (
            f"Not all attempts were made of {plural(len(short), 'test')}, such as {count} of {of} "
            f"of {plain(nodeid)}. Select whole tests."
        )
    else:
        return True
    end.notes.append(
        f"{why} Estimates from attempts that were cut short or chosen would be biased, so there "
        "are none, and nothing landed in a database."
    )
    return False


def _answer_and_judge(
    session: pytest.Session, attempts: list[Attempt], end: SessionEnd, log: Path
) -> None:
    """Answer from the log, as `passk peek` does, and judge the rules."""
    option = session.config.option
    settings = settings_of_log(option.passk_k)
    rules = read_rules_of_session(option) if _has_rules(option) else []
    with in_memory() as connection:
        _load(log, connection)
        tables = tables_of_log(connection, settings)
        if rejected := count_rejected(tables):
            end.notes.append(f"{plural(rejected, 'attempt')} broke the contract of an attempt.")
        if getattr(option, "lf", False):
            end.notes.append("--lf selected tests by their results; the numbers are theirs alone.")
        answer = find_answer(tables)
        if answer.suites:
            end.answer = answer
        end.flaky = [(str(task), c, n) for task, c, n in tables.rows(_FLAKY_SQL)]
        rows = judge_tables(tables, settings, rules).to_dicts() if rules else []
        rows += _judge_marked(tables, settings, attempts)
        if not rows:
            return
        end.gates, end.without_run = rows, unmatched(tables, rows)
        end.is_one_rule = option.passk_min is not None and len(rows) == len(rules)
        code = gate_code(tables, rows)
    judge_all = any(rule.type in _OF_RESULTS and rule.severity == "error" for rule in rules)
    judged = sum(one.failed_reports for one in attempts if judge_all or one.gate)
    others = session.testsfailed - judged
    if others > 0:
        end.notes.append(f"{plural(others, 'failure')} of tests that no gate judges.")
    end.status = _FAILED if others > 0 else code


def _judge_marked(
    tables: Tables, settings: Settings, attempts: list[Attempt]
) -> list[dict[str, Any]]:
    """Judge the tests that have a gate in their marker, those of the same gate together."""
    marked: dict[tuple[int, float], set[str]] = {}
    for one in attempts:
        if one.gate is not None:
            k, least = one.gate
            marked.setdefault((k or settings.deployment_k, least), set()).add(task_of(one.nodeid))
    if not marked:
        return []
    log = fetch_frame(
        tables.connection, "select run_id, suite, task_id, attempt, outcome from passk_attempts"
    )
    rows = []
    for (k, least), tasks in sorted(marked.items()):
        name = f"marker: pass^{k} >= {least:g}"
        rule = {"name": name, "type": "each_task", "metric": "pass_hat_k", "k": k, "min": least}
        judged = judge_gates(
            log.filter(log["task_id"].is_in(list(tasks))),
            rules_of([rule]),
            confidence=settings.confidence,
        )
        rows += judged.to_dicts()
    return rows


def _land(database: Path | None, end: SessionEnd, log: Path) -> None:
    """Land the log in the database of the options."""
    if database is not None:
        _load(log, database)
        end.database = database


def _load(log: Path, database: Path | duckdb.DuckDBPyConnection) -> None:
    """Load the log, and raise an error if that fails."""
    for file in load(log, database=database, format="jsonl").files:
        if file.status == "failed":
            raise PasskError(file.message, hint=file.hint)

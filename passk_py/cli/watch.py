"""``passk watch``: land what a harness writes, and answer as it changes."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.log_tables import settings_of_vars, tables_of_runs
from passk_py.cli.reading_options import read_logs, reading_options
from passk_py.cli.session import GATE_COULD_NOT_RUN, Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples, vars_option
from passk_py.common.errors import InUseError, PasskError
from passk_py.common.files import is_remote, write_report
from passk_py.common.words import plain, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.ingest.landing import FileReport, LoadReport
    from passk_py.ingest.landing.live_files import LiveFiles
    from passk_py.metrics.gates.rules import Rule
    from passk_py.reports.answer import Answer
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

_LOOK_EVERY: Final = 0.5
"""Seconds between two looks at the files."""

_SECONDS: Final = click.FloatRange(min=0, min_open=True)


@click.command(
    "watch",
    short_help="Load a log while it is written, and print the answer as it changes.",
    epilog=examples(
        "passk watch results.jsonl",
        "passk watch logs/ --until-quiet 120 --expected-attempts 8",
        "passk watch results.jsonl --gate gates.yml --stop-file stop",
        "passk watch results.jsonl --json",
    )
    + "\n\nExit codes: 0 nothing came for --until-quiet, 1 --strict rejected a file or a data test "
    "failed, 2 a file could not be read, nothing came at all, or it could not run, 130 Ctrl-C. "
    "--gate has those of `passk gate`.",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@database_option
@click.option(
    "--gate",
    "rules",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Judge the sequential rules of a YAML file after each change, and end once all are "
    "decided.",
)
@click.option(
    "--stop-file",
    "stop",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write this file once --gate is decided, for a harness that looks for it.",
)
@click.option(
    "--until-quiet",
    "quiet",
    type=_SECONDS,
    metavar="SECONDS",
    help="End when nothing has come for so long. [default: until Ctrl-C]",
)
@click.option(
    "--build-every",
    type=_SECONDS,
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Build the tables so often while rows come, and at the end.",
)
@click.option(
    "--no-build", "builds", flag_value=False, default=True, help="Land the rows, and never build."
)
@vars_option
@reading_options
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    paths: tuple[str, ...],
    database: Path,
    rules: Path | None,
    stop: Path | None,
    quiet: float | None,
    build_every: float,
    builds: bool,
    variables: str | None,
    **options: Any,  # noqa: ANN401 - those of reading
) -> int:
    """Load attempt logs while a harness writes them, and print the answer as it changes.

    Complete rows land; a last line without its newline waits. The answer is about the runs of these
    logs, and is partial until the run ends. It is computed from the landed attempts at once, as
    `passk peek` does; the tables follow with each build.

    PATH is a file, a glob or a folder, which may not exist yet. A file that is rewritten lands
    again, and its old rows go.
    """
    from passk_py.ingest.landing.live_files import LiveFiles
    from passk_py.warehouse.settings import parse_variables

    if remote := [path for path in paths if is_remote(path)]:
        raise click.UsageError(f"{plain(remote[0])} can't be watched, only files and folders.")
    if stop is not None and rules is None:
        raise click.UsageError("--stop-file needs --gate.")
    if rules is not None:
        # The code that holds until all is judged, even if nobody reads the notes.
        session.could_not_run = session.code = GATE_COULD_NOT_RUN
    if stop is not None and stop.exists():
        raise PasskError(
            f"The file {stop} exists already, so a harness would stop at once.",
            hint="Remove it, or name another file with --stop-file.",
        )
    given = dict(parse_variables(variables))
    with tempfile.TemporaryDirectory(prefix="passk-watch-") as folder:
        live = LiveFiles(paths, Path(folder))
        watch = _Watch(session, live, database, given, options)
        if rules is not None:
            watch.rules = _sequential(rules, watch.settings)
        watch.follow(quiet, build_every if builds else None)
        if watch.is_decided and stop is not None:
            # Before the build, which takes longer than some attempts.
            verdict = {"exit_code": watch.code, "gates": watch.gates}
            write_report(stop, json.dumps(verdict, default=str) + "\n")
        return watch.finish(builds=builds)


def _sequential(path: Path, settings: Settings) -> list[Rule]:
    """Read the rules of a file, each of which must hold at every look."""
    from passk_py.cli.gate import read_gates

    rules = read_gates(None, path, (), settings)
    if once := [rule.gate for rule in rules if rule.type != "sequential"]:
        raise PasskError(
            f"The gate {plain(once[0])} is not sequential: it is made for one look at a finished "
            "run.",
            hint="Give it sequential: true, or judge it with `passk gate` when the run has ended.",
        )
    return rules


@dataclass
class _Watch:
    """The logs, the answer and the gates so far."""

    session: Session
    live: LiveFiles
    database: Path
    variables: dict[str, Any]
    options: dict[str, Any]
    rules: list[Rule] = field(default_factory=list)
    code: int = 0
    """The exit code of the rules, as of the last answer."""
    gates: list[dict[str, Any]] = field(default_factory=list)
    is_decided: bool = False
    is_quiet: bool = False
    _report: LoadReport | None = None
    _to_land: bool = False
    _to_answer: bool = False
    _to_build: bool = False
    _said: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Take the vars that the next build will have."""
        self.settings = settings_of_vars(self.variables)

    def follow(self, quiet: float | None, build_every: float | None) -> None:
        """Land and answer after each change, until nothing came for so long or all is decided."""
        came = built = time.monotonic()
        while not self.is_decided:
            began = time.monotonic()
            if self._look():
                came = time.monotonic()
            elif quiet is not None and began - came >= quiet:
                self.is_quiet = True
                return
            is_due = build_every is not None and began - built >= build_every
            if self._to_build and is_due and not self.is_decided:
                # The last build tests the data.
                self._build(tests=False)
                built = time.monotonic()
            elif not self.is_decided:
                # A log so large that a look takes longer must not keep the machine busy.
                time.sleep(max(_LOOK_EVERY, time.monotonic() - began))

    def finish(self, *, builds: bool) -> int:
        """Land the last rows, build and test, and give the exit code."""
        if self.is_quiet:
            # The run has ended, which is an answer of its own.
            self._to_answer = self._report is not None
            self._look(is_last=True)
        if self._report is None or not self._report.rows_landed:
            raise PasskError(
                "No attempt has come.", hint="Check the path, and whether the harness runs."
            )
        code = self._report.exit_code
        if builds:
            code = code or self._build(tests=True)
        if self.rules:
            failed = any(file.status == "failed" for file in self._report.files)
            code = GATE_COULD_NOT_RUN if failed else self.code
        why = "gate" if self.is_decided else "quiet"
        self.session.result({"event": "end", "reason": why, "exit_code": code})
        return code

    def _look(self, *, is_last: bool = False) -> bool:
        """Land the rows since the last look, and answer; tell whether there were any."""
        self._to_land |= self.live.look(is_last=is_last)
        self._note(self.live.problems, "Waiting: ")
        try:
            if self._to_land:
                self._land()
            if self._to_answer and self._report is not None and self._report.rows_landed:
                self._answer(self._report)
                self._to_answer = False
                return True
        except InUseError as error:
            if is_last:
                raise
            self._wait(error)
        return False

    def _land(self) -> None:
        """Land the copies as they are."""
        is_first = self._report is None
        report = self._report = read_logs(
            # Without a progress bar, which would flicker.
            replace(self.session, as_json=True),
            tuple(map(str, self.live.paths)),
            self.database,
            known_as=self.live.known_as,
            **self.options,
        )
        self._to_land = False
        self._note(report.files)
        has_new = any(file.status in ("landed", "replaced") for file in report.files)
        self._to_build |= has_new
        self._to_answer |= has_new or is_first

    def _answer(self, report: LoadReport) -> None:
        """Answer from the landed attempts, and judge the rules."""
        from passk_py.reports.answer import find_answer

        logs = [file.path for file in report.files]
        with tables_of_runs(self.database, logs, self.settings) as tables:
            answer = find_answer(tables)
            attempts, missing = tables.rows(
                "select sum(attempts)::bigint, sum(missing_attempts)::bigint from passk_runs"
            )[0]
            without_run = self._judge(tables, report) if self.rules else []
        self._say(answer, int(attempts or 0), missing, without_run)

    def _judge(self, tables: Tables, report: LoadReport) -> list[dict[str, Any]]:
        """Judge the rules; give the rows of those that find no run."""
        from passk_py.cli.gate import gate_code, unmatched
        from passk_py.warehouse.gates_of_tables import judge_tables

        self.gates = judge_tables(tables, self.settings, self.rules).to_dicts()
        self.code = gate_code(tables, self.gates)
        without_run = unmatched(tables, self.gates)
        all_read = all(file.status != "failed" for file in report.files)
        is_open = any(row["result"] == "inconclusive" for row in self.gates)
        # One that fails decides for all of them.
        self.is_decided = all_read and (self.code == 1 or not (is_open or without_run))
        # Before any output: the reader of a pipe may close it, and a gate must not pass by that.
        self.session.code = self.code if self.is_decided else GATE_COULD_NOT_RUN
        return without_run

    def _say(
        self, answer: Answer, attempts: int, missing: int | None, without_run: list[dict[str, Any]]
    ) -> None:
        """Print the answer and the gates, and whether more is to come."""
        from passk_py.cli.answer_output import show_answer
        from passk_py.cli.gate import say_gates
        from passk_py.reports.answer.as_dict import answer_as_dict

        now = datetime.now(UTC)
        is_partial = not self.is_quiet or bool(missing)
        judged = {"is_decided": self.is_decided, "exit_code": self.code, "gates": self.gates}
        self.session.result(
            {
                "event": "answer",
                "at": now.isoformat(),
                "is_partial": is_partial,
                "attempts": attempts,
                "missing_attempts": missing,
                **(judged if self.rules else {}),
                **answer_as_dict(answer),
            }
        )
        if self.session.as_json:
            return
        if sys.stdout.isatty():
            click.clear()
        lacking = f", {missing:,} missing" if missing else ""
        state = "partial" if is_partial else "complete"
        at = now.astimezone().strftime("%H:%M:%S")
        self.session.say(f"{at}  {plural(attempts, 'attempt')}{lacking}: {state}\n")
        if answer.suites:
            show_answer(self.session, answer)
            self.session.say()
        if self.rules:
            say_gates(self.session, self.gates, without_run)
            self.session.say()

    def _build(self, *, tests: bool) -> int:
        """Build the tables; give the exit code of the build."""
        from passk_py.cli.build_output import build_as_dict, run_build, say_build

        try:
            report = run_build(self.session, self.database, variables=self.variables, tests=tests)
        except InUseError as error:
            if tests:
                raise
            self._wait(error)
            return 0
        self._to_build = False
        self.session.result({"event": "built", **build_as_dict(report)})
        say_build(self.session, report)
        return report.exit_code

    def _wait(self, error: PasskError) -> None:
        """Say once that the database is in use; the next look tries again."""
        if error.message not in self._said:
            self._said.add(error.message)
            self.session.note(f"{error.message} passk waits for it.")

    def _note(self, files: Sequence[FileReport], lead: str = "") -> None:
        """Say of each file what is wrong with it, once."""
        for file in files:
            if file.message and file.message not in self._said:
                self._said.add(file.message)
                self.session.note(f"{lead}{plain(file.message)}", hint=plain(file.hint))

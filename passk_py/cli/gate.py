"""``passk gate``: judge rules about runs, so that a pipeline can stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.gate_options import (
    RULE_HELP,
    RULE_NAME,
    GateCommand,
    rule_of_options,
    rule_options,
    typed_rule,
)
from passk_py.cli.next_steps import build_again, command_line, note_stale
from passk_py.cli.session import GATE_COULD_NOT_RUN, Session, pass_session
from passk_py.cli.shared_options import common_options, database_option, examples
from passk_py.common.errors import PasskError
from passk_py.common.files import write_report
from passk_py.common.names import did_you_mean
from passk_py.common.words import and_list, plain, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from passk_py.metrics.gates.rules import Rule
    from passk_py.warehouse.settings import Settings
    from passk_py.warehouse.tables import Tables

_COLORS: Final = {"pass": "green", "fail": "red", "inconclusive": "yellow"}
_WORDS: Final = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}
_LEVELS: Final = {"pass": "info", "fail": "error", "inconclusive": "warning"}
_LOGGED: Final = ("gate", "result", "is_advisory", "suite", "run_id", "baseline_run_id", "reason")
_NO_RUN: Final = "NOT JUDGED"
"""The word where there is no run to judge, whose exit code is not that of an inconclusive gate."""
_FAILED, _INCONCLUSIVE = 1, 2
_FILE: Final = click.Path(path_type=Path, dir_okay=False)
Row = dict[str, Any]


@click.command(
    "gate",
    cls=GateCommand,
    short_help="Judge rules about runs; exit code 0, 1, 2 or 3.",
    epilog=examples(
        "passk gate",
        "passk gate --junit gates.xml --step-summary",
        "passk gate --rules gates.yml",
        "passk gate --check --rules gates.yml",
        "passk gate --run nightly --metric pass_hat_k --k 8 --min 0.95",
        "passk gate --run new --baseline old --metric pass_hat_k --k 4 --max-drop 0.03",
        "passk gate --last 6 --metric pass_hat_k --k 4 --max-drop 0.03",
        "passk gate --run nightly --metric cost_usd --statistic per_success --max 0.4",
    )
    + "\n\nExit codes: 0 all gates pass, 1 any fails, 2 any is inconclusive and none fails, 3 it "
    "could not run: no tables, stale tables, no such run, a wrong rule. Advisory gates (severity: "
    "warn or ignore) do not count.",
)
@database_option
@click.option(
    "--gate",
    "names",
    multiple=True,
    metavar="NAME",
    help="Judge the gate of this name; may be repeated.",
)
@click.option(
    "--rules",
    type=_FILE,
    metavar="FILE",
    help="Judge the rules of a YAML file instead of the declared ones.",
)
@rule_options
@click.option("--junit", type=_FILE, metavar="FILE", help="Write the results as JUnit XML.")
@click.option("--markdown", type=_FILE, metavar="FILE", help="Write the results as Markdown.")
@click.option(
    "--step-summary", is_flag=True, help="Add the results to the summary of the CI step (GitHub)."
)
@click.option(
    "--check", is_flag=True, help="Look for mistakes in the file of --rules, and judge nothing."
)
@click.option(
    "--stale-ok", is_flag=True, help="Judge stale tables: older than the log, or half built."
)
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    database: Path,
    names: tuple[str, ...],
    rules: Path | None,
    junit: Path | None,
    markdown: Path | None,
    step_summary: bool,
    check: bool,
    stale_ok: bool,
    **rule: Any,  # noqa: ANN401 - the options of one rule
) -> int:
    """Judge rules about runs.

    The rules are those of the var passk_gates, those of a file (--rules), or a single rule given by
    options.

    A gate passes if its whole interval meets the rule, fails if no part of it does, and is
    inconclusive otherwise; then it says what would settle it. Declared gates are read from the
    table passk_gates; other rules are computed from passk_attempts. Stale tables are not judged:
    run `passk build` first.
    """
    from passk_py.metrics.gates import gate_reports as reports
    from passk_py.reports.queries.attempt_queries import logs_cut_off
    from passk_py.warehouse.gates_of_tables import judge_tables
    from passk_py.warehouse.looks import with_looks
    from passk_py.warehouse.settings import read_settings
    from passk_py.warehouse.tables import open_tables

    # The code that holds until all is judged, even if nobody reads the notes.
    session.code = GATE_COULD_NOT_RUN
    one = rule_of_options(rule)
    _reject_mixed(names, rules, one)
    if check:
        return _check(session, rules)
    with open_tables(database) as tables:
        if not stale_ok:
            _reject_stale(tables)
        stale = note_stale(session, tables) if stale_ok else None
        notes = [] if stale is None else [f"The tables are not those of the log: {stale}"]
        settings = read_settings(tables)
        if one is None and rules is None:
            rows = declared_gates(tables, names, database)
            source = "passk_gates"
        else:
            read = read_gates(one, rules, names, settings)
            rows = judge_tables(tables, settings, read).to_dicts()
            source = "passk_attempts"
        # Before any output: the reader of a pipe may close it, and a gate must not pass by that.
        session.code = gate_code(tables, rows)
        rows = with_looks(tables, rows)
        without_run = unmatched(tables, rows)
        cut_off = logs_cut_off(tables, {row["run_id"] for row in rows})
    for log in cut_off:
        notes.append(
            f"{plain(log)} is cut off: its last row ends too early, so attempts may be missing "
            "from these gates. Write or copy it again, then load and build."
        )
        session.note(notes[-1], lead="Warning", event="cut_off", file=plain(log))
    text = reports.markdown(rows, notes)
    if junit is not None:
        write_report(junit, reports.junit(rows))
    if markdown is not None:
        write_report(markdown, text)
    if step_summary:
        reports.append_step_summary(text)
    session.result(
        {
            "database": str(database),
            "stale": stale,
            "source": source,
            "cut_off": cut_off,
            "exit_code": session.code,
            "gates": rows,
        }
    )
    say_gates(session, rows, without_run, alone=one is not None)
    return session.code


def _check(session: Session, path: Path | None) -> int:
    """Read a file of rules, which needs no tables; slices and the grid of k are not known."""
    from passk_py.metrics.gates import read_rules, rules_of

    if path is None:
        raise PasskError("--check needs --rules.", hint="Name the file: --rules gates.yml")
    rules = rules_of(read_rules(path))
    session.result({"rules": str(path), "gates": [rule.gate for rule in rules]})
    session.say(f"{plain(str(path))}: {plural(len(rules), 'rule')}, no mistake.")
    return 0


def gate_code(tables: Tables, rows: Sequence[Row]) -> int:
    """Give the exit code of judged rules; a rule that finds no run in the log was not judged."""
    found = {row["result"] for row in rows if not row["is_advisory"]}
    if "fail" in found:
        return _FAILED
    if any(not row["is_advisory"] for row in unmatched(tables, rows)):
        return GATE_COULD_NOT_RUN
    return _INCONCLUSIVE if "inconclusive" in found else 0


def _reject_stale(tables: Tables) -> None:
    """Raise an error for stale tables: the log might not pass a gate that they pass."""
    from passk_py.warehouse.freshness import stale

    if (sentence := stale(tables)) is not None:
        raise PasskError(
            f"No gate was judged. {sentence}",
            hint=f"{build_again(tables)} --stale-ok judges them as they are.",
        )


def unmatched(tables: Tables, rows: Sequence[Row]) -> list[Row]:
    """Select the rows of rules without a run in the log: they were not really judged."""
    places = filter(None, map(tables.find, ("passk_runs", "passk_rejected_attempts")))
    known = set(
        tables.rows(
            " union ".join(
                f"select run_id, coalesce(suite, 'default') from {place}" for place in places
            )
        )
    )
    runs = {run for run, _ in known} | {None}
    return [
        row
        for row in rows
        if (row["run_id"], row["suite"]) not in known or row["baseline_run_id"] not in runs
    ]


def _reject_mixed(names: tuple[str, ...], rules: Path | None, one: object) -> None:
    if one is not None and (names or rules is not None):
        other = "--rules" if rules is not None else "--gate"
        raise PasskError(
            f"{other} can't be combined with the options of a single rule.",
            hint="Give declared gates, a file of rules, or one rule.",
        )


def declared_gates(tables: Tables, names: tuple[str, ...], database: Path) -> list[Row]:
    """Read the gates of the last build."""
    if "is_advisory" not in tables.columns("passk_gates"):
        raise PasskError(
            "Another version of passk built the table passk_gates.", hint="Run `passk build`."
        )
    rows = tables.records(
        f"select * exclude (loaded_at) from {tables.require('passk_gates')} "
        "order by gate, suite, run_id, baseline_run_id, slice_name, slice_value"
    )
    if not rows:
        again = command_line("build", "--vars", "{passk_gates: [...]}", database=database)
        raise PasskError(
            "No gate is declared.",
            hint=f"Declare rules in the var passk_gates and build (`{again}`). `passk gate` also "
            "takes a file, --rules gates.yml, or one rule: --metric pass_hat_k --k 4 --min 0.9.",
        )
    known = list(dict.fromkeys(row["gate"] for row in rows))
    _require_gates(names, known, "There is", "The")
    return [row for row in rows if not names or row["gate"] in names]


def _require_gates(names: Sequence[str], known: Sequence[str], lead: str, whose: str) -> None:
    """Raise an error for names of gates that there are not."""
    missing = [name for name in names if name not in known]
    if missing:
        raise PasskError(
            f"{lead} no gate {and_list(map(plain, missing), word='or')}."
            f"{did_you_mean(missing, known)}",
            hint=f"{whose} gates are {', '.join(map(plain, known))}.",
        )


def read_gates(
    one: Mapping[str, Any] | None, path: Path | None, names: tuple[str, ...], settings: Settings
) -> list[Rule]:
    """Read the one rule of the options, or those of a file, of these names if any is given."""
    from passk_py.metrics.gates import read_rules, rules_of

    written = [] if path is None else read_rules(path)
    given: Sequence[Mapping[str, Any]] = written if one is None else [typed_rule(one)]
    try:
        rules = rules_of(
            given,
            deployment_k=settings.deployment_k,
            slices=list(settings.declared_slices),
            diagnostics=settings.diagnostics,
        )
    except PasskError as error:
        if one is None:
            raise
        # The name of the rule is made up, so messages leave it out.
        lead = f"  - {RULE_NAME}: "
        lines = [line for line in str(error).splitlines() if line.startswith(lead)]
        mistakes = [line.removeprefix(lead) for line in lines]
        raise PasskError("\n".join(mistakes), hint=RULE_HELP) from error
    _require_gates(names, [rule.gate for rule in rules], f"{path} has", "Its")
    return [rule for rule in rules if not names or rule.gate in names]


def say_gates(
    session: Session, rows: Sequence[Row], without_run: Sequence[Row], *, alone: bool = False
) -> None:
    """Print the results; a rule from options has no name to print."""
    from passk_py.metrics.gates.gate_reports import count, settling, title

    indent = " " * (max(map(len, _WORDS.values())) + 2)
    for row in rows:
        said = _NO_RUN if row in without_run else _WORDS[row["result"]]
        word = click.style(said.ljust(len(indent)), fg=_COLORS[row["result"]])
        advisory = " (advisory)" if row["is_advisory"] else ""
        name = "" if alone else f"{plain(row['gate'])}{advisory} · "
        session.say(f"{word}{name}{plain(title(row))}")
        settle = settling(row)
        for text in (row["rule"], row["reason"], *([settle] if settle else [])):
            session.say_wrapped(plain(text), indent=indent)
        session.say()
        session.log(
            "gate",
            level=_LEVELS[row["result"]] if not row["is_advisory"] else "info",
            **{name: row[name] for name in _LOGGED},
        )
    session.say(count(rows, without_run))

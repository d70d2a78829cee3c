"""Print what became of the logs that were read."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from passk_py.cli.table_output import fitted_table
from passk_py.common.words import plain, plural, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from passk_py.cli.session import Session
    from passk_py.ingest.landing import FileReport, LoadReport

_LEAST_NAME: Final = 20
_OTHER_COLUMNS: Final = 52
_LONGEST_REASON: Final = 40
_MOST_REASONS: Final = 6
_MOST_PASSED_OVER: Final = 5
_MOST_PASSED_OVER_AS_JSON: Final = 100
_SHOWN: Final = 20
"""So many files are listed one by one; of more, only incomplete or doubtful ones."""


def _listed(report: LoadReport) -> tuple[FileReport, ...]:
    """Select the files to list: of many, every failed one and some that are odd."""
    if len(report.files) <= _SHOWN:
        return report.files
    failed = [file for file in report.files if file.status == "failed"]
    others = [
        file
        for file in report.files
        if file.status != "failed" and (file.rows_rejected or file.is_doubtful)
    ]
    return (*failed, *others[: max(0, _SHOWN - len(failed))])


def note_problems(session: Session, report: LoadReport) -> None:
    """Note on stderr what went wrong, and which files were not read."""
    for file in report.files:
        _log_file(session, file)
    for file in () if session.log_as_json else _listed(report):
        if file.status == "failed":
            session.note(plain(file.message), lead="Error", hint=plain(file.hint))
        elif file.message:
            session.note(f"{_short(file.path)}: {plain(file.message)}")
    for skipped in report.skipped[:3]:
        session.note(f"Skipped: {plain(skipped.path)} is {plain(skipped.reason)}.")
    if len(report.skipped) > 3:
        session.note(f"... and {len(report.skipped) - 3:,} more files.")
    if report.passed_over:
        named = ", ".join(_short(path) for path in report.passed_over[:_MOST_PASSED_OVER])
        more = ", ..." if len(report.passed_over) > _MOST_PASSED_OVER else ""
        them = "it" if len(report.passed_over) == 1 else "them"
        files = plural(len(report.passed_over), "file")
        session.note(f"{files} passed over: {named}{more}; name {them} to read {them}.")


def _log_file(session: Session, file: FileReport) -> None:
    """Write what became of a file into the log as JSON, which lists all of them."""
    problem = "error" if file.status == "failed" else "warning"
    session.log(
        "file",
        level=problem if file.message or file.rows_rejected else "info",
        file=plain(file.path),
        status=file.status,
        format=file.format,
        rows_read=file.rows_read,
        rows_landed=file.rows_landed,
        rows_rejected=file.rows_rejected,
        message=plain(file.message) or None,
        hint=plain(file.hint) or None,
    )


def say_files(session: Session, report: LoadReport) -> None:
    """Print the table of the files, and the rows and attempts of them that count in no metric."""
    listed = _listed(report)
    if session.as_json or all(file.status == "failed" for file in report.files):
        return
    from rich.text import Text

    console = session.console()
    headings = ("file", "format", "status", "read", "landed", "rejected")
    lines: list[Sequence[str | Text]] = [
        (
            shortened(_short(file.path), max(_LEAST_NAME, console.width - _OTHER_COLUMNS)),
            file.format or "",
            Text(file.status, style="red" if file.status == "failed" else ""),
            *(f"{rows:,}" for rows in (file.rows_read, file.rows_landed, file.rows_rejected)),
        )
        for file in listed
    ]
    if len(report.files) > 1:
        total = (report.rows_read, report.rows_landed, report.rows_rejected)
        lines.append((plural(len(report.files), "file"), "", "", *(f"{rows:,}" for rows in total)))
    # Failures are always listed below.
    spared = [(1,), (3,), (2,)]
    table, _ = fitted_table(headings, lines, console.width, spared, numbers=range(3, 6))
    if len(report.files) > 1:
        table.rows[-1].style = "bold"
        if listed:
            table.rows[-2].end_section = True
    session.show(table, console)
    session.say()
    if len(report.files) > 1:
        statuses = ", ".join(f"{count:,} {status}" for status, count in report.statuses.items())
        excluded: Counter[str] = Counter()
        for file in report.files:
            excluded.update(file.excluded)
        left_out = []
        if excluded:
            # Where not all files are listed, no other line gives the reason.
            why = "" if len(listed) == len(report.files) else _reasons(dict(excluded.most_common()))
            left_out.append(f"{excluded.total():,} excluded{why}")
        if missing := sum(file.missing for file in report.files):
            left_out.append(f"{missing:,} missing")
        told = f" Attempts: {', '.join(left_out)}." if left_out else ""
        session.say(f"{plural(len(report.files), 'file')}: {statuses}.{told}")
    for file in listed:
        if file.status != "failed" and (said := _left_out(file)):
            session.say(f"{_short(file.path)}: {said}.")
    if report.parquet is not None:
        session.say(f"The attempts are stored as Parquet in {_short(str(report.parquet))}.")


def _left_out(file: FileReport) -> str:
    """Describe the rows and attempts of a file that are in no metric, and why."""
    parts = []
    if file.rows_rejected:
        rows = plural(file.rows_rejected, "row")
        parts.append(f"{rows} rejected{_reasons(file.reasons)}")
    if file.excluded:
        attempts = plural(sum(file.excluded.values()), "attempt")
        parts.append(f"{attempts} excluded{_reasons(file.excluded)}")
    if file.missing:
        parts.append(f"{plural(file.missing, 'expected attempt')} missing")
    return "; ".join(parts)


def _short(path: str) -> str:
    """Write a path relative to the current folder, if it is inside."""
    try:
        return plain(str(Path(path).relative_to(Path.cwd())))
    except ValueError:
        return plain(path)


def _reasons(reasons: dict[str, int]) -> str:
    named = [
        (shortened(plain(reason), _LONGEST_REASON), count) for reason, count in reasons.items()
    ]
    if len(named) == 1:
        return f" ({named[0][0]})" if named[0][0] else ""
    said = [f"{count:,} {reason or 'without a reason'}" for reason, count in named[:_MOST_REASONS]]
    return f" ({', '.join([*said, *(['...'] if len(named) > _MOST_REASONS else [])])})"


def load_as_dict(report: LoadReport) -> dict[str, Any]:
    """Turn the report into values that JSON can hold."""
    return {
        "rows_read": report.rows_read,
        "rows_landed": report.rows_landed,
        "rows_rejected": report.rows_rejected,
        "reasons": report.reasons,
        "files": [
            {
                "path": file.path,
                "status": file.status,
                "format": file.format,
                "rows_read": file.rows_read,
                "rows_landed": file.rows_landed,
                "rows_rejected": file.rows_rejected,
                "reasons": file.reasons,
                "excluded": file.excluded,
                "missing": file.missing,
                "message": file.message,
                "hint": file.hint,
            }
            for file in report.files
        ],
        "skipped": [asdict(file) for file in report.skipped],
        "passed_over": {
            "files": len(report.passed_over),
            "paths": list(report.passed_over[:_MOST_PASSED_OVER_AS_JSON]),
        },
        "parquet": None if report.parquet is None else str(report.parquet),
    }

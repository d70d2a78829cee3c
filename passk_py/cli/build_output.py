"""Run the build with its progress, and print its result."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from passk_py.common.words import plain, plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from passk_py.cli.session import Session
    from passk_py.warehouse.building import BuildReport, NodeReport


def run_build(session: Session, database: Path, **options: Any) -> BuildReport:  # noqa: ANN401 - those of build()
    """Build the tables; on a terminal, show the model at work."""
    from passk_py.cli.progress import building
    from passk_py.warehouse.building import build

    with building(session) as progress:
        return build(database, debug=session.debug, progress=progress, **options)


def rejected_rows(database: Path) -> dict[str, int]:
    """Count the rejected rows by code, the most frequent first; empty without a DuckDB file."""
    # Some are rejected only when all landed rows are compared, so loading can't report them.
    from passk_py.warehouse.tables import open_tables

    if not database.is_file():
        return {}
    with open_tables(database) as tables:
        rejected = tables.find("passk_rejected_attempts")
        if rejected is None:
            return {}
        return dict(
            tables.rows(
                f"select reason_code, count(*) from {rejected} group by all order by 2 desc, 1"
            )
        )


def say_build(
    session: Session, report: BuildReport, rejected: Mapping[str, int] | None = None
) -> None:
    """Print the built models and the rejected rows and, to stderr, the failures."""
    built = f"{plural(report.models, 'model')} built"
    if report.tests:
        built += f" and {plural(report.tests, 'test')} passed"
    if report.is_unchanged:
        session.say("Nothing is new since the last build: the tables stay as they are.")
    elif not report.failed:
        session.say(f"{built}, in {report.seconds:.1f} s.")
    if not report.failed and rejected:
        are = "row is" if (rows := sum(rejected.values())) == 1 else "rows are"
        codes = ", ".join(f"{count:,} {plain(code)}" for code, count in rejected.items())
        session.say(f"{rows:,} {are} rejected and in no metric: {codes}.")
    session.log(
        "built",
        level="error" if report.failed else "info",
        is_unchanged=report.is_unchanged,
        models=report.models,
        tests=report.tests,
        failed=len(report.failed),
        skipped=report.skipped,
        rejected=sum((rejected or {}).values()),
        seconds=round(report.seconds, 3),
    )
    for node in report.warned:
        _note(session, "Warning", node)
    if not report.failed:
        return
    for node in report.failed:
        _note(session, "Failed", node)
    skipped = f"; {report.skipped:,} after them were skipped" if report.skipped else ""
    failed = f"{len(report.failed):,} failed"
    session.note(f"{built}; {failed}{skipped}.", level="error")


def _note(session: Session, word: str, node: NodeReport) -> None:
    first, *rest = [plain(line) for line in node.message.splitlines()] or ["dbt does not say why"]
    said = "\n    ".join([f"{node.kind} {node.name}: {first}", *rest])
    session.note(said, lead=word, event="node", kind=node.kind, node=node.name)


def build_as_dict(report: BuildReport) -> dict[str, Any]:
    """Turn the report into values that JSON can hold."""
    return {
        "is_unchanged": report.is_unchanged,
        "models": report.models,
        "tests": report.tests,
        "skipped": report.skipped,
        "failed": [asdict(node) for node in report.failed],
        "warned": [asdict(node) for node in report.warned],
        "seconds": round(report.seconds, 3),
    }

"""The options by which commands read attempt logs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from passk_py.cli.shared_options import add_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from passk_py.cli.session import Session
    from passk_py.ingest.landing import LoadReport

F = TypeVar("F", bound="Callable[..., Any]")

_OPTIONS = (
    click.option(
        "--format",
        metavar="NAME",
        help="Read the files in this format; `passk formats` lists all. [default: recognised]",
    ),
    click.option(
        "--map",
        "lines",
        multiple=True,
        metavar="COLUMN=EXPR",
        help="Read any JSON, CSV or Parquet: say where a column is, e.g. 'task_id=$.case.id', "
        "'passed=$.score >= 0.8'; may be repeated. attempt=in_order numbers the tries of a task, "
        "'rows=$.tasks[*].samples' says where the rows are, 'task_id=^.id' reads what lies above a "
        "row. `passk formats --propose FILE` writes these options.",
    ),
    click.option(
        "--mapping",
        "kept",
        metavar="NAME|FILE",
        help="Use the mapping passk_mappings/NAME.yml, or the one in FILE.",
    ),
    click.option(
        "--run-id",
        help="Put all attempts into one run; attempt numbers continue from log to log. "
        "[default: the log's own runs]",
    ),
    click.option("--suite", help="Set the suite of all attempts. [default: the log's own]"),
    click.option("--agent", help="Set the agent of all attempts. [default: the log's own]"),
    click.option("--model", help="Set the model of all attempts. [default: the log's own]"),
    click.option(
        "--tag", "tags", multiple=True, metavar="K=V", help="Tag all attempts; may be repeated."
    ),
    click.option(
        "--score-threshold",
        type=float,
        default=1.0,
        show_default=True,
        help="Count a score of at least this as a pass, if the log has no verdict.",
    ),
    click.option(
        "--policy",
        multiple=True,
        metavar="RULE|FILE",
        help="Set how attempts without a verdict count, by their reason: REASON=failed, "
        "REASON=excluded, or a YAML file of `reason: outcome`; may be repeated. `passk formats "
        "--policy` lists the rules that come after yours.",
    ),
    click.option(
        "--expected-attempts",
        metavar="N",
        type=click.IntRange(min=1),
        help="Expect N attempts of each task, if the log does not say how many there should be. "
        "Those that are not in the log count as missing.",
    ),
    click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Read N logs at a time.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Reject a whole file if one of its rows is rejected. By default only the row is.",
    ),
)


def reading_options(command: F) -> F:
    """Add the options that say how logs are read."""
    return add_options(command, _OPTIONS)


def read_logs(
    session: Session,
    paths: tuple[str, ...],
    database: Path | DuckDBPyConnection,
    *,
    lines: tuple[str, ...],
    kept: str | None,
    tags: tuple[str, ...],
    policy: tuple[str, ...],
    save_as: str | None = None,
    **options: Any,  # noqa: ANN401 - those of load()
) -> LoadReport:
    """Load logs as the options say; on a terminal, show the progress."""
    from passk_py.cli.progress import reading
    from passk_py.ingest.formats.mappings.mapping import mapping_from, save_mapping
    from passk_py.ingest.formats.policy import policy_from
    from passk_py.ingest.landing import load

    rules = policy_from(policy)
    mapping = mapping_from(lines, kept)
    if save_as is not None:
        if mapping is None:
            raise click.UsageError("--save-mapping needs --map or --mapping.")
        session.note(f"The mapping was saved in {save_mapping(mapping, save_as)}.")
        # By the name under which it was saved.
        mapping = replace(mapping, name=save_as)
    with reading(session) as progress:
        return load(
            list(paths),
            database=database,
            tags=_tags(tags),
            policy=rules,
            mapping=mapping,
            progress=progress,
            **options,
        )


def _tags(given: tuple[str, ...]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise click.UsageError(f"--tag is {text!r}, but must be a name and a value: K=V.")
        tags[name] = value
    return tags

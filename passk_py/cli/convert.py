"""``passk convert``: write results in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import (
    NameChoice,
    common_options,
    database_option,
    examples,
    filter_options,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMATS: Final = ("eval-results", "every-eval-ever", "inspect", "otel-metrics")
_RELATIONSHIPS: Final = ("first_party", "third_party", "collaborative", "other")


@click.command(
    "convert",
    short_help="Write results in the formats of other tools.",
    epilog=examples(
        "passk convert inspect --run nightly -o logs",
        "passk convert otel-metrics -o metrics.json",
        "passk convert every-eval-ever --organization 'My Lab' --relationship third_party -o eee",
        "passk convert eval-results --run nightly --dataset org/bench --task default -o bench.yaml",
    ),
)
@click.argument("format", metavar="FORMAT", type=NameChoice(_FORMATS))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Write this file (eval-results: .yaml, otel-metrics: .json), or files to this folder.",
)
@click.option(
    "--metric",
    type=click.Choice(["pass_at_k", "pass_hat_k"]),
    help="Choose the metric of eval-results. [default: pass_at_k, with k = 1]",
)
@click.option("--dataset", metavar="ID", help="Name the benchmark's dataset, as in 'org/bench'.")
@click.option("--task", metavar="ID", help="Name the task in the eval.yaml of the dataset.")
@click.option("--percent", is_flag=True, help="Write the value of eval-results as a percentage.")
@click.option("--source-url", metavar="URL", help="Link the entry of eval-results to its source.")
@click.option("--organization", metavar="NAME", help="Name the organization that evaluated.")
@click.option(
    "--relationship",
    type=click.Choice(_RELATIONSHIPS),
    help="Say how the evaluator is related to the model.",
)
@click.option(
    "--developer", metavar="NAME", help="Name the developer of a model whose name has no slash."
)
@database_option
@filter_options
@common_options
@pass_session
def command(
    session: Session,
    /,
    *,
    format: str,  # noqa: A002 - as the argument is called
    output: Path,
    database: Path,
    runs: tuple[str, ...],
    suites: tuple[str, ...],
    ks: tuple[int, ...],
    **facts: Any,  # noqa: ANN401 - those of Asked
) -> int:
    """Write results in FORMAT, so that other tools can read them.

    eval-results is the file of Hugging Face's leaderboards, every-eval-ever the schema of that
    database, inspect the logs that `inspect view` opens, and otel-metrics OpenTelemetry's metrics
    as OTLP JSON. All numbers come from the public tables, with their limits.
    """
    from passk_py.cli.next_steps import note_stale
    from passk_py.reports.conversions import convert
    from passk_py.reports.conversions.asked import Asked
    from passk_py.warehouse.tables import open_tables

    _refuse(format, {**facts, "k": ks})
    with open_tables(database) as tables:
        stale = note_stale(session, tables)
        files = convert(format, output, Asked(runs, suites, ks, **facts), tables)
    session.result({"database": str(database), "stale": stale, "files": list(map(str, files))})
    for path in files:
        session.say(str(path))
    return 0


def _refuse(name: str, given: Mapping[str, Any]) -> None:
    """Raise an error for options that the format has no place for."""
    from passk_py.reports.conversions import CONVERSIONS

    for option, value in given.items():
        if value and option not in CONVERSIONS[name].options:
            raise click.UsageError(f"{name} takes no --{option.replace('_', '-')}.")

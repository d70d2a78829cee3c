"""``passk superset``: write dashboards that Superset imports."""

from __future__ import annotations

from pathlib import Path

import click

from passk_py.cli.session import Session, pass_session
from passk_py.cli.shared_options import common_options, examples
from passk_py.common.errors import PasskError


@click.command(
    "superset",
    short_help="Write dashboards for Superset, over a published copy or Postgres.",
    epilog=examples(
        "passk publish -o bi && passk superset -o bi/superset --copy bi/passk.duckdb",
        "passk superset -o superset.zip --uri duckdb:////srv/bi/passk.duckdb",
        "passk superset -o superset --uri postgresql://reader@db/evals --schema reliability",
    ),
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write to this folder, or to a .zip file.",
)
@click.option(
    "--copy",
    "copy",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read this DuckDB file of `passk publish`, if Superset runs on this machine. Give either "
    "--copy or --uri.",
)
@click.option(
    "--uri",
    metavar="URI",
    help="Set the database address as Superset reaches it, as a SQLAlchemy URI.",
)
@click.option(
    "--schema",
    help="Set the schema of the tables, if the database does not find them without it.",
)
@click.option(
    "--name",
    default="passk",
    show_default=True,
    help="Set the name of the database in Superset. Bundles with other names stay beside it.",
)
@common_options
@pass_session
def command(
    session: Session,
    *,
    output: Path,
    copy: Path | None,
    uri: str | None,
    schema: str | None,
    name: str,
) -> int:
    """Write a bundle for Superset: a database, datasets, charts, filters and seven dashboards.

    Import a folder with `superset import-directory --overwrite FOLDER`, which also updates the
    imports of an older bundle. Import a zip file with the button that imports dashboards. Metrics
    of pass@k and pass^k are null wherever a chart would add them up or average them.
    """
    from passk_py.common.words import PASSWORD
    from passk_py.reports.superset import superset_bundle

    address = _address(copy, uri)
    files = superset_bundle(output, uri=address, schema=schema, name=name)
    if PASSWORD.search(address):
        session.note(f"{output} contains the password of {name}: do not share it.", level="warning")
    session.result({"path": str(output), "uri": PASSWORD.sub(r"\1***", address), "files": files})
    kinds = ("dashboards", "charts", "datasets")
    counted = ", ".join(
        f"{sum(file.startswith(f'{kind}/') for file in files)} {kind}" for kind in kinds
    )
    session.say(f"{output}: {counted}")
    if output.suffix.lower() == ".zip":
        session.say(
            "import it with the button beside `+ Dashboard` on Superset's page of dashboards"
        )
    else:
        session.say(f"import it with: superset import-directory --overwrite {output}")
    return 0


def _address(copy: Path | None, uri: str | None) -> str:
    if uri is not None and copy is None:
        if "://" not in uri:
            raise click.BadParameter(
                f"{uri} is not an address such as duckdb:////srv/bi/passk.duckdb or "
                "postgresql://reader@db/evals.",
                param_hint="--uri",
            )
        return uri
    if copy is None or uri is not None:
        raise click.UsageError("Give either --copy or --uri.")
    if not copy.is_file():
        raise PasskError(
            f"There is no file {copy}.", hint="Write the copy first: passk publish -o FOLDER"
        )
    return f"duckdb:///{copy.resolve()}"

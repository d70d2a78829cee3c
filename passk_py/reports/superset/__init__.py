"""Superset dashboards over the public tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from passk_py.common.words import PASSWORD

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["superset_bundle"]


def superset_bundle(
    path: str | PathLike[str], *, uri: str, schema: str | None = None, name: str = "passk"
) -> list[str]:
    """Write what Superset imports: a database, datasets, charts, filters and seven dashboards.

    Parameters
    ----------
    path
        A folder, for ``superset import-directory``, or a file that ends in ``.zip``, for the button
        *Import dashboards*. A bundle that is there is replaced. Only its owner can read
        one with a password.
    uri
        The address of the database as Superset reaches it, in SQLAlchemy's form:
        ``duckdb:////srv/bi/passk.duckdb`` (opened for reading only) or ``postgresql://...``.
    schema
        The schema of the public tables; by default the one that the database finds by itself.
    name
        The name of the database in Superset. A bundle of another name does not replace this one.

    Returns
    -------
    list of str
        The files, by their paths within the bundle, sorted.

    Raises
    ------
    PasskError
        If the folder holds something else, or can't be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "superset"
    >>> files = superset_bundle(folder, uri="duckdb:////srv/bi/passk.duckdb")
    >>> [file for file in files if file.startswith("dashboards/")]
    ['dashboards/compare.yaml', 'dashboards/costs.yaml', 'dashboards/details.yaml', \
'dashboards/gates.yaml', 'dashboards/overview.yaml', 'dashboards/run.yaml', 'dashboards/tasks.yaml']
    """
    import yaml  # type: ignore[import-untyped]

    from passk_py.reports.superset.bundle import bundle_files
    from passk_py.reports.superset.write_bundle import write_folder, write_zip

    target = Path(path)
    is_private = PASSWORD.search(uri) is not None
    texts: dict[str, str] = {
        file: yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
        for file, content in sorted(bundle_files(uri, schema=schema, name=name).items())
    }
    if target.suffix.lower() == ".zip":
        write_zip(target, texts, is_private=is_private)
    else:
        write_folder(target, texts, is_private=is_private)
    return list(texts)

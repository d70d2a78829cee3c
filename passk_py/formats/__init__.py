"""The formats of attempt logs that ``passk load`` reads, one file each.

A new format is a file with a subclass of :class:`~passk_py.formats.base.Format` and a line in
:data:`FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.errors import PasskError
from passk_py.formats.base import Container, Field, Format, Key, Kind, Refusal, listed
from passk_py.formats.canonical_csv import CanonicalCsv
from passk_py.formats.canonical_json import CanonicalJson
from passk_py.formats.canonical_jsonl import CanonicalJsonl
from passk_py.formats.canonical_parquet import CanonicalParquet
from passk_py.formats.tau_bench import TauBench

if TYPE_CHECKING:
    from passk_py.formats.sample import Sample

__all__ = [
    "FORMATS",
    "Container",
    "Field",
    "Format",
    "Key",
    "Kind",
    "Refusal",
    "format_named",
    "listed",
    "recognise",
]

FORMATS: Final[tuple[Format, ...]] = (
    # Harness formats come first: their fields may look canonical too.
    TauBench(),
    CanonicalJsonl(),
    CanonicalJson(),
    CanonicalCsv(),
    CanonicalParquet(),
)


def format_named(name: str) -> Format:
    """Find a format by the name that ``--format`` gives.

    Parameters
    ----------
    name
        The format's name.

    Returns
    -------
    Format
        The format.

    Raises
    ------
    PasskError
        If there is none of that name.

    Examples
    --------
    >>> format_named("csv").title
    'canonical attempts, a CSV table with a header'
    """
    for known in FORMATS:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in FORMATS)
    raise PasskError(f"There is no format '{name}'.", hint=f"The formats are {names}.")


def recognise(sample: Sample) -> Format | None:
    """Find the format of a file by its content.

    Parameters
    ----------
    sample
        The start of the file.

    Returns
    -------
    Format or None
        The first format that claims it; None if no format does.
    """
    return next((known for known in FORMATS if known.recognises(sample)), None)

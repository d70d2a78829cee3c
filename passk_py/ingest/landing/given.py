"""The user's values for all attempts of a log, in place of the log's own.

An option of the command line names one run, suite, agent or model. It replaces the one that the log
names, if any. A log that names several would lose the difference, and its attempts would have equal
numbers, so it is rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.sql_text import quote
from passk_py.ingest.formats import listed

if TYPE_CHECKING:
    import duckdb

    from passk_py.ingest.landing.source import Source

_WORDS: Final = {"run_id": "run", "suite": "suite", "agent": "agent", "model": "model"}
# An attempt without a run or suite is not of the runs or suites that others name.
_KEYS: Final = frozenset(("run_id", "suite"))
_SHOWN: Final = 5


def as_given(source: Source, relation: str) -> str:
    """Write SQL for rows that are of the run, suite, agent and model that the options name."""
    given = source.options.given
    if not given:
        return relation
    columns = ", ".join(f"{quote(text)} as {name}" for name, text in given.items())
    return f"select * replace ({columns}) from ({relation})"


def placed(connection: duckdb.DuckDBPyConnection, source: Source, relation: str) -> tuple[str, ...]:
    """Say which names of a log the options replace; an error if it tells several apart."""
    given = source.options.given
    if not given:
        return ()
    # A null is listed too where it tells attempts apart.
    lists = ", ".join(
        f"list_sort(list(distinct {name if name not in _KEYS else f'''coalesce({name}, '')'''})) "
        f"as {name}"
        for name in given
    )
    found = connection.execute(f"select {lists} from ({relation})").fetchall()[0]
    notes = []
    for (name, text), values in zip(given.items(), found, strict=True):
        said = [value for value in values or () if value is not None]
        flag = "--" + name.replace("_", "-")
        if len(said) > 1:
            named = [value or "(none)" for value in said]
            raise PasskError(
                f"{source.path} tells {len(said)} {_WORDS[name]}s apart "
                f"({listed(named, _SHOWN)}), and {flag} {text} would make one of them.",
                hint=f"Leave out {flag}, or load the logs of each {_WORDS[name]} by themselves.",
            )
        if said and said[0] and said[0] != text:
            notes.append(f"{flag} {text} takes the place of its {_WORDS[name]} {said[0]}.")
    return tuple(notes)

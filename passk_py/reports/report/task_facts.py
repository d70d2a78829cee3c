"""The tasks of a suite: ranked by what mending gains, with counts by run, tags and attempts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from passk_py.common.errors import PasskError
from passk_py.reports.queries.attempt_queries import attempts_of_tasks, tags_of_tasks
from passk_py.reports.queries.chosen import with_text_times
from passk_py.reports.queries.task_queries import task_rows
from passk_py.reports.queries.task_ranking import first_tasks, pass_rates_by_bin, rank_tasks
from passk_py.warehouse.catalog import shared_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from passk_py.reports.queries.chosen import Chosen, Row

MOST_TASKS: Final = 5_000
"""How many tasks can be searched: the first to mend. The heat map has all tasks, in bins."""

_MOST_CELLS: Final = 100_000
"""How many counts by run these tasks may have: tasks times runs."""

_BINS: Final = 100
"""How many columns the heat map has."""

_MOST_ATTEMPTS: Final = 12_000
"""How many attempts are shown one by one, so that the file stays small."""

_MOST_ATTEMPTS_OF_A_TASK: Final = 200
"""The same, of one run and task: a longer line can't be read."""

_MOST_TAG_VALUES: Final = 30
"""How many values a tag may have: with more it is no help in choosing tasks."""

_ATTEMPT: Final = (
    "outcome", "outcome_reason", "score", "started_at", "duration_s", "cost_usd", "seed",
    "source_file", "source_line", "transcript",
)  # fmt: skip
_FIELDS: Final = ("run_id", "suite", "task_id", "attempt", *_ATTEMPT)
_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_WHOLE: Final = {"source_file": "whole_source_file", "transcript": "whole_transcript"}
"""The columns of which a report shows the last part, and the names of the whole ones."""
_LETTERS: Final = {"passed": "P", "failed": "F", "excluded": "x"}
_LINKED: Final = frozenset({"http", "https", "file"})


def gather_tasks(chosen: Chosen, transcript_url: str | None) -> Row:
    """Read the tasks in the order in which to mend them: the first one by one, and all in bins."""
    total = rank_tasks(chosen)
    shown = first_tasks(chosen.tables, min(MOST_TASKS, _MOST_CELLS // len(chosen.runs)))
    bins = min(total, _BINS)
    heat = pass_rates_by_bin(chosen, bins, total) if bins else []
    if shown:
        _add_runs(chosen, shown)
    detailed = _within_room(shown, len(chosen.runs))
    attempts = _attempts(chosen, detailed, transcript_url) if detailed else []
    _add_outcomes(shown, attempts)
    return {"total_tasks": total, "tasks": shown, "heat": heat, "attempts": attempts}


def _add_runs(chosen: Chosen, shown: list[Row]) -> None:
    """Give each task its tags, and its counts by run."""
    by_name = {task["task_id"]: task for task in shown}
    tags = tags_of_tasks(chosen, by_name, _MOST_TAG_VALUES)
    for task in shown:
        task["tags"] = tags.get(task["task_id"], {})
        task["runs"] = {}
    for row in task_rows(chosen, by_name):
        by_name[row.pop("task_id")]["runs"][row.pop("run_id")] = row


def _within_room(shown: Iterable[Row], runs: int) -> list[str]:
    """Name the first tasks whose attempts can be shown one by one."""
    room, found = _MOST_ATTEMPTS, []
    for task in shown:
        room -= min(task["attempts"], _MOST_ATTEMPTS_OF_A_TASK * runs)
        if room < 0:
            break
        found.append(task["task_id"])
    return found


def _attempts(chosen: Chosen, tasks: Iterable[str], transcript_url: str | None) -> list[Row]:
    # Tables that an older version built lack newer columns.
    known = chosen.tables.columns("passk_attempts")
    columns = dict.fromkeys(_ATTEMPT, "null")
    columns |= shared_columns([name for name in _ATTEMPT if name in known], with_raw=False)
    if transcript_url is not None:
        # Reports are passed on to others, so only a template for links may use whole paths.
        columns |= {_WHOLE[name]: name if name in known else "null" for name in _WHOLE}
    rows = attempts_of_tasks(chosen, tasks, columns, most=_MOST_ATTEMPTS_OF_A_TASK)
    if transcript_url is not None:
        for row in rows:
            whole = {name: row.pop(column) for name, column in _WHOLE.items()}
            values = {**row, **whole, "suite": chosen.suites[0]}
            row["transcript"] = _filled(transcript_url, values)
    return with_text_times(rows)


def _filled(template: str, values: Mapping[str, Any]) -> str:
    """Write the values of an attempt into a template of links."""
    return _FIELD.sub(lambda found: _quoted(values[found[1]]), template)


def _quoted(value: object) -> str:
    return quote("" if value is None else str(value), safe="")


def check_template(template: str) -> None:
    """Raise an error for a template of links that names no field, or leads elsewhere."""
    unknown = sorted({name for name in _FIELD.findall(template) if name not in _FIELDS})
    made = _FIELD.sub("x", template)
    if unknown or "{" in made or "}" in made:
        wrong = f"names {unknown[0]!r}" if unknown else "has a brace that stands alone"
        raise PasskError(
            f"The template of links {template} {wrong}.",
            hint=f"It may name {', '.join(f'{{{name}}}' for name in _FIELDS)}.",
        )
    if urlsplit(made).scheme not in _LINKED:
        raise PasskError(
            f"The template of links {template} must begin with http://, https:// or file://."
        )


def _add_outcomes(shown: Iterable[Row], attempts: Iterable[Row]) -> None:
    """Write the outcomes of a run and task as letters, in order."""
    found: dict[tuple[str, str], str] = {}
    for row in attempts:
        key = (row["task_id"], row["run_id"])
        found[key] = found.get(key, "") + _LETTERS[row["outcome"]]
    for task in shown:
        for run_id, cell in task["runs"].items():
            if (task["task_id"], run_id) in found:
                cell["outcomes"] = found[task["task_id"], run_id]

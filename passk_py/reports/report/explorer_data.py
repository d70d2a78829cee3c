"""The tasks and attempts of a report as the script of the page reads them: short, and only text."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.words import TASK_CLASSES, percent, plain, shortened
from passk_py.reports.report.theme import heat_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]

_OUTCOMES: Final = {"passed": "P", "failed": "F", "excluded": "x"}
_MOST_BYTES: Final = 800_000
"""The most that the attempts of all suites may take."""
_REASON: Final = 300
"""Letters of a reason: some harnesses write whole tracebacks."""
_RUN: Final = 48
_REASON_AT, _FILE_AT = 4, 10
"""Where a row of the data has them."""


def explorer_data(facts: Row) -> str:
    """Write the data of the page's script as JSON that can't end the element around it."""
    room = _MOST_BYTES // max(1, len(facts["suites"]))
    suites = [_suite(suite, room) for suite in facts["suites"]]
    return _json({"k": facts["deployment_k"], "suites": suites})


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class _Places:
    """Values that occur often, by their places in a list."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[Any, int] = {}

    def of(self, value: Any) -> int:  # noqa: ANN401 - whatever can be hashed
        """Give the place of a value; -1 of null."""
        if value is None:
            return -1
        if value not in self._places:
            self._places[value] = len(self.values)
            self.values.append(value)
        return self._places[value]


def _suite(suite: Row, room: int) -> Row:
    runs = [run["run_id"] for run in suite["runs"]]
    states, tags = _Places(), _Places()
    tasks = [
        (
            plain(task["task_id"]),
            task["expected_gain"],
            percent(task["expected_gain"]),
            [tags.of((plain(key), plain(value))) for key, value in task["tags"].items()],
            [states.of(_state(task["runs"].get(run))) for run in runs],
        )
        for task in suite["tasks"]
    ]
    places = {task["task_id"]: place for place, task in enumerate(suite["tasks"])}
    return {
        "name": plain(suite["suite"]),
        "total": suite["total_tasks"],
        "runs": list(_labels(map(plain, runs)).items()),
        "classes": TASK_CLASSES,
        "states": states.values,
        "tags": tags.values,
        "tasks": tasks,
        **_attempts(suite["attempts"], places, runs, room),
    }


def _labels(names: Iterable[str]) -> dict[str, str]:
    """Shorten the names of runs; where two would read the same, they stay whole."""
    short = {name: shortened(name, _RUN) for name in names}
    times = Counter(short.values())
    return {name: label if times[label] == 1 else name for name, label in short.items()}


def _state(cell: Row | None) -> tuple[Any, ...] | None:
    """Give what a run has of a task: counts, rate, pass^k twice, class, shade, gain twice."""
    if cell is None:
        return None
    rate = cell["pass_rate"]
    return (
        cell["c"], cell["n"], cell["excluded"], rate, cell["pass_hat_k"],
        percent(cell["pass_hat_k"]), TASK_CLASSES.index(cell["task_class"]),
        None if rate is None else heat_step(rate), cell["expected_gain"],
        percent(cell["expected_gain"]),
    )  # fmt: skip


def _attempts(rows: Sequence[Row], places: dict[str, int], runs: Sequence[str], room: int) -> Row:
    """Give the attempts of as many tasks as there is room for, the first to mend in front."""
    run_places = {run: place for place, run in enumerate(runs)}
    by_task: dict[int, list[list[Any]]] = {}
    for row in rows:
        place = places[row["task_id"]]
        by_task.setdefault(place, []).append([place, run_places[row["run_id"]], *_attempt(row)])
    reasons, files = _Places(), _Places()
    shown = []
    for place in sorted(by_task):
        room -= len(_json(by_task[place]))
        if room < 0:
            break
        for one in by_task[place]:
            one[_REASON_AT] = reasons.of(one[_REASON_AT])
            one[_FILE_AT] = files.of(one[_FILE_AT])
            shown.append(one)
    return {"reasons": reasons.values, "files": files.values, "attempts": shown}


def _attempt(row: Row) -> tuple[Any, ...]:
    """Give what the page shows of an attempt, after its task and its run."""
    return (
        row["attempt"],
        _OUTCOMES[row["outcome"]],
        row["outcome_reason"] and shortened(plain(row["outcome_reason"]), _REASON),
        *(_rounded(row[name]) for name in ("score", "duration_s", "cost_usd")),
        None if row["seed"] is None else str(row["seed"]),
        row["started_at"] and row["started_at"][:19].replace("T", " "),
        row["source_file"] and plain(row["source_file"]),
        row["source_line"],
        row["transcript"] and plain(row["transcript"]),
    )


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.6g}")

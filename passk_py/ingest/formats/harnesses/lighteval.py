"""Lighteval: the details of a task, ``details_<task>_<date>.parquet``.

Since 0.11 the table has the columns ``doc``, ``metric`` and ``model_response``; before that, each
field of a document had a column of its own, up to 0.10 as the text of a Python value. The results
of the same call, ``results_<date>.json``, name the model.

- Several responses of a document are graded together. The share of those that passed is pass@1, as
  in ``pass@k:k=1&n=16`` or ``math_pass@1:16_samples``, or else ``avg@n:n=16``: so many of the first
  n responses have passed, but not which. Where the metrics have several n, the largest counts.
- Otherwise the first metric that is 0 or 1 in every row is the verdict, if the document has one
  response; a vote (``maj@n``) is no verdict of any response.
- Lighteval stops at an error and writes nothing, so there are no rows without a verdict.
"""

from __future__ import annotations

import ast
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import duckdb

from passk_py.ingest.containers.shape import loaded_or_none
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Harness, Record, Unfit
from passk_py.ingest.formats.harnesses.lm_eval_metrics import laid
from passk_py.ingest.formats.json_values import at, dict_at, list_at, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.parquet_schema import glob_literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_NAME: Final = re.compile(r"details_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.parquet", re.DOTALL)
_NOW: Final = frozenset(("doc", "metric", "model_response"))
_BEFORE: Final = frozenset(("metrics", "predictions", "full_prompt", "gold_index"))
_PASS: Final = re.compile(
    r"(?:\w+_)?pass@(?:1(?::(?P<old>\d+)(?:_samples)?)?|k:(?:n=(?P<before>\d+)&)?k=1(?:&n=(?P<after>\d+))?)"
)
_MEAN: Final = re.compile(r"(?:\w+_)?avg@(?:n|k)?:?(?:[nk]=)?(?P<old>\d+)")
# Metrics of a document as a whole: how many of the tries have to pass, or a vote.
_OF_MANY: Final = re.compile(r"(?:.*_)?(?:g-|mg-)?(?:pass|maj)@.*", re.DOTALL)
_NEARLY: Final = 1e-9
_ROWS: Final = 1000


class LightEval(Harness):
    """Lighteval's details of a task."""

    name = "lighteval"
    title = "Lighteval's details_<task>_<date>.parquet"
    reader_version = 1
    container = "parquet"
    suffixes = (".parquet",)
    recognised_by = (
        "a table with doc, metric and model_response, or with metrics, predictions, full_prompt "
        "and gold_index"
    )
    fields = (
        (
            "run_id",
            "the folders of the model, or the file's folder, and the date in the file's name",
        ),
        ("suite", "doc.task_name, else the task in the file's name; else lighteval"),
        ("task_id", "doc.id; else the place of the row, from 0"),
        ("attempt", "the place of the response"),
        ("outcome", "pass@1 of metric, else avg@n, else the first metric that is always 0 or 1"),
        ("score", "the same metric, where it is of one response"),
        ("model", "results_<date>.json: config_general.model_name; else the folders of the model"),
        ("output_hash", "SHA-256 of the response, where the verdict is its own"),
        ("tags", "metric; verdicts: counted, where only their number is known"),
        ("transcript", "the document: the file, and # with the place of its row, from 0"),
    )
    verdict_rule = "the metric is 1; of n responses graded together, n * pass@1 have passed"
    attempt_rule = "the place of the response in model_response.text, from 1"
    error_rule = (
        "Lighteval writes nothing if there is one; responses beyond those that the metric is about "
        "are excluded"
    )
    documentation = "https://huggingface.co/docs/lighteval/saving-and-reading-results"
    example = (
        "a row with doc {id: '0', query: ...}, metric {'pass@k:k=1&n=4': 0.5} and model_response "
        "{text: [...]}"
    )
    default_suite = "lighteval"
    differs_by_run = False
    labels: ClassVar[dict[str, str]] = {"task_id": "doc.id", "passed": "metric"}
    reasons: ClassVar[dict[str, Any]] = {"not_graded": "excluded"}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the names of the columns."""
        fields = set(sample.fields)
        return sample.container == self.container and (fields >= _NOW or fields >= _BEFORE)

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject a table without rows of documents."""
        if sample.kinds.get("doc", "other") == "other":
            return None
        return Refusal("no documents in the column doc", "Write the details again.")

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say what the results are without the details."""
        if not {"config_general", "results", "summary_general"} <= set(sample.fields):
            return None
        return Refusal(
            "lighteval's results of a run, which hold no attempts",
            "Run it with --save-details and load the details_*.parquet.",
        )

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find the results of the same call, in a folder beside that of the details."""
        named, folders = _NAME.fullmatch(path.name), _folders(path)
        if not named or folders is None:
            return ()
        root, model = folders
        return (root / "results" / model / f"results_{named[2]}.json",)

    def read(self, log: Log) -> Iterator[Record]:
        """Look which metric is the verdict, then read the rows."""
        with duckdb.connect() as connection:
            for path in log.files:
                log.current = path
                yield from _read(connection, path)

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the task and the date from the file's name, and the model from the results."""
        path = log.path
        named, folders = _NAME.fullmatch(path.name), _folders(path)
        results = next((log.beside(one) for one in self.companions(path)), None)
        model = str(folders[1]) if folders else None
        folder = model.replace("/", "_") if model else path.parent.name
        return {
            "run_id": f"{folder}_{named[2]}" if named else None,
            "suite": named[1] if named else None,
            "model": text(at(results, "config_general", "model_name")) or model,
        }


def _folders(path: Path) -> tuple[Path, Path] | None:
    """Give the folder of the output, and the folders of the model within its details."""
    parts = path.parts
    if "details" not in parts[:-3]:
        return None
    place = len(parts) - 4 - parts[:-3][::-1].index("details")
    return Path(*parts[:place]), Path(*parts[place + 1 : -2])


def _read(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[Record]:
    """Read a table, its metrics first."""
    source = [glob_literal(path)]
    table = "read_parquet(?, hive_partitioning = false)"
    columns = _columns(connection, f"select * from {table}", source)
    now = "metric" in columns
    metric = _as_text("metric" if now else "metrics", columns)
    values = (
        _metrics(row[0]) for row in _rows(connection, f"select {metric} from {table}", source)
    )
    verdict = _verdict(values)
    parts = _columns(connection, f"select unnest(doc) from {table}", source) if now else {}
    names = ", ".join(
        f"doc.{name}::varchar" if name in parts else "null" for name in ("id", "task_name")
    )
    said = "to_json(model_response.text)::varchar" if now else _as_text("predictions", columns)
    query = f"select {metric}, {names}, {said} from {table}"
    for place, (metrics, name, suite, responses) in enumerate(_rows(connection, query, source)):
        raw = json.dumps({"doc.id": name, "metric": metrics})
        try:
            shared = {
                "suite": suite or None,
                "task_id": name or str(place),
                "transcript": f"{path}#/{place}",
            }
            for one in _attempts(shared, _metrics(metrics), verdict, _list(responses)):
                yield Record(one, raw)
        except Unfit as unfit:
            yield Record(None, raw, (unfit.code, unfit.reason))


def _columns(
    connection: duckdb.DuckDBPyConnection, query: str, source: list[str]
) -> dict[str, str]:
    found = connection.execute(f"describe {query}", source).fetchall()
    return {row[0]: row[1] for row in found}


def _as_text(column: str, types: dict[str, str]) -> str:
    return column if types[column] == "VARCHAR" else f"to_json({column})::varchar"


def _rows(
    connection: duckdb.DuckDBPyConnection, query: str, source: list[str]
) -> Iterator[tuple[Any, ...]]:
    cursor = connection.cursor().execute(query, source)
    while rows := cursor.fetchmany(_ROWS):
        yield from rows


def _metrics(value: Json) -> dict[str, Any]:
    return dict_at(_value(value))


def _list(value: Json) -> list[Any]:
    return list_at([_value(value)], 0)


def _value(value: Json) -> Json:
    """Take a value that is written as JSON, or as Python writes it."""
    if not isinstance(value, str):
        return None
    found = loaded_or_none(value.encode())
    if found is not None:
        return found
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _graded(name: str, kind: re.Pattern[str]) -> int | None:
    """Tell how many responses a metric is the share of; 0 if it does not say so."""
    found = kind.fullmatch(name)
    return None if not found else int(next((n for n in found.groups() if n), 0))


def _verdict(rows: Iterator[dict[str, Any]]) -> tuple[str | None, int | None]:
    """Choose the metric that is the verdict, and of how many responses it is the share."""
    flags: dict[str, bool] = {}
    whole: dict[str, bool] = {}
    for row in rows:
        for name, value in row.items():
            if value is None:
                continue
            flags[name] = flags.get(name, True) and _is_number(value) and value in (0, 1)
            if graded := _graded(name, _MEAN):
                whole[name] = whole.get(name, True) and _is_share(value, graded)
    shares = [(graded, name) for name in flags if (graded := _graded(name, _PASS)) is not None]
    shares = shares or [
        (graded, name) for name in whole if whole[name] and (graded := _graded(name, _MEAN))
    ]
    if shares:
        graded, name = max(shares, key=lambda one: one[0])
        return name, graded
    for name, is_flag in flags.items():
        if is_flag and not _OF_MANY.fullmatch(name):
            return name, None
    return None, None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_share(value: Json, graded: int) -> bool:
    if not _is_number(value) or not 0 <= value <= 1:
        return False
    return bool(abs(value * graded - round(value * graded)) <= _NEARLY * graded)


def _attempts(
    shared: dict[str, Any],
    metrics: dict[str, Any],
    verdict: tuple[str | None, int | None],
    responses: list[Any],
) -> Iterator[dict[str, Any]]:
    """Give the attempts that the responses of a document are."""
    name, told = verdict
    if name is None:
        listed = ", ".join(list(metrics)[:10]) or "there is none"
        raise Unfit(
            "no_verdict",
            f"No metric is 0 or 1 in every row, or the share of the passes ({listed}), so that "
            "nothing says what passed.",
        )
    number = max(len(responses), 1)
    if told is None and number > 1:
        raise Unfit(
            "no_single_verdict",
            f"{name} is one figure of {number} responses, and nothing says that it is of the "
            "first.",
        )
    graded = told or number
    value = metrics.get(name)
    if value is None:
        raise Unfit("missing_field", f"{name} is missing.")
    if responses and graded > len(responses):
        raise Unfit(
            "out_of_range", f"{name} is about {graded} responses, but there are {len(responses)}."
        )
    if not _is_share(value, graded):
        raise Unfit(
            "out_of_range",
            f"{name} is {str(value)[:40]}, which is no share of {graded} "
            f"{'response' if graded == 1 else 'responses'}.",
        )
    passed = laid(shared["task_id"], round(value * graded), graded)
    tags = {"metric": name, "verdicts": "counted"} if graded > 1 else {"metric": name}
    for place in range(1, max(number, graded) + 1):
        one: dict[str, Any] = {**shared, "attempt": place, "tags": tags}
        if place > graded:
            one["outcome_reason"] = "not_graded"
        else:
            one["passed"] = place in passed
        if graded == 1:
            said = responses[place - 1] if responses else None
            one["output_hash"] = digest_of(said) if isinstance(said, str) else None
            if place == 1:
                one["score"] = float(value)
        yield one

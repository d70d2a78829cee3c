"""MLflow: the tables of ``mlflow.genai.evaluate`` and of ``mlflow.models.evaluate``.

``mlflow.models.evaluate`` writes ``eval_results_table.json``: the names of the columns, and a list
for each row; scores are in columns ``<metric>/score``. The ``result_df`` of
``mlflow.genai.evaluate`` has a row for each trace and columns ``<scorer>/value``; its
``to_json(orient="records")`` is a list of objects, with ``lines=True`` lines of them. MLflow marks
no repeats: rows with the same inputs are attempts of one task.

- :mod:`passk_py.ingest.formats.platforms.named_scores` judges a row. For scorers that say yes or
  no, true or false its rule is that of ``EvaluationResult.passed``: each of them passes.
  Expectations are in ``/value`` columns too, and are no verdicts.
- Judges of MLflow give 1 to 5: if no scorer gives verdicts and a score is above 1, the threshold
  has to be given.
- A scorer that raised leaves no verdict, unless another one says that the row failed. If the
  predicted function raised, the scorers judged nothing, so its error is the reason.
- ``eval_results_table.json`` does not name its run: the folder does. If several evaluations were
  logged into one run, MLflow appends the rows of the later ones to the table.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_start import start_of
from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.lines import read_lines
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, Json, decoder, loaded_or_none
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import (
    at,
    list_at,
    number,
    short_line,
    small_tags,
    text,
    time_of,
)
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.platforms.named_scores import RULE, Scores, score_in
from passk_py.ingest.formats.task_names import LONGEST_TASK, Names, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_SCORE: Final = "/score"
_VALUE: Final = "/value"
_ERROR: Final = "scorer_error"
# Measures of a text for which neither a high nor a low value is a pass.
_NO_VERDICTS: Final = ("toxicity", "flesch_kincaid_grade_level", "ari_grade_level")
_MEASURES: Final = ("latency", "token_count")
_OUTPUTS: Final = ("outputs", "predictions", "prediction", "output")
# How search_traces called its columns before MLflow 3.
_OLD_NAMES: Final = {
    "trace_metadata": "request_metadata",
    "state": "status",
    "request_time": "timestamp_ms",
    "execution_duration": "execution_time_ms",
}
_DECODE: Final = decoder(ANY)


class Mlflow(JsonHarness):
    """MLflow's evaluation tables."""

    name = "mlflow"
    title = "MLflow's eval_results_table.json, or result_df as JSON"
    reader_version = 1
    container = "json_object"
    suffixes = (".json", ".jsonl")
    recognised_by = (
        "an object of columns and data, or objects, with columns that end in /score; objects with "
        "trace_id and columns that end in /value"
    )
    fields = (
        ("run_id", "trace_metadata[mlflow.sourceRun]; else the file's name, or its folder's"),
        ("suite", "mlflow, unless --suite is given"),
        ("task_id", "request; of eval_results_table.json the first column, or all but the output"),
        ("attempt", "the place among the rows of the same inputs, by request_time"),
        ("outcome", "<scorer>/value, <metric>/score"),
        ("outcome_reason", "scorer_error; if state is ERROR, the status of the failed span"),
        ("score", "the only score, or the lowest if no scorer gives verdicts"),
        ("agent_version", "trace_metadata[mlflow.modelId]"),
        ("started_at", "request_time"),
        ("duration_s", "execution_duration / 1000; latency"),
        ("cost_usd", "trace_metadata[mlflow.trace.cost]: total_cost"),
        ("input_tokens", "trace_metadata[mlflow.trace.tokenUsage]: input_tokens"),
        ("output_tokens", "trace_metadata[mlflow.trace.tokenUsage]: output_tokens"),
        ("output_hash", "SHA-256 of response, or of the column of outputs"),
        ("tags", "short values of tags; score.<name> of each scorer; scorer_error"),
        ("transcript", "the row: the file, and # with its JSON pointer or line"),
    )
    verdict_rule = RULE
    attempt_rule = "rows with the same inputs are counted by request_time, else as they stand"
    error_rule = (
        "a scorer's error: no verdict, with the reason scorer_error, unless another scorer says "
        "that the row failed; MLflow counts it as failed. A trace in the state ERROR has no "
        "verdict, and the error of its span decides"
    )
    documentation = "https://mlflow.org/docs/latest/genai/eval-monitor/"
    example = (
        '{"columns": ["inputs", "ground_truth", "outputs", "correct/score"], '
        '"data": [["2+2", "4", "4", 1], ["2+2", "4", "5", 0]]}'
    )
    uses_threshold = True
    default_suite = "mlflow"
    numbers_attempts = True
    # Two evaluations of the same answers write the same table.
    differs_by_run = False
    labels = {
        "task_id": "inputs",
        "score": _SCORE,
        "duration_s": "execution_duration / 1000",
        "started_at": "request_time",
        "cost_usd": "mlflow.trace.cost",
        "input_tokens": "mlflow.trace.tokenUsage",
        "output_tokens": "mlflow.trace.tokenUsage",
    }
    reasons = {_ERROR: "excluded", "in_progress": "excluded"}
    rows_at: ClassVar[tuple[str, ...]] = ("data", EACH)
    shape = ANY

    def can_read(self, sample: Sample) -> bool:
        """Tell whether it is one object, a list or lines."""
        return sample.container in ("json_list", "json_lines") or sample.can_be("json_object")

    def recognises(self, sample: Sample) -> bool:
        """Tell from the names of the columns."""
        return any(name.endswith((_SCORE, _VALUE)) for name in _columns(sample))

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject a table of measures that are no verdicts."""
        metrics = [name for name in _columns(sample) if name.endswith((_SCORE, _VALUE))]
        if not sample.complete or not metrics or any(map(_is_metric, metrics)):
            return None
        return Refusal(
            f"no metric that tells whether a row passed, only {listed(metrics)}",
            "Add a metric that gives 0 or 1, or yes or no, to extra_metrics and evaluate again.",
        )

    def is_judged_by_score(self, sample: Sample) -> bool:
        """Leave it to the rows, which may have verdicts."""
        return False

    def read(self, log: Log) -> Iterator[Record]:
        """Find out which columns are verdicts, then read the rows."""
        for path in log.files:
            start = start_of(path)
            is_table = start.startswith(b"{") and b'"columns"' in start
            is_list = start.startswith(b"[")
            rows_at = self.rows_at if is_table else (EACH,)
            log.heads["place"] = "#/data/" if is_table else "#/" if is_list else "#L"
            log.heads["scores"], log.heads["names"] = Scores(), Names()
            with open_log(path) as file:
                if is_table or is_list:
                    walk = JsonWalk(file, rows_at, _DECODE, frozenset([("columns",)]))
                    for element in walk.rows():
                        if ("columns",) in walk.heads:
                            log.heads["columns"] = loaded_or_none(walk.heads.pop(("columns",)))
                        _note(_row(_value(element), log), log)
                else:
                    for batch in read_lines(file):
                        for line in batch.texts:
                            _note(loaded_or_none(line.encode("utf-8", "surrogatepass")), log)
            with log.opened(path) as file:
                if is_table or is_list:
                    for element in JsonWalk(file, rows_at, _DECODE).rows():
                        element.value = _row(_value(element), log)
                        yield from self.records(element, log)
                else:
                    yield from self._read_lines(file, log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a row to an attempt."""
        survey: Scores = log.heads["scores"]
        meta = _dict(_get(row, "trace_metadata"))
        usage, cost = (_dict(meta.get(f"mlflow.trace.{name}")) for name in ("tokenUsage", "cost"))
        error = _error_of(row)
        scores, broken = _scores(row), None
        if error:
            judged = {"outcome_reason": error}
        elif "outcome_reason" in (judged := survey.judge(scores, has_threshold=log.has_threshold)):
            errors = (_scorer_error(row, name) for name in survey.verdicts or scores)
            broken, judged = next(filter(None, errors)), {"outcome_reason": _ERROR}
        milliseconds = number(_get(row, "execution_duration"))
        inputs, output = _parts(row)
        yield {
            "run_id": text(meta.get("mlflow.sourceRun")),
            "task_id": _task(inputs, log.heads["names"]),
            "attempt": 1,
            **judged,
            "agent_version": text(meta.get("mlflow.modelId")),
            "started_at": time_of(_get(row, "request_time")),
            "duration_s": row.get("latency") if milliseconds is None else milliseconds / 1000,
            "cost_usd": cost.get("total_cost"),
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "output_hash": digest_of(output),
            "tags": _tags(row, scores, broken),
            "transcript": f"{log.current}{log.heads['place']}{element.place}",
        }

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which scorers decided."""
        yield from log.heads["scores"].warning()


def _columns(sample: Sample) -> frozenset[str]:
    """List the columns of a table; none of a file that is not one of MLflow's."""
    if sample.can_be("json_object") and {"columns", "data"} <= set(sample.fields):
        names = sample.first_row(("columns",))
        return frozenset(map(str, names)) if isinstance(names, list) else frozenset()
    if sample.container == "json_list":
        names = sample.keys_of_first_row((EACH,))
    elif sample.container == "json_lines":
        names = frozenset(sample.fields)
    else:
        return frozenset()
    traced = "trace_id" in names or "request_id" in names
    scored = "task_id" not in names and any(name.endswith(_SCORE) for name in names)
    return names if traced or scored else frozenset()


def _is_metric(column: str) -> bool:
    """Tell whether a column may hold verdicts."""
    known = column.endswith((_SCORE, _VALUE))
    return known and column.split("/", 1)[0] not in _NO_VERDICTS


def _value(element: Element) -> Json:
    """Give the value of a row, also if it is JSON only for Python."""
    if element.value is None and element.fault is None:
        return loaded_or_none(element.data)
    return element.value


def _row(value: Json, log: Log) -> Json:
    """Make an object of a row that is a list of values."""
    columns = log.heads.get("columns")
    if not isinstance(columns, list) or not isinstance(value, list):
        return value
    return dict(zip(map(str, columns), value, strict=False)) if len(columns) == len(value) else None


def _note(row: Json, log: Log) -> None:
    """Note the values of the metrics, and what tells a task."""
    if not isinstance(row, dict):
        return
    log.heads["scores"].note(_scores(row))
    inputs, _ = _parts(row)
    if inputs:
        log.heads["names"].note(*(_as_text(part) for part in (inputs[0], inputs)))


def _scores(row: dict[str, Any]) -> dict[str, Any]:
    """Give the values of the scorers, which expectations are not; null of one that raised."""
    expected = {
        f"{at(one, 'assessment_name')}{_VALUE}"
        for one in list_at(row, "assessments")
        if isinstance(at(one, "expectation"), dict)
    }
    return {
        name: value
        for name, value in row.items()
        if _is_metric(name)
        and name not in expected
        and (score_in(value) is not None or _scorer_error(row, name))
    }


def _scorer_error(row: dict[str, Any], column: str) -> str | None:
    """Give the first line of the error of a scorer that gave no value."""
    name = column.rpartition("/")[0]
    if row.get(column) is not None:
        return None
    said = text(row.get(f"{name}/error_message")) or text(row.get(f"{name}/error_code"))
    return short_line(said) or None


def _get(row: dict[str, Any], name: str) -> Json:
    """Take a column of a trace by its name, or by the one that it had before MLflow 3."""
    value = row.get(name)
    return row.get(_OLD_NAMES[name]) if value is None else value


def _dict(value: Json) -> dict[str, Any]:
    """Take an object, written as one or as a text."""
    if isinstance(value, str):
        value = loaded_or_none(value.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, dict) else {}


def _error_of(row: dict[str, Any]) -> str | None:
    """Say why the predicted function gave no answer; None if it did."""
    state = (text(_get(row, "state")) or "").rpartition(".")[2]
    if state == "IN_PROGRESS":
        return "in_progress"
    if state != "ERROR":
        return None
    said = (short_line(at(span, "status", "message")) for span in list_at(row, "spans"))
    return next(filter(None, said), "error")


def _parts(row: dict[str, Any]) -> tuple[list[Any], Any]:
    """Give the values by which a task is known, and what was predicted."""
    if "request" in row:
        return [row["request"]], row.get("response")
    # The evaluator puts the inputs first, then the target and, last, what was predicted.
    names = [name for name in row if "/" not in name and name not in _MEASURES]
    output = next((name for name in _OUTPUTS if name in names), names[-1] if names[1:] else None)
    inputs = names[: names.index(output)] if output else names
    return [row[name] for name in inputs], row[output] if output else None


def _task(inputs: list[Any], names: Names) -> str | None:
    if not inputs or inputs[0] is None:
        return None
    first = _as_text(inputs[0])
    return shortened(first if names.are_clear(first) else _as_text(inputs), LONGEST_TASK)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tags(row: dict[str, Any], scores: dict[str, Any], broken: str | None) -> dict[str, Any]:
    own = small_tags(row.get("tags"))
    tags = {name: value for name, value in own.items() if not name.startswith("mlflow.")}
    for name, value in small_tags(scores).items():
        tags[f"score.{name.removesuffix(_SCORE).removesuffix(_VALUE)}"] = value
    return {**tags, _ERROR: broken} if broken else tags

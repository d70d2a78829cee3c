"""LangSmith: the runs of an experiment with their feedback.

Read are, as a list, lines of JSON or an object with one of them inside,

- runs, as ``Client.list_runs`` and ``/runs/query`` give them, with ``reference_example_id`` and
  ``feedback_stats``; child runs are passed over;
- examples with their ``runs``, as the comparison view and ``Client.get_experiment_results`` give
  them: those of several experiments land as several runs;
- rows of ``ExperimentResults``: ``run``, ``example`` and ``evaluation_results``;
- records and CSV of ``ExperimentResults.to_pandas`` and ``Client.get_test_results``, whose columns
  start with ``feedback.``.

Repetitions (``num_repetitions``) are further runs of one example, which LangSmith does not number.
They are numbered by ``start_time`` or, where there is none, as they stand. A run that raised is not
judged, though evaluators may have scored the missing output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    list_at,
    seconds_between,
    small_tags,
    text,
)
from passk_py.ingest.formats.platforms.experiment_rows import Experiment, error_in, input_task
from passk_py.ingest.formats.platforms.named_scores import typed_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json, Shape
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

_FEEDBACK: Final = "feedback."
_RUN: Final[Mapping[str, Shape]] = dict.fromkeys(
    (
        *("id", "name", "session_id", "session_name", "reference_example_id", "parent_run_id"),
        *("feedback_stats", "error", "status", "start_time", "end_time", "total_cost", "outputs"),
        *("prompt_tokens", "completion_tokens", "tags", "url"),
    ),
    ANY,
) | {"extra": {"metadata": ANY}}
_RESULTS: Final = ("evaluation_results", "evaluationResults")
_SCORES: Final[Shape] = {"results": [dict.fromkeys(("key", "score", "value"), ANY)]}
# Names that LangSmith gives its own values in a run's metadata.
_OWN: Final = ("ls_", "LANG", "example_version", "num_repetitions", "revision_id", "__")


class LangSmith(Experiment):
    """LangSmith's runs of experiments."""

    name = "langsmith"
    title = "LangSmith's experiments: runs, examples with runs, result rows, to_pandas"
    reader_version = 1
    suffixes = (".json", ".jsonl", ".csv")
    recognised_by = (
        "runs with reference_example_id; examples with dataset_id and runs; run, example and "
        "evaluation_results; columns feedback.*, execution_time and id"
    )
    fields = (
        ("run_id", "session_name, else session_id; else the file's name, or its folder's"),
        ("suite", "dataset_name, else dataset_id; else langsmith"),
        ("task_id", "reference_example_id; of tables without example_id, the inputs"),
        ("attempt", "the place among the runs of the example, by start_time"),
        ("outcome", "feedback_stats.<key>.avg; evaluation_results; feedback.<key>"),
        ("outcome_reason", "evaluator_error; the first line of error"),
        ("score", "the only score, or the lowest if no feedback gives verdicts"),
        ("agent", "name of the run"),
        ("agent_version", "extra.metadata.revision_id"),
        ("model", "extra.metadata.ls_model_name, else model"),
        ("started_at", "start_time"),
        ("duration_s", "end_time - start_time; execution_time"),
        ("cost_usd", "total_cost"),
        ("input_tokens", "prompt_tokens"),
        ("output_tokens", "completion_tokens"),
        ("output_hash", "SHA-256 of outputs"),
        ("tags", "score.<key> of feedback; tags; short values of extra.metadata"),
        ("transcript", "url; else the row: the file, and # with its JSON pointer or line"),
    )
    attempt_rule = "the runs of an example are counted by start_time, else as they stand"
    error_rule = (
        "a run with an error has no verdict, and the first line of the error decides; feedback "
        "that an evaluator did not give because it raised leaves no verdict, with the reason "
        "evaluator_error, unless another one says that the run failed"
    )
    documentation = "https://docs.langchain.com/langsmith/analyze-an-experiment"
    example = (
        '[{"id": "r1", "name": "agent", "run_type": "chain", "session_id": "e1", '
        '"reference_example_id": "t1", "start_time": "2026-11-21T10:00:00", "error": null, '
        '"feedback_stats": {"correct": {"n": 1, "avg": 1.0}}}]'
    )
    default_suite = "langsmith"
    numbers_attempts = True
    runs_have_ids = True
    has_tables = True
    inside = ("runs", "examples_with_runs", "results", "examples")
    labels: ClassVar = {
        "task_id": "reference_example_id",
        "run_id": "session_id",
        "started_at": "start_time",
        "duration_s": "execution_time",
        "cost_usd": "total_cost",
        "input_tokens": "prompt_tokens",
        "output_tokens": "completion_tokens",
    }
    wide = b"feedback."
    shape: ClassVar[Shape] = {
        **_RUN,
        "runs": [_RUN],
        "run": _RUN,
        **dict.fromkeys(("dataset_id", "dataset_name", "metadata"), ANY),
        "example": dict.fromkeys(("id", "dataset_id", "dataset_name", "metadata"), ANY),
        **dict.fromkeys(_RESULTS, _SCORES),
    }
    score_shape: ClassVar[Shape] = {
        **dict.fromkeys(("feedback_stats", "reference_example_id"), ANY),
        "runs": [{"feedback_stats": ANY}],
        "run": {},
        **dict.fromkeys(_RESULTS, _SCORES),
    }
    head_shapes: ClassVar[Mapping[tuple[str, ...], Shape]] = {("cursors",): ANY, ("cursor",): ANY}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first row."""
        keys = self.row_keys(sample)
        if sample.container == "csv" or any(name.startswith(_FEEDBACK) for name in keys):
            return {"execution_time", "id"} <= keys and any(_is_ours(name) for name in keys)
        if "reference_example_id" in keys:
            return bool(keys & {"run_type", "session_id", "trace_id"})
        if {"run", "example"} <= keys:
            return not keys.isdisjoint(_RESULTS)
        return {"dataset_id", "runs", "inputs"} <= keys

    def from_cells(self, cells: dict[str, str]) -> dict[str, Any]:
        """Take numbers as such. No feedback is what an evaluator leaves that raised."""
        return {
            name: typed_cell(cell) if name.startswith(_FEEDBACK) else cell
            for name, cell in cells.items()
            if cell or name.startswith(_FEEDBACK)
        }

    def scores(self, row: dict[str, Any]) -> Iterable[Mapping[str, Json]]:
        """Give the feedback of each run of the row."""
        return (scores for _, _, scores in _runs(row))

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterator[dict[str, Any]]:
        """Map each run of the row to an attempt."""
        for place, (run, example, scores) in enumerate(_runs(row)):
            if run.get("parent_run_id"):
                continue
            metadata = dict_at(run, "extra", "metadata")
            repetitions = metadata.get("num_repetitions")
            if type(repetitions) is int and repetitions > 0:
                log.heads["repetitions"] = max(repetitions, log.heads.get("repetitions", 0))
            error = error_in(run.get("error"))
            if error is None and run.get("status") == "pending":
                error = "in_progress"
            judged = {"outcome_reason": error} if error else self.judge(scores, log)
            where = self.place_of(element, log)
            duration = seconds_between(run.get("start_time"), run.get("end_time"))
            task = run.get("reference_example_id") or example.get("id")
            yield {
                "run_id": text(run.get("session_name")) or text(run.get("session_id")),
                "suite": text(example.get("dataset_name")) or text(example.get("dataset_id")),
                "task_id": task or input_task(run.get("inputs") if "feedback" in run else None),
                "attempt": 1,
                **judged,
                "agent": text(run.get("name")),
                "agent_version": text(metadata.get("revision_id")),
                "model": text(metadata.get("ls_model_name")) or text(metadata.get("model")),
                "started_at": run.get("start_time"),
                "duration_s": run.get("execution_time") if duration is None else duration,
                "cost_usd": run.get("total_cost"),
                "input_tokens": run.get("prompt_tokens"),
                "output_tokens": run.get("completion_tokens"),
                "output_hash": digest_of(run.get("outputs") or None),
                "tags": _tags(run, example, metadata, scores),
                "transcript": text(run.get("url"))
                or (f"{where}/runs/{place}" if "runs" in row and "#/" in where else where),
            }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repetitions from the metadata of the runs."""
        repetitions = log.heads.get("repetitions")
        return [Expected(repetitions)] if repetitions else []

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which scores decided, and if there are more pages."""
        yield from super().warnings(log)
        if at(log.heads.get("cursors"), "next") or text(log.heads.get("cursor")):
            yield (
                "It is one page of several, because a cursor leads to the next one. Put the runs "
                "of all pages into one list and load it: attempts are numbered within a file."
            )


def _is_ours(column: str) -> bool:
    return column.startswith((_FEEDBACK, "inputs.", "input.", "outputs.", "reference."))


def _runs(row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Json]]]:
    """Give each run of a row with its example and its scores, None where an evaluator raised."""
    if "feedback_stats" in row or "reference_example_id" in row:
        yield row, {}, _stats(row)
    elif isinstance(row.get("runs"), list):
        for run in row["runs"]:
            if isinstance(run, dict):
                yield run, row, _stats(run)
    elif isinstance(row.get("run"), dict):
        results = next(filter(None, map(row.get, _RESULTS)), None)
        scores = {}
        for one in list_at(results, "results"):
            if key := text(at(one, "key")):
                score = at(one, "score")
                scores[key] = at(one, "value") if score is None else score
        yield row["run"], dict_at(row, "example"), scores
    else:
        inner: dict[str, dict[str, Json]] = {"inputs": {}, "outputs": {}, "feedback": {}}
        for name, value in row.items():
            kind, dot, rest = name.partition(".")
            kind = "inputs" if kind == "input" else kind
            if dot and kind in inner:
                inner[kind][rest] = value
        run = {**row, **inner, "reference_example_id": row.get("example_id")}
        yield run, {}, inner["feedback"]


def _stats(run: dict[str, Any]) -> dict[str, Json]:
    """Give the mean of each feedback, or its only category."""
    given = run.get("feedback_stats")
    found: dict[str, Json] = {}
    for key, stats in given.items() if isinstance(given, dict) else ():
        mean = stats.get("avg") if isinstance(stats, dict) else None
        if mean is None:
            # Notes have comments, and no score.
            if key == "note" and at(stats, "comments"):
                continue
            categories = dict_at(stats, "values")
            mean = next(iter(categories)) if len(categories) == 1 else None
        found[key] = mean
    return found


def _tags(
    run: dict[str, Any], example: dict[str, Any], metadata: Mapping[str, Json], scores: Json
) -> dict[str, Any]:
    known = {**dict_at(example, "metadata"), **metadata}
    own = {name: value for name, value in known.items() if not name.startswith(_OWN)}
    own.pop("model", None)
    labels = ",".join(filter(None, map(text, list_at(run, "tags"))))
    said = {f"score.{name}": value for name, value in scores.items()}
    return small_tags({**own, "tags": labels, **said})

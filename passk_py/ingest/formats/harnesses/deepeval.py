"""deepeval: the test run that ``deepeval test run`` and ``evaluate()`` write.

``.deepeval/.latest_test_run.json`` has the run under ``testRunData``; ``test_run_<time>.json`` in
the folder that ``DEEPEVAL_RESULTS_FOLDER`` or ``results_folder`` names is the run itself. The first
is a hidden file: a folder that is loaded leaves it alone, so name it. Versions before 1.0 call
``metricsData`` ``metricsMetadata``. Read is the result that ``evaluate()`` returns, too, as
``model_dump_json()`` writes it, with ``test_results``, ``metrics_data`` and ``index``.

- deepeval takes ``success`` from the metrics that are neither flaky nor without a threshold. A
  metric that raised or ran out of time has ``error`` and no score, and deepeval counts the case as
  failed, though it is the judge that failed. Where another metric that decides has failed, the case
  has failed whatever the judge would say.
- A test that raised before ``assert_test``, or was skipped, leaves no case.
- Repeats (``deepeval test run -r``) are cases of their own, with pytest-repeat's ending. A task has
  its input in its name if cases of one name have several; a name that deepeval made up,
  ``test_case_<n>``, says nothing, so the task is the input.
- ``order`` has no gap where a test raised.
- ``evaluationCost`` and ``runDuration`` are the metrics' own, and not read.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_start import keys_at_start_of
from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.open_bytes import open_log
from passk_py.ingest.containers.shape import ANY, Json, decoder, loaded_or_none
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected, expected_of_each
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, first_line, list_at, small_tags, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.run_names import pytest_repeat
from passk_py.ingest.formats.task_names import LONGEST_TASK, Names, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Shape
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_RUN: Final = "testRunData"
_LINK: Final = "testRunLink"
_LISTS: Final = ("testCases", "conversationalTestCases")
_RESULTS: Final = "test_results"
_MADE_UP: Final = re.compile(r"(?:conversational_)?test_case_\d+")
_HEADS: Final = ("testFile", "identifier", "hyperparameters")
_JUDGE: Final = "judge_error"
_LONGEST_ERROR: Final = 100
_MOST_TASKS: Final = 100_000
_METRICS: Final = ("metricsData", "metricsMetadata", "metrics_data")
_METADATA: Final = ("metadata", "additionalMetadata", "additional_metadata")
_METRIC: Final[Shape] = {"success": ANY, "score": ANY, "flaky": ANY, "error": ANY}


class DeepEval(JsonHarness):
    """deepeval's test run."""

    name = "deepeval"
    title = "deepeval's test run, or the result of evaluate(), as JSON"
    reader_version = 5
    container = "json_object"
    suffixes = (".json",)
    recognised_by = (
        "an object with testRunData, with testCases that have name and metricsData, or with "
        "test_results that have metrics_data"
    )
    fields = (
        ("run_id", "identifier; else the file's name, or its folder's"),
        ("suite", "testFile; else deepeval"),
        ("task_id", "name without the repeat; input, where name tells no task"),
        ("attempt", "the place among the task's cases, by order or index"),
        ("outcome", "success, error of metricsData or metrics_data"),
        ("outcome_reason", "judge_error, where a metric has an error and no other one has failed"),
        ("score", "the lowest score of the metrics that decide"),
        ("model", "hyperparameters.model"),
        ("duration_s", "completionTime"),
        ("cost_usd", "tokenCost; evaluationCost is the metrics'"),
        ("input_tokens", "inputTokenCount"),
        ("output_tokens", "outputTokenCount"),
        ("output_hash", "SHA-256 of actualOutput or actual_output"),
        ("tags", "tags, flaky, judge_error; short values of metadata and of hyperparameters"),
        ("transcript", "the case: the file, and # with its JSON pointer"),
    )
    verdict_rule = "success, unless a metric could not be measured"
    attempt_rule = "cases of one task are counted in the order of order"
    error_rule = (
        "a metric's error: no verdict, with the reason judge_error, unless another metric has "
        "failed; deepeval itself counts it as failed; a test that raised leaves no case"
    )
    documentation = "https://deepeval.com/docs/evaluation-flags-and-configs"
    example = (
        '{"testRunData": {"testCases": [{"name": "test_agent[add-1-4]", "input": "2+2", '
        '"actualOutput": "4", "success": true, "metricsData": [{"name": "Exact match", '
        '"threshold": 1.0, "success": true, "score": 1.0}], "order": 0}]}}'
    )
    default_suite = "deepeval"
    numbers_attempts = True
    labels = {
        "task_id": "name",
        "attempt": "order + 1",
        "passed": "success",
        "score": "metricsData.score",
        "duration_s": "completionTime",
        "cost_usd": "tokenCost",
        "input_tokens": "inputTokenCount",
        "output_tokens": "outputTokenCount",
    }
    reasons = {_JUDGE: "excluded"}
    rows_at = (_LISTS[0], EACH)
    shape = {
        **dict.fromkeys(
            (
                *("name", "input", "scenario", "multimodalInput", "actualOutput", "success"),
                *("flaky", "order", "completionTime", "tokenCost", "inputTokenCount"),
                *("outputTokenCount", "tags", "metadata", "additionalMetadata"),
                *("actual_output", "index", "additional_metadata"),
            ),
            ANY,
        ),
        "metricsData": [_METRIC],
        "metricsMetadata": [_METRIC],
        "metrics_data": [_METRIC],
    }
    head_shapes = dict.fromkeys([path for name in _HEADS for path in ((name,), (_RUN, name))], ANY)

    def recognises(self, sample: Sample) -> bool:
        """Tell from the key of the run, or from the keys of the first case."""
        if not sample.can_be(self.container):
            return False
        if _RUN in sample.fields:
            return True
        if _RESULTS in sample.fields:
            return "metrics_data" in sample.keys_of_first_row((_RESULTS, EACH))
        if _LISTS[0] not in sample.fields:
            return _LISTS[1] in sample.fields
        keys = sample.keys_of_first_row(self.rows_at)
        # The keys that come early identify a case that the end of the sample cuts off.
        early = {"name", "input", "actualOutput"} <= keys
        graded = "name" in keys and bool({"metricsData", "metricsMetadata"} & keys)
        return early or graded or _LISTS[1] in sample.fields

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say of what is left of a run that was uploaded that its cases are elsewhere."""
        if set(sample.fields) != {_LINK}:
            return None
        return Refusal(
            "the link to a test run that deepeval uploaded, without its cases",
            "Set DEEPEVAL_RESULTS_FOLDER to keep a copy, and run the tests again.",
        )

    def read(self, log: Log) -> Iterator[Record]:
        """Find out the tasks, then read the cases and the conversations."""
        for path in log.files:
            keys = keys_at_start_of(path)
            top = (_RUN,) if _RUN in keys else ()
            lists = (_RESULTS,) if _RESULTS in keys else _LISTS
            log.heads["names"] = names = Names()
            cases = [_survey(path, (*top, list_, EACH), names) for list_ in lists]
            log.heads["repeats"] = {}
            with log.opened(path) as file:
                yield from self.read_file(file, log, (*top, lists[0], EACH))
            if cases[1:] and cases[1]:
                with open_log(path) as file:
                    for record in self.read_file(file, log, (*top, _LISTS[1], EACH)):
                        # An earlier message says that the file is cut off.
                        if not record.ends:
                            yield record

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a case to an attempt."""
        name, task, said = _task(row, log.heads["names"])
        repeats: dict[str, int] = log.heads["repeats"]
        repeat = pytest_repeat(name) if name is not None else None
        if repeat and task is not None and task != said and len(repeats) < _MOST_TASKS:
            repeats[task] = max(repeat[2], repeats.get(task, 0))
        order = row.get("index") if row.get("order") is None else row["order"]
        metrics = (row[name] for name in _METRICS if row.get(name) is not None)
        score, error = _graded(next(metrics, None))
        passed = row.get("success")
        unjudged = error is not None and passed is not True
        tags = small_tags(next((row[one] for one in _METADATA if row.get(one) is not None), None))
        if isinstance(labels := row.get("tags"), list):
            tags |= small_tags({"tags": ",".join(filter(None, map(text, labels)))})
        if row.get("flaky") is True:
            tags["flaky"] = True
        if unjudged:
            tags |= {_JUDGE: error}
        yield {
            "task_id": task,
            "attempt": 1 if order is None else order + 1 if type(order) is int else order,
            "passed": None if unjudged else passed,
            "outcome_reason": _JUDGE if unjudged else None,
            "score": score,
            "duration_s": row.get("completionTime"),
            "cost_usd": row.get("tokenCost"),
            "input_tokens": row.get("inputTokenCount"),
            "output_tokens": row.get("outputTokenCount"),
            "output_hash": digest_of(row.get("actualOutput", row.get("actual_output"))),
            "tags": tags,
            "transcript": self.place_of(element, log),
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the run says of itself."""
        heads = log.heads
        file, run, settings = (
            heads.get(name) if heads.get(name) is not None else heads.get(f"{_RUN}.{name}")
            for name in _HEADS
        )
        tags = {n: v for n, v in small_tags(settings).items() if n != "model"}
        return {
            "run_id": text(run),
            "suite": text(file),
            "model": text(at(settings, "model")),
            "tags": tags,
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repeats from the names."""
        return expected_of_each(log.heads["repeats"])


def _survey(path: Path, rows_at: tuple[str, ...], names: Names) -> int:
    """Find out which names have cases of several inputs, and count the cases."""
    cases = 0
    decode = decoder({"name": ANY, "input": ANY, "scenario": ANY, "multimodalInput": ANY})
    with open_log(path) as file:
        for element in JsonWalk(file, rows_at, decode).rows():
            row = element.value
            if row is None and element.fault is None:
                row = loaded_or_none(element.data)
            if isinstance(row, dict):
                name = text(row.get("name"))
                names.note(name and _without_repeat(name), _input(row))
                cases += 1
    return cases


def _input(row: dict[str, Any]) -> str | None:
    asked = text(row.get("input")) or text(row.get("scenario"))
    if asked is None and isinstance(parts := row.get("multimodalInput"), list) and parts:
        return json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return asked


def _without_repeat(name: str) -> str:
    repeat = pytest_repeat(name)
    return repeat[0] if repeat else name


def _task(row: dict[str, Any], names: Names) -> tuple[str | None, str | None, str | None]:
    """Give the name of a case, the task that it is a case of, and the task as it is written."""
    name, asked = text(row.get("name")), _input(row)
    short = shortened(asked, LONGEST_TASK) if asked is not None else None
    if name is None or _MADE_UP.fullmatch(name):
        return name, short or name, name
    task = _without_repeat(name)
    if short is None or names.are_clear(task):
        return name, task, name
    return name, f"{task} {short}", f"{task} {short}"


def _graded(metrics: Json) -> tuple[Any, str | None]:
    """Give the lowest score of the metrics that decide, and why they decide nothing."""
    # A case fails if one of its metrics does, so one that has failed decides beside any error.
    scores: list[Any] = []
    error: str | None = None
    has_failed = False
    for metric in list_at(metrics):
        if not isinstance(metric, dict) or metric.get("flaky") is True:
            continue
        said, score, passed = text(metric.get("error")), metric.get("score"), metric.get("success")
        if said or (score is None and passed is False):
            error = error or first_line(said or "no score")[:_LONGEST_ERROR] or "error"
        elif passed is None:
            continue
        else:
            has_failed |= passed is False
        scores.append(score)
    error = None if has_failed else error
    if not scores or any(type(score) is not int and type(score) is not float for score in scores):
        return (scores[0] if len(scores) == 1 else None), error
    return min(scores), error

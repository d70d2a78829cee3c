"""lm-evaluation-harness: the ``samples_<task>_<date>.jsonl`` of ``lm_eval --log_samples``.

A line is a document as one filter graded it. The harness stores a figure a document, not a verdict
a response. Only verdicts that follow from it exactly are landed, and the other lines are rejected
with a reason. Up to 0.4.2 the file was a list, and the settings of the run are in ``results.json``.

- ``bits_per_byte``, word overlaps and the like say nothing of a pass, so their lines are rejected.
- Several responses that were graded together: ``pass@1`` times their number is the number of
  passes. The file does not say which of them passed. A digest distributes the passes over the
  attempts, so that n and c are right, and the order means nothing; the tag ``verdicts`` is then
  ``counted``. ``pass@2`` and on alone are rejected: two numbers of passes may give the same figure.
- Several responses of which the filter takes the first one: that one has the verdict, the others
  are excluded as ``not_graded``. A vote over them is no verdict of any, so its lines are rejected.
- Two filters grade the same responses twice, so they can't be one suite. Versions that do not write
  the filter's name have a line of each document for each filter, in the order of ``filter_list`` in
  the results; without those, the second one is called ``filter-2``.
- All tasks of one call share the date of the file's name, and so the run.
- The seed is the one from which local models sample.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.shape import ANY, Json, decoder
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected, Unfit
from passk_py.ingest.formats.harnesses.lm_eval_metrics import (
    FIXED,
    NONE,
    OWN,
    PASS_AT,
    holds_list,
    laid,
    metrics_of,
    verdict_among,
)
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, dict_at, list_at, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.run_names import without_endings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_NAME: Final = re.compile(
    r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz|\.zst)?", re.DOTALL
)
# Filters that look at each response for itself.
_ONE_BY_ONE: Final = frozenset(
    (
        *("take_first", "regex", "regex_pos", "multi_choice_regex", "remove_whitespace"),
        *("lowercase", "uppercase", "map", "format_span", "decontaminate"),
    )
)
_NEARLY: Final = 1e-9


class LmEval(JsonHarness):
    """lm-evaluation-harness' samples of a task."""

    name = "lm-eval"
    title = "lm-evaluation-harness' samples_<task>_<date>.jsonl"
    reader_version = 4
    container = "json_lines"
    suffixes = (".jsonl",)
    recognised_by = "lines with doc_id, resps and filtered_resps, or one list of such objects"
    fields = (
        ("run_id", "results_<date>.json: model_name_sanitized, else the folder; and the date"),
        ("suite", "the task in the file's name, / and filter, unless it is none"),
        ("task_id", "doc_id"),
        ("attempt", "the place of the response in resps"),
        ("outcome", "pass@1, else the first of metrics that is always 0 or 1"),
        ("outcome_reason", "not_graded: a response that the filter passes over"),
        ("score", "the same metric, where it is of one response"),
        ("model", "results_<date>.json: model_name"),
        ("seed", "results_<date>.json: config.torch_seed"),
        ("output_hash", "SHA-256 of the response, where the verdict is its own"),
        ("tags", "metric; verdicts: counted, where only their number is known"),
        ("transcript", "the document: the file, and # with its line, or its place in a list"),
    )
    verdict_rule = "the metric is 1; of n responses graded together, n * pass@1 have passed"
    attempt_rule = "the place of the response in resps, from 1"
    error_rule = (
        "lm-eval writes nothing if there is one; responses that no filter graded are excluded"
    )
    documentation = (
        "https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md"
    )
    example = (
        '{"doc_id": 0, "doc": {...}, "resps": [["2", "3"]], "filtered_resps": [["2", "3"]], '
        '"filter": "create_test", "metrics": ["pass@1"], "pass@1": 0.5}'
    )
    differs_by_run = False
    default_suite = "lm-eval"
    labels = {"task_id": "doc_id"}
    reasons = {"not_graded": "excluded"}
    rows_at = ()
    shape = dict.fromkeys(("doc_id", "resps", "filtered_resps", "filter", "metrics"), ANY)

    def can_read(self, sample: Sample) -> bool:
        """Tell whether it is lines, or one list."""
        return sample.can_be(self.container) or sample.can_be("json_list")

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the lines, or from the first ones of a very long line."""
        if sample.container == "json_list":
            return {"doc_id", "resps", "filtered_resps"} <= sample.keys_of_first_row((EACH,))
        if sample.container != self.container:
            return False
        fields = sample.fields
        if {"doc_id", "resps", "filtered_resps"} <= set(fields):
            return True
        # The document and the prompt may be longer than the sample, and the responses come after.
        order = ("doc_id", "doc", "target", "arguments", "resps")
        return not sample.complete and len(fields) > 1 and fields == order[: len(fields)]

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say what the results are without the samples."""
        if not {"results", "configs", "n-shot"} <= set(sample.fields):
            return None
        return Refusal(
            "lm-eval's results of a run, which hold no attempts",
            "Run it with --log_samples and load the samples_*.jsonl beside it.",
        )

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find the results of the same call."""
        named = _NAME.fullmatch(path.name)
        return (path.parent / (f"results_{named[2]}.json" if named else "results.json"),)

    def read(self, log: Log) -> Iterator[Record]:
        """Look which metrics are verdicts, then read the lines."""
        for path in log.files:
            named = _NAME.fullmatch(path.name)
            log.heads["date"] = named[2] if named else None
            log.heads["results"] = results = log.beside(*self.companions(path))
            task = named[1] if named else self._task_of(path, results)
            log.heads["task"] = task
            metrics = metrics_of(path)
            higher = at(results, "higher_is_better", task or "")
            log.heads["verdicts"] = {
                name: verdict_among(found, higher) for name, found in metrics.items()
            }
            filters = list_at(results, "configs", task or "", "filter_list")
            log.heads["firsts"] = _firsts(filters)
            log.heads["filters"] = [text(at(one, "name")) or NONE for one in filters]
            log.heads["seen"] = Counter()
            names = tuple(dict.fromkeys(name for found in metrics.values() for name in found))
            decode = _decoder_with(names)
            log.heads["is_list"] = is_list = holds_list(path)
            with log.opened(path) as file:
                if is_list:
                    for element in JsonWalk(file, (EACH,), decode).rows():
                        yield from self.records(element, log)
                else:
                    yield from self._read_lines(file, log, decode)

    def _task_of(self, path: Path, results: Json) -> str | None:
        """Find the task of a file of the first versions: ``<arguments>_<task>.jsonl``."""
        name = without_endings(path.name, self.suffixes)
        fitting = [task for task in dict_at(results, "configs") if f"_{name}".endswith(f"_{task}")]
        return max(fitting, key=len, default=name)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a document to the attempts that its responses are."""
        written = text(row.get("filter"))
        metric = _metric_of(row, written or NONE, log)
        name = written or _unwritten(row, log)
        responses, graded = _responses(row, name, metric, log)
        passes = _passes(row.get(metric), metric, graded)
        task = log.heads["task"]
        counted = graded > 1
        shared: dict[str, Any] = {
            "task_id": row.get("doc_id"),
            "suite": task if name == NONE else f"{task}/{name}",
            "transcript": f"{log.current}#/{element.place}"
            if log.heads["is_list"]
            else self.place_of(element, log),
            "tags": {"metric": metric, "verdicts": "counted"} if counted else {"metric": metric},
        }
        passed = laid(row.get("doc_id"), passes, graded) if counted else {1} if passes else set()
        for place, response in enumerate(responses, 1):
            one = {**shared, "attempt": place}
            if place <= graded:
                one["passed"] = place in passed
                if not counted:
                    one["score"] = float(passes)
            else:
                one["outcome_reason"] = "not_graded"
            if not counted and isinstance(response, str):
                one["output_hash"] = digest_of(response)
            yield one

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the model and the seed from the results."""
        results, date = log.heads["results"], log.heads["date"]
        model = text(at(results, "model_name_sanitized")) or log.path.parent.name
        return {
            "run_id": f"{model}_{date}" if date else None,
            "model": text(at(results, "model_name")),
            "seed": at(results, "config", "torch_seed"),
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of responses from the configuration of the task."""
        repeats = at(log.heads["results"], "configs", log.heads["task"] or "", "repeats")
        if isinstance(repeats, int) and not isinstance(repeats, bool):
            yield Expected(repeats)


def _unwritten(row: dict[str, Any], log: Log) -> str:
    """Name the filter of a line that does not: each document has one line of each."""
    seen: Counter[str] = log.heads["seen"]
    document = str(row.get("doc_id"))
    place = seen[document]
    seen[document] += 1
    names: list[str] = log.heads["filters"]
    if place < len(names):
        return names[place]
    return f"filter-{place + 1}" if place else NONE


@lru_cache(maxsize=32)
def _decoder_with(names: tuple[str, ...]) -> Callable[[bytes], Any]:
    return decoder({**dict.fromkeys(names, ANY), **dict(LmEval.shape)})


def _firsts(filters: list[Any]) -> dict[str, bool]:
    """Tell of each filter whether it grades the first response and no other."""
    found: dict[str, bool] = {}
    for one in filters:
        name, steps = text(at(one, "name")), at(one, "filter")
        if name and isinstance(steps, list):
            functions = [at(step, "function") for step in steps]
            known = all(isinstance(step, str) and step in _ONE_BY_ONE for step in functions)
            found[name] = known and "take_first" in functions
    return found


def _metric_of(row: dict[str, Any], name: str, log: Log) -> str:
    metric: str | None = log.heads["verdicts"].get(name)
    if metric is not None:
        return metric
    names = [str(one) for one in row if one not in FIXED][:10]
    if only := [one for one in names if PASS_AT.fullmatch(one)]:
        raise Unfit(
            "no_single_verdict",
            f"The line has {', '.join(only)} but not pass@1: several numbers of passes may give "
            "the same figure. Let the metric of the task compute k: [1] too.",
        )
    raise Unfit(
        "no_verdict",
        f"No metric is 0 or 1 in every line of the filter {name} and better when it is higher"
        f" ({', '.join(names) or 'there is none'}), so that nothing says what passed.",
    )


def _responses(row: dict[str, Any], name: str, metric: str, log: Log) -> tuple[list[Any], int]:
    """Take the responses of a line, and how many of them the metric is about."""
    responses = at(row, "resps", 0)
    if not isinstance(responses, list) or not responses:
        raise Unfit("missing_field", "resps is no list of a list of responses.")
    if len(responses) == 1:
        return responses, 1
    kept = at(row, "filtered_resps", 0)
    # In multiple choice a response is itself a list.
    several = isinstance(kept, list) and (
        isinstance(responses[0], str) or isinstance(at(kept, 0), list)
    )
    if several and len(kept) > 1:
        if metric not in OWN:
            raise Unfit(
                "no_single_verdict",
                f"{metric} is about {len(kept)} responses together, and not the share of those "
                "that passed.",
            )
        if len(kept) > len(responses):
            raise Unfit(
                "out_of_range",
                f"filtered_resps has {len(kept)} responses, but resps has {len(responses)}.",
            )
        return responses, len(kept)
    if not log.heads["firsts"].get(name, name == NONE):
        raise Unfit(
            "no_single_verdict",
            f"The filter {name} makes one answer of {len(responses)} responses, and nothing says "
            "that it is the first of them: a vote is no verdict of any.",
        )
    return responses, 1


def _passes(value: Json, metric: str, graded: int) -> int:
    """Count the passes among the responses that were graded together."""
    if value is None:
        raise Unfit("missing_field", f"{metric} is missing.")
    if not isinstance(value, int | float):
        raise Unfit("wrong_type", f"{metric} is no number.")
    nearly = 0.0 if graded == 1 else _NEARLY * graded
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit("out_of_range", f"{metric} is {value}.")
    if not 0 <= value <= 1 or abs(value * graded - round(value * graded)) > nearly:
        raise Unfit(
            "out_of_range",
            f"{metric} is {str(value)[:40]}, which is no share of {graded} "
            f"{'response' if graded == 1 else 'responses'}.",
        )
    return round(value * graded)

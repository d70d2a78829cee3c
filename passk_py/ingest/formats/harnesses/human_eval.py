"""HumanEval: the results that ``evaluate_functional_correctness`` writes beside the samples.

Lines of JSON: each line of the samples with ``result`` and ``passed`` added, and all other keys
copied. The samples themselves have no verdict and are not read. Other benchmarks of this form, with
tasks of their own, land alike. ``failed: ...`` holds a message and not the class of the exception,
so it gives no reason, and an error of the environment looks like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.ingest.formats.base import Field, Format, Key
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Kind
    from passk_py.ingest.formats.sample import Sample

_ENDINGS: Final = (".jsonl", "_results", ".jsonl")


class HumanEval(Format):
    """HumanEval's results of samples."""

    name = "human-eval"
    title = "HumanEval's results, one sample a line"
    reader_version = 2
    container = "json_lines"
    suffixes = (".jsonl",)
    recognised_by = (
        "JSON lines with task_id, completion, result and passed, without attempt and run_id"
    )
    fields = (
        (
            "run_id",
            "the file's name without .jsonl_results.jsonl; or its folder's, if that is samples",
        ),
        ("suite", "human-eval, unless --suite is given"),
        ("task_id", "task_id"),
        ("attempt", "the place of the line among those of its task"),
        ("outcome", "passed"),
        ("outcome_reason", "timeout, where result is timed out"),
        ("model", "model, where the samples have it"),
        ("seed", "seed, where the samples have it and it is a whole number"),
        ("output_hash", "SHA-256 of completion"),
    )
    verdict_rule = "passed"
    attempt_rule = "the lines of a task in the order of the file"
    error_rule = "none: timeouts and exceptions are failures, as HumanEval counts them"
    documentation = "https://github.com/openai/human-eval"
    example = '{"task_id": "HumanEval/0", "completion": "...", "result": "passed", "passed": true}'
    keys = (
        Key(("task_id",), scalar=True),
        Key(("completion",)),
        Key(("result",)),
        Key(("passed",)),
        Key(("model",)),
        Key(("seed",)),
    )
    differs_by_run = False
    default_suite = "human-eval"
    uses_threshold = False
    numbers_attempts = True

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the lines."""
        if sample.container != self.container or {"attempt", "run_id"} & set(sample.fields):
            return False
        wanted = {"task_id", "completion", "result", "passed"}
        # If a completion is longer than the sample, the keys after it are not seen.
        return (wanted if sample.complete else {"task_id", "completion"}) <= set(sample.fields)

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Map a sample to an attempt."""
        return {
            "task_id": Field("task_id", "text", "task_id"),
            "attempt": Field("1", "integer", "attempt"),
            "passed": Field("passed", "text", "passed"),
            "outcome_reason": Field(
                "case when result = 'timed out' then 'timeout' end", "text", "result"
            ),
            # Keys of the user's own: values without use are left out, not rejected.
            "model": Field(
                "case when left(model, 1) not in ('{', '[') then model end", "text", "model"
            ),
            "seed": Field("try_cast(seed as bigint)", "integer", "seed"),
            "output_hash": Field("sha256(completion)", "text", "completion"),
        }

    def unknown_fields(self, sample: Sample) -> tuple[str, ...]:
        """List the keys of the samples that have no place in the contract."""
        known = {key.column for key in self.keys}
        return tuple(name for name in sample.fields if name not in known)

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file of the samples, or after its folder."""
        return run_named_after(path, _ENDINGS)

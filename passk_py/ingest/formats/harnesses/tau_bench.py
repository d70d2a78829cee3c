"""tau-bench: the result file that its runner writes.

- The verdict is tau-bench's own ``is_successful``, by which its figures are defined.
- ``trial`` is counted from 0 in the order in which the trials ran.
- A trial that died of an exception is excluded, because the exception may be anyone's: the model's
  API, the simulated user, the harness. tau-bench's own figures follow if the excluded attempts are
  counted as failed.
- ``output_hash`` is null: a digest of the trajectory would need the trajectory in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from passk_py.ingest.formats.base import Field, Format, Key
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Kind
    from passk_py.ingest.formats.sample import Sample

_TRIAL = "regexp_full_match(trial, '[+-]?[0-9]+([.]0*)?')"
_REWARD = "try_cast(reward as double)"
_DIED = 'coalesce("info.error", "info.traceback") is not null'
_PASSED = f"{_REWARD} between 1 - 1e-6 and 1 + 1e-6"


class TauBench(Format):
    """The result file of tau-bench."""

    name = "tau-bench"
    title = "tau-bench's result file"
    reader_version = 3
    container = "json_list"
    suffixes = (".json",)
    recognised_by = "a JSON list of objects with task_id, reward, info and trial"
    fields = (
        ("run_id", "the file's name; its folder's, if that is results or similar"),
        ("suite", "tau-bench, unless --suite is given"),
        ("task_id", "task_id"),
        ("attempt", "trial + 1"),
        ("outcome", "reward, info.error, info.traceback"),
        ("outcome_reason", "exception, where a trial died of one"),
        ("score", "reward"),
        ("transcript", "traj: the file, and # with the place in the list as a JSON pointer"),
        ("cost_usd", "null: info.user_cost is the simulated user's cost"),
    )
    verdict_rule = "1 - 1e-6 <= reward <= 1 + 1e-6"
    attempt_rule = "trial + 1"
    error_rule = (
        "info.error or info.traceback: no verdict, with the reason exception, unless the reward is "
        "a pass; tau-bench itself counts it as failed"
    )
    documentation = "https://github.com/sierra-research/tau-bench"
    example = '[{"task_id": 0, "reward": 1.0, "info": {...}, "traj": [...], "trial": 0}]'
    keys = (
        Key(("task_id",), scalar=True),
        Key(("reward",)),
        Key(("trial",)),
        Key(("info", "error")),
        Key(("info", "traceback")),
    )
    default_suite = "tau-bench"
    uses_threshold = False
    is_harness = True
    holds_transcripts = True

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the elements."""
        wanted = {"task_id", "reward", "info", "trial"}
        if sample.container != "json_list":
            return False
        if sample.complete:
            return wanted <= set(sample.fields)
        # The first trajectory is longer than the sample, and ``trial`` is written after it.
        return {"task_id", "reward", "info", "traj"} <= set(sample.fields)

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Map a trial to an attempt."""
        return {
            "task_id": Field("task_id", "text", "task_id"),
            "attempt": Field(
                # A trial that is no whole number stays as it is, for the reason to show it.
                f"case when {_TRIAL} then cast(try_cast(trial as hugeint) + 1 as varchar) "
                "else trial end",
                "text",
                "trial + 1",
            ),
            "score": Field("reward", "text", "reward"),
            "passed": Field(
                f"case when {_PASSED} then true when {_DIED} then null "
                f"when {_REWARD} is not null then false end",
                "boolean",
                "reward",
            ),
            "outcome_reason": Field(
                f"case when not coalesce({_PASSED}, false) and {_DIED} then 'exception' end",
                "text",
                "info.error",
            ),
        }

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the file, or after its folder."""
        return run_named_after(path, self.suffixes)

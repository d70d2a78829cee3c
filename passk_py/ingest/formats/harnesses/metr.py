"""METR: the ``runs.jsonl`` of its analyses of time horizons, such as ``eval-analysis-public``.

Each line is one run of an agent on a task, with the minutes that people take for the task. METR
calls an agent, its model and scaffold by an ``alias``: all lines of an alias are one run here.

- ``human_minutes`` is a tag: with the var ``passk_difficulty: human_minutes`` the build has the
  horizons of every k. ``task_family`` is a tag, for ``passk_cluster``.
- METR gives every line a verdict, also if ``fatal_error_from`` says what ended the run, and so it
  counts. Only if ``score_binarized`` is null does ``fatal_error_from`` decide.
- The people who were timed are lines, too, with the alias ``human``.
- ``run_id`` and ``tokens_count`` differ by attempt, so they are no slices, and stay in the file.
  ``tokens_count`` does not tell tokens that were read from those that were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.formats.base import Field, Format, Key
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from passk_py.ingest.formats.kinds import Kind
    from passk_py.ingest.formats.sample import Sample

_SELDOM: Final = "scaffold"
_TAGS: Final = (
    "human_minutes", "human_source", _SELDOM, "task_family", "task_source", "task_version",
)  # fmt: skip
_STARTED: Final = "try_cast(started_at as double)"
_COMPLETED: Final = "try_cast(completed_at as double)"
# Zero, and the years before 2000, are how other writers of this form leave a time out.
_TIMED: Final = f"{_STARTED} between 946684800000 and 32503680000000"


class Metr(Format):
    """METR's runs."""

    name = "metr"
    title = "METR's runs.jsonl"
    reader_version = 2
    container = "json_lines"
    suffixes = (".jsonl",)
    recognised_by = "lines with task_id, alias, score_binarized, and human_minutes or score_cont"
    fields = (
        ("run_id", "alias"),
        ("suite", "metr, unless --suite is given"),
        ("task_id", "task_id"),
        ("attempt", "the order of started_at, or of the lines of a task"),
        ("outcome", "score_binarized"),
        ("outcome_reason", "fatal_error_from"),
        ("score", "score_cont"),
        ("agent", "alias"),
        ("model", "model"),
        ("started_at", "started_at, in milliseconds since 1970"),
        ("duration_s", "completed_at - started_at, in seconds"),
        ("cost_usd", "generation_cost"),
        ("tags", ", ".join(_TAGS)),
    )
    verdict_rule = "score_binarized is 1"
    attempt_rule = "the lines of an alias and a task in the order in which they started"
    error_rule = (
        "without score_binarized, fatal_error_from decides: agent and usageLimits are failed, all "
        "others excluded"
    )
    documentation = "https://github.com/METR/eval-analysis-public"
    example = (
        '{"task_id": "wordle/1", "task_family": "wordle", "run_id": "r1", "alias": "GPT-5", '
        '"model": "gpt-5", "score_binarized": 1, "score_cont": 1.0, "human_minutes": 12.5}'
    )
    keys = (
        Key(("alias",), scalar=True),
        Key(("task_id",), scalar=True),
        Key(("score_binarized",)),
        Key(("score_cont",), measure=True),
        Key(("fatal_error_from",), scalar=True),
        Key(("model",), scalar=True),
        Key(("started_at",), measure=True),
        Key(("completed_at",), measure=True),
        Key(("generation_cost",), measure=True),
        *(Key((name,), scalar=True) for name in _TAGS),
    )
    default_suite = "metr"
    uses_threshold = False
    is_harness = True
    numbers_attempts = True
    reasons: ClassVar[dict[str, Any]] = {"agent": "failed", "usageLimits": "failed"}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the lines."""
        fields = set(sample.fields)
        wanted = {"task_id", "alias", "score_binarized"}
        known = wanted <= fields and {"human_minutes", "score_cont"} & fields
        return sample.container == self.container and bool(known)

    def contract(self, columns: Mapping[str, Kind]) -> dict[str, Field]:
        """Map a line to an attempt."""
        seconds = f"({_COMPLETED} - {_STARTED}) / 1000"
        return {
            "run_id": Field("alias", "text", "alias"),
            "task_id": Field("task_id", "text", "task_id"),
            "attempt": Field("1", "integer", "attempt"),
            "passed": Field(
                "case try_cast(score_binarized as double) when 1 then 'true' when 0 then 'false' "
                "else score_binarized end",
                "text",
                "score_binarized",
            ),
            "outcome_reason": Field("fatal_error_from", "text", "fatal_error_from"),
            "score": Field("score_cont", columns["score_cont"], "score_cont"),
            "agent": Field("alias", "text", "alias"),
            "model": Field("model", "text", "model"),
            "started_at": Field(
                f"case when {_TIMED} then make_timestamp_ms({_STARTED}::bigint) end",
                "timestamp",
                "started_at",
            ),
            "duration_s": Field(
                f"case when {_TIMED} and {seconds} >= 0 then {seconds} end", "float", "completed_at"
            ),
            "cost_usd": Field("generation_cost", columns["generation_cost"], "generation_cost"),
            "tags": Field(_tags(), "map", "tags", in_order=True),
        }

    def unknown_fields(self, sample: Sample) -> tuple[str, ...]:
        """List the fields that have no place in the contract."""
        known = {key.column for key in self.keys}
        return tuple(name for name in sample.fields if name not in known)

    def default_run_id(self, path: Path) -> str | None:
        """Name the run of lines without an alias after the file, or after its folder."""
        return run_named_after(path, self.suffixes)


def _tags() -> str:
    """Write SQL for a map, in the order of its names, of the tags that are not null."""
    # DuckDB makes a map of a struct five times as fast as of entries, but with its nulls. So the
    # usual rows are tried first: those with all tags, and those with all but the seldom one.
    others = [name for name in _TAGS if name != _SELDOM]
    rest = " and ".join(f"{name} is not null" for name in others)
    entries = ", ".join(f"{{'k': '{name}', 'v': {name}}}" for name in _TAGS)
    return (
        f"case when {rest} and {_SELDOM} is not null then {_map_of(_TAGS)} "
        f"when {rest} and {_SELDOM} is null then {_map_of(others)} "
        f"else map_from_entries([entry for entry in [{entries}] if entry.v is not null]) end"
    )


def _map_of(names: Sequence[str]) -> str:
    members = ", ".join(f"'{name}': {name}" for name in names)
    return f"{{{members}}}::map(varchar, varchar)"

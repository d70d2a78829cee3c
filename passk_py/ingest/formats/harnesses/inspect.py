"""Inspect: the logs that ``inspect eval`` writes, as ``.eval`` and as ``.json``.

An ``.eval`` log is a zip. Its ``summaries.json`` has an element for each epoch of each sample, and
its ``header.json`` says what was run; nothing else in it is read. A log that did not end has
neither, and ``_journal/`` is read in their place; without a journal, the samples are. A ``.json``
log is one object of the same names, with whole samples in ``samples``.

- Inspect's reducers ``pass_at`` and ``pass_k`` count a value of at least 1, too, and its
  ``value_to_float`` makes the numbers: yes and true are 1, any other text than its letters is 0.
- The verdict is that of the scorer in ``results.headline``; without it, of the one that the task
  declares in ``eval.headline_metric``, then of the first in ``results.scores``, then of the first
  of the sample: the score that Inspect itself shows first. If a score has several values, the
  verdict is the one that the headline names, otherwise the first. The other values are tags,
  ``score.<scorer>``, as far as they are short.
- A sample that was tried again after an error within its epoch is one attempt; the tag ``retries``
  says how many tries came before.
- A value of NaN is how a scorer says that it could not score: ``unscored``. With
  ``score_on_error`` an error has a score as well, and it counts. An epoch that was stopped with the
  whole evaluation is ``cancelled``. A limit that was scored keeps its reason.
- ``eval.run_id`` is shared by all tasks and all models of one ``inspect eval``, so that two models
  would be one run; it is a tag. A retry writes a log with an id of its own, so it is a run of its
  own.
- A retry copies the epochs that had ended without an error into its own log. Where a folder is
  loaded, a log is passed over if a later one of the same task holds all of those, and so are the
  copies of a log: the recovered or scored one counts, the ``.eval`` and not the ``.json`` of the
  same name, and the merged log, not its shards.
- Each sample is expected once where the log says of no epochs, as Inspect runs it then.
- Summaries and journals may have a sample's epoch twice, if it was run again. The later row counts,
  as for Inspect; the earlier one is rejected.
"""

from __future__ import annotations

import itertools
import zlib
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.containers.zip_members import ZipMembers
from passk_py.ingest.formats.harness import Expected, Log
from passk_py.ingest.formats.harnesses.inspect_copies import SUFFIXES, Survey, logs_beside
from passk_py.ingest.formats.harnesses.inspect_members import (
    HEADS,
    MOST_KEYS,
    SAMPLE,
    is_log,
    key_of,
    refuse_if_repeated,
    repeats_of,
    rows_in,
    rows_of,
    sample_in,
)
from passk_py.ingest.formats.harnesses.inspect_samples import (
    attempt_of,
    chosen_score,
    count_of,
    short_values,
)
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, dict_at, list_at, text
from passk_py.ingest.formats.kinds import Refusal, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Record
    from passk_py.ingest.formats.sample import Sample

_SHOWN: Final = 5


class Inspect(JsonHarness):
    """Inspect's logs."""

    name = "inspect"
    title = "Inspect's logs, .eval and .json"
    reader_version = 4
    container = "zip"
    suffixes = SUFFIXES
    recognised_by = (
        "a zip with header.json and summaries.json, or with _journal/start.json; an object with "
        "version, status and an eval that has task and model"
    )
    fields = (
        ("run_id", "eval.eval_id; of logs without one, eval.run_id and eval.task_id"),
        ("suite", "eval.task"),
        ("task_id", "id"),
        ("attempt", "epoch"),
        ("outcome", "scores.<scorer>.value, error, limit"),
        ("outcome_reason", "error: and its class, or <limit>_limit, or the score's reason"),
        ("score", "the value as a number: C is 1, P is 0.5, I and N are 0"),
        ("agent", "eval.solver, else the last step of plan.steps"),
        ("model", "eval.model"),
        ("seed", "eval.model_generate_config.seed, else plan.config.seed"),
        ("started_at", "started_at"),
        ("duration_s", "total_time, else completed_at - started_at"),
        ("cost_usd", "model_usage: the sum of total_cost"),
        ("input_tokens", "model_usage: the sum of input_tokens and those of the cache"),
        ("output_tokens", "model_usage: the sum of output_tokens"),
        ("tags", "metadata, scores of the other scorers, retries, inspect_run_id, eval.metadata"),
        ("transcript", "the log, and # with samples/<id>_epoch_<epoch>, with .json if it is a zip"),
    )
    verdict_rule = (
        "value_to_float(value) reaches --score-threshold, 1 by default; of the scorer in "
        "results.headline or of the first scorer; of its first value, with a warning, if it has "
        "several and results.headline names none"
    )
    attempt_rule = "epoch"
    uses_threshold = True
    error_rule = (
        "an error without a score and a score of NaN are excluded, as Inspect's reducers do; a "
        "limit without a score is failed, which Inspect leaves out of n"
    )
    documentation = "https://inspect.aisi.org.uk/eval-logs.html"
    example = (
        '{"version": 2, "status": "success", "eval": {"eval_id": "...", "task": "capitals", '
        '"model": "..."}, "samples": [{"id": "a", "epoch": 1, "scores": {"match": {"value": "C"}}}'
        "]}"
    )
    labels = {
        "task_id": "id",
        "attempt": "epoch",
        "duration_s": "total_time",
        "input_tokens": "model_usage.input_tokens",
        "output_tokens": "model_usage.output_tokens",
        "cost_usd": "model_usage.total_cost",
    }
    reasons = {
        "error": "excluded",
        "error:*": "excluded",
        "unscored*": "excluded",
        "cancelled": "excluded",
        "incomplete": "excluded",
        "operator_limit": "excluded",
        "*_limit": "failed",
    }
    rows_at = ("samples", EACH)
    shape = {
        **dict.fromkeys(
            (
                *("id", "epoch", "scores", "score", "metadata", "model_usage", "started_at"),
                *("completed_at", "total_time", "error", "limit", "retries", "completed"),
            ),
            ANY,
        ),
        "error_retries": [{"message": ANY}],
    }
    head_shapes = {
        ("eval",): {
            **dict.fromkeys(
                ("eval_id", "run_id", "task_id", "task", "model", "solver", "metadata"), ANY
            ),
            "headline_metric": {"scorer": ANY, "score": ANY, "metric": ANY},
            "model_generate_config": {"seed": ANY},
            "config": {"epochs": ANY},
            "dataset": {"sample_ids": ANY},
        },
        ("plan",): {"steps": [{"solver": ANY}], "finish": {"solver": ANY}, "config": {"seed": ANY}},
        ("results",): {
            "scores": [{"name": ANY, "scorer": ANY, "metrics": ANY}],
            "headline": {"scorer": ANY, "score": ANY},
            "early_stopping": {"manager": ANY},
        },
    }

    def can_read(self, sample: Sample) -> bool:
        """Tell whether it is a zip, or one object."""
        return sample.can_be("zip") or sample.can_be("json_object")

    def recognises(self, sample: Sample) -> bool:
        """Tell from the members of the zip, or from the keys of the object."""
        if sample.container == "zip":
            return is_log(sample.members)
        return (
            sample.can_be("json_object")
            and {"version", "status", "eval"} <= set(sample.fields)
            and {"task", "model"} <= sample.keys_of_first_row(("eval",))
        )

    def refuse(self, sample: Sample) -> Refusal | None:
        """Reject a log that kept no samples."""
        if sample.container != "zip" or rows_of(sample.members):
            return None
        return Refusal(
            "no samples",
            "It was written with --no-log-samples, or the run died before its first sample ended.",
        )

    def repeated(self, sample: Sample) -> Refusal | None:
        """Pass over the list of the logs in a folder."""
        if not sample.can_be("json_object") or not (
            {"version", "status", "eval"} <= sample.keys_of_first_row((EACH,))
        ):
            return None
        return Refusal(
            "a list of Inspect's logs without their samples", "Load the logs that it names."
        )

    def doubled(self, sample: Sample) -> Refusal | None:
        """Look for a retry, a later copy or the merged log, which holds the attempts too."""
        path = sample.path
        mine: Survey | None = None
        for other, copied in logs_beside(path):
            mine = mine or _survey(path)
            held = _survey(other)
            if mine and held and mine.is_in(held, copied=copied):
                return Refusal(
                    f"a log of Inspect whose attempts are in {other.name} too",
                    "Name the file itself to load it.",
                )
        return None

    def read(self, log: Log) -> Iterator[Record]:
        """Read the summaries of a zip, or the samples of an object."""
        for path in log.files:
            packed = _is_zip(path)
            with log.opened(path) as file:
                if packed:
                    yield from self._read_zip(ZipMembers(file), log)
                else:
                    log.heads["members"] = None
                    yield from self.read_file(file, log)

    def _read_zip(self, members: ZipMembers, log: Log) -> Iterator[Record]:
        for head in HEADS:
            if head in members.names and not isinstance(log.heads.get("eval"), dict):
                with members.opened(head) as file:
                    yield from self.read_file(file, log)
        log.heads["members"] = frozenset(members.names)
        names = rows_of(members.names)
        rows_at = () if SAMPLE.fullmatch(names[0]) else (EACH,)
        for name in names:
            with members.opened(name) as file:
                begun, whole = self.begin(file, rows_at)
                if rows_at and name == names[0]:
                    known = whole[0] if whole and len(names) == 1 else rows_in(members, names)
                    log.heads["repeats"] = repeats_of(known)
                yield from self.go_on(file, log, rows_at, begun, whole)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a sample's epoch to an attempt."""
        if repeats := log.heads.get("repeats"):
            refuse_if_repeated(row, repeats)
        chosen = log.heads.get("chosen")
        if chosen is None:
            chosen = log.heads["chosen"] = chosen_score(log)
        guessed = log.heads.setdefault("guessed", {})
        attempt = attempt_of(row, chosen, guessed)
        if name := sample_in(row, log.heads["members"]):
            attempt["transcript"] = f"{log.current}#{name}"
        return (attempt,)

    def fills(self, log: Log) -> dict[str, Any]:
        """Take what the header says of the run."""
        spec, plan = log.heads.get("eval"), log.heads.get("plan")
        run = text(at(spec, "run_id"))
        task = text(at(spec, "task_id"))
        seed = at(spec, "model_generate_config", "seed")
        # Inspect lists a solver that finishes the plan as its last step once more.
        last = at(plan, "steps", -2 if at(plan, "finish") else -1, "solver")
        agent = text(at(spec, "solver")) or text(last)
        tags = {
            key: str(tag).lower() if isinstance(tag, bool) else tag
            for key, tag in short_values(dict_at(spec, "metadata")).items()
        }
        return {
            "run_id": text(at(spec, "eval_id")) or (f"{run}_{task}" if run and task else None),
            "suite": text(at(spec, "task")),
            "agent": agent.rpartition("/")[2] if agent else None,
            "model": text(at(spec, "model")),
            "seed": at(plan, "config", "seed") if seed is None else seed,
            "tags": {**tags, "inspect_run_id": run},
        }

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which of several values decided, where the log does not say it."""
        guessed = log.heads.get("guessed", {})
        for name, others in itertools.islice(guessed.items(), _SHOWN):
            yield (
                f"scores.{name} decided what passed, as the first of several values. The others "
                f"are {listed(others, _SHOWN)}."
            )

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of epochs and the samples from the header."""
        spec = log.heads.get("eval")
        epochs = at(spec, "config", "epochs")
        if epochs is None and isinstance(at(spec, "config"), dict):
            epochs = 1
        # A sample that was stopped early on purpose is not incomplete.
        if not count_of(epochs) or at(log.heads.get("results"), "early_stopping"):
            return []
        tasks = map(text, list_at(spec, "dataset", "sample_ids"))
        return [Expected(epochs, tuple(task for task in tasks if task))]


class _Surveyor(Inspect):
    """Reads a log no further than for a survey."""

    shape = {"id": ANY, "epoch": ANY, "error": {}}
    head_shapes = {("eval",): dict.fromkeys(("task", "task_id", "model", "created"), ANY)}

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Note the sample's epoch."""
        survey: Survey = log.heads["survey"]
        if len(survey.keys) < MOST_KEYS:
            survey.keys.add(key_of(row))
            if row.get("error") is None:
                survey.ended.add(key_of(row))
        return ()


def _survey(path: Path) -> Survey | None:
    log = Log(path, (path,), heads={"survey": Survey()})
    try:
        for _ in _Surveyor().read(log):
            pass
    except (OSError, EOFError, ValueError, zlib.error, PasskError):
        return None
    survey: Survey = log.heads["survey"]
    survey.spec = log.heads.get("eval")
    return survey


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"

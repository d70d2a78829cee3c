"""tau2-bench: the ``results.json`` of a run, alone or with a folder of simulations.

Runs of the format "dir" keep each simulation in a file of its own in ``simulations/`` beside a
``results.json`` that has none. The folder's name tells nothing: runs of the format "json" are in a
folder called ``simulations`` too. The messages are never read, so the tokens are null.

- The verdict is tau2-bench's own ``is_successful``.
- tau2-bench grades a simulation that ended early, by ``max_steps`` for one, with the reward 0: a
  failure, which keeps its ``termination_reason``. ``infrastructure_error`` is excluded, as
  tau2-bench's metrics do, even with a reward, which grading the run once more gives it;
  ``context_window_exceeded`` fails, as most versions count it.
- Where the grading itself failed, the reward is 0, as tau2-bench counts it, and its error the
  reason.
- The cost of the simulated user is not the agent's. Times are local and without a zone, and are
  taken as they are.
- Simulations in ``hallucination_discarded`` are not read: tau2-bench threw them away, and counts
  those that replaced them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.json_start import keys_at_start_of
from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.harness import Expected
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, list_at, number, text
from passk_py.ingest.formats.kinds import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.sample import Sample

_INFRASTRUCTURE: Final = "infrastructure_error"
_ROW: Final = frozenset(("task_id", "trial", "termination_reason"))
# The trial is written after the messages, which may be longer than a sample.
_EARLY: Final = frozenset(("task_id", "start_time", "termination_reason"))
_RESULTS: Final = "results.json"
_SIMULATIONS: Final = "simulations"
_DISCARDED: Final = "hallucination_discarded"
# How a simulation ends that was not cut short.
_ENDS: Final = ("user_stop", "agent_stop")


class Tau2Bench(JsonHarness):
    """tau2-bench's results of a run."""

    name = "tau2-bench"
    title = "tau2-bench's results.json, alone or with a folder of simulations"
    reader_version = 5
    container = "json_object"
    suffixes = (".json",)
    recognised_by = (
        "an object whose simulations have task_id, trial and termination_reason, or one simulation"
    )
    fields = (
        ("run_id", "the run's folder; of a file with another name than results.json, that name"),
        ("suite", "tau2-bench/ and info.environment_info.domain_name"),
        ("task_id", "task_id"),
        ("attempt", "trial + 1"),
        ("outcome", "reward_info.reward, termination_reason"),
        (
            "outcome_reason",
            "termination_reason; where the user or the agent ended it, the error of the grading",
        ),
        ("score", "reward_info.reward"),
        ("agent", "info.agent_info.implementation"),
        ("agent_version", "info.git_commit"),
        ("model", "info.agent_info.llm"),
        ("seed", "seed: one for each trial, shared by all tasks"),
        ("started_at", "start_time"),
        ("duration_s", "duration"),
        ("cost_usd", "agent_cost"),
        ("transcript", "the simulation: its file, or the results and # with its JSON pointer"),
    )
    verdict_rule = "1 - 1e-6 <= reward_info.reward <= 1 + 1e-6"
    attempt_rule = "trial + 1"
    error_rule = (
        "no reward_info, or infrastructure_error: termination_reason decides; tau2-bench's "
        "leaderboard counts it as failed"
    )
    documentation = "https://github.com/sierra-research/tau2-bench"
    example = (
        '{"info": {"num_trials": 4, ...}, "tasks": [...], "simulations": [{"task_id": "0", '
        '"trial": 0, "termination_reason": "user_stop", "reward_info": {"reward": 1.0}}]}'
    )
    default_suite = "tau2-bench"
    labels = {
        "attempt": "trial + 1",
        "score": "reward_info.reward",
        "started_at": "start_time",
        "duration_s": "duration",
        "cost_usd": "agent_cost",
    }
    reasons = {
        _INFRASTRUCTURE: "excluded",
        "user_error": "excluded",
        "unexpected_error": "excluded",
        "context_window_exceeded": "failed",
        "agent_error": "failed",
        "too_many_errors": "failed",
        "max_steps": "failed",
        "timeout": "failed",
    }
    rows_at = (_SIMULATIONS, EACH)
    shape = {
        **dict.fromkeys(
            (
                *("task_id", "trial", "seed", "start_time"),
                *("duration", "termination_reason", "agent_cost"),
            ),
            ANY,
        ),
        "reward_info": {"reward": ANY, "info": {"error": ANY}},
    }
    head_shapes = {
        ("info",): {
            "num_trials": ANY,
            "git_commit": ANY,
            "agent_info": {"implementation": ANY, "llm": ANY},
            "environment_info": {"domain_name": ANY},
        },
        ("tasks",): [{"id": ANY}],
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first simulation, or of the file if it is one."""
        if not sample.can_be(self.container):
            return False
        if _is_one(frozenset(sample.fields), sample):
            return True
        # The tasks may be longer than the sample, and the simulations come after them.
        heads = {"timestamp", "info", "tasks"} <= set(sample.fields) and b'"num_trials"' in (
            sample.start
        )
        if heads and not sample.complete and _SIMULATIONS not in sample.fields:
            return True
        return _is_one(sample.keys_of_first_row(self.rows_at), sample)

    def group(self, sample: Sample) -> Path | None:
        """Put the simulations of a folder together."""
        in_folder = sample.path.parent.name == _SIMULATIONS
        alone = in_folder and _is_one(frozenset(sample.fields), sample)
        return sample.path.parent.parent if alone else None

    def doubled(self, sample: Sample) -> Refusal | None:
        """Pass over simulations in which the user was found to make things up."""
        if _DISCARDED not in (sample.path.parent.name, sample.path.parent.parent.name):
            return None
        return Refusal(
            "simulations that tau2-bench threw away and made again",
            "Name this file itself to load them.",
        )

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find what says how the run of a folder was set up."""
        return (_results_of(path),) if path.is_dir() else ()

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after its folder, if the file has a name that every run's has."""
        above = path.name in (_RESULTS, _SIMULATIONS)
        return path.parent.name if above else super().default_run_id(path)

    def read(self, log: Log) -> Iterator[Record]:
        """Read the simulations, and what the results say of them all."""
        for path in log.files:
            single = "task_id" in keys_at_start_of(path)
            with log.opened(path) as file:
                yield from self.read_file(file, log, rows_at=() if single else None)
        beside = _results_of(log.path)
        if log.path.is_dir() and beside.is_file() and not beside.is_symlink():
            with log.opened(beside) as file:
                yield from self.read_file(file, log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a simulation to an attempt."""
        trial = row.get("trial")
        reason = text(row.get("termination_reason"))
        reward = at(row, "reward_info", "reward") if reason != _INFRASTRUCTURE else None
        value = number(reward)
        if reason in _ENDS:
            error = text(at(row, "reward_info", "info", "error"))
            reason = error.partition("\n")[0] if error else None
        yield {
            "task_id": row.get("task_id"),
            "attempt": trial + 1 if isinstance(trial, int) else trial,
            "passed": None if value is None else 1 - 1e-6 <= value <= 1 + 1e-6,
            "outcome_reason": reason,
            "score": reward,
            "seed": row.get("seed"),
            "started_at": row.get("start_time"),
            "duration_s": row.get("duration"),
            "cost_usd": row.get("agent_cost"),
            "transcript": self.place_of(element, log),
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the agent, the model and the domain from the run's set-up."""
        info = log.heads.get("info")
        domain = text(at(info, "environment_info", "domain_name"))
        return {
            "suite": f"{self.default_suite}/{domain}" if domain else None,
            "agent": text(at(info, "agent_info", "implementation")),
            "agent_version": text(at(info, "git_commit")),
            "model": text(at(info, "agent_info", "llm")),
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of trials and the tasks from the run's set-up."""
        trials = at(log.heads.get("info"), "num_trials")
        ids = [text(at(task, "id")) for task in list_at(log.heads, "tasks")]
        if isinstance(trials, int):
            yield Expected(trials, tuple(task for task in ids if task))


def _is_one(keys: frozenset[str], sample: Sample) -> bool:
    """Tell a simulation by its keys, which the end of the sample may cut off."""
    return keys >= _ROW or (not sample.complete and keys >= _EARLY)


def _results_of(folder: Path) -> Path:
    """Find the results of a run by its folder, or by that of its simulations."""
    return (folder.parent if folder.name == _SIMULATIONS else folder) / _RESULTS

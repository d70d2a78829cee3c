"""Harbor: a job's folder, with a ``result.json`` in the folder of each of its trials.

The trials of a job are read together, because none of them says which attempt it is. The job's own
``config.json`` says how many attempts were to be made and its ``lock.json`` of which tasks; its
``result.json`` holds totals only.

- The reward is what Harbor itself takes for the reward of a trial. It computes pass@k of rewards 0
  and 1 only; a part of a reward is a failure here, with the reason ``partial_reward`` unless there
  is an error. Several rewards of which none is called ``reward`` are no verdict, as in Harbor's
  pass@k.
- The reasons follow Harbor's own table of causes: errors by the agent's budget or its safety rules
  fail; those of sandbox, model provider, verifier, Harbor itself and cancelling are excluded. A
  timeout that was graded keeps its reward.
- The folders of trials have random names. A trial that was retried overwrites its folder, so only
  the last try is an attempt.
- ``job_name`` stays when the job's folder is moved. In a job of several agents or models, or in one
  without its ``config.json``, the run is job, agent and model, as in Harbor's own totals.
- Trials without a ``result.json``, or with an empty one, did not end: they are no attempts, and the
  number of attempts expected tells of them.
- Files in the folders of a trial, such as reports of its verifier, are not read. A trial that is
  named without its job is attempt 1 of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.containers.shape import ANY, Json
from passk_py.ingest.formats.harness import Expected, Log
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, list_at, number, seconds_between, text
from passk_py.ingest.formats.kinds import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Shape
    from passk_py.ingest.formats.harness import Record
    from passk_py.ingest.formats.sample import Sample

_TRIAL: Final = frozenset(("task_name", "trial_name", "trial_uri", "task_checksum"))
_JOB: Final = frozenset(("n_total_trials", "stats"))
_TRIAL_CONFIG: Final = frozenset(("trial_name", "trials_dir", "task"))
_RESULT: Final = "result.json"
_CONFIG: Final = "config.json"
_LOCK: Final = "lock.json"
_USAGE: Final[Shape] = dict.fromkeys(("n_input_tokens", "n_output_tokens", "cost_usd"), ANY)
_EXCEPTION: Final[Shape] = {"exception_type": ANY}


class Harbor(JsonHarness):
    """The trials of a job of Harbor."""

    name = "harbor"
    title = "Harbor's job folder, or the result.json of a trial"
    reader_version = 3
    container = "json_object"
    suffixes = (".json",)
    recognised_by = "an object with task_name, trial_name, trial_uri and task_checksum"
    fields = (
        ("run_id", "job_name, else the folder; of several agents or models, job.agent.model"),
        ("suite", "source, the dataset; else adhoc"),
        ("task_id", "task_name"),
        ("attempt", "the place of the trial by started_at"),
        ("outcome", "verifier_result.rewards, exception_info"),
        ("outcome_reason", "exception_info.exception_type, else that of the first step with one"),
        ("score", "verifier_result.rewards: reward, or the only one"),
        ("agent", "agent_info.name"),
        ("agent_version", "agent_info.version"),
        ("model", "agent_info.model_info.name"),
        ("started_at", "started_at"),
        ("duration_s", "finished_at - started_at"),
        ("cost_usd", "agent_result.cost_usd, else the sum over step_results"),
        ("input_tokens", "agent_result.n_input_tokens, else the sum over step_results"),
        ("output_tokens", "agent_result.n_output_tokens, else the sum over step_results"),
        ("tags", "provider: agent_info.model_info.provider"),
        ("transcript", "the folder of the trial"),
    )
    verdict_rule = "the reward reaches --score-threshold, 1 by default"
    attempt_rule = "the trials of a task in the order of started_at"
    error_rule = "no reward: exception_info.exception_type decides; Harbor itself counts it as 0"
    documentation = "https://www.harborframework.com/docs"
    example = (
        '{"task_name": "hello-world", "trial_name": "hello-world__cW4V4hX", "trial_uri": "...", '
        '"task_checksum": "...", "agent_info": {"name": "terminus-2"}, '
        '"verifier_result": {"rewards": {"reward": 1.0}}, "started_at": "2026-03-02T09:00:02Z"}'
    )
    default_suite = "adhoc"
    uses_threshold = True
    numbers_attempts = True
    reasons = {
        "AgentTimeoutError": "failed",
        "ContextWindowExceededError": "failed",
        "OutputTokenExceededError": "failed",
        "ContextLengthExceededError": "failed",
        "OutputLengthExceededError": "failed",
        "AgentSafetyRefusalError": "failed",
        "ContentPolicyViolationError": "failed",
        # Harbor leaves open whose fault this is; it is the agent's process that ended badly.
        "NonZeroAgentExitCodeError": "failed",
        "MemoryLimitExceededError": "excluded",
        # LiteLLM's name of a timeout of the model's API.
        "Timeout": "excluded",
        "several_rewards": "excluded",
    }
    labels = {
        "task_id": "task_name",
        "score": "the reward in verifier_result.rewards",
        "agent": "agent_info.name",
        "agent_version": "agent_info.version",
        "model": "agent_info.model_info.name",
        "cost_usd": "agent_result.cost_usd",
        "input_tokens": "agent_result.n_input_tokens",
        "output_tokens": "agent_result.n_output_tokens",
    }
    rows_at = ()
    shape = {
        **dict.fromkeys(("task_name", "source", "started_at", "finished_at"), ANY),
        "agent_info": {"name": ANY, "version": ANY, "model_info": {"name": ANY, "provider": ANY}},
        "agent_result": _USAGE,
        "verifier_result": {"rewards": ANY},
        "exception_info": _EXCEPTION,
        "step_results": [{"agent_result": _USAGE, "exception_info": _EXCEPTION}],
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the trial."""
        return sample.can_be(self.container) and set(sample.fields) >= _TRIAL

    def group(self, sample: Sample) -> Path | None:
        """Put the trials of a job together."""
        return _job_of(sample.path)

    def owns(self, sample: Sample) -> Path | None:
        """Leave what the agent and the verifier of a trial wrote alone."""
        return sample.path.parent if sample.path.name.startswith(_RESULT) else None

    def repeated(self, sample: Sample) -> Refusal | None:
        """Pass over the totals of a job and over trials that did not end."""
        keys = set(sample.fields)
        if keys >= _JOB:
            what = "the totals of a job of Harbor, whose trials are in the folders beside it"
        elif keys >= _TRIAL_CONFIG:
            what = "the configuration of a trial of Harbor, which its result.json holds too"
        elif sample.size == 0 and sample.path.name == _RESULT and _is_trial(sample.path.parent):
            what = "the empty result of a trial of Harbor that did not end"
        else:
            return None
        return Refusal(what, "Name the folder of the job.")

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find what says how the job was set up."""
        folder = path if path.is_dir() else _job_of(path)
        return tuple(folder / name for name in (_CONFIG, _LOCK, _RESULT))

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after the job, also where a single trial of it is named."""
        folder = path if path.is_dir() else _job_of(path)
        if name := text(at(Log(folder, ()).beside(folder / _CONFIG), "job_name")):
            return name
        if path.name.startswith(_RESULT):
            return _job_of(path).name or None
        return path.name if path.is_dir() else super().default_run_id(path)

    def read(self, log: Log) -> Iterator[Record]:
        """Read the trials of a job."""
        folder = log.path if log.path.is_dir() else _job_of(log.path)
        config = log.beside(folder / _CONFIG)
        # A configuration without agents is one of Harbor's default agent alone.
        several = config is None or len(list_at(config, "agents")) > 1
        log.heads |= {
            "folder": folder,
            "config": config,
            "job": self.default_run_id(log.path) if several else None,
            "runs": {},
            "tasks": set(),
        }
        yield from super().read(log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a trial to an attempt."""
        task, started = row.get("task_name"), row.get("started_at")
        agent, model = at(row, "agent_info", "name"), at(row, "agent_info", "model_info", "name")
        provider = text(at(row, "agent_info", "model_info", "provider"))
        job = log.heads["job"]
        run = ".".join(name for name in (job, text(agent), text(model)) if name) if job else None
        log.heads["runs"][run] = (text(agent), text(model))
        if isinstance(task, str):
            log.heads["tasks"].add(task)
        score, reason = _graded(row)
        yield {
            "run_id": run,
            "suite": row.get("source"),
            "task_id": task,
            "attempt": 1,
            "outcome_reason": reason,
            "score": score,
            "agent": agent,
            "agent_version": at(row, "agent_info", "version"),
            "model": model,
            "started_at": started,
            "duration_s": seconds_between(started, row.get("finished_at")),
            "cost_usd": _used(row, "cost_usd"),
            "input_tokens": _used(row, "n_input_tokens"),
            "output_tokens": _used(row, "n_output_tokens"),
            "tags": {"provider": provider} if provider else None,
            "transcript": str(_trial_at(log.current)),
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of attempts from the job's configuration and the tasks from its lock."""
        config = log.heads["config"]
        # Attempts that are made from those of other jobs are as many as there are of those.
        if not isinstance(config, dict) or config.get("source_jobs"):
            return
        attempts = config.get("n_attempts", 1)
        if isinstance(attempts, bool) or not isinstance(attempts, int):
            return
        tasks = _tasks_of(log.beside(log.heads["folder"] / _LOCK), log.heads["tasks"])
        for run, named in log.heads["runs"].items():
            yield Expected(attempts * _times(config, *named), tasks, run)


def _job_of(path: Path) -> Path:
    """Find the folder of the job that a trial's file belongs to."""
    return path.parent.parent if path.name.startswith(_RESULT) else path.parent


def _trial_at(path: Path) -> Path:
    """Find the folder of a trial; a file that lies elsewhere is all that there is of one."""
    return path.parent if path.name.startswith(_RESULT) else path


def _is_trial(folder: Path) -> bool:
    """Tell whether a folder is that of a trial, from its configuration."""
    try:
        with (folder / _CONFIG).open("rb") as file:
            start = file.read(1 << 16)
    except OSError:
        return False
    return all(f'"{name}"'.encode() in start for name in _TRIAL_CONFIG)


def _graded(row: dict[str, Any]) -> tuple[Any, str | None]:
    """Take the reward of a trial, and what there is to say of it."""
    rewards = at(row, "verifier_result", "rewards")
    score: Any = None
    if isinstance(rewards, dict) and rewards:
        if "reward" not in rewards and len(rewards) > 1:
            return None, "several_rewards"
        score = rewards["reward"] if "reward" in rewards else next(iter(rewards.values()))
    error = text(at(row, "exception_info", "exception_type"))
    for step in list_at(row, "step_results") if error is None else ():
        error = error or text(at(step, "exception_info", "exception_type"))
    value = number(score)
    if error is None and value is not None and 0 < value < 1:
        error = "partial_reward"
    return score, error


def _used(row: dict[str, Any], name: str) -> Json:
    """Take what a trial used or, where it has steps, what they used together."""
    if isinstance(row.get("agent_result"), dict):
        return row["agent_result"].get(name)
    parts = [at(step, "agent_result", name) for step in list_at(row, "step_results")]
    known = [part for part in parts if isinstance(part, int | float)]
    return sum(known) if known else None


def _tasks_of(lock: Json, met: set[str]) -> tuple[str, ...]:
    """Take the tasks from the lock of a job, if they are called there as in the trials."""
    tasks = [at(trial, "task") for trial in list_at(lock, "trials")]
    named = [(name, at(task, "source")) for task in tasks if (name := text(at(task, "name")))]
    names = dict.fromkeys(name for name, _ in named)
    # With several datasets, the dataset of a task that was not met is not known.
    sources = {text(source) for _, source in named}
    return tuple(names) if len(sources) == 1 and met <= names.keys() else ()


def _times(config: Json, name: str | None, model: str | None) -> int:
    """Count the agents of a job that Harbor counts as one: they differ in their options only."""
    same = 0
    for agent in list_at(config, "agents"):
        # A configuration has the provider in front of the model.
        full = text(at(agent, "model_name")) or ""
        same += at(agent, "name") == name and f"/{full}".endswith(f"/{model or ''}")
    return max(same, 1)

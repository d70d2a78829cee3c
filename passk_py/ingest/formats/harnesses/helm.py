"""HELM: the ``per_instance_stats.json`` of a run, with ``run_spec.json`` beside it.

Each metric of a run gives the instances rows of its own, so the rows of one instance, perturbation
and trial are put together. HELM repeats a run with other examples in the prompt: each of these
training trials is an attempt.

- The file does not say which metric is the main one of the scenario; HELM's schemas do. The first
  of ``math_equiv_chain_of_thought``, ``exact_match`` and the others in the table that is 0 or 1 in
  every instance is the verdict, else the first metric of this kind. All others are tags.
- Metrics of several completions (``exact_match@5``) are no verdicts: there is one for all of them.
- A perturbed instance is another task, in a suite named after the perturbation and its seed: HELM's
  scores are of the instances as they are.
- HELM leaves out a stat that is NaN. It stops at an error, so there are no rows without a verdict.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH
from passk_py.ingest.containers.shape import ANY
from passk_py.ingest.formats.harness import Expected, Record, Unfit
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, list_at, small_tags, text
from passk_py.ingest.formats.kinds import Refusal, listed
from passk_py.ingest.formats.run_names import run_named_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.formats.sample import Sample

# The main metrics of HELM's schemas that are verdicts, the particular ones first.
_MAIN: Final = (
    *("math_equiv_chain_of_thought", "math_equiv", "chain_of_thought_correctness"),
    *("program_accuracy", "execution_accuracy", "ifeval_strict_accuracy", "pass"),
    *("final_number_exact_match", "exact_match_indicator", "accuracy", "exact_match"),
    *("quasi_exact_match", "quasi_prefix_exact_match", "prefix_exact_match"),
)
# Facts about the request that may be 0 or 1 in every row.
_FACTS: Final = re.compile(
    "(?:num_|finish_reason_|inference_|training_|prompt_|predicted_|max_prob|batch_size|logprob|"
    "perplexity|bits_per_byte).*|.*@.*",
    re.DOTALL,
)
_MODEL: Final = ("model=", "model_deployment=")
_DURATION: Final = "inference_runtime"
_INPUT: Final = "num_prompt_tokens"
_OUTPUTS: Final = ("num_output_tokens", "num_completion_tokens")


@dataclass(slots=True)
class _Instance:
    """The stats of one instance, perturbation and trial, and the place of its first row."""

    place: str
    split: str | None = None
    stats: dict[str, float] = field(default_factory=dict)


class Helm(JsonHarness):
    """HELM's stats of instances."""

    name = "helm"
    title = "HELM's per_instance_stats.json"
    reader_version = 1
    container = "json_list"
    suffixes = (".json",)
    recognised_by = "a list of objects with instance_id, train_trial_index and stats"
    fields = (
        ("run_id", "run_spec.json: name; else the folder's name"),
        ("suite", "the same without the model, and with / and the perturbation; else helm"),
        ("task_id", "instance_id"),
        ("attempt", "train_trial_index + 1"),
        ("outcome", "the mean of the main metric in stats"),
        ("score", "the same"),
        ("model", "run_spec.json: adapter_spec.model"),
        ("duration_s", "the mean of inference_runtime"),
        ("input_tokens", "the mean of num_prompt_tokens"),
        ("output_tokens", "the mean of num_output_tokens, else of num_completion_tokens"),
        ("tags", "metric; the means of the other metrics; split, perturbation"),
        ("transcript", "the instance: the file, and # with its JSON pointer"),
    )
    verdict_rule = (
        "the main metric is 1: the first that is always 0 or 1 of math_equiv_chain_of_thought, "
        "math_equiv, ..., exact_match, quasi_exact_match, or else of all"
    )
    attempt_rule = "the training trial, from 0 in the file"
    error_rule = "HELM writes nothing if there is one"
    documentation = "https://crfm-helm.readthedocs.io/en/latest/tutorial/"
    example = (
        '[{"instance_id": "id12", "train_trial_index": 0, "stats": [{"name": {"name": '
        '"exact_match", "split": "test"}, "count": 1, "sum": 1, "mean": 1.0}]}]'
    )
    default_suite = "helm"
    differs_by_run = False
    labels: ClassVar[dict[str, str]] = {"task_id": "instance_id", "attempt": "train_trial_index"}
    rows_at = (EACH,)
    shape = {
        **dict.fromkeys(("instance_id", "train_trial_index", "perturbation"), ANY),
        "stats": [{"name": {"name": ANY, "split": ANY}, "count": ANY, "sum": ANY, "mean": ANY}],
    }

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first row."""
        wanted = {"instance_id", "train_trial_index", "stats"}
        return sample.container == self.container and wanted <= sample.keys_of_first_row((EACH,))

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say what the other files of a run are."""
        names = sample.keys_of_first_row((EACH,))
        if {"name", "count", "sum_squared"} <= names:
            what = "HELM's means of a run, which hold no instances"
        elif {"adapter_spec", "request_states"} <= set(sample.fields):
            what = "HELM's requests of a run, which have no verdicts"
        else:
            return None
        return Refusal(what, "Load the per_instance_stats.json beside it.")

    def companions(self, path: Path) -> tuple[Path, ...]:
        """Find the specification of the run."""
        return (path.parent / "run_spec.json",)

    def default_run_id(self, path: Path) -> str | None:
        """Name the run after its folder, as HELM does."""
        if path.name.startswith("per_instance_stats."):
            return path.parent.name or None
        return run_named_after(path, self.suffixes)

    def read(self, log: Log) -> Iterator[Record]:
        """Put the rows of each instance together, then give the attempts."""
        for path in log.files:
            seen: dict[tuple[str, str | None, Any], _Instance] = {}
            log.heads |= {"spec": log.beside(*self.companions(path)), "seen": seen}
            with log.opened(path) as file:
                yield from self.read_file(file, log)
            log.heads["said"] = said = _said(seen)
            flags = _flags(seen, said)
            log.heads["metric"] = metric = _main(flags)
            log.heads["others"] = _others(seen, flags, metric)
            log.heads["suite"] = _suite(log.heads["spec"])
            for (task, perturbation, trial), one in seen.items():
                raw = {"instance_id": task, "train_trial_index": trial, "stats": one.stats}
                try:
                    yield Record(self._attempt(task, perturbation, trial, one, log), raw)
                except Unfit as unfit:
                    yield Record(None, raw, (unfit.code, unfit.reason))

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Keep the stats of a row, from which no attempt is made yet."""
        task, trial = text(row.get("instance_id")), row.get("train_trial_index")
        if task is None:
            raise Unfit("missing_field", "instance_id is missing.")
        if type(trial) is not int:
            raise Unfit("wrong_type", "train_trial_index is no whole number.")
        perturbation = row.get("perturbation")
        name = None if perturbation is None else text(at(perturbation, "name")) or "perturbed"
        seed = text(at(perturbation, "seed"))
        key = (task, f"{name}-{seed}" if name and seed else name, trial)
        one = log.heads["seen"].setdefault(key, _Instance(f"{log.current}#/{element.place}"))
        stats = one.stats
        for stat in list_at(row, "stats"):
            named = stat.get("name") if isinstance(stat, dict) else None
            if not isinstance(named, dict):
                continue
            metric, value = text(named.get("name")), _mean(stat)
            if metric is not None and value is not None:
                stats[metric] = value
                if one.split is None:
                    one.split = text(named.get("split"))
        return ()

    def _attempt(
        self, task: str, perturbation: str | None, trial: int, one: _Instance, log: Log
    ) -> dict[str, Any]:
        """Map an instance to an attempt."""
        metric: str | None = log.heads["metric"]
        if metric is None:
            raise Unfit(
                "no_verdict",
                f"No metric is 0 or 1 in every instance ({listed(list(one.stats), 10)}), so that "
                "nothing says what passed.",
            )
        value = one.stats.get(metric)
        if value is None:
            raise Unfit("missing_field", f"{metric} is missing in stats.")
        tokens = next((one.stats[name] for name in _OUTPUTS if name in one.stats), None)
        suite, wanted = log.heads["suite"], log.heads["said"]
        said = {name: value for name, value in one.stats.items() if name in wanted}
        more = {"metric": metric, "split": one.split, "perturbation": perturbation}
        return {
            "suite": f"{suite}/{perturbation}" if perturbation else suite,
            "task_id": task,
            "attempt": trial + 1,
            "passed": value == 1,
            "score": value,
            "duration_s": one.stats.get(_DURATION),
            "input_tokens": one.stats.get(_INPUT),
            "output_tokens": tokens,
            "tags": said | small_tags(more),
            "transcript": one.place,
        }

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the names from the specification."""
        spec = log.heads["spec"]
        return {
            "run_id": text(at(spec, "name")),
            "model": text(at(spec, "adapter_spec", "model")),
        }

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of trials from the specification."""
        trials = at(log.heads["spec"], "adapter_spec", "num_train_trials")
        return [Expected(trials)] if type(trials) is int and trials > 0 else []

    def warnings(self, log: Log) -> Iterable[str]:
        """Say which metric decided, if another one would have said otherwise."""
        if others := log.heads["others"]:
            yield (
                f"{log.heads['metric']} decided what passed; {listed(others, 5)} would have "
                "decided otherwise, and are tags."
            )


def _mean(stat: dict[str, Any]) -> float | None:
    """Take the mean of a stat, or the sum of its one value."""
    value: Any = stat.get("mean")
    if value is None and stat.get("count") == 1:
        value = stat.get("sum")
    return value if type(value) in (int, float) and math.isfinite(value) else None


def _suite(spec: Json) -> str:
    """Name the suite of a run after its specification, the same for all models."""
    scenario, _, arguments = (text(at(spec, "name")) or Helm.default_suite).partition(":")
    kept = [one for one in arguments.split(",") if one and not one.startswith(_MODEL)]
    return ":".join([scenario, ",".join(kept)] if kept else [scenario])


def _said(seen: dict[Any, _Instance]) -> dict[str, None]:
    """List the metrics of the answers, which are no facts about requests, in their order."""
    names: dict[str, None] = {}
    for one in seen.values():
        names.update(dict.fromkeys(one.stats))
    return {name: None for name in names if not _FACTS.fullmatch(name)}


def _flags(seen: dict[Any, _Instance], said: Iterable[str]) -> list[str]:
    """List the metrics that are 0 or 1 wherever they are given, in their order."""
    return [name for name in said if all(one.stats.get(name, 0) in (0, 1) for one in seen.values())]


def _main(flags: list[str]) -> str | None:
    return next((name for name in _MAIN if name in flags), next(iter(flags), None))


def _others(seen: dict[Any, _Instance], flags: list[str], metric: str | None) -> list[str]:
    """List the metrics that would have given other verdicts."""
    if metric is None:
        return []
    return [
        name
        for name in flags
        if any(
            one.stats.get(name, value) != value
            for one in seen.values()
            if (value := one.stats.get(metric)) is not None
        )
    ]

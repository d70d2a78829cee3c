"""The rules of gates: reading them, and saying them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import not_a_file
from passk_py.common.words import symbol
from passk_py.metrics.diagnostic_words import OF_LOG
from passk_py.metrics.gates.cost_sentences import rule_text
from passk_py.metrics.gates.rule_mistakes import means_all, mistakes_of, quotes, shown
from passk_py.metrics.gates.rule_schema import SCHEMA, SHARES, keys_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from passk_py.metrics.run_order import Run

_BARS: Final = ("min", "max", "max_drop", "max_increase")


@dataclass(frozen=True, slots=True)
class Rule:
    """A gate: what must hold of which runs."""

    gate: str
    type: str
    metric: str
    """At least m of k has its numbers in its name, such as ``pass_3_of_4``, and a cost its
    statistic, such as ``mean_cost_usd``."""
    k: int = 0
    """0 where the metric has none."""
    threshold: float = 0.0
    scope: str | None = None
    """``unseen`` for tasks like these, ``suite`` for these tasks."""
    slice_name: str = "all"
    slice_value: str | None = "all"
    """None for each value of the slice."""
    diagnostics: tuple[str, ...] = ()
    all_diagnostics: bool = False
    """Whether all are meant, of which a log need not know every one."""
    run: str = "latest"
    """A run_id, ``latest`` of each suite and agent, or ``all``."""
    suite: str | None = None
    agent: str | None = None
    baseline: str | None = None
    severity: str = "error"
    inconclusive_severity: str = "warn"
    m: int = 0
    """How many of k tries must succeed, where the metric says so."""
    attempts: int = 0
    """The first counted attempts of a task that a sequential rule judges by."""
    last_runs: int = 0
    """How many runs before it a run is compared with, of a rule with a rolling baseline."""

    def __post_init__(self) -> None:
        # "at most 0", not "at most 0.0", also where the number comes from an option.
        if isinstance(self.threshold, float) and self.threshold.is_integer():
            object.__setattr__(self, "threshold", int(self.threshold))

    def judges(self, run: Run, *, of_anyone: bool = False) -> bool:
        """Tell whether the rule is about a run, which may be of anyone where no agent is known."""
        return (
            self.suite in (None, run.suite)
            and (of_anyone or self.agent in (None, run.agent))
            and (self.run in ("all", run.run_id) or (self.run == "latest" and run.is_latest))
        )

    @property
    def text(self) -> str:
        """The rule as a person reads it."""
        metric = symbol(self.metric, self.k) if self.k else self.metric
        tasks = "these tasks" if self.scope == "suite" else "tasks like these"
        if self.type == "each_task":
            return f"{metric} of each task at least {self.threshold}"
        if self.type == "threshold":
            where = ""
            if self.slice_name != "all":
                where = f", in each {self.slice_name}"
                if self.slice_value is not None:
                    where = f", in {self.slice_name} {self.slice_value}"
            return f"{metric} at least {self.threshold} on {tasks}{where}"
        if self.type == "sequential":
            return f"{metric} at least {self.threshold} on {tasks}, at every look"
        if self.type == "drop":
            return f"{metric} at most {self.threshold} below the baseline, on {tasks}"
        if self.type == "rolling_drop":
            before = f"the {self.last_runs} runs before"
            return f"{metric} at most {self.threshold} below {before}, on {tasks}"
        if self.type == "coverage":
            return f"at most {self.threshold} of {SHARES[self.metric].of}"
        if self.type in ("cost", "cost_increase"):
            return rule_text(self.type, self.metric, self.threshold)
        if self.type == "regressed_tasks":
            noun = "task" if self.threshold == 1 else "tasks"
            return f"at most {self.threshold} {noun} worse than in the baseline"
        named = "any diagnostic" if self.all_diagnostics else ", ".join(self.diagnostics)
        return f"no warning of {named}"


def rules_of(
    gates: Iterable[Mapping[str, Any] | Rule],
    *,
    deployment_k: int = 4,
    slices: Sequence[str] | None = None,
    ks: Sequence[int] | None = None,
    diagnostics: bool = True,
) -> list[Rule]:
    """Read rules as the var ``passk_gates`` has them; an error names every mistake of every rule.

    ``slices`` and ``ks`` are what ``each`` and ``k`` may be, None for anything.
    """
    rules: list[Rule] = []
    mistakes: list[str] = []
    seen: set[str] = set()
    for gate in gates:
        if isinstance(gate, Rule):
            name: object = gate.gate
        else:
            name = gate.get("name") if isinstance(gate, Mapping) else None
        if not isinstance(name, str) or not name:
            mistakes.append(
                f"The list holds {shown(gate)}, but must hold mappings, each with a name that is "
                f"a text{quotes(name)}."
            )
            continue
        if name in seen:
            mistakes.append(f"The list has two gates of the name {shown(name)}.")
        seen.add(name)
        if isinstance(gate, Rule):
            rules.append(gate)
            continue
        wrong = mistakes_of(gate, slices, ks, diagnostics=diagnostics)
        mistakes += [f"{name}: {mistake}" for mistake in wrong]
        if not wrong:
            rules.append(_rule(gate, deployment_k))
    if mistakes:
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise PasskError(
            "\n  - ".join([f"The gates have {count}.", *mistakes]),
            hint="docs/gates.md says what each rule takes.",
        )
    return rules


def _rule(gate: Mapping[str, Any], deployment_k: int) -> Rule:
    rule_type, by_slice = gate["type"], "each" in gate
    is_sequential = bool(gate.get("sequential"))
    baseline = gate.get("baseline")
    last_runs = baseline["last"] if isinstance(baseline, Mapping) else 0
    k = gate.get("k", deployment_k) if "k" in keys_of(rule_type) else 0
    named = gate.get("diagnostics", ())
    return Rule(
        gate=gate["name"],
        type="sequential" if is_sequential else "rolling_drop" if last_runs else rule_type,
        metric=_metric(gate),
        k=k,
        m=gate.get("m", 0),
        attempts=gate.get("attempts", k) if is_sequential else 0,
        threshold=next((gate[name] for name in _BARS if name in gate), 0.0),
        scope=gate.get("scope", SCHEMA["scopes"].get(rule_type)),
        slice_name=gate.get("each", "all"),
        slice_value=gate.get("slice_value") if by_slice else "all",
        diagnostics=tuple(
            OF_LOG if means_all(named) else [named] if isinstance(named, str) else named
        ),
        all_diagnostics=means_all(named),
        run=gate.get("run", "latest"),
        suite=gate.get("suite"),
        agent=gate.get("agent"),
        baseline=None if last_runs else baseline,
        last_runs=last_runs,
        severity=gate.get("severity", "error"),
        inconclusive_severity=gate.get("inconclusive", "warn"),
    )


def _metric(gate: Mapping[str, Any]) -> str:
    if gate["type"] in ("cost", "cost_increase"):
        return f"{gate.get('statistic', 'mean')}_{gate['metric']}"
    if gate.get("metric") == "pass_m_of_k":
        return f"pass_{gate['m']}_of_{gate['k']}"
    return str(gate.get("metric", gate["type"]))


def read_rules(path: Path) -> list[Mapping[str, Any]]:
    """Read a YAML file of rules: a list, or a mapping with the list as ``passk_gates``."""
    import yaml  # type: ignore[import-untyped]

    from passk_py.common import strict_yaml

    hint = "Write a list of rules, as in docs/gates.md."
    if what := not_a_file(path):
        raise PasskError(what, hint="Write the rules to a file.")
    try:
        values = strict_yaml.load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PasskError(f"{path} can't be read: {error.strerror}.", hint=hint) from error
    except UnicodeDecodeError as error:
        raise PasskError(f"{path} is not UTF-8 text.", hint=hint) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it can't be parsed"
        raise PasskError(f"{path}{place}: this is not valid YAML, {problem}.", hint=hint) from error
    gates = values.get("passk_gates") if isinstance(values, dict) else values
    if not isinstance(gates, list) or not gates:
        raise PasskError(f"{path} has no list of rules.", hint=hint)
    return gates

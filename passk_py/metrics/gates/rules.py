"""The rules of gates: reading them, finding what is wrong with them, and saying them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.words import symbol
from passk_py.metrics.diagnostic_words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from passk_py.metrics.run_order import Run

__all__ = ["SHARES", "Rule", "Share", "read_rules", "rules_of"]

_ASKED: Final = ("min", "max", "max_drop", "diagnostics")
_COMMON: Final = ("name", "run", "suite", "agent", "severity", "inconclusive")
_ALLOWED: Final = {
    "threshold": (*_COMMON, "metric", "k", "min", "each", "slice_value", "scope"),
    "each_task": (*_COMMON, "metric", "k", "min", "each"),
    "drop": (*_COMMON, "metric", "k", "max_drop", "baseline", "scope"),
    "coverage": (*_COMMON, "metric", "max"),
    "regressed_tasks": (*_COMMON, "metric", "max", "baseline"),
    "diagnostics": (*_COMMON, "diagnostics"),
}
_RATES: Final = ("pass_at_k", "pass_hat_k")
_TEXTS: Final = ("run", "suite", "agent", "baseline", "slice_value")
_SEVERITIES: Final = ("error", "warn", "ignore")
_SCOPES: Final = ("unseen", "suite")


@dataclass(frozen=True, slots=True)
class Share:
    """A share of attempts that a rule may limit.

    Parameters
    ----------
    part
        Column of ``passk_runs`` that is counted.
    whole
        Columns whose sum it is a share of.
    said
        What it is, after two numbers.
    of
        What it is a share of, in a rule.
    word
        What these are, in a rule.
    unsure
        Column of ``passk_runs`` with what may belong to part and whole, or to neither; "" if none.
    """

    part: str
    whole: tuple[str, ...]
    said: str
    of: str
    word: str
    unsure: str = ""


SHARES: Final = {
    "excluded_attempts": Share(
        "excluded", ("attempts",), "attempts are excluded", "the attempts", "excluded"
    ),
    "missing_attempts": Share(
        "missing_attempts",
        ("expected_attempts",),
        "expected attempts are missing",
        "the expected attempts",
        "missing",
    ),
    "rejected_attempts": Share(
        "rejected",
        ("rejected", "attempts"),
        "rows are rejected",
        "the rows that were read",
        "rejected",
        unsure="rejected_unnamed",
    ),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A gate: what must hold of which runs.

    Parameters
    ----------
    gate
        Its name.
    kind
        ``threshold``, ``each_task``, ``drop``, ``coverage``, ``regressed_tasks``, ``diagnostics``.
    metric
        What it is about.
    k
        The k of a metric that has one, else 0.
    threshold
        The number of the rule; 0 for diagnostics.
    scope
        ``unseen`` (tasks like these) or ``suite`` (these tasks).
    slice_name, slice_value
        The slice that it judges; no value for each of them.
    diagnostics
        The diagnostics that must not warn.
    all_diagnostics
        Whether all are meant, of which a log need not know every one.
    run
        A run_id, ``latest`` of each suite and agent, or ``all``.
    suite, agent, baseline
        Only runs of these; the run to compare with.
    severity, inconclusive_severity
        What a fail and an inconclusive result are: ``error``, ``warn`` or ``ignore``.
    """

    gate: str
    kind: str
    metric: str
    k: int = 0
    threshold: float = 0.0
    scope: str | None = None
    slice_name: str = "all"
    slice_value: str | None = "all"
    diagnostics: tuple[str, ...] = ()
    all_diagnostics: bool = False
    run: str = "latest"
    suite: str | None = None
    agent: str | None = None
    baseline: str | None = None
    severity: str = "error"
    inconclusive_severity: str = "warn"

    def __post_init__(self) -> None:
        # "at most 0", not "at most 0.0", also where the number comes from an option.
        if isinstance(self.threshold, float) and self.threshold.is_integer():
            object.__setattr__(self, "threshold", int(self.threshold))

    def judges(self, run: Run, *, of_anyone: bool = False) -> bool:
        """Tell whether the rule is about a run, which may be of anyone where no agent is known.

        Examples
        --------
        >>> from passk_py.metrics.run_order import Run
        >>> run = Run("r", "s", {"agent": "a"}, None, is_latest=True)
        >>> rule = Rule("g", "threshold", "pass_hat_k", 8, 0.95, "unseen", agent="b")
        >>> rule.judges(run), rule.judges(run, of_anyone=True)
        (False, True)
        """
        return (
            self.suite in (None, run.suite)
            and (of_anyone or self.agent in (None, run.agent))
            and (self.run in ("all", run.run_id) or (self.run == "latest" and run.is_latest))
        )

    @property
    def text(self) -> str:
        """The rule as a person reads it.

        Examples
        --------
        >>> Rule("g", "threshold", "pass_hat_k", 8, 0.95, "unseen").text
        'pass^8 at least 0.95 on tasks like these'
        """
        metric = symbol(self.metric, self.k) if self.k else self.metric
        tasks = "these tasks" if self.scope == "suite" else "tasks like these"
        if self.kind == "each_task":
            return f"{metric} of each task at least {self.threshold}"
        if self.kind == "threshold":
            where = ""
            if self.slice_name != "all":
                where = f", in each {self.slice_name}"
                if self.slice_value is not None:
                    where = f", in {self.slice_name} {self.slice_value}"
            return f"{metric} at least {self.threshold} on {tasks}{where}"
        if self.kind == "drop":
            return f"{metric} at most {self.threshold} below the baseline, on {tasks}"
        if self.kind == "coverage":
            share = SHARES[self.metric]
            return f"at most {self.threshold} of {share.of} {share.word}"
        if self.kind == "regressed_tasks":
            noun = "task" if self.threshold == 1 else "tasks"
            return f"at most {self.threshold} {noun} worse than in the baseline"
        named = "any diagnostic" if self.all_diagnostics else ", ".join(self.diagnostics)
        return f"no warning of {named}"


def _kind(gate: Mapping[str, Any]) -> str:
    if "diagnostics" in gate:
        return "diagnostics"
    if "max_drop" in gate:
        return "drop"
    if "min" in gate:
        return "each_task" if gate.get("each") == "task" else "threshold"
    return "regressed_tasks" if gate.get("metric") == "regressed_tasks" else "coverage"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _shown(value: object) -> str:
    """Write a value as dbt's own messages do: the twin of the macro of this name."""
    if isinstance(value, Mapping):
        names = {key if isinstance(key, str) else _shown(key): key for key in value}
        parts = (f"{_shown(name)}: {_shown(value[names[name]])}" for name in sorted(names))
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if value is None or isinstance(value, str | int | float):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _quotes(value: object) -> str:
    """Say what to do about a text that YAML takes for a date."""
    return "; write it in quotes" if isinstance(value, date) else ""


def _means_all(diagnostics: object) -> bool:
    return diagnostics == "all" or (
        isinstance(diagnostics, list | tuple) and list(diagnostics) == ["all"]
    )


def _diagnostics_mistakes(value: object) -> list[str]:
    if _means_all(value):
        return []
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list | tuple) or not named:
        return [f"diagnostics is {_shown(value)}, but must be all, or a list of diagnostics."]
    # A tuple, because what is named might be a list or a mapping, which no dict can be asked for.
    found = [
        f"diagnostics is {_shown(name)}, but must be all, or one or more of {', '.join(WORDS)}."
        for name in named
        if name not in (*WORDS, "all")
    ]
    texts = [name for name in named if isinstance(name, str)]
    found += [
        f"diagnostics names {name} twice." for name in dict.fromkeys(texts) if texts.count(name) > 1
    ]
    if "all" in texts and len(set(texts)) > 1:
        found.append("diagnostics names all beside others; all stands alone.")
    return found


def _mistakes(
    gate: Mapping[str, Any],
    slices: Sequence[str] | None,
    ks: Sequence[int] | None,
    *,
    diagnostics: bool,
) -> list[str]:
    """Say what is wrong with a rule, in the words of the dbt project's own check."""
    asked = [name for name in _ASKED if name in gate]
    if len(asked) != 1:
        what = f"{' and '.join(asked)} stand together" if asked else "nothing is asked for"
        return [f"{what}; a gate has one of min, max, max_drop and diagnostics."]
    kind, asks = _kind(gate), asked[0]
    allowed = _ALLOWED[kind]
    found = [
        f"{name} has no meaning in a rule with {asks}, which takes {', '.join(allowed)}."
        for name in gate
        if name not in allowed
    ]

    def must(name: str, what: str) -> None:
        found.append(f"{name} is {_shown(gate.get(name))}, but must be {what}.")

    metrics: tuple[str, ...] = {
        "coverage": (*SHARES, "regressed_tasks"),
        "regressed_tasks": ("regressed_tasks",),
        "diagnostics": (),
    }.get(kind, _RATES)
    if metrics and gate.get("metric") not in metrics:
        must("metric", f"one of {', '.join(metrics)}")
    k = gate.get("k", 1)
    if not _is_count(k, 1):
        must("k", "an integer of at least 1")
    elif "k" in gate and ks is not None and k not in ks:
        must("k", f"one of passk_ks, which is {_shown(list(ks))}")
    value = gate[asks]
    if asks == "min" and not (_is_number(value) and 0 < value < 1):
        must("min", "a number between 0 and 1; no number of attempts shows that a chance is 1")
    elif asks == "max_drop" and not (_is_number(value) and 0 <= value < 1):
        must("max_drop", "a number from 0 to less than 1")
    elif kind == "coverage" and not (_is_number(value) and 0 <= value <= 1):
        must("max", "a share, from 0 to 1")
    elif kind == "regressed_tasks" and not _is_count(value, 0):
        must("max", "a number of tasks, an integer of at least 0")
    elif kind == "diagnostics":
        found += _diagnostics_mistakes(value)
        if not diagnostics:
            found.append("passk_diagnostics is false, so that no diagnostic is computed.")
    if "scope" in gate and gate["scope"] not in _SCOPES:
        must("scope", "unseen (tasks like these) or suite (these tasks)")
    each = gate.get("each", "task")
    # "all" is the whole suite, and never the name of a slice.
    if slices is None and (not isinstance(each, str) or each in ("", "all")):
        must("each", "task, or one of passk_slices")
    elif slices is not None and each not in ("task", *slices):
        must("each", f"task, or one of passk_slices, which is {_shown(list(slices))}")
    if kind == "threshold" and "slice_value" in gate and "each" not in gate:
        found.append("slice_value stands without each, which says of which slice it is.")
    for name in _TEXTS:
        if name in gate and not (isinstance(gate[name], str) and gate[name]):
            must(name, f"a text{_quotes(gate[name])}")
    for name in ("severity", "inconclusive"):
        if name in gate and gate[name] not in _SEVERITIES:
            must(name, "error, warn or ignore")
    return found


def _rule(gate: Mapping[str, Any], deployment_k: int) -> Rule:
    kind = _kind(gate)
    has_k = kind in ("threshold", "each_task", "drop")
    by_slice = kind == "threshold" and "each" in gate
    named = gate.get("diagnostics", ())
    return Rule(
        gate=gate["name"],
        kind=kind,
        metric=gate.get("metric", "diagnostics"),
        k=gate.get("k", deployment_k) if has_k else 0,
        threshold=next((gate[name] for name in ("min", "max", "max_drop") if name in gate), 0.0),
        scope=gate.get("scope", {"threshold": "unseen", "drop": "suite"}.get(kind)),
        slice_name=gate["each"] if by_slice else "all",
        slice_value=gate.get("slice_value") if by_slice else "all",
        diagnostics=tuple(
            WORDS if _means_all(named) else [named] if isinstance(named, str) else named
        ),
        all_diagnostics=_means_all(named),
        run=gate.get("run", "latest"),
        suite=gate.get("suite"),
        agent=gate.get("agent"),
        baseline=gate.get("baseline"),
        severity=gate.get("severity", "error"),
        inconclusive_severity=gate.get("inconclusive", "warn"),
    )


def rules_of(
    gates: Iterable[Mapping[str, Any] | Rule],
    *,
    deployment_k: int = 4,
    slices: Sequence[str] | None = None,
    ks: Sequence[int] | None = None,
    diagnostics: bool = True,
) -> list[Rule]:
    """Read rules as the var ``passk_gates`` has them.

    Parameters
    ----------
    gates
        Mappings, each with a ``name`` and one of ``min``, ``max``, ``max_drop`` and
        ``diagnostics``; docs/gates.md has all keys. A rule that is read already stays as it is.
    deployment_k
        The k of a rule that names none.
    slices, ks
        What ``each`` and ``k`` may be; None for anything.
    diagnostics
        Whether diagnostics are computed: the var ``passk_diagnostics``.

    Returns
    -------
    list of Rule
        The rules, in their order.

    Raises
    ------
    PasskError
        If a rule can't be right; the message names every mistake of every rule.

    Examples
    --------
    >>> rule, = rules_of([{"name": "safe", "metric": "pass_hat_k", "k": 8, "min": 0.95}])
    >>> rule.text
    'pass^8 at least 0.95 on tasks like these'
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
                f"The list holds {_shown(gate)}, but must hold mappings, each with a name that is "
                f"a text{_quotes(name)}."
            )
            continue
        if name in seen:
            mistakes.append(f"The list has two gates of the name {_shown(name)}.")
        seen.add(name)
        if isinstance(gate, Rule):
            rules.append(gate)
            continue
        wrong = _mistakes(gate, slices, ks, diagnostics=diagnostics)
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


def read_rules(path: Path) -> list[Mapping[str, Any]]:
    """Read a YAML file of rules: a list of them, or a mapping with the list as ``passk_gates``.

    Parameters
    ----------
    path
        The file. In the second form it can be given to ``dbt build --vars`` as it is.

    Returns
    -------
    list of dict
        The rules as they are written.

    Raises
    ------
    PasskError
        If the file can't be read, is no YAML, or holds no list of rules.
    """
    import yaml  # type: ignore[import-untyped]

    from passk_py.common import strict_yaml

    hint = "Write a list of rules, as in docs/gates.md."
    try:
        values = strict_yaml.load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PasskError(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PasskError(f"{path} is no text in UTF-8.", hint=hint) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it can't be parsed"
        raise PasskError(f"{path}{place}: this is no YAML, {problem}.", hint=hint) from error
    gates = values.get("passk_gates") if isinstance(values, dict) else values
    if not isinstance(gates, list) or not gates:
        raise PasskError(f"{path} holds no list of rules.", hint=hint)
    return gates

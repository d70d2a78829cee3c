"""What is wrong with a rule, in the words of the dbt project's own check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from passk_py.metrics.diagnostic_words import WORDS
from passk_py.metrics.gates.shares import SHARES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["kind_of", "means_all", "mistakes_of", "quotes", "shown"]

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


def mistakes_of(
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
    kind, asks = kind_of(gate), asked[0]
    allowed = _ALLOWED[kind]
    found = [
        f"{name} has no meaning in a rule with {asks}, which takes {', '.join(allowed)}."
        for name in gate
        if name not in allowed
    ]

    def must(name: str, what: str) -> None:
        found.append(f"{name} is {shown(gate.get(name))}, but must be {what}.")

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
        must("k", f"one of passk_ks, which is {shown(list(ks))}")
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
        must("each", f"task, or one of passk_slices, which is {shown(list(slices))}")
    if kind == "threshold" and "slice_value" in gate and "each" not in gate:
        found.append("slice_value stands without each, which says of which slice it is.")
    for name in _TEXTS:
        if name in gate and not (isinstance(gate[name], str) and gate[name]):
            must(name, f"a text{quotes(gate[name])}")
    for name in ("severity", "inconclusive"):
        if name in gate and gate[name] not in _SEVERITIES:
            must(name, "error, warn or ignore")
    return found


def _diagnostics_mistakes(value: object) -> list[str]:
    if means_all(value):
        return []
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list | tuple) or not named:
        return [f"diagnostics is {shown(value)}, but must be all, or a list of diagnostics."]
    # A tuple, because what is named might be a list or a mapping, which no dict can be asked for.
    found = [
        f"diagnostics is {shown(name)}, but must be all, or one or more of {', '.join(WORDS)}."
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


def kind_of(gate: Mapping[str, Any]) -> str:
    """Tell from what a rule asks which kind it is."""
    if "diagnostics" in gate:
        return "diagnostics"
    if "max_drop" in gate:
        return "drop"
    if "min" in gate:
        return "each_task" if gate.get("each") == "task" else "threshold"
    return "regressed_tasks" if gate.get("metric") == "regressed_tasks" else "coverage"


def means_all(diagnostics: object) -> bool:
    """Tell whether every diagnostic is meant."""
    return diagnostics == "all" or (
        isinstance(diagnostics, list | tuple) and list(diagnostics) == ["all"]
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def shown(value: object) -> str:
    """Write a value as dbt's own messages do: the twin of the macro of this name."""
    if isinstance(value, Mapping):
        names = {key if isinstance(key, str) else shown(key): key for key in value}
        parts = (f"{shown(name)}: {shown(value[names[name]])}" for name in sorted(names))
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if value is None or isinstance(value, str | int | float):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def quotes(value: object) -> str:
    """Say what to do about a text that YAML takes for a date."""
    return "; write it in quotes" if isinstance(value, date) else ""

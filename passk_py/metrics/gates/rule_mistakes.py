"""The mistakes of a rule, in the words of the dbt project's own check."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from passk_py.metrics.diagnostic_words import WORDS
from passk_py.metrics.gates.rule_schema import SCHEMA, keys_of
from passk_py.stats.estimators.m_of_k import MOST_TRIES

if TYPE_CHECKING:
    from collections.abc import Sequence

_IN_QUOTES: Final = ("a text", "a day as 2026-12-31")
"""Values that YAML may take for a date where they stand without quotes."""


def mistakes_of(
    gate: Mapping[str, Any],
    slices: Sequence[str] | None,
    ks: Sequence[int] | None,
    *,
    diagnostics: bool,
) -> list[str]:
    """Say what is wrong with a rule, in the words of the dbt project's own check."""
    if "type" not in gate:
        return [f"type is missing; write {' or '.join(_types_that_ask(gate))}."]
    kind = gate["type"]
    # A tuple, because what is named might be a list or a mapping, which no dict can be asked for.
    if kind not in tuple(SCHEMA["types"]):
        return [_must("type", kind, f"one of {', '.join(SCHEMA['types'])}")]
    takes = keys_of(kind)
    found = [
        f"{key} has no meaning in a rule of type {kind}, which takes {', '.join(takes)}."
        for key in gate
        if key not in takes
    ]
    # It has pairs (m, k) of its own.
    is_m_of_k = gate.get("metric") == "pass_m_of_k"
    for key, value in takes.items():
        allowed = SCHEMA["allowed"].get(value)
        if allowed is None or not (key in gate or key in SCHEMA["required"]):
            continue
        if key == "baseline" and kind == "drop" and isinstance(gate[key], Mapping):
            found += _rolling_mistakes(gate)
        elif key == "baseline" and kind == "drop" and _is_number_of_runs(gate[key]):
            runs = gate[key]
            must = f"a run_id in quotes; for the {runs} runs before, write {{last: {runs}}}"
            found.append(_must(key, runs, must))
        elif not _is_allowed(gate.get(key), allowed):
            found.append(_must(key, gate.get(key), allowed["must"]))
        elif key == "k" and ks is not None and gate["k"] not in ks and not is_m_of_k:
            found.append(_must("k", gate["k"], f"one of passk_ks, which is {shown(list(ks))}"))
    if kind == "diagnostics":
        found += _diagnostics_mistakes(gate.get("diagnostics"))
        if not diagnostics:
            found.append("passk_diagnostics is false, so that no diagnostic is computed.")
    if kind == "threshold":
        found += _m_mistakes(gate)
        found += _sequence_mistakes(gate)
        found += _slice_mistakes(gate, slices)
    return found


def mistakes_of_quarantine(entries: Sequence[Any]) -> list[str]:
    """Say what is wrong with the entries of a quarantine, in the same words."""
    takes, found, seen = SCHEMA["quarantine"], [], []
    for entry in entries:
        task = entry.get("task") if isinstance(entry, Mapping) else None
        if not isinstance(task, str) or not task:
            found.append(
                f"The list holds {shown(entry)}, but must hold mappings, each with a task that is "
                f"a text{quotes(task)}."
            )
            continue
        wrong = ["The list has it twice."] if (task, entry.get("suite")) in seen else []
        seen.append((task, entry.get("suite")))
        wrong += [
            f"{key} has no meaning in an entry, which takes {', '.join(takes)}."
            for key in entry
            if key not in takes
        ]
        for key, value in takes.items():
            allowed = SCHEMA["allowed"][value]
            asked = key in entry or key in SCHEMA["required_of_quarantine"]
            if asked and not _is_allowed(entry.get(key), allowed):
                wrong.append(_must(key, entry.get(key), allowed["must"]))
        found += [f"{shown(task)}: {mistake}" for mistake in wrong]
    return found


def _types_that_ask(gate: Mapping[str, Any]) -> list[str]:
    """Name the types that take what a rule asks for; all where that can't be told."""
    asked = [key for key in SCHEMA["required"] if key != "metric" and key in gate]
    kinds = [kind for kind, keys in SCHEMA["types"].items() if any(key in keys for key in asked)]
    return [f"type: {kind}" for kind in kinds or SCHEMA["types"]]


def _must(key: str, value: object, what: str) -> str:
    return (
        f"{key} is {shown(value)}, but must be {what}{quotes(value) if what in _IN_QUOTES else ''}."
    )


def _is_allowed(value: Any, allowed: Mapping[str, Any]) -> bool:  # noqa: ANN401 - of YAML
    if "one_of" in allowed:
        return value in allowed["one_of"]
    if allowed["is"] == "text":
        return isinstance(value, str) and value != ""
    if allowed["is"] == "day":
        return isinstance(value, str) and _is_day(value)
    kind = int if allowed["is"] == "integer" else (int, float)
    return (
        isinstance(value, kind)
        and not isinstance(value, bool)
        and allowed.get("least", -math.inf) <= value <= allowed.get("most", math.inf)
        and allowed.get("above", -math.inf) < value < allowed.get("below", math.inf)
    )


def _is_day(text: str) -> bool:
    """Tell whether a text is a day of the calendar, as 2026-12-31."""
    try:
        return re.fullmatch("[12][0-9]{3}-[01][0-9]-[0-3][0-9]", text) is not None and bool(
            date.fromisoformat(text)
        )
    except ValueError:
        return False


def _m_mistakes(gate: Mapping[str, Any]) -> list[str]:
    if gate.get("metric") != "pass_m_of_k":
        return ["m has no meaning without metric: pass_m_of_k."] if "m" in gate else []
    if "m" not in gate or "k" not in gate:
        return ["pass_m_of_k takes both m and k: at least m of k tries succeed."]
    m, k = gate["m"], gate["k"]
    if any(isinstance(one, bool) or not isinstance(one, int) for one in (m, k)):
        return []
    if 1 <= m <= k <= MOST_TRIES:
        return []
    return [f"m is {m} and k is {k}, but m must be from 1 to k, and k up to {MOST_TRIES}."]


def _sequence_mistakes(gate: Mapping[str, Any]) -> list[str]:
    if not gate.get("sequential"):
        without = "attempts has no meaning without sequential: true."
        return [without] if "attempts" in gate else []
    found = []
    if "each" in gate or "slice_value" in gate or gate.get("scope") == "suite":
        found.append(
            "sequential judges a whole suite for tasks like these, so it stands without each, "
            "slice_value and scope: suite."
        )
    attempts, k = gate.get("attempts"), gate.get("k")
    if "attempts" in gate and "k" not in gate:
        found.append("attempts takes a k in the same rule, and must be at least k.")
    elif isinstance(attempts, int) and isinstance(k, int) and attempts < k:
        found.append(f"attempts is {attempts}, but must be at least k, which is {k}.")
    return found


def _rolling_mistakes(gate: Mapping[str, Any]) -> list[str]:
    found = []
    if list(gate["baseline"]) != ["last"] or not _is_number_of_runs(gate["baseline"]["last"]):
        must = "a run_id, or {last: 6} with 3 to 100 runs"
        found.append(_must("baseline", gate["baseline"], must))
    if gate.get("scope") == "unseen":
        found.append(
            "A baseline of the last runs is about these tasks, so the rule takes no scope: unseen."
        )
    return found


def _is_number_of_runs(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 3 <= value <= 100


def _slice_mistakes(gate: Mapping[str, Any], slices: Sequence[str] | None) -> list[str]:
    if "each" not in gate:
        without = "slice_value stands without each, which says of which slice it is."
        return [without] if "slice_value" in gate else []
    each = gate["each"]
    if slices is not None:
        known = f"one of passk_slices, which is {shown(list(slices))}"
        return [] if each in slices else [_must("each", each, known)]
    # "all" is the whole suite, and never the name of a slice.
    is_name = isinstance(each, str) and each not in ("", "all")
    return [] if is_name else [_must("each", each, "one of passk_slices")]


def _diagnostics_mistakes(value: object) -> list[str]:
    if means_all(value):
        return []
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list | tuple) or not named:
        return [_must("diagnostics", value, "all, or a list of diagnostics")]
    found = [
        _must("diagnostics", name, f"all, or one or more of {', '.join(WORDS)}")
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


def means_all(diagnostics: object) -> bool:
    """Tell whether every diagnostic is meant."""
    return diagnostics == "all" or (
        isinstance(diagnostics, list | tuple) and list(diagnostics) == ["all"]
    )


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

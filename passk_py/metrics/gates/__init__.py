"""Gates: whether rules about runs hold, fail, or can't be told yet."""

from __future__ import annotations

from passk_py.metrics.gates.gates_table import COLUMNS, judge_gates
from passk_py.metrics.gates.least import least_attempts, least_tasks
from passk_py.metrics.gates.rules import Rule, read_rules, rules_of

__all__ = [
    "COLUMNS",
    "Rule",
    "judge_gates",
    "least_attempts",
    "least_tasks",
    "read_rules",
    "rules_of",
]

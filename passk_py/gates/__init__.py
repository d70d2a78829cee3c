"""Gates: whether rules about runs hold, fail, or can't be told yet."""

from __future__ import annotations

from passk_py.gates.least import least_attempts, least_tasks
from passk_py.gates.rules import Rule, read_rules, rules_of
from passk_py.gates.table import COLUMNS, judge_gates

__all__ = [
    "COLUMNS",
    "Rule",
    "judge_gates",
    "least_attempts",
    "least_tasks",
    "read_rules",
    "rules_of",
]

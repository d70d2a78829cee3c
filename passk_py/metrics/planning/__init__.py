"""How much to measure, for an interval or to tell a difference: the table ``passk_plans``.

Whole numbers replace SQL's logarithms, and a search for the least number of tasks replaces the
equation that SQL solves.
"""

from __future__ import annotations

from passk_py.metrics.planning.plans_table import plan, plan_guess

__all__ = ["plan", "plan_guess"]

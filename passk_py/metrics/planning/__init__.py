"""How much to measure, for an interval or to tell a difference: the table ``passk_plans``.

Whole numbers stand where SQL has logarithms, and a search for the least number of tasks where SQL
solves an equation.
"""

from __future__ import annotations

from passk_py.metrics.planning.plans_table import plan, plan_guess

__all__ = ["plan", "plan_guess"]

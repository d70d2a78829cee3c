"""How much to measure: tasks and attempts for an interval, or for telling a difference.

The definitions and the defaults are those of the SQL table ``passk_plans``, reached by another way:
whole numbers where SQL has logarithms, and a search for the least number of tasks where SQL solves
an equation.
"""

from __future__ import annotations

from passk_py.metrics.planning.plans_table import plan, plan_guess

__all__ = ["plan", "plan_guess"]

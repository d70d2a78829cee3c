"""Two runs on the same tasks: the tables ``passk_comparisons`` and ``passk_task_comparisons``.

Whole numbers of any size replace SQL's logarithms, so that each quotient is rounded once. This
suits tasks of up to some hundreds of attempts.
"""

from __future__ import annotations

from passk_py.metrics.comparisons.compared_runs import compare
from passk_py.metrics.comparisons.compared_tasks import compare_tasks

__all__ = ["compare", "compare_tasks"]

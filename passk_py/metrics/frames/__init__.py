"""From a log of attempts to metric tables, in one line each.

Every function takes an eager or a lazy frame whose rows are attempts (see
:mod:`passk_py.common.contract`) and returns the same kind. Only ``run_id``, ``task_id``,
``attempt`` and a verdict are needed; ``suite`` is ``'default'`` where the log has none. The verdict
of an attempt is the first of these that the log has and that is not null:

* ``outcome``: ``passed``, ``failed`` or ``excluded``;
* ``passed``: Boolean, or the integers 0 and 1;
* ``score``: passed from ``threshold`` on, and from 0.999999 on at a threshold of 1; NaN is null.

An attempt without a verdict is excluded.

``(run_id, suite, task_id, attempt)`` must be unique. A task that has an attempt number twice, or an
attempt without a number, can't be counted: its n, c and metrics are null with the reason beside
them, never a guess.

The definitions and the defaults are those of the SQL tables ``passk_task_metrics``,
``passk_suite_metrics`` and ``passk_tasks``.
"""

from __future__ import annotations

from passk_py.metrics.frames.averaging import suite_metrics
from passk_py.metrics.frames.counting import task_counts, tasks
from passk_py.metrics.frames.estimating import DEFAULT_KS, k_sweep, task_metrics

__all__ = ["DEFAULT_KS", "k_sweep", "suite_metrics", "task_counts", "task_metrics", "tasks"]

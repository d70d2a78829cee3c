"""pass@k and pass^k as polars expressions.

Every function takes column names, expressions or numbers and returns a :class:`polars.Expr`, named
after the function, that works in ``select``, ``with_columns``, ``group_by``, in eager, lazy and
streaming frames.

The rules are the same everywhere. Counts are whole numbers; any integer or float type may hold
them, below 2**53. Data that can't be right (c > n, a negative or fractional count, NaN, k < 1), or
that isn't enough (n < k), gives null, never a made-up number. A Python number that can't be right
raises :class:`ArgumentError`, a :class:`ValueError`, when the expression is made; n < k is null
for numbers too.

Counts that decide the value without arithmetic are decided first: c = 0 gives pass@k 0 exactly,
fewer than k failures give 1 exactly, and at k = 1 both metrics are c / n to the last bit.

Sources: pass@k is Chen et al., "Evaluating Large Language Models Trained on Code" (2021),
arXiv:2107.03374; pass^k is Yao et al., "tau-bench" (2024), arXiv:2406.12045.
"""

from __future__ import annotations

from passk_py.stats.estimators.arguments import ArgumentError, IntoExpr
from passk_py.stats.estimators.classification import suite_reading, task_class
from passk_py.stats.estimators.deltas import delta_k, delta_k_max, delta_k_unbiased, heterogeneity
from passk_py.stats.estimators.first_k import (
    pass_at_k_first_k,
    pass_at_k_from_rank,
    pass_hat_k_first_k,
    pass_hat_k_from_rank,
)
from passk_py.stats.estimators.intervals import (
    mean_lower,
    mean_upper,
    pass_at_k_lower,
    pass_at_k_upper,
    pass_hat_k_lower,
    pass_hat_k_upper,
)
from passk_py.stats.estimators.m_of_k import pass_m_of_k
from passk_py.stats.estimators.plugin import pass_at_k_plugin, pass_hat_k_plugin
from passk_py.stats.estimators.pooled import pass_at_k_pooled, pass_hat_k_pooled
from passk_py.stats.estimators.unbiased import log_choose, pass_at_k, pass_hat_k
from passk_py.stats.estimators.window import (
    pass_at_k_from_windows,
    pass_at_k_window,
    pass_hat_k_from_windows,
    pass_hat_k_window,
)

__all__ = [
    "ArgumentError",
    "IntoExpr",
    "delta_k",
    "delta_k_max",
    "delta_k_unbiased",
    "heterogeneity",
    "log_choose",
    "mean_lower",
    "mean_upper",
    "pass_at_k",
    "pass_at_k_first_k",
    "pass_at_k_from_rank",
    "pass_at_k_from_windows",
    "pass_at_k_lower",
    "pass_at_k_plugin",
    "pass_at_k_pooled",
    "pass_at_k_upper",
    "pass_at_k_window",
    "pass_hat_k",
    "pass_hat_k_first_k",
    "pass_hat_k_from_rank",
    "pass_hat_k_from_windows",
    "pass_hat_k_lower",
    "pass_hat_k_plugin",
    "pass_hat_k_pooled",
    "pass_hat_k_upper",
    "pass_hat_k_window",
    "pass_m_of_k",
    "suite_reading",
    "task_class",
]

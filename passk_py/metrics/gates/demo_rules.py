"""The gates of the demo log: the twin of the macro ``_demo_gates``."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["DEMO_GATES"]

DEMO_GATES: Final[tuple[dict[str, Any], ...]] = (
    {"name": "finds-an-answer", "metric": "pass_at_k", "k": 4, "min": 0.9, "agent": "walker"},
    {
        "name": "no-worse-than-before",
        "metric": "pass_hat_k",
        "k": 4,
        "max_drop": 0.02,
        "agent": "scout",
    },
    {"name": "runs-unattended", "metric": "pass_hat_k", "k": 4, "min": 0.6, "agent": "tracer"},
)
"""What the var ``passk_gates`` stands for where it is ``demo``."""

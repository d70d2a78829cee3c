"""Helpers of the tests of Harbor: its fixtures, and how a trial is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures" / "harbor"


GRID, MODELS, SEVERAL, BROKEN = (
    "jobs/2026-03-02__09-00-00",
    "jobs/2026-03-03__10-00-00",
    "jobs/2026-03-04__11-00-00",
    "jobs/2026-03-05__12-00-00",
)


def trial(number: int = 1, **changes: Any) -> dict[str, Any]:
    """Give a trial as Harbor writes it, as far as it is read."""
    whole = {
        "id": f"0000-{number}",
        "task_name": "copy",
        "trial_name": f"copy__{number}",
        "trial_uri": "file:///home/user",
        "task_checksum": "ab",
        "source": None,
        "agent_info": {"name": "a", "version": "1", "model_info": None},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "started_at": f"2026-01-01T00:00:{number:02}Z",
    }
    return whole | changes

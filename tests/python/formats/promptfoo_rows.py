"""Helpers of the tests of promptfoo: its fixtures, and how a row is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures" / "promptfoo"


SAID: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


def row(**changes: Any) -> dict[str, Any]:
    """Make a row as promptfoo writes it."""
    made = {
        "cost": 0,
        "gradingResult": {"pass": True, "score": 1},
        "id": "row",
        "latencyMs": 250,
        "namedScores": {},
        "prompt": {"raw": "Hi", "label": "plain"},
        "promptId": "p",
        "promptIdx": 0,
        "provider": {"id": "openai:gpt-5", "label": ""},
        "response": {"output": "yes"},
        "score": 1,
        "success": True,
        "testCase": {"description": "a test", "vars": {"a": 1}},
        "testIdx": 0,
        "failureReason": 0,
    }
    return {**made, **changes}


def case(description: str | None, **rest: Any) -> dict[str, Any]:
    """Make a test case."""
    return {"description": description, **rest} if description else rest

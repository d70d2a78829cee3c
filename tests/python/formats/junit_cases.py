"""Helpers of the tests of JUnit XML."""

from __future__ import annotations

import json
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures" / "junit"


EXPECTED = json.loads((FIXTURES / "expected.json").read_text("utf-8"))["files"]


SUREFIRE = "surefire-reports/TEST-org.example.AgentTest.xml"


def case(name: str, inside: str = "", classname: str = "c", **more: str) -> str:
    given = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<testcase classname="{classname}" name="{name}"{given}>{inside}</testcase>'

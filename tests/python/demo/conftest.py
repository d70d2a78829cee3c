"""The demo log, made once for all tests of it."""

from __future__ import annotations

import pytest

from passk_py.demo import AttemptRow, generate


@pytest.fixture(scope="session")
def rows() -> tuple[AttemptRow, ...]:
    """Every attempt of the demo log, in the order of execution."""
    return tuple(generate())

"""Programs of others that passk starts."""

from __future__ import annotations

import os
import shutil

from passk_py.common.errors import PasskError


def program_named_by(variable: str, hint: str) -> str | None:
    """Find the program that an environment variable names; None where it names none."""
    named = os.environ.get(variable)
    if not named:
        return None
    found = shutil.which(named)
    if found is None:
        raise PasskError(
            f"{variable} names {named}, which can't be started as a program.", hint=hint
        )
    return found

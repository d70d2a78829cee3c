"""Which macros of passk dbt calls in this process, for ``scripts/coverage``."""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import Any


def record_macro_calls(folder: str) -> None:
    """Write the names of the called macros into the folder when the process ends."""
    from dbt.clients.jinja import MacroGenerator

    called: set[str] = set()
    call = MacroGenerator.call_macro

    def call_and_record(macro: MacroGenerator, *args: Any, **kwargs: Any) -> Any:
        package, name = macro.macro.unique_id.split(".")[1:]
        if package == "passk":
            called.add(name)
        return call(macro, *args, **kwargs)

    MacroGenerator.call_macro = call_and_record
    path = Path(folder) / f"macros-{os.getpid()}.txt"
    atexit.register(lambda: path.write_text("\n".join(sorted(called)), encoding="utf-8"))

"""Writes macros that hold what Python holds too; ``--check`` fails where one is old."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Final

from passk_py.metrics.causes.cause_of_reason import PATTERNS
from passk_py.metrics.diagnostic_words import WORDS
from passk_py.metrics.gates.rule_schema import SCHEMA
from passk_py.metrics.nearly_all import NEARLY_ALL_PERCENT

ROOT: Final = Path(__file__).resolve().parent.parent
WIDTH: Final = 120

MACROS: Final[dict[str, tuple[str, str, str, object]]] = {
    "macros/causes/cause_patterns.sql": (
        "_cause_patterns",
        "Patterns of reasons, and whose doing they are; the first that fits decides.",
        "passk_py/metrics/causes/cause_patterns.yml",
        dict(PATTERNS),
    ),
    "macros/comparisons/nearly_all_percent.sql": (
        "_nearly_all_percent",
        "The percentage of the tasks of a run that another must share at least.",
        "passk_py/metrics/nearly_all.py",
        NEARLY_ALL_PERCENT,
    ),
    "macros/diagnostics/words.sql": (
        "_diagnostic_words",
        "The words of each diagnostic, in the order in which they are shown.",
        "passk_py/metrics/diagnostic_words.py",
        {
            name: {part: text for part, text in asdict(words).items() if text is not None}
            for name, words in WORDS.items()
        },
    ),
    "macros/gates/rule_schema.sql": (
        "_rule_schema",
        "The types of gate rules, their keys and the allowed values.",
        "passk_py/metrics/gates/rule_schema.yml",
        SCHEMA,
    ),
}
"""By the file: the name of the macro, what it holds, where that comes from, and the values."""


def literal(value: object, start: str, indent: int) -> str:
    """Write a value as Jinja has it, after the start of its line."""
    line = start + short(value)
    if len(line) <= WIDTH:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        rows = [literal(one, f"{inner}{short(key)}: ", indent + 2) for key, one in value.items()]
        return f"{start}{{\n" + ",\n".join(rows) + f"\n{' ' * indent}}}"
    if isinstance(value, list):
        rows = [literal(one, inner, indent + 2) for one in value]
        return f"{start}[\n" + ",\n".join(rows) + f"\n{' ' * indent}]"
    lines = textwrap.wrap(str(value), WIDTH, initial_indent=start, drop_whitespace=False)
    parts = [lines[0].removeprefix(start), *lines[1:]]
    return start + f"\n{inner}~ ".join(map(short, parts))


def short(value: object) -> str:
    """Write a value in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{short(key)}: {short(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(short, value))}]"
    if isinstance(value, str):
        if "'" in value or "\\" in value:
            raise ValueError(f"a text would need quoting: {value}")
        return f"'{value}'"
    return repr(value)


def macro(name: str, what: str, source: str, values: object) -> str:
    """Write the file of a macro."""
    return f"""\
{{#- {what} Written by scripts/written_macros.py
    from {source}. -#}}
{{% macro {name}() -%}}
{literal(values, "  {{ return(", 2)}) }}}}
{{%- endmacro %}}
"""


def main() -> int:
    """Write the files, or compare them."""
    files = {ROOT / path: macro(*one) for path, one in MACROS.items()}
    if "--check" not in sys.argv[1:]:
        for path, text in files.items():
            path.write_text(text, "utf-8")
        return 0
    old = [p for p, text in files.items() if not p.exists() or p.read_text("utf-8") != text]
    for path in old:
        print(f"{path.relative_to(ROOT)} is old: run python scripts/written_macros.py")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())

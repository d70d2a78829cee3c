"""Writes the words of diagnostics as a macro; ``--check`` fails where it is old."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from passk_py.metrics.diagnostic_words import WORDS

if TYPE_CHECKING:
    from passk_py.metrics.diagnostic_words import Words

MACRO: Final = Path(__file__).resolve().parent.parent / "macros" / "diagnostics" / "words.sql"
WIDTH: Final = 120

TEXT: Final = """\
{{#- The words of each diagnostic, in the order in which they are shown.
    Written by scripts/diagnostic_macro.py from passk_py/metrics/diagnostic_words.py. -#}}
{{% macro _diagnostic_words() -%}}
  {{{{ return({{
{diagnostics}
  }}) }}}}
{{%- endmacro %}}
"""


def literal(name: str, text: str) -> str:
    """Write one text under its name, in as many lines as it takes."""
    if "'" in text or "\\" in text:
        raise ValueError(f"a text of {name} would need quoting: {text}")
    start = f"      '{name}': "
    lines = textwrap.wrap(text, WIDTH, initial_indent=start, drop_whitespace=False)
    parts = [lines[0].removeprefix(start), *lines[1:]]
    return start + "\n        ~ ".join(f"'{part}'" for part in parts)


def diagnostic(name: str, words: Words) -> str:
    """Write the words of one diagnostic."""
    known = {part: text for part, text in asdict(words).items() if text is not None}
    texts = ",\n".join(literal(part, text) for part, text in known.items())
    return f"    '{name}': {{\n{texts}\n    }}"


def macro() -> str:
    """Write the whole file."""
    return TEXT.format(diagnostics=",\n".join(diagnostic(*one) for one in WORDS.items()))


def main() -> int:
    """Write the file, or compare it."""
    if "--check" not in sys.argv[1:]:
        MACRO.write_text(macro(), "utf-8")
        return 0
    if MACRO.exists() and MACRO.read_text("utf-8") == macro():
        return 0
    print("macros/diagnostics/words.sql is old: run python scripts/diagnostic_macro.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())

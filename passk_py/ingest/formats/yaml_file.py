"""Small YAML files that a user writes: policies and mappings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from passk_py.common.errors import PasskError
from passk_py.common.files import not_a_file

_MOST_BYTES: Final = 1 << 20


def existing_file(argument: str) -> Path | None:
    """Take an argument for a path, if it is that of a file."""
    try:
        path = Path(argument).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        # Too long for a name, or the home of a user that there is not.
        return None


def load_yaml(path: Path, example: str) -> dict[str, Any]:
    """Load a table of names, as texts, and values; an error shows lines of an ``example``."""
    import yaml  # type: ignore[import-untyped]

    from passk_py.common import strict_yaml

    hint = f"Write lines such as {example}; put what begins with * or [ into quotes."
    if what := not_a_file(path):
        raise PasskError(what, hint=hint)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise PasskError(f"{path} is too large: it should be a file of a few lines.", hint=hint)
        said = strict_yaml.load(path.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise PasskError(f"{path} can't be read as YAML: {first}", hint=hint) from error
    if not isinstance(said, dict):
        raise PasskError(f"{path} holds no lines `name: value`.", hint=hint)
    return {str(name): value for name, value in said.items()}

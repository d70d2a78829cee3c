"""Vars of the project as dbt gets them on its command line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from passk_py.common.errors import PasskError


def as_yaml(variables: Mapping[str, Any]) -> str:
    """Write vars so that dbt reads them as they are.

    JSON would not do: dbt reads YAML 1.1, in which 1e-05 is a text, and JSON has no dates, which
    dbt's own check of the vars should name.
    """
    import yaml  # type: ignore[import-untyped]

    values = {name: _plain(name, value) for name, value in variables.items()}
    return str(
        yaml.safe_dump(
            values, default_flow_style=True, sort_keys=False, allow_unicode=True, width=float("inf")
        )
    ).strip()


def _plain(name: str, value: object) -> object:
    """Take values for what they are to YAML, such as an enumeration's members for texts."""
    if value is None or isinstance(value, bool | date):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {_plain(name, key): _plain(name, one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, one) for one in value]
    raise PasskError(
        f"{name} holds {value!r}, which is of the type {type(value).__name__}.",
        hint="Vars hold texts, numbers, true, false, null, lists and mappings; write what it "
        "stands for as a text, in quotes.",
    )

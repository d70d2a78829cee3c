"""YAML of users, in which each name stands once, and of passk itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Hashable


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Raises an error on a name that is twice in one mapping."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT002 - yaml's signature
    ) -> dict[Hashable, Any]:
        """Read a table."""
        met: set[tuple[str, str]] = set()
        for name, _ in node.value:
            # Keys that << merges in may be written again: that is its purpose.
            if not isinstance(name, yaml.ScalarNode) or name.tag.endswith(":merge"):
                continue
            if (name.tag, name.value) in met:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{name.value} stands there twice", name.start_mark
                )
            met.add((name.tag, name.value))
        made: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return made


def load(text: str) -> Any:  # noqa: ANN401 - YAML
    """Load a document; a name that stands twice in one table, and endless nesting, are errors.

    Of two values, YAML would take the last without a word.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - the loader is a safe one
    except RecursionError as error:
        raise yaml.constructor.ConstructorError(None, None, "it is nested too deeply") from error


def load_own(text: str) -> Any:  # noqa: ANN401 - YAML
    """Load a document that comes with passk, by the loader in C where PyYAML has it."""
    # It is ten times as fast.
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - is safe

"""How an error counts: the table of reasons, and the user's own.

An attempt that was graded keeps its verdict. One that was not has at most a reason, and the reason
decides whether the agent failed or whether the attempt says nothing about it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.yaml_file import existing_file, load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from passk_py.ingest.formats.base import Format
    from passk_py.ingest.formats.kinds import Outcome

_OUTCOMES: Final = ("failed", "excluded")


@cache
def general_policy() -> tuple[tuple[str, Outcome], ...]:
    """Give the table that comes with passk: patterns and what they count as, in their order."""
    from passk_py.common.strict_yaml import load_own

    table = load_own(files(__package__).joinpath("policy.yml").read_text("utf-8"))
    return tuple((str(pattern), cast("Outcome", outcome)) for pattern, outcome in table.items())


def rules_for(reader: Format, users: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Put the rules of user, format and passk in their order; the first that fits decides."""
    # Canonical logs say themselves what is excluded, so only the user's rules are asked for those.
    rules = list(users)
    if reader.is_harness:
        rules += [*reader.reasons.items(), *general_policy()]
    return tuple(rules)


def policy_from(given: Iterable[str]) -> dict[str, str]:
    """Read what ``--policy`` was given: ``reason=failed``, or YAML files of such lines."""
    policy: dict[str, str] = {}
    for argument in given:
        reason, equals, outcome = argument.rpartition("=")
        if equals and outcome in _OUTCOMES:
            policy[reason] = outcome
        else:
            policy |= _from_file(argument)
    return policy


def digest_of_rules(reader: Format) -> str | None:
    """Tell versions of passk's rules apart, so that logs land again; None if a format asks none."""
    if not reader.is_harness:
        return None
    rules = repr(rules_for(reader, ()))
    return hashlib.sha256(rules.encode()).hexdigest()[:12]


def _from_file(argument: str) -> dict[str, str]:
    path = existing_file(argument)
    if path is None:
        raise PasskError(
            f"--policy is {argument[:60]!r}, which is neither REASON=failed, REASON=excluded "
            "nor a file.",
            hint="Write --policy timeout=failed, or name a YAML file of lines `timeout: failed`.",
        )
    table = load_yaml(path, '`timeout: failed` and `"rate_limit*": excluded`')
    wrong = next((reason for reason, outcome in table.items() if outcome not in _OUTCOMES), None)
    if wrong is not None:
        raise PasskError(
            f"{path} says that {wrong} counts as {table[wrong]!r}, but it must be failed or "
            "excluded.",
            hint="A verdict that was graded is never changed, so there is no third word.",
        )
    return {str(reason): outcome for reason, outcome in table.items()}

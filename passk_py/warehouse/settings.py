"""The vars that shaped the tables of a database, for those who read the tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from passk_py.common.errors import PasskError
from passk_py.warehouse.project import default_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.warehouse.tables import Tables

__all__ = ["RECORDED", "Settings", "parse_variables", "read_settings"]

RECORDED: Final = "int_passk__settings"
"""The view in which a build records its vars: ``var_name``, and ``var_value`` as JSON."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the vars of a build were.

    Parameters
    ----------
    values
        The value of each var, by its full name.
    recorded
        Whether the database says all of them.
    """

    values: Mapping[str, Any]
    recorded: bool

    @property
    def ks(self) -> list[int]:
        """The grid of k."""
        return [int(k) for k in self.values["passk_ks"]]

    @property
    def confidence(self) -> float:
        """The confidence level of every interval."""
        return float(self.values["passk_confidence"])

    @property
    def pairs(self) -> list[dict[str, str | None]]:
        """The declared pairs: ``baseline``, ``candidate``, and ``suite``, None for all."""
        return [{"suite": None, **pair} for pair in self.values["passk_pairs"] or []]

    @property
    def baseline(self) -> str | None:
        """The run that every other run of its suites is compared with."""
        baseline = self.values["passk_baseline"]
        return None if baseline is None else str(baseline)

    @property
    def gates(self) -> list[dict[str, Any]]:
        """The rules of gates as they are written; none for those of the demo log."""
        given = self.values["passk_gates"] or []
        return [] if isinstance(given, str) else given

    @property
    def names_demo_gates(self) -> bool:
        """Whether the rules of the demo log are meant."""
        return isinstance(self.values["passk_gates"], str)

    @property
    def bootstrap(self) -> int:
        """How many suites are drawn for the bootstrap; 0 for none."""
        return int(self.values["passk_bootstrap"])

    @property
    def bootstrap_seed(self) -> int:
        """Where its random numbers start."""
        return int(self.values["passk_bootstrap_seed"])

    @property
    def extrapolated_ks(self) -> list[int]:
        """The k that are extrapolated to."""
        return [int(k) for k in self.values["passk_extrapolated_ks"] or []]

    @property
    def minimum_change(self) -> float:
        """The least difference that matters."""
        return float(self.values["passk_minimum_change"])

    @property
    def plan_attempts(self) -> list[int]:
        """The attempts per task that are planned for."""
        return [int(attempts) for attempts in self.values["passk_plan_attempts"]]

    @property
    def plan_width(self) -> float:
        """The width that an interval should have."""
        return float(self.values["passk_plan_width"])

    @property
    def plan_difference(self) -> float:
        """The drop that should be told from chance."""
        return float(self.values["passk_plan_difference"])

    @property
    def plan_power(self) -> float:
        """How often it should be told."""
        return float(self.values["passk_plan_power"])

    @property
    def private_suites(self) -> list[dict[str, str]]:
        """The pairs of a ``public`` suite and the ``private`` one that tests the same skill."""
        return [dict(pair) for pair in self.values["passk_private_suites"] or []]

    @property
    def deployment_k(self) -> int:
        """How many times in a row the agent must succeed once deployed."""
        return int(self.values["passk_deployment_k"])

    @property
    def capable_threshold(self) -> float:
        """A suite's pass@k from which on it is capable."""
        return float(self.values["passk_capable_threshold"])

    @property
    def consistent_threshold(self) -> float:
        """A suite's pass^k from which on it is consistent."""
        return float(self.values["passk_consistent_threshold"])

    @property
    def consistent_rate(self) -> float:
        """A task's c / n from which on it is consistent."""
        return float(self.values["passk_consistent_rate"])

    @property
    def incapable_rate(self) -> float:
        """A task's c / n up to which it is incapable."""
        return float(self.values["passk_incapable_rate"])

    @property
    def min_eligible_share(self) -> float:
        """The share of a suite's tasks that must have n >= k for the suite to have a value."""
        return float(self.values["passk_min_eligible_share"])

    @property
    def ordered(self) -> bool:
        """Whether the columns that depend on the order of the attempts are computed."""
        return bool(self.values["passk_ordered_metrics"])

    @property
    def diagnostics(self) -> bool:
        """Whether ``passk_diagnostics`` is computed."""
        return bool(self.values["passk_diagnostics"])

    @property
    def slices(self) -> dict[str, str | None]:
        """The slices by name; the SQL expression of each, None for a tag."""
        slices: dict[str, str | None] = {}
        for one in self.values["passk_slices"] or []:
            if isinstance(one, str):
                slices[one] = None
            else:
                slices[str(one["name"])] = str(one["expression"])
        return slices

    @property
    def reads_landing(self) -> bool:
        """Whether the attempts come from ``landing.attempts``."""
        inputs = ("passk_attempts_model", "passk_attempts_source", "passk_attempts_files")
        return all(self.values.get(name) is None for name in inputs)


def read_settings(tables: Tables, given: Mapping[str, Any] | None = None) -> Settings:
    """Find out with which vars the tables of a database were built.

    Parameters
    ----------
    tables
        The open database.
    given
        Vars that go before what the database says.

    Returns
    -------
    Settings
        The vars. Where the database does not say them, the k that its rows have, and the defaults
        of the project.
    """
    values = default_variables()
    recorded = tables.find(RECORDED)
    if recorded is not None:
        said = tables.rows(f"select var_name, var_value from {recorded}")
        values |= {name: json.loads(value) for name, value in said if name in values}
    else:
        values |= _seen(tables)
    values |= given or {}
    return Settings(values, recorded is not None)


def _seen(tables: Tables) -> dict[str, Any]:
    """Read from the rows which k there are."""
    seen: dict[str, Any] = {}
    metrics, tasks = tables.find("passk_suite_metrics"), tables.find("passk_tasks")
    ks = (
        [k for (k,) in tables.rows(f"select distinct k from {metrics} order by k")]
        if metrics
        else []
    )
    if ks:
        seen["passk_ks"] = ks
    deployed = tables.rows(f"select max(k) from {tasks}")[0][0] if tasks else None
    if deployed is not None:
        seen["passk_deployment_k"] = deployed
    return seen


def parse_variables(text: str | None) -> dict[str, Any]:
    """Read the value of ``--vars``.

    Parameters
    ----------
    text
        A mapping in YAML.

    Returns
    -------
    dict
        The vars by name.

    Raises
    ------
    PasskError
        If it is no mapping, or names a var that the project does not have.

    Examples
    --------
    >>> parse_variables("{passk_ks: [1, 2], passk_deployment_k: 2}")
    {'passk_ks': [1, 2], 'passk_deployment_k': 2}
    """
    import yaml  # type: ignore[import-untyped]

    from passk_py.common.names import did_you_mean

    if not text or not text.strip():
        return {}
    hint = "Write it as in --vars '{passk_ks: [1, 2, 4]}'."
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise PasskError(f"--vars is no YAML: {problem}, in {text!r}.", hint=hint) from error
    if not isinstance(values, dict):
        raise PasskError(f"--vars is {text!r}, which is no mapping of vars.", hint=hint)
    known = default_variables()
    unknown = [str(name) for name in values if name not in known]
    if unknown:
        raise PasskError(
            f"--vars names {', '.join(unknown)}, and there is no such var."
            f"{did_you_mean(unknown, known)}",
            hint=f"The vars are {', '.join(sorted(known))}.",
        )
    return values

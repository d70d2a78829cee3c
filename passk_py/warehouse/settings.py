"""The vars that shaped the tables of a database, for those who read the tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from passk_py.common.contract import CONTRACT_COLUMNS
from passk_py.common.errors import PasskError
from passk_py.common.sql_text import slice_sql, slices_of_quarantine
from passk_py.common.words import shortened
from passk_py.warehouse.project import default_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from passk_py.warehouse.tables import Tables

RECORDED: Final = "int_passk__settings"
"""The view in which a build records its vars: ``var_name``, and ``var_value`` as JSON."""

COPY: Final = "passk_published"
"""The table by which one tells a copy that ``passk publish`` wrote: where it comes from."""

VARS_OF_COPY: Final = "vars"
"""Its column with the vars of the build, as a JSON object."""

INPUTS: Final = ("passk_attempts_model", "passk_attempts_source", "passk_attempts_files")
"""The vars that name another input than the landing tables."""

_FAMILY: Final = "passk_family"
"""A name that no slice has."""

_LENGTH: Final = "passk_length"

_LONGEST_SHOWN: Final = 200

T = TypeVar("T")


class _Var(Generic[T]):
    """The value of a var, by default the one of the attribute's name, as a type."""

    def __init__(self, read: Callable[[Any], T], name: str = "") -> None:
        self._read = read
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._name or f"passk_{name}"

    def __get__(self, settings: Settings, owner: type) -> T:
        return self._read(settings.values[self._name])


def _integers(values: Any) -> list[int]:  # noqa: ANN401 - what YAML holds
    """Read a list of whole numbers."""
    return [int(value) for value in values or []]


@dataclass(frozen=True, slots=True)
class Settings:
    """The vars of a build; each single value is an attribute, named as in ``docs/vars.md``."""

    values: Mapping[str, Any]
    """The value of each var, by its full name."""
    recorded: bool
    """Whether the database says all of them."""

    ks = _Var(_integers)
    deployment_k = _Var(int)
    extrapolated_ks = _Var(_integers)
    confidence = _Var(float)
    min_eligible_share = _Var(float)
    ordered = _Var(bool, "passk_ordered_metrics")
    diagnostics = _Var(bool)
    costs = _Var(list)
    bootstrap = _Var(int)
    bootstrap_seed = _Var(int)
    minimum_change = _Var(float)
    ranked_runs = _Var(int)
    trend_runs = _Var(int)
    plan_attempts = _Var(_integers)
    plan_width = _Var(float)
    plan_difference = _Var(float)
    plan_power = _Var(float)
    capable_threshold = _Var(float)
    consistent_threshold = _Var(float)
    consistent_rate = _Var(float)
    incapable_rate = _Var(float)

    @property
    def m_of_k(self) -> list[tuple[int, int]]:
        """The pairs (m, k) whose chance is asked for."""
        return [(int(pair["m"]), int(pair["k"])) for pair in self.values["passk_m_of_k"] or []]

    @property
    def score_thresholds(self) -> list[float]:
        """The thresholds from which on a graded score passes, in order."""
        return sorted(map(float, self.values["passk_score_thresholds"] or []))

    @property
    def causes(self) -> dict[str, str]:
        """The patterns of reasons, and their causes, that come before those of the package."""
        return dict(self.values["passk_causes"] or {})

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
    def private_suites(self) -> list[dict[str, str]]:
        """The pairs of a ``public`` suite and the ``private`` one that tests the same skill."""
        return [dict(pair) for pair in self.values["passk_private_suites"] or []]

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
    def quarantine(self) -> list[dict[str, Any]]:
        """The tasks that gates leave out up to a date."""
        return list(self.values["passk_quarantine"] or [])

    @property
    def slices(self) -> dict[str, str | None]:
        """The declared slices, and those of the quarantine; the SQL of each, None for a tag."""
        return self.declared_slices | slices_of_quarantine(self.quarantine, self.declared_slices)

    @property
    def declared_slices(self) -> dict[str, str | None]:
        """The slices by name; the SQL expression of each, None for a tag."""
        slices: dict[str, str | None] = {}
        for one in self.values["passk_slices"] or []:
            if isinstance(one, str):
                slices[one] = None
            else:
                slices[str(one["name"])] = str(one["expression"])
        return slices

    @property
    def cluster(self) -> str | None:
        """The column in which :attr:`family_sql` puts families; None where no tasks are related."""
        return None if self.values["passk_cluster"] is None else _FAMILY

    @property
    def family_sql(self) -> str:
        """The family of a task as one more column over ``passk_attempts``, if they are declared."""
        cluster = self.values["passk_cluster"]
        return "" if cluster is None else f", nullif({_value_sql(cluster)}, '') as {_FAMILY}"

    @property
    def difficulty(self) -> str | None:
        """The column in which :attr:`length_sql` puts lengths; None where none are declared."""
        return None if self.values["passk_difficulty"] is None else _LENGTH

    @property
    def difficulty_name(self) -> str | None:
        """The name of the lengths; None where none are declared."""
        axis = self.values["passk_difficulty"]
        return axis if axis is None or isinstance(axis, str) else str(axis["name"])

    @property
    def length_sql(self) -> str:
        """The length of a task as one more column over ``passk_attempts``, if it is declared."""
        axis = self.values["passk_difficulty"]
        return "" if axis is None else f", {_value_sql(axis)} as {_LENGTH}"

    @property
    def reads_landing(self) -> bool:
        """Whether the attempts come from ``landing.attempts``."""
        return not any(self.values.get(name) is not None for name in INPUTS)


def _value_sql(named: Any) -> str:  # noqa: ANN401 - what YAML holds
    """Write the value of a tag, of a column, or of an expression with a name."""
    if not isinstance(named, str):
        return slice_sql(str(named["name"]), str(named["expression"]))
    is_column = named in (column.name for column in CONTRACT_COLUMNS)
    return slice_sql(named, named if is_column else None)


def read_settings(tables: Tables, given: Mapping[str, Any] | None = None) -> Settings:
    """Find the vars of a build; unrecorded, the k that its rows have, and the defaults."""
    values = default_variables()
    recorded = _recorded(tables)
    if recorded is not None:
        values |= {name: value for name, value in recorded.items() if name in values}
    else:
        values |= _seen(tables)
    values |= given or {}
    return Settings(values, recorded is not None)


def vars_for_copy(tables: Tables) -> str | None:
    """Write the vars of a build for a copy, which says nothing of the input; None if unrecorded."""
    if _recorded(tables) is None:
        return None
    values = read_settings(tables).values
    return json.dumps({name: one for name, one in values.items() if name not in INPUTS})


def _recorded(tables: Tables) -> dict[str, Any] | None:
    """Read the vars that a build recorded, or those that a copy has of it."""
    recorded = tables.find(RECORDED)
    if recorded is not None:
        said = tables.rows(f"select var_name, var_value from {recorded}")
        return {name: json.loads(value) for name, value in said}
    copy = tables.find(COPY)
    # Copies of older versions lack it.
    if copy is None or VARS_OF_COPY not in tables.columns(COPY):
        return None
    told: str | None = tables.rows(f"select max({VARS_OF_COPY}) from {copy}")[0][0]
    return None if told is None else dict(json.loads(told))


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
    """Read the value of ``--vars``; a var that the project does not have is an error."""
    import yaml  # type: ignore[import-untyped]

    from passk_py.common import strict_yaml
    from passk_py.common.names import did_you_mean

    if not text or not text.strip():
        return {}
    hint = "Write it as in --vars '{passk_ks: [1, 2, 4]}'."
    shown = repr(shortened(text, _LONGEST_SHOWN))
    try:
        values = strict_yaml.load(text)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise PasskError(
            f"--vars is not valid YAML: {problem}, in {shown}.",
            hint=hint,
        ) from error
    if not isinstance(values, dict):
        raise PasskError(
            f"--vars is {shown}, which is not a mapping of vars.",
            hint=hint,
        )
    known = default_variables()
    unknown = [str(name) for name in values if name not in known]
    if unknown:
        raise PasskError(
            f"--vars names {', '.join(unknown)}, and there is no such var."
            f"{did_you_mean(unknown, known)}",
            hint=f"The vars are {', '.join(sorted(known))}.",
        )
    return values

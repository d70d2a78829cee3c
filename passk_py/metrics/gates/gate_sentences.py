"""The sentences of gates: pieces of reasons, and how to settle an inconclusive result."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_BASELINE: Final = (
    "There is no baseline: no earlier run of the agent on this suite, and no declared pair."
)
NAME_A_BASELINE: Final = "Another run of the agent, or a baseline that the gate names."
ANOTHER_BASELINE: Final = "A run of it on this suite, or another baseline."
OVER_BASELINE_TASKS: Final = "A run over the tasks of the baseline."
MEND_REJECTED: Final = "The reasons in passk_rejected_attempts, mended."
EXCLUDED_AGAIN: Final = "The excluded attempts, made again."


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a rule about an estimate with limits holds, fails, or can't be told yet."""

    holds: str
    fails: str
    against: str
    """How the excluded attempts would have had to end for a pass to be none."""
    in_favour: str

    def why(
        self, result: str, counted: str, bar: str, excluded: int, units: Units, least: int | None
    ) -> str:
        """End the sentence on a result, and on what that of the counted attempts alone would be."""
        if result == "pass":
            return self.holds.format(bar)
        if result == "fail":
            return self.fails.format(bar)
        if counted != "inconclusive":
            had = self.against if counted == "pass" else self.in_favour
            return f", which would {counted}, but not if the {excluded} excluded attempts {had}."
        return f", and {bar} lies between these limits.{_too_few(units, least)}"


OF_A_THRESHOLD: Final = Reasons(
    ": even the lower limit reaches {}.",
    ": even the upper limit is below {}.",
    "had failed",
    "had passed",
)
OF_A_DROP: Final = Reasons(
    ", at worst not below {}.",
    ", at best below {}.",
    "of both runs had counted against it",
    "of both runs had counted for it",
)
OF_A_ROLLING_DROP: Final = replace(OF_A_DROP, against="had failed", in_favour="had passed")


class Units(NamedTuple):
    """The draws that the limits of a gate are over: tasks, or families of tasks."""

    number: int
    name: str

    def at_least(self, number: int) -> str:
        """Ask for so many."""
        return f"At least {number} {self.name}."


def units_of(row: Mapping[str, Any], *, suite: bool) -> Units:
    """Read from a row of a table what its limits are over; families say nothing of these tasks."""
    families = None if suite else row.get("families")
    if families is None:
        return Units(int(row.get("eligible_tasks") or 0), "tasks")
    return Units(families, "families of tasks")


def at_least_attempts(attempts: int, where: str = "") -> str:
    """Ask for so many attempts of every task."""
    return f"At least {attempts} counted attempts of every task{where}."


def over_tasks(tasks: int, every: int) -> str:
    """Say over how many of the tasks an estimate is, where some are short."""
    return f" over {tasks} of {every} tasks" if tasks < every else ""


def _too_few(units: Units, least: int | None) -> str:
    if least is None or units.number >= least:
        return ""
    there = "is 1" if units.number == 1 else f"are {units.number}"
    return f" It cannot pass with fewer than {least} {units.name}, and there {there}."


def more_to_measure(
    units: Units, reach: float, distance: float, z: float, floor: float | None
) -> str:
    """Say how much more must be measured, were the estimate to stay.

    Tasks take away all of the reach, with their root. Attempts take away what varies within tasks,
    but not the floor that stands for what no variance shows: z sqrt(variance + floor) / tasks.
    """
    if units.number == 1 and units.name != "tasks":
        return "More families of tasks: how they differ is not known from one."
    if abs(distance) * 10 <= abs(reach):
        return "Hardly anything: the estimate is too near the threshold."
    if floor is not None:
        variance, allowed = ((one * units.number / z) ** 2 - floor for one in (reach, distance))
        if allowed > 0:
            times = round(variance / allowed, 1)
            return (
                f"About {times} times as many attempts of each task.{_then_decided(distance > 0)}"
            )
    needed = units.number * reach * reach / (distance * distance)
    return about(needed, units.name, fails=distance > 0)


def _then_decided(fails: bool) -> str:
    return f" If the estimate stays, the gate then {'fails' if fails else 'passes'}."


def about(needed: float, name: str, *, fails: bool) -> str:
    """Ask for about so many tasks, or families, and say what they would show."""
    rounded = 10 * math.ceil(needed / 10) if needed > 100 else math.ceil(needed)
    return f"About {rounded} {name} like these.{_then_decided(fails)}"

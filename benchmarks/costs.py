"""Costs: how often the limits of their tables hold, by simulation through the SQL.

Each repetition is a suite of its own. The costs of its attempts are log-normal, and depend on the task, on how
difficult it is and on the outcome. All suites of a table are built at once, and the limits are held against the
truth of the population.

    python benchmarks/costs.py                # everything, some minutes
    python benchmarks/costs.py --only runs    # one table
"""

from __future__ import annotations

import argparse
import math
import os
import random
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb
import polars as pl
from comparisons import POPULATIONS

from passk_py.ingest.landing.schema import ensure_landing
from passk_py.warehouse.building import build
from passk_py.warehouse.tables import fetch_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CHOSEN: Final[dict[str, Callable[[random.Random], float]]] = {
    **POPULATIONS,
    "all .98": lambda _dice: 0.98,
    "3 % never pass": lambda dice: 0.0 if dice.random() < 0.03 else 1.0,
}


class Costs(NamedTuple):
    """How the logarithm of a cost is made of normal parts, and what difficulty and a failure add."""

    between: float
    within: float
    difficulty: float
    failure: float


MODELS: Final = {
    "alike": Costs(0.05, 0.1, 0.0, 0.0),
    "skewed": Costs(0.5, 0.5, 1.0, 0.5),
    "heavy": Costs(1.0, 0.5, 1.0, 0.7),
    "cheap failures": Costs(0.7, 0.7, 0.0, -0.7),
}
FIGURES: Final = {
    "mean": "mean of an attempt",
    "p95": "95th percentile of an attempt",
    "per_success": "cost of a success",
    "retry_cost": "retried up to 4 times",
    "cost_per_solved": "per task solved",
    "cost_per_reliable": "per task that passes 4 in a row",
}
K: Final = 4
_SAMPLE: Final = 200_000

Attempt = tuple[str, str, str, int, str, float]


def attempts(
    suite: str,
    run: str,
    rates: Sequence[tuple[float, float]],
    n: int,
    costs: Costs,
    dice: random.Random,
) -> Iterator[Attempt]:
    """Draw the attempts of a run on tasks, each a chance of passing and the logarithm of a cost."""
    for task, (rate, size) in enumerate(rates):
        for number in range(1, n + 1):
            passed = dice.random() < rate
            log = size + costs.within * dice.gauss(0, 1) + (0.0 if passed else costs.failure)
            yield suite, run, f"t{task}", number, "passed" if passed else "failed", math.exp(log)


def tasks(
    population: str, number: int, costs: Costs, dice: random.Random
) -> list[tuple[float, float]]:
    """Draw tasks of a population."""
    return sized([CHOSEN[population](dice) for _ in range(number)], costs, dice)


def sized(rates: Sequence[float], costs: Costs, dice: random.Random) -> list[tuple[float, float]]:
    """Draw the costs of tasks with these chances of passing."""
    return [
        (rate, costs.difficulty * (1 - rate) + costs.between * dice.gauss(0, 1)) for rate in rates
    ]


def truth(population: str, costs: Costs) -> dict[str, float]:
    """Give the values of a population, over many of its tasks."""
    dice = random.Random(f"truth of {population}")
    rates = [CHOSEN[population](dice) for _ in range(_SAMPLE)]
    middle = math.exp((costs.between**2 + costs.within**2) / 2)
    passes = [middle * math.exp(costs.difficulty * (1 - rate)) for rate in rates]
    dearer = math.exp(costs.failure)
    both = list(zip(rates, passes, strict=True))

    def mean(values: Iterator[float]) -> float:
        return math.fsum(values) / _SAMPLE

    attempt = mean(cost * (rate + (1 - rate) * dearer) for rate, cost in both)
    solved = mean(1 - (1 - rate) ** K for rate in rates)
    retry = mean(
        cost * ((1 - (1 - rate) ** K) + dearer * sum((1 - rate) ** j for j in range(1, K + 1)))
        for rate, cost in both
    )
    drawn = sorted(
        cost
        for *_, cost in attempts("", "", tasks(population, _SAMPLE, costs, dice), 1, costs, dice)
    )
    return {
        "mean": attempt,
        "p95": drawn[math.ceil(0.95 * _SAMPLE) - 1],
        "per_success": attempt / mean(iter(rates)),
        "retry_cost": retry,
        "cost_per_solved": retry / solved,
        "cost_per_reliable": K * attempt / mean(rate**K for rate in rates),
    }


@contextmanager
def built(rows: Iterator[Attempt], pairs: list[Any], select: list[str]) -> Iterator[Any]:
    """Build all suites, and open the tables."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "passk.duckdb"
        names = ["suite", "run_id", "task_id", "attempt", "outcome", "cost_usd"]
        with duckdb.connect(str(database)) as connection:
            ensure_landing(connection)
            frame = pl.DataFrame(list(rows), schema=names, orient="row")
            connection.register("simulated_rows", frame.to_arrow())
            connection.execute(
                f"insert into landing.attempts ({', '.join(names)}, source_file, source_format, loaded_at)"
                " select *, 'simulated', 'simulated', timestamp '2026-01-01' from simulated_rows"
            )
            connection.unregister("simulated_rows")
        variables = {
            "passk_ks": [K],
            "passk_deployment_k": K,
            "passk_ordered_metrics": False,
            "passk_diagnostics": False,
            "passk_pairs": pairs,
        }
        report = build(database, variables=variables, select=select)
        if report.exit_code:
            raise SystemExit(f"The build failed: {report.failed}")
        with duckdb.connect(str(database), read_only=True) as connection:
            yield connection


def cells() -> list[tuple[str, str]]:
    """Give every population with every model of costs."""
    return [(population, model) for population in CHOSEN for model in MODELS]


def runs(repetitions: int) -> None:
    """Limits of the figures of a run, for few and many tasks."""
    known = {cell: truth(cell[0], MODELS[cell[1]]) for cell in cells()}
    print("| tasks | n | figure | known | mean coverage | least | where | below .93 | mean width |")
    print("|---|---|---|---|---|---|---|---|---|")
    for number, n in ((10, 8), (30, 4), (30, 8), (100, 8)):
        dice = random.Random(f"{number} {n}")

        def drawn(
            number: int = number, n: int = n, dice: random.Random = dice
        ) -> Iterator[Attempt]:
            for place, (population, model) in enumerate(cells()):
                costs = MODELS[model]
                for repetition in range(repetitions):
                    some = tasks(population, number, costs, dice)
                    yield from attempts(f"{place}|{repetition}", "r", some, n, costs, dice)

        columns = ", ".join(
            f"{figure}{end}" for figure in FIGURES for end in ("", "_lower", "_upper")
        )
        with built(drawn(), [], ["+passk_costs", "+passk_cost_curves"]) as connection:
            rows = fetch_frame(
                connection,
                f"select split_part(suite, '|', 1)::int as place, {columns}"
                " from passk_costs inner join passk_cost_curves using (run_id, suite, measure)",
            )
        for figure, said in FIGURES.items():
            found = []
            for place, cell in enumerate(cells()):
                mine = rows.filter(place=place)
                value, lower, upper = (pl.col(f"{figure}{end}") for end in ("", "_lower", "_upper"))
                true = known[cell][figure]
                seen = mine.filter(value.is_not_null() & lower.is_not_null())
                if seen.height < repetitions // 4:
                    continue
                # A limit that is not known holds whatever it is.
                held = (lower <= true * (1 + 1e-9)) & (
                    upper.fill_null(math.inf) >= true * (1 - 1e-9)
                )
                row = seen.select(
                    held=held.mean(), width=(upper / lower).median(), known=upper.count() / pl.len()
                ).row(0)
                found.append((row[0], cell, row[1], row[2]))
            worst = min(found)
            wide = [width for _, _, width, _ in found if width is not None]
            print(
                f"| {number} | {n} | {said} | {sum(one[3] for one in found) / len(found):.2f} "
                f"| {sum(one[0] for one in found) / len(found):.3f} | {worst[0]:.3f} "
                f"| {', '.join(worst[1])} | {sum(one[0] < 0.93 for one in found)} of {len(found)} "
                f"| {math.exp(sum(map(math.log, wide)) / len(wide)) if wide else math.nan:.2f} |",
                flush=True,
            )


def changes(repetitions: int) -> None:
    """Limits of a relative change between two runs of the same tasks, and what is said of no change."""
    print("| tasks | n | change | mean coverage | least | where | told apart | mean width |")
    print("|---|---|---|---|---|---|---|---|")
    for number in (10, 30, 100):
        for factor in (1.0, 0.8):
            dice = random.Random(f"changes {number} {factor}")

            def drawn(
                number: int = number, factor: float = factor, dice: random.Random = dice
            ) -> Iterator[Attempt]:
                for place, (population, model) in enumerate(cells()):
                    costs = MODELS[model]
                    for repetition in range(repetitions):
                        some = tasks(population, number, costs, dice)
                        suite = f"{place}|{repetition}"
                        yield from attempts(suite, "old", some, 8, costs, dice)
                        # Each task becomes cheaper, some by more.
                        new = [(rate, size + dice.gauss(-0.02, 0.2)) for rate, size in some]
                        less = [(rate, size + math.log(factor)) for rate, size in new]
                        yield from attempts(suite, "new", less, 8, costs, dice)

            pairs = [{"baseline": "old", "candidate": "new"}]
            with built(drawn(), pairs, ["+passk_cost_comparisons"]) as connection:
                rows = fetch_frame(
                    connection,
                    "select split_part(suite, '|', 1)::int as place,"
                    f" avg((relative_change_lower <= {factor - 1} + 1e-9 and relative_change_upper >= {factor - 1} - 1e-9)::int) as held,"
                    " avg((verdict in ('less', 'more'))::int) as told,"
                    " median((1 + relative_change_upper) / (1 + relative_change_lower)) as width"
                    " from passk_cost_comparisons group by 1 order by held",
                )
            worst = rows.row(0, named=True)
            held, told, width = (float(rows[name].mean()) for name in ("held", "told", "width"))  # type: ignore[arg-type]  # a number
            print(
                f"| {number} | 8 | {100 * (factor - 1):+.0f} % | {held:.3f} "
                f"| {worst['held']:.3f} | {', '.join(cells()[worst['place']])} "
                f"| {told:.3f} | {width:.2f} |",
                flush=True,
            )


def rare(repetitions: int) -> None:
    """Limits of the mean where one task in twenty never passes and costs twenty times as much."""
    share, factor = 0.05, 20
    costs = Costs(between=0.5, within=0.5, difficulty=math.log(factor), failure=0.0)
    true = math.exp((costs.between**2 + costs.within**2) / 2) * (1 + share * (factor - 1))
    print(
        "| tasks | coverage | too low | too high | without such a task | coverage of the others |"
    )
    print("|---|---|---|---|---|---|")
    for number in (10, 20, 50, 100):
        dice = random.Random(f"rare {number}")

        def drawn(number: int = number, dice: random.Random = dice) -> Iterator[Attempt]:
            for repetition in range(repetitions):
                rates = [float(dice.random() >= share) for _ in range(number)]
                some = sized(rates, costs, dice)
                yield from attempts(f"{repetition}", "r", some, 8, costs, dice)

        with built(drawn(), [], ["+passk_costs"]) as connection:
            found = connection.execute(
                f"""
                with limits as (
                  select mean_upper < {true} as is_low, mean_lower > {true} as is_high, c = n as is_without
                  from passk_costs
                )
                select
                  avg((not is_low and not is_high)::int),
                  avg(is_low::int),
                  avg(is_high::int),
                  avg(is_without::int),
                  avg((not is_low and not is_high)::int) filter (not is_without)
                from limits
                """
            ).fetchone()
        print(f"| {number} | {' | '.join(f'{one:.3f}' for one in found)} |", flush=True)


TABLES: Final[dict[str, tuple[Callable[[int], None], int]]] = {
    "runs": (runs, 200),
    "changes": (changes, 200),
    "rare": (rare, 400),
}


def main() -> None:
    """Run what was asked for."""
    # The tests of the data would cost more than what they test.
    os.environ["DBT_INDIRECT_SELECTION"] = "empty"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--repetitions", type=int)
    options = parser.parse_args()
    start = time.process_time()
    for name, (table, repetitions) in TABLES.items():
        if options.only in (None, name):
            print(f"\n## {name}\n", flush=True)
            table(options.repetitions or repetitions)
    print(f"\n{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()

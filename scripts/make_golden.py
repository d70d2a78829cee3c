"""Write the golden seeds: exact values of the estimators, and the worked examples of the field.

``passk_golden_estimators.csv`` holds pass@k, 1 - pass@k and pass^k of counts from every regime, as
decimal strings of 20 correctly rounded digits, from exact integers. Nothing of the package is
imported, so SQL and polars are both held against values that neither computed.

``passk_golden_examples.csv`` holds the numbers that five articles print. The rows with the same
source, name, metric and k are the tasks of one example, and the mean of the metric over them is
``expected``, to ``decimals`` digits. ``printed`` is what the article says; it differs from
``expected`` where the article is wrong. ``outcomes`` are the attempts in order, P or F, where the
article gives them. One metric is not a mean over tasks: ``delta_k_plugin`` is the mean plug-in
pass^k less the k-th power of the mean of c / n.

Usage: ``python scripts/make_golden.py [FOLDER]``; the folder is ``seeds/golden`` by default.
"""

from __future__ import annotations

import csv
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal
from math import lgamma, log, perm
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DIGITS = 20
SMALLEST = Decimal("1e-300")
"""Below it float64 loses digits before long; such a value is no test of an estimator."""

FACTORS = 5_000
"""Ratios of longer products are exact too, but take minutes."""

Row = dict[str, object]


# ---------------------------------------------------------------------------------------------
# exact values


def ratio(n: int, c: int, k: int) -> tuple[int, int]:
    """Give C(c, k) / C(n, k) as two integers, from as few factors as possible."""
    if k > c:
        return 0, 1
    if n - c < k:
        # Choosing k of the n attempts, or the n - c failures, is the same count both ways.
        return perm(n - k, n - c), perm(n, n - c)
    return perm(c, k), perm(n, k)


def decimal_of(numerator: int, denominator: int) -> Decimal:
    """Round a fraction to ``DIGITS`` significant digits, correctly."""
    if numerator == 0:
        return Decimal(0)
    magnitude = int((numerator.bit_length() - denominator.bit_length()) * log(2) / log(10))
    scale = DIGITS + 6 - magnitude
    if scale >= 0:
        quotient, rest = divmod(numerator * 10**scale, denominator)
    else:
        quotient, rest = divmod(numerator, denominator * 10**-scale)
    # One digit more says whether anything follows, so that a tie is not taken for one.
    exact = Decimal(quotient * 10 + (rest > 0))
    rounding = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999)
    return rounding.scaleb(rounding.plus(exact), -scale - 1)


def text_of(value: Decimal) -> str:
    """Write a value so that every engine reads it as the nearest float64."""
    return str(int(value)) if value in (0, 1) else f"{value:.{DIGITS - 1}e}"


def log10_ratio(n: int, c: int, k: int) -> float:
    """Give the magnitude of C(c, k) / C(n, k), to skip what is too small without computing it."""
    if k > c:
        return 0.0
    parts = lgamma(c + 1) - lgamma(c - k + 1) - lgamma(n + 1) + lgamma(n - k + 1)
    return parts / log(10)


def golden_states() -> Iterator[tuple[int, int, int]]:
    """Give counts (n, c, k) of every regime; too many, and some twice."""
    # Everything that is small.
    for n in range(1, 6):
        yield from ((n, c, k) for c in range(n + 1) for k in range(1, n + 1))
    # Sizes that people run, and those at which differences of log-gammas fall apart.
    for n in (10, 100, 200, 1_000, 100_000, 1_000_000):
        for c in (0, 1, n // 10, n // 2, n - n // 10, n - 1, n):
            yield from ((n, c, k) for k in (1, 2, 5, 10, 100, n // 2, n - 1, n) if k <= n)
    # Where the log moment changes its formula: c - k, or n - c - k, around 10.
    for n in (24, 1_000_000):
        for gap in (9, 10, 11):
            for k in (1, 5, 12):
                yield n, k + gap, k
                yield n, n - k - gap, k
    # One failure short of certain, and certain.
    for n, k in ((20, 5), (1_000, 100), (1_000_000, 1_000)):
        yield from ((n, n - k + step, k) for step in (-2, -1, 0, 1))
    # Down to 1e-300.
    for n, c in ((500, 100), (2_000, 200), (2_000, 1_000), (1_000_000, 500_000), (1_000_000, 999)):
        for exponent in (10, 50, 100, 200, 299):
            within = [k for k in range(1, c + 1) if log10_ratio(n, c, k) > -exponent]
            yield n, c, within[-1]
            yield n, n - c, within[-1]


def golden_rows() -> Iterator[Row]:
    """Give the rows of the table of exact values."""
    states = set(golden_states())
    log10_smallest = SMALLEST.adjusted() - 1
    for n, c, k in sorted(states):
        if min(log10_ratio(n, c, k), log10_ratio(n, n - c, k)) < log10_smallest:
            continue
        if max(min(k, n - c), min(k, c)) > FACTORS:
            continue
        failed, drawn = ratio(n, n - c, k)
        values = {
            "pass_at_k": decimal_of(drawn - failed, drawn),
            "fail_all_k": decimal_of(failed, drawn),
            "pass_hat_k": decimal_of(*ratio(n, c, k)),
        }
        if any(0 < value < SMALLEST for value in values.values()):
            continue
        yield {"n": n, "c": c, "k": k} | {name: text_of(v) for name, v in values.items()}


# ---------------------------------------------------------------------------------------------
# worked examples


class Task(NamedTuple):
    """A task of an example: its counts, and its outcomes where they are known."""

    name: str
    n: int
    c: int
    outcomes: str = ""


def trials(name: str, outcomes: str) -> Task:
    """Make a task of outcomes in order, P or F."""
    return Task(name, len(outcomes), outcomes.count("P"), outcomes)


def example(
    source: str,
    name: str,
    metric: str,
    k: int,
    *,
    printed: str,
    tasks: Iterable[Task],
    expected: str | None = None,
    decimals: int | None = None,
) -> Iterator[Row]:
    """Give the rows of one example."""
    value = expected or printed
    if decimals is None:
        decimals = len(value.partition(".")[2])
    for task in tasks:
        yield {
            "source": source,
            "name": name,
            "task": task.name,
            "outcomes": task.outcomes,
            "n": task.n,
            "c": task.c,
            "k": k,
            "metric": metric,
            "printed": printed,
            "expected": value,
            "decimals": decimals,
        }


def tracelens_examples() -> Iterator[Row]:
    """pass@k vs pass^k, from the documentation of TraceLens."""
    source = "tracelens"
    sequence = [trials("sequence", "PPFPPPFPPP")]
    for k, at, hat in (
        (1, "0.800", "0.800"),
        (2, "0.978", "0.556"),
        (3, "1.000", "0.250"),
        (5, "1.000", "0.000"),
    ):
        yield from example(source, "same data", "pass_at_k", k, printed=at, tasks=sequence)
        yield from example(source, "same data", "pass_hat_k_window", k, printed=hat, tasks=sequence)
    for window, at, hat in (
        ("PPP", "1", "1"),
        ("PPF", "1", "0"),
        ("PFP", "1", "0"),
        ("FPP", "1", "0"),
        ("FFF", "0", "0"),
    ):
        name, task = f"truth table {window}", [trials("window", window)]
        yield from example(source, name, "pass_at_k_window", 3, printed=at, tasks=task)
        yield from example(source, name, "pass_hat_k_window", 3, printed=hat, tasks=task)


def five_tasks_examples() -> Iterator[Row]:
    """Five code generation tasks, from "Capability and Consistency Metrics"."""
    source = "capability and consistency"
    table = (
        ("null check", "PPP", "1.0", "1.0"),
        ("auth middleware", "PFP", "1.0", "0.0"),
        ("schema stub", "FPF", "1.0", "0.0"),
        ("off-by-one", "FFF", "0.0", "0.0"),
        ("rate-limit header", "PPP", "1.0", "1.0"),
    )
    for task, outcomes, at, hat in table:
        yield from example(source, task, "pass_at_k", 3, printed=at, tasks=[trials(task, outcomes)])
        yield from example(
            source, task, "pass_hat_k", 3, printed=hat, tasks=[trials(task, outcomes)]
        )
    suite = [trials(task, outcomes) for task, outcomes, _, _ in table]
    yield from example(source, "suite average", "pass_at_k", 3, printed="0.8", tasks=suite)
    yield from example(source, "suite average", "pass_hat_k", 3, printed="0.4", tasks=suite)


def mean_success_examples() -> Iterator[Row]:
    """Coins and task distributions of known p, from "Different Stories from Mean Success Rate"."""
    source = "mean success rate"
    coin, bag = [Task("fair", 2, 1)], [Task("heads", 1, 1), Task("tails", 1, 0)]
    yield from example(
        source,
        "fair coin",
        "pass_hat_k_plugin",
        10,
        printed="1/1024",
        tasks=coin,
        expected="0.0009765625",
    )
    yield from example(
        source, "mixed bag", "pass_hat_k_plugin", 10, printed="1/2", tasks=bag, expected="0.5"
    )
    # p with three decimals: counts of 1000.
    scenarios = {
        "homogeneous": (500,),
        "no skew": (200, 800),
        "negative skew": (70, 715, 715),
        "positive skew": (930, 285, 285),
    }
    suites = {
        name: [Task(f"p{i}", 1000, c) for i, c in enumerate(counts, 1)]
        for name, counts in scenarios.items()
    }
    for name, suite in suites.items():
        yield from example(source, name, "pass_hat_k_plugin", 1, printed="0.5", tasks=suite)
    homogeneous, positive = suites["homogeneous"], suites["positive skew"]
    yield from example(
        source, "homogeneous", "pass_at_k_plugin", 3, printed="0.88", tasks=homogeneous
    )
    yield from example(
        source, "homogeneous", "pass_hat_k_plugin", 3, printed="0.13", tasks=homogeneous
    )
    for k in (1, 3, 5, 8):
        name = "homogeneous"
        yield from example(
            source, name, "delta_k_plugin", k, printed="0", tasks=homogeneous, decimals=12
        )
    yield from example(
        source, "positive skew", "pass_hat_k_plugin", 3, printed="0.28", tasks=positive
    )
    yield from example(source, "positive skew", "delta_k_plugin", 5, printed="0.20", tasks=positive)
    yield from example(
        source, "negative skew", "delta_k_plugin", 3, printed="0.12", tasks=suites["negative skew"]
    )


def three_agents_examples() -> Iterator[Row]:
    """Independent and concentrated failures, from an article on pass^k as what ships."""
    source = "pass^k ships"
    p90 = [Task("p", 10, 9)]
    for k, printed in ((1, "0.90"), (4, "0.66"), (8, "0.43")):
        yield from example(
            source, "agent at 90 %", "pass_hat_k_plugin", k, printed=printed, tasks=p90
        )
    # The text has 57 % and 35 %, its chart 43 %; .9^8 = .430 and .9^16 = .185.
    yield from example(
        source,
        "agent at 90 %, text",
        "pass_hat_k_plugin",
        8,
        printed="0.57",
        tasks=p90,
        expected="0.43",
    )
    yield from example(
        source,
        "agent at 90 %, text",
        "pass_hat_k_plugin",
        16,
        printed="0.35",
        tasks=p90,
        expected="0.19",
    )
    brittle = [
        trials(f"task {i}", outcomes)
        for i, outcomes in enumerate(
            ("PPPPPPPF", "PPFPPPPP", "PPPPPPFP", "PPPPFPPP", "PPPPPPPP"), 1
        )
    ]
    concentrated = [trials(f"task {i}", letter * 8) for i, letter in enumerate("PPPFF", 1)]
    # The article prints 0.88; 36 of 40 attempts pass.
    yield from example(
        source, "agent A", "pass_at_k", 1, printed="0.88", tasks=brittle, expected="0.90"
    )
    yield from example(source, "agent A", "pass_hat_k_first_k", 8, printed="0.20", tasks=brittle)
    yield from example(source, "agent C", "pass_at_k", 1, printed="0.60", tasks=concentrated)
    yield from example(
        source, "agent C", "pass_hat_k_first_k", 8, printed="0.60", tasks=concentrated
    )


def what_is_pass_at_k_examples() -> Iterator[Row]:
    """Values of pass@k at n = 200 and 500, from "What is pass@k evaluation metric?"."""
    source = "what is pass@k"
    # Printed with the rounding errors of their floats, of which 15 digits are right.
    for n, k, c, printed in (
        (200, 1, 0, "0.0"),
        (200, 1, 1, "0.0050000000000000044"),
        (200, 1, 10, "0.050000000000000044"),
        (200, 1, 100, "0.5"),
        (200, 1, 200, "1.0"),
        (200, 10, 0, "0.0"),
        (200, 10, 1, "0.050000000000000044"),
        (200, 10, 10, "0.40854786608141713"),
        (200, 10, 100, "0.9992289739372822"),
        (200, 10, 200, "1.0"),
        (200, 100, 0, "0.0"),
        (200, 100, 1, "0.5"),
        (200, 100, 10, "0.9992289739372822"),
        (200, 100, 100, "1.0"),
        (200, 100, 200, "1.0"),
        (500, 100, 0, "0.0"),
        (500, 100, 1, "0.19999999999999996"),
        (500, 100, 10, "0.8950489654316426"),
        (500, 100, 100, "0.9999999999890197"),
        (500, 100, 200, "1.0"),
    ):
        name = f"n = {n}, c = {c}"
        problem = [Task("problem", n, c)]
        yield from example(
            source, name, "pass_at_k", k, printed=printed, tasks=problem, decimals=15
        )


def example_rows() -> Iterator[Row]:
    """Give the rows of the table of worked examples."""
    yield from tracelens_examples()
    yield from five_tasks_examples()
    yield from mean_success_examples()
    yield from three_agents_examples()
    yield from what_is_pass_at_k_examples()


# ---------------------------------------------------------------------------------------------


def write(path: Path, rows: Iterable[Row]) -> int:
    """Write rows as CSV with the same bytes on every platform, and count them."""
    table = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return len(table)


def main(arguments: list[str]) -> int:
    """Write both seeds."""
    default = Path(__file__).resolve().parent.parent / "seeds" / "golden"
    folder = Path(arguments[0]) if arguments else default
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (
        ("passk_golden_estimators.csv", golden_rows()),
        ("passk_golden_examples.csv", example_rows()),
    ):
        print(f"{name}: {write(folder / name, rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

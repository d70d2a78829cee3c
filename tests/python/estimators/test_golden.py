"""The golden seeds: polars agrees with them, and making them again gives the same bytes."""

from __future__ import annotations

import csv
import subprocess
import sys
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from passk_py.stats import estimators as est

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "seeds" / "golden"
ESTIMATORS = FOLDER / "passk_golden_estimators.csv"
EXAMPLES = FOLDER / "passk_golden_examples.csv"


def test_making_the_seeds_again_gives_the_same_bytes(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "make_golden.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True)
    for seed in (ESTIMATORS, EXAMPLES):
        assert (tmp_path / seed.name).read_bytes() == seed.read_bytes(), seed.name


def test_the_seeds_are_small() -> None:
    assert ESTIMATORS.stat().st_size + EXAMPLES.stat().st_size < 200_000


@pytest.fixture(scope="module")
def golden() -> pl.DataFrame:
    return pl.read_csv(ESTIMATORS, schema_overrides={"n": pl.Int64})


def test_the_seed_covers_every_regime(golden: pl.DataFrame) -> None:
    n, c, k = pl.col("n"), pl.col("c"), pl.col("k")
    tiny = pl.col("pass_hat_k").is_between(1e-300, 1e-280)
    almost = pl.col("pass_at_k").is_between(1 - 1e-9, 1, closed="none")
    regimes = {
        "nothing passes": c == 0,
        "one passes": c == 1,
        "one fails": c == n - 1,
        "all pass": c == n,
        "one draw": k == 1,
        "all drawn": k == n,
        "a million attempts": n == 1_000_000,
        "certain": (n - c < k) & (c < n),
        "impossible": (c < k) & (c > 0),
        "near underflow": tiny,
        "near 1": almost,
        "small": pl.col("pass_at_k").is_between(0, 1e-5, closed="none"),
    }
    for name, rule in regimes.items():
        assert golden.filter(rule).height >= 2, name
    assert golden.select("n", "c", "k").is_duplicated().sum() == 0


def test_the_seed_is_exact(golden: pl.DataFrame) -> None:
    """Values of small n from a second, plainer computation."""
    with ESTIMATORS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["n"]) <= 1_000]
    assert len(rows) > golden.height / 2
    for row in rows:
        n, c, k = (int(row[name]) for name in ("n", "c", "k"))
        failed = Fraction(comb(n - c, k), comb(n, k))
        want = {
            "pass_at_k": 1 - failed,
            "fail_all_k": failed,
            "pass_hat_k": Fraction(comb(c, k), comb(n, k)),
        }
        for name, value in want.items():
            # Twenty digits, correctly rounded.
            assert abs(Fraction(row[name]) - value) <= value / 10**19 / 2, (row, name)


@pytest.mark.parametrize("column", ["pass_at_k", "fail_all_k", "pass_hat_k"])
def test_polars_agrees_with_the_seed(golden: pl.DataFrame, column: str) -> None:
    expr = {
        "pass_at_k": est.pass_at_k("n", "c", "k"),
        "fail_all_k": est.pass_hat_k("n", pl.col("n") - pl.col("c"), "k"),
        "pass_hat_k": est.pass_hat_k("n", "c", "k"),
    }[column]
    room = 1e-15 if column == "pass_at_k" else 4e-13
    want = pl.col(column)
    wrong = golden.with_columns(got=expr).filter((pl.col("got") - want).abs() > room * want)
    assert wrong.height == 0, wrong


# ---------------------------------------------------------------------------------------------
# worked examples


def examples() -> Iterator[object]:
    """Give each worked example as a case, named after where it is printed."""
    with EXAMPLES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [(row["source"], row["name"], row["metric"], row["k"]) for row in rows]
    for key in dict.fromkeys(keys):
        tasks = [row for row, other in zip(rows, keys, strict=True) if other == key]
        yield pytest.param(tasks, id=" ".join((*key[:3], f"k={key[3]}")).replace("  ", " "))


def evaluate(tasks: list[dict[str, str]]) -> float:
    metric, k = tasks[0]["metric"], int(tasks[0]["k"])
    counts = pl.DataFrame({name: [int(task[name]) for task in tasks] for name in ("n", "c")})
    if metric == "delta_k_plugin":
        mean_hat = est.pass_hat_k_plugin("n", "c", k).mean()
        found = counts.select(est.delta_k(mean_hat, (pl.col("c") / pl.col("n")).mean(), k)).item()
    elif metric.endswith(("_window", "_first_k")):
        values = [
            pl.DataFrame({"passed": [letter == "P" for letter in task["outcomes"]]})
            .select(getattr(est, metric)("passed", k))
            .item()
            for task in tasks
        ]
        found = sum(values) / len(values)
    else:
        found = counts.select(getattr(est, metric)("n", "c", k).mean()).item()
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize("tasks", list(examples()))
def test_worked_example(tasks: list[dict[str, str]]) -> None:
    expected, decimals = float(tasks[0]["expected"]), int(tasks[0]["decimals"])
    # Articles round 0.125 to 0.13: half a unit of the last digit is allowed, and one rounding.
    assert abs(evaluate(tasks) - expected) <= 0.5 * 10.0**-decimals + 2e-16


def test_only_the_known_misprints_differ_from_what_is_printed() -> None:
    table = pl.read_csv(EXAMPLES, infer_schema=False)
    # Fractions and floats are printed in another form, not wrongly.
    plain = ~pl.col("printed").str.contains("/") & (pl.col("decimals").cast(pl.Int64) < 15)
    wrong = table.filter(plain & (pl.col("printed") != pl.col("expected")))
    assert wrong.select("printed", "expected").unique(maintain_order=True).rows() == [
        ("0.57", "0.43"),
        ("0.35", "0.19"),
        ("0.88", "0.90"),
    ]


@pytest.mark.parametrize(
    ("k", "ways"),
    [
        (1, 200),
        (2, 19900),
        (100, 90548514656103281165404177077484163874504589675413336841320),
        (199, 200),
        (200, 1),
    ],
)
def test_printed_ways_to_choose_from_200(k: int, ways: int) -> None:
    found = pl.select(est.log_choose(200, k).exp()).item()
    assert found == pytest.approx(ways, rel=4e-14)


def test_all_or_nothing_tasks_reach_the_printed_bound_of_delta_k() -> None:
    """P(p = 1) = mu and P(p = 0) = 1 - mu attain mu - mu^k."""
    for passing in (1, 3, 7):
        tasks = pl.DataFrame({"n": [1] * 10, "c": [1] * passing + [0] * (10 - passing)})
        for k in (2, 5, 10):
            mean_hat = est.pass_hat_k_plugin("n", "c", k).mean()
            found = tasks.select(est.delta_k(mean_hat, pl.col("c").mean(), k)).item()
            bound = pl.select(est.delta_k_max(passing / 10, k)).item()
            assert found == pytest.approx(bound, rel=1e-15)


def test_equal_tasks_gain_most_from_retries() -> None:
    """mu <= pass@k <= 1 - (1 - mu)^k for the four printed task distributions."""
    scenarios = ([500], [200, 800], [70, 715, 715], [930, 285, 285])
    for k in range(1, 9):
        most = pl.select(est.pass_at_k_pooled(0.5, k)).item()
        least = pl.select(est.pass_hat_k_pooled(0.5, k)).item()
        for counts in scenarios:
            tasks = pl.DataFrame({"n": 1000, "c": counts})
            at, hat = tasks.select(
                est.pass_at_k_plugin("n", "c", k).mean().alias("at"),
                est.pass_hat_k_plugin("n", "c", k).mean().alias("hat"),
            ).row(0)
            assert at >= 0.5 - 1e-15
            assert at <= most + 1e-15
            assert least <= hat + 1e-15
            assert hat <= 0.5 + 1e-15

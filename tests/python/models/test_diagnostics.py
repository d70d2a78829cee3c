"""Each diagnostic catches the fault that it is for, is quiet without it, and is what polars says."""

from __future__ import annotations

import itertools
import math
import random
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import passk_py as pk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conftest import Project

DIAGNOSTICS: Final = (
    "serial_dependence", "drift", "shared_run_effect", "batch_effect", "duplicate_seeds",
    "duplicate_outputs", "noisy_grader", "temperature_zero", "retry_until_pass", "window_gap",
    "first_k_gap", "dominant_tasks", "related_tasks", "jensen_bounds",
)  # fmt: skip
START: Final = datetime(2026, 5, 1)
Row = dict[str, Any]


def diagnostics(project: Project, run: str) -> dict[str, Row]:
    """Give the rows of one run by the name of the diagnostic."""
    rows = project.records("from passk_diagnostics where run_id = ?", run)
    assert [row["diagnostic"] for row in rows].count("drift") == 1
    return {row["diagnostic"]: row for row in rows}


def rows_of(run: str, tasks: Iterable[Sequence[Any]], **more: Any) -> list[Row]:
    """Give rows of tasks told as verdicts: true, false, or None where the attempt is excluded."""
    words = {True: "passed", False: "failed", None: "excluded"}
    return [
        {"run_id": run, "task_id": f"task {task:04}", "attempt": attempt, "outcome": words[verdict], **more}
        for task, verdicts in enumerate(tasks)
        for attempt, verdict in enumerate(verdicts, 1)
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------
# faults


def share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def independent(chance: random.Random, tasks: int = 60, n: int = 8) -> list[list[bool]]:
    """Tasks of different difficulty, attempts that know nothing of each other."""
    shares = [chance.betavariate(1.5, 1.5) for _ in range(tasks)]
    return [[chance.random() < p for _ in range(n)] for p in shares]


def sticky(chance: random.Random, stick: float, tasks: int = 60, n: int = 8) -> list[list[bool]]:
    """With the chance ``stick`` an attempt repeats the verdict of the one before it."""
    found = []
    for _ in range(tasks):
        p = chance.betavariate(1.5, 1.5)
        verdicts = [chance.random() < p]
        while len(verdicts) < n:
            verdicts.append(verdicts[-1] if chance.random() < stick else chance.random() < p)
        found.append(verdicts)
    return found


def drifting(chance: random.Random, by: float, tasks: int = 60, n: int = 8) -> list[list[bool]]:
    """The logit of passing changes by so much from the first attempt to the last."""
    logits = [chance.gauss(0, 1) for _ in range(tasks)]
    return [
        [chance.random() < share(logit + by * (place / (n - 1) - 0.5)) for place in range(n)]
        for logit in logits
    ]


def in_passes(
    chance: random.Random, spread: float, tasks: int = 60, n: int = 8
) -> list[list[bool]]:
    """Each pass over the suite shifts the logit of all tasks."""
    shifts = [chance.gauss(0, spread) for _ in range(n)]
    logits = [chance.gauss(0, 1) for _ in range(tasks)]
    return [[chance.random() < share(logit + shift) for shift in shifts] for logit in logits]


def in_sessions(chance: random.Random, spread: float, run: str, tasks: int = 60) -> list[Row]:
    """Five attempts of each task on one day, five on the next; task and day have a shift."""
    verdicts, times = [], []
    for _ in range(tasks):
        logit = chance.gauss(0, 1)
        days = [chance.gauss(0, spread) for _ in range(2)]
        verdicts.append([chance.random() < share(logit + days[place // 5]) for place in range(10)])
    rows = rows_of(run, verdicts)
    for row in rows:
        day = (row["attempt"] - 1) // 5
        times.append(START + timedelta(days=day, seconds=chance.randint(0, 20_000)))
        row["started_at"] = times[-1]
    return rows


def retried(chance: random.Random, tasks: int = 60, most: int = 6) -> list[list[bool]]:
    """Attempts until the first pass."""
    found = []
    for _ in range(tasks):
        p, verdicts = chance.betavariate(1.5, 1.5), [False]
        verdicts.clear()
        while len(verdicts) < most and True not in verdicts:
            verdicts.append(chance.random() < p)
        found.append(verdicts)
    return found


def with_outputs(
    chance: random.Random, run: str, outputs: int, flips: float = 0.0, n: int = 8
) -> list[Row]:
    """Outputs out of so many for each task, of which a grader says the truth but for flips."""
    rows = []
    for task in range(40):
        right = {f"{task} {i}": chance.random() < 0.5 for i in range(outputs)}
        drawn = [chance.choice(list(right)) for _ in range(n)]
        if outputs >= 1000:
            drawn = list(dict.fromkeys(drawn + list(right)))[:n]
        verdicts = [right[one] != (chance.random() < flips) for one in drawn]
        rows += [
            {**row, "task_id": f"task {task}", "output_hash": one}
            for row, one in zip(rows_of(run, [verdicts]), drawn, strict=True)
        ]
    return rows


SEEDS: Final = range(8)


@pytest.fixture(scope="module")
def built(make_project: Callable[[], Project]) -> Project:
    """Hundreds of runs with one fault each, or none, in one build."""
    project, rows = make_project(), []
    for seed in SEEDS:
        chance = random.Random(seed)
        rows += rows_of(f"sticky {seed}", sticky(chance, 0.5))
        rows += rows_of(f"drifting {seed}", drifting(chance, 2.5))
        rows += rows_of(f"in passes {seed}", in_passes(chance, 0.8))
        rows += in_sessions(chance, 2.5, f"in sessions {seed}")
        rows += in_sessions(chance, 0.0, f"in like sessions {seed}")
        rows += rows_of(f"retried {seed}", retried(chance))
        rows += with_outputs(chance, f"copied {seed}", 2)
        rows += with_outputs(chance, f"deterministic {seed}", 1)
        rows += with_outputs(chance, f"noisy {seed}", 4, flips=0.05)
        rows += with_outputs(chance, f"sampled {seed}", 1000)
        verdicts = independent(chance)
        rows += [{**row, "seed": row["attempt"]} for row in rows_of(f"seeded {seed}", verdicts)]
        rows += [
            {**row, "seed": row["attempt"] // 2} for row in rows_of(f"seeds twice {seed}", verdicts)
        ]
        rows += rows_of(f"one verdict {seed}", [[chance.random() < 0.7] * 4 for _ in range(50)])
        few = [[True] * 8 for _ in range(58)] + [[False] * 7 + [True], [False] * 8]
        rows += rows_of(f"few tasks {seed}", few)
        turns = [[(place + task) % 2 == 0 for place in range(8)] for task in range(60)]
        rows += rows_of(f"in turns {seed}", turns)
        # Every task passes about half of its attempts, more evenly than coins do.
        half = [chance.sample([True] * 4 + [False] * 4 + [bool(i % 2)], 8) for i in range(60)]
        rows += rows_of(f"balanced {seed}", half)
    for seed in range(200):
        rows += rows_of(f"independent {seed}", independent(random.Random(1000 + seed)))
    project.land(rows)
    project.run()
    return project


def verdicts_of(project: Project, kind: str, diagnostic: str) -> list[str]:
    found = project.query(
        "select verdict from passk_diagnostics where run_id like ? || ' %' and diagnostic = ?",
        kind,
        diagnostic,
    )
    return [verdict for (verdict,) in found]


@pytest.mark.parametrize(
    ("kind", "diagnostic", "least"),
    [
        ("sticky", "serial_dependence", 8),
        ("sticky", "window_gap", 5),
        ("drifting", "drift", 8),
        ("in passes", "shared_run_effect", 8),
        ("in sessions", "batch_effect", 7),
        ("retried", "retry_until_pass", 8),
        ("copied", "duplicate_outputs", 8),
        ("deterministic", "duplicate_outputs", 8),
        ("deterministic", "temperature_zero", 8),
        ("one verdict", "temperature_zero", 8),
        ("noisy", "noisy_grader", 8),
        ("seeds twice", "duplicate_seeds", 8),
        ("in turns", "serial_dependence", 8),
        ("balanced", "jensen_bounds", 8),
    ],
)
def test_a_fault_is_caught(built: Project, kind: str, diagnostic: str, least: int) -> None:
    found = verdicts_of(built, kind, diagnostic)
    assert len(found) == len(SEEDS)
    assert found.count("warning") >= least


@pytest.mark.parametrize("diagnostic", DIAGNOSTICS)
def test_independent_attempts_raise_no_more_warnings_than_the_level(
    built: Project, diagnostic: str
) -> None:
    found = verdicts_of(built, "independent", diagnostic)
    assert len(found) == 200
    # All runs are loaded at once, so that one is corrected for all. Of 200 runs at most 5 % of what warns may be wrong.
    assert found.count("warning") <= 3


@pytest.mark.parametrize(
    ("kind", "diagnostic"),
    [
        ("sampled", "duplicate_outputs"),
        ("sampled", "temperature_zero"),
        ("deterministic", "noisy_grader"),
        ("copied", "noisy_grader"),
        ("seeded", "duplicate_seeds"),
    ],
)
def test_it_is_quiet_without_the_fault(built: Project, kind: str, diagnostic: str) -> None:
    assert set(verdicts_of(built, kind, diagnostic)) == {"ok"}


def test_like_sessions_are_no_batch_effect(built: Project) -> None:
    found = verdicts_of(built, "in like sessions", "batch_effect")
    assert found.count("ok") >= 6
    assert found.count("ok") + found.count("warning") == len(SEEDS)


def test_flip_rate_is_that_of_the_grader(built: Project) -> None:
    rates = built.query(
        "select avg(statistic) from passk_diagnostics where run_id like 'noisy %' and diagnostic = 'noisy_grader'"
    )
    assert rates[0][0] == pytest.approx(0.05, abs=0.015)


def test_what_a_log_cannot_tell_is_said(built: Project) -> None:
    found = diagnostics(built, "independent 0")
    assert found.keys() == set(DIAGNOSTICS)
    for name in ("batch_effect", "duplicate_seeds", "duplicate_outputs", "noisy_grader"):
        assert found[name]["verdict"] == "not_applicable"
        assert found[name]["meaning"].startswith("Not known from this log.")
        assert found[name]["advice"]
    assert "another chance of passing" in found["serial_dependence"]["meaning"]


def same(sql: Any, polars: Any) -> bool:
    if isinstance(sql, float) and isinstance(polars, float):
        return math.isclose(sql, polars, rel_tol=1e-9, abs_tol=1e-9)
    return bool(sql == polars)


def differences(project: Project, log: pl.DataFrame, **options: Any) -> list[Any]:
    """Compare the table with what polars makes of the attempts, letter by letter."""
    expected = pk.diagnose(log, **options).drop("loaded_at").rows(named=True)
    found = project.records("select * exclude (loaded_at) from passk_diagnostics")
    key = ("run_id", "suite", "diagnostic")
    by_key = {tuple(row[name] for name in key): row for row in found}
    assert len(by_key) == len(found) == len(expected)
    return [
        (row, name, by_key[tuple(row[one] for one in key)][name])
        for row in expected
        for name in row
        if not same(by_key[tuple(row[one] for one in key)][name], row[name])
    ]


def log_of(project: Project) -> pl.DataFrame:
    return pk.read_table("passk_attempts", database=project.database)


def test_sql_and_polars_agree_to_the_letter(built: Project) -> None:
    assert differences(built, log_of(built)) == []


# ---------------------------------------------------------------------------------------------
# numbers, from all orders


def moments(values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    mean = sum(values, Fraction(0)) / len(values)
    return mean, sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


def switches(verdicts: Sequence[bool]) -> Fraction:
    return Fraction(sum(a != b for a, b in itertools.pairwise(verdicts)))


def places(verdicts: Sequence[bool]) -> Fraction:
    return Fraction(sum(place for place, verdict in enumerate(verdicts, 1) if verdict))


def windows(verdicts: Sequence[bool], k: int) -> Fraction:
    count = len(verdicts) - k + 1
    return Fraction(sum(all(verdicts[start : start + k]) for start in range(count)), count)


def exact_z(
    tasks: Sequence[Sequence[bool]], measure: Callable[[Sequence[bool]], Fraction]
) -> float:
    """Enumerate the orders of each task's verdicts."""
    excess = variance = Fraction(0)
    for verdicts in tasks:
        orders = set(itertools.permutations(verdicts))
        mean, spread = moments([measure(order) for order in orders])
        excess += measure(verdicts) - mean
        variance += spread
    return float(excess) / math.sqrt(variance)


@pytest.mark.long
def test_statistics_are_those_of_all_orders(project: Project) -> None:
    """In runs with holes, excluded attempts, numbers that fit no mask, and copies."""
    chance, k, rows, expected = random.Random(5), 2, [], {}
    for run in range(12):
        tasks = []
        while len(tasks) < 14:
            verdicts = [chance.random() < 0.6 for _ in range(chance.randint(1, 6))]
            if 0 < sum(verdicts) < len(verdicts):
                tasks.append(tuple(verdicts))
        numbers = []
        for verdicts in tasks:
            kind = chance.choice(["plain", "excluded", "late", "holes", "copied"])
            places_ = {
                "plain": range(1, 7), "copied": range(1, 7), "excluded": range(1, 7),
                "late": range(120, 127 + run), "holes": sorted(chance.sample(range(1, 127), 6)),
            }[kind]  # fmt: skip
            numbers.append((kind, list(places_)[: len(verdicts)]))
        for task, (verdicts, (kind, places_)) in enumerate(zip(tasks, numbers, strict=True)):
            made = [
                {"run_id": f"run {run}", "task_id": f"t{task}", "attempt": number, "outcome": "passed" if verdict else "failed"}
                for number, verdict in zip(places_, verdicts, strict=True)
            ]  # fmt: skip
            if kind == "excluded":
                for row in made[1:]:
                    row["attempt"] += 1
                made.append({**made[0], "attempt": 2, "outcome": "excluded"})
            rows += made + ([{**made[0], "source_file": "again"}] if kind == "copied" else [])
        solid = [
            verdicts
            for verdicts, (kind, places_) in zip(tasks, numbers, strict=True)
            if (kind not in ("excluded", "holes") or (kind == "excluded" and len(verdicts) < 2))
            and sum(verdicts) >= k
        ]
        hopeful = [verdicts for verdicts in tasks if sum(verdicts) >= k]
        expected[f"run {run}"] = {
            "serial_dependence": exact_z([one for one in tasks if len(one) > 2], switches),
            "drift": exact_z(tasks, places),
            "window_gap": (exact_z(solid, lambda one: windows(one, k)), len(solid)),
            "first_k_gap": (exact_z(hopeful, lambda one: windows(one[:k], k)), len(hopeful)),
        }
    project.land(rows)
    variables = {"passk_ks": [1, 2], "passk_deployment_k": k, "passk_confidence": 0.9}
    project.run(variables)
    for run, exact in expected.items():
        found = diagnostics(project, run)
        for name in ("serial_dependence", "drift"):
            assert found[name]["statistic"] == pytest.approx(exact[name], rel=1e-12, abs=1e-13)
        for name in ("window_gap", "first_k_gap"):
            z, tasks_ = exact[name]
            assert found[name]["tasks"] == tasks_
            assert found[name]["p"] == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-9)
    assert differences(project, log_of(project), k=k, confidence=0.9) == []


def test_cochran_q_of_the_passes_over_the_suite(project: Project) -> None:
    chance, rows = random.Random(11), []
    tasks = [[chance.random() < 0.5 for _ in range(5)] for _ in range(25)]
    rows += rows_of("even", tasks)
    # A third of the tasks has other numbers, and is left out.
    rows += rows_of("uneven", [*tasks[:17], *([None, *one] for one in tasks[17:])])
    project.land(rows)
    project.run(select=["+passk_diagnostics"])

    def q(ones: Sequence[Sequence[bool]]) -> float:
        """As Cochran wrote it down, from the columns' distances to their mean."""
        columns = [sum(one[j] for one in ones) for j in range(5)]
        mean = Fraction(sum(columns), 5)
        spread = sum((count - mean) ** 2 for count in columns)
        return float(5 * 4 * spread / sum(sum(one) * (5 - sum(one)) for one in ones))

    assert diagnostics(project, "even")["shared_run_effect"]["statistic"] == pytest.approx(q(tasks))
    uneven = diagnostics(project, "uneven")["shared_run_effect"]
    informative = [one for one in tasks[:17] if 0 < sum(one) < 5]
    assert uneven["tasks"] == len(informative)
    assert uneven["statistic"] == pytest.approx(q(informative))


# ---------------------------------------------------------------------------------------------
# many questions, many runs


def alike_z(counts: Sequence[tuple[int, int]], k: int) -> float:
    """Give z of delta_k where all tasks pass alike, over all numbers of passes that a task can have."""
    rates = [Fraction(c, n) for n, c in counts]
    hats = [Fraction(math.comb(c, k), math.comb(n, k)) for n, c in counts]
    tasks = len(counts)
    m = sum(rates, Fraction(0)) / tasks
    off = sum((rate - m) ** 2 for rate in rates) / (tasks - 1) / tasks
    delta = sum(hats, Fraction(0)) / tasks - m**k + Fraction(k * (k - 1), 2) * m ** (k - 2) * off
    variance = Fraction(0)
    for n, _ in counts:
        for c in range(n + 1):
            # Of pass^k less what is linear in the passes.
            rest = (
                Fraction(math.comb(c, k), math.comb(n, k))
                - m**k
                - k * m ** (k - 1) * (Fraction(c, n) - m)
            )
            variance += math.comb(n, c) * m**c * (1 - m) ** (n - c) * rest**2
    return float(delta) / math.sqrt(variance) * tasks


def test_a_pass_hat_k_that_is_too_low_is_held_against_alike_tasks(project: Project) -> None:
    counts = {
        "even": [(8, 4 + task % 2) for task in range(30)],
        "ragged": [(5 + task % 4, 1 + task % 5) for task in range(24)],
    }
    for run, tasks in counts.items():
        project.land(rows_of(run, [[True] * c + [False] * (n - c) for n, c in tasks]))
    project.run(select=["+passk_diagnostics"])
    for run, tasks in counts.items():
        row = diagnostics(project, run)["jensen_bounds"]
        z = alike_z(tasks, 4)
        assert row["statistic"] == pytest.approx(z, rel=1e-11)
        # Too low only: one side.
        assert row["p"] == pytest.approx(math.erfc(-z / math.sqrt(2)) / 2, rel=1e-9)
    assert diagnostics(project, "even")["jensen_bounds"]["statistic"] < 0


@pytest.mark.long
def test_a_rare_pass_hat_k_cannot_be_too_low(project: Project) -> None:
    project.land(rows_of("run", [[False] * 127 + [True]] * 12))
    project.run({"passk_deployment_k": 100, "passk_ks": [100]})
    row = diagnostics(project, "run")["jensen_bounds"]
    assert (row["verdict"], row["p"], row["p_adjusted"]) == ("insufficient", None, None)
    assert row["finding"].startswith("The mean pass rate allows hardly any pass^k at k = 100")
    assert differences(project, log_of(project), k=100) == []


def holm(p: dict[str, float]) -> dict[str, float]:
    """As Holm wrote it: the smallest times all, the next times all but one, never falling."""
    ranked = sorted(p, key=lambda name: p[name])
    stepped = [p[name] * (len(p) - place) for place, name in enumerate(ranked)]
    return {name: min(1.0, max(stepped[: place + 1])) for place, name in enumerate(ranked)}


@pytest.mark.long
def test_p_is_corrected_for_all_that_was_asked_by_then(project: Project) -> None:
    chance = random.Random(29)
    logs = {
        "a clean": (independent(chance), 0),
        "b sticky": (sticky(chance, 0.45), 1),
        "c clean": (independent(chance), 1),
        "d drifting": (drifting(chance, 1.5), 2),
    }
    for run, (log, day) in logs.items():
        when = START + timedelta(days=day)
        project.land(rows_of(run, log, loaded_at=when))
    project.run()
    found = {run: diagnostics(project, run) for run in logs}
    tests = {
        run: holm({name: row["p"] for name, row in rows.items() if row["p_adjusted"] is not None})
        for run, rows in found.items()
    }
    assert all(len(p) == 6 for p in tests.values())
    least = {run: min(p.values()) for run, p in tests.items()}
    # Those that were there when it came; b and c came together.
    there = {"a clean": "a", "b sticky": "abc", "c clean": "abc", "d drifting": "abcd"}
    for run, rows in found.items():
        others = [one for one in logs if one[0] in there[run]]
        times = len(others) / sum(least[one] <= least[run] for one in others)
        for name, p in tests[run].items():
            assert rows[name]["p_adjusted"] == pytest.approx(min(1, p * times), rel=1e-12)
            verdict = "warning" if p * times < 0.05 else "ok"
            assert rows[name]["verdict"] == verdict
    assert found["b sticky"]["serial_dependence"]["verdict"] == "warning"
    assert differences(project, log_of(project)) == []
    # A run that comes later leaves the verdicts of the others as they are.
    later = START + timedelta(days=3)
    for place in range(5):
        project.land(rows_of(f"e {place}", independent(chance), loaded_at=later))
    project.run()
    assert {run: diagnostics(project, run) for run in logs} == found
    assert differences(project, log_of(project)) == []


@pytest.mark.long
def test_a_warning_is_told_as_evidence(project: Project) -> None:
    project.land(rows_of("run", sticky(random.Random(3), 0.6)))
    project.run()
    row = diagnostics(project, "run")["serial_dependence"]
    assert row["verdict"] == "warning"
    assert row["meaning"].startswith(
        "Attempts of a task seem to depend on those before them. If attempts depend on"
    )
    assert row["finding"].endswith(" After correction, p < 0.001.")
    mild = next(
        row
        for row in diagnostics(project, "run").values()
        if row["p_adjusted"] is not None and row["p_adjusted"] > 0.001
    )
    assert float(mild["finding"].split("p = ")[1][:-1]) == pytest.approx(
        mild["p_adjusted"], abs=5.1e-4
    )


@pytest.mark.long
def test_a_task_that_lost_an_attempt_was_not_retried(project: Project) -> None:
    chance = random.Random(17)
    lost = [[chance.random() < 0.8, None] for _ in range(30)]
    project.land(rows_of("errors", lost + [[True, chance.random() < 0.8] for _ in range(60)]))
    # Two tries at most, and no second after a pass.
    made = [[True] if chance.random() < 0.6 else [False, chance.random() < 0.6] for _ in range(90)]
    project.land(rows_of("retried", made))
    project.run()
    errors = diagnostics(project, "errors")["retry_until_pass"]
    assert errors["statistic"] > 0.6
    assert errors["verdict"] == "ok"
    assert diagnostics(project, "retried")["retry_until_pass"]["verdict"] == "warning"
    assert differences(project, log_of(project)) == []


def test_few_tasks_that_fail_are_no_fault_of_a_log(project: Project) -> None:
    few = [[True] * 8 for _ in range(58)] + [[False] * 7 + [True], [False] * 8]
    project.land(rows_of("run", few))
    project.run(select=["+passk_diagnostics"])
    row = diagnostics(project, "run")["dominant_tasks"]
    assert (row["verdict"], row["statistic"]) == ("ok", pytest.approx(2 / 60))
    assert row["meaning"].startswith("This is a description, not a test.")


def test_losses_that_nobody_tells_apart_are_equal(project: Project) -> None:
    """Of 100 attempts 10 or 11 passes leave pass^10 below 1e-12, and 9 leave nothing."""
    passes = [11, 10, 9, 0, *[100] * 8]
    rows = rows_of("run", [[True] * c + [False] * (100 - c) for c in passes])
    project.land(rows)
    project.run({"passk_ks": [1, 10], "passk_deployment_k": 10}, select=["+passk_diagnostics"])
    said = diagnostics(project, "run")["dominant_tasks"]["finding"]
    told = pk.diagnose(pl.DataFrame(rows), k=10).filter(diagnostic="dominant_tasks")
    assert said == told["finding"].item()
    assert said.endswith("none loses more than task 0000, 0.25 of it, and 3 more lose as much.")


# ---------------------------------------------------------------------------------------------
# what there is too little of


@pytest.mark.long
def test_logs_with_nothing_to_say(project: Project) -> None:
    rows = rows_of("one attempt each", [[task % 2 == 0] for task in range(30)])
    rows += rows_of("nothing counts", [[None, None]] * 12)
    rows += rows_of("perfect", [[True] * 6] * 12)
    rows += rows_of("few", [[True, False, True, True, False]] * 9)
    rows += rows_of("ragged", [[True, False] * (1 + task % 4) for task in range(40)])
    project.land(rows)
    project.run()
    assert differences(project, log_of(project)) == []
    for run in ("one attempt each", "nothing counts", "perfect", "few"):
        found = diagnostics(project, run)
        assert found.keys() == set(DIAGNOSTICS)
        assert {row["verdict"] for row in found.values()} <= {
            "ok",
            "insufficient",
            "not_applicable",
        }
        for name in (
            "serial_dependence",
            "drift",
            "shared_run_effect",
            "window_gap",
            "first_k_gap",
        ):
            assert found[name]["verdict"] == "insufficient"
    assert (
        diagnostics(project, "few")["drift"]["finding"] == "9 tasks inform it, and 10 are needed."
    )
    assert diagnostics(project, "perfect")["dominant_tasks"]["verdict"] == "ok"
    # Ten tasks of each length: those with most attempts tell the passes over the suite.
    ragged = diagnostics(project, "ragged")
    assert ragged["shared_run_effect"]["tasks"] == 10
    assert ragged["shared_run_effect"]["statistic"] == pytest.approx(70)
    assert (ragged["retry_until_pass"]["tasks"], ragged["retry_until_pass"]["statistic"]) == (
        30,
        0.0,
    )


@pytest.mark.long
def test_without_order_only_what_needs_none_is_told(project: Project) -> None:
    project.land(rows_of("run", independent(random.Random(1))))
    project.run({"passk_ordered_metrics": False})
    found = diagnostics(project, "run")
    assert found["drift"]["verdict"] == "not_applicable"
    assert "passk_ordered_metrics" in found["drift"]["finding"]
    assert found["dominant_tasks"]["verdict"] == "ok"
    assert differences(project, log_of(project), ordered=False) == []


def test_without_order_no_task_is_known_to_end_in_a_pass(project: Project) -> None:
    project.land(rows_of("run", [[False, True], *[[False] * 4] * 11, *[[False]] * 11]))
    project.run({"passk_ordered_metrics": False}, select=["+passk_diagnostics"])
    found = diagnostics(project, "run")["retry_until_pass"]
    assert (found["verdict"], found["statistic"], found["tasks"]) == ("not_applicable", None, 0)


@pytest.mark.long
@pytest.mark.parametrize("ordered", [True, False])
def test_attempts_that_were_tried_again_are_a_warning(project: Project, ordered: bool) -> None:
    """As pytest-rerunfailures leaves them: each task has as many attempts as the others."""
    rows = rows_of("rerun", [[True, False, True]] * 12) + rows_of("steady", [[True, False]] * 12)
    for row in rows:
        tried = row["run_id"] == "rerun" and row["task_id"] in ("task 0003", "task 0007")
        row["tags"] = {"reruns": "2" if tried and row["attempt"] == 2 else "0", "x": "y"}
    project.land(rows + rows_of("untagged", [[True, False]] * 12))
    project.run({"passk_ordered_metrics": ordered})
    found = diagnostics(project, "rerun")["retry_until_pass"]
    assert (found["verdict"], found["tasks"]) == ("warning", 12)
    assert found["statistic"] == pytest.approx(2 / 12)
    assert found["finding"] == (
        "The log says that 2 of 12 tasks were tried again because they failed: the tag reruns."
    )
    assert "stopped at the first pass" in found["meaning"]
    assert "Switch retries off" in found["advice"]
    for run in ("steady", "untagged"):
        verdict = diagnostics(project, run)["retry_until_pass"]["verdict"]
        assert verdict == ("ok" if ordered else "not_applicable")
    assert differences(project, log_of(project), ordered=ordered) == []


@pytest.mark.long
def test_the_var_turns_them_off_and_on(project: Project) -> None:
    project.land(rows_of("run", independent(random.Random(1))))
    project.run({"passk_diagnostics": False})
    assert project.query("from passk_diagnostics") == []
    project.run()
    assert len(project.query("from passk_diagnostics")) == len(DIAGNOSTICS)
    project.run({"passk_diagnostics": False})
    assert project.query("from passk_diagnostics") == []


@pytest.mark.long
def test_another_deployment_k_makes_them_anew(project: Project) -> None:
    project.land(rows_of("run", independent(random.Random(1))))
    project.run()
    project.run({"passk_deployment_k": 2})
    assert "k = 2" in diagnostics(project, "run")["window_gap"]["finding"]
    assert differences(project, log_of(project), k=2) == []


@pytest.mark.long
def test_a_large_run_is_read_in_part(project: Project) -> None:
    tasks = [[True, False, True, True, False] * 4] * 1100
    # Fifty tasks at least, however long they are; and tasks of every length.
    long = [[True, False] * 200] * 60
    ragged = [[True, False] * (1 + 7 * task % 31) for task in range(900)]
    runs = {"large": tasks, "long": long, "ragged": ragged}
    project.land([{**row, "seed": 7} for run, made in runs.items() for row in rows_of(run, made)])
    project.run()
    assert diagnostics(project, "long")["duplicate_seeds"]["tasks"] == 50
    assert 50 < diagnostics(project, "ragged")["duplicate_seeds"]["tasks"] < 900
    found = diagnostics(project, "large")["duplicate_seeds"]
    assert found["tasks"] == 1000
    assert found["finding"].endswith("Read of 1000 of 1100 tasks.")
    lost = diagnostics(project, "large")["dominant_tasks"]["finding"]
    assert lost.endswith("less than 0.001 of it, and 1099 more lose as much."), lost
    assert differences(project, log_of(project)) == []


@pytest.mark.parametrize(
    ("tasks", "share"), [(1000, ", 0.001 of it"), (2500, ", less than 0.001 of it")]
)
def test_a_small_share_of_what_is_lost_is_not_nothing(tasks: int, share: str) -> None:
    log = pl.DataFrame(rows_of("run", [[True, False, True, True]] * tasks))
    found = pk.diagnose(log).filter(pl.col("diagnostic") == "dominant_tasks")["finding"].item()
    assert share in found


@pytest.mark.long
def test_only_the_changed_run_is_made_again(project: Project) -> None:
    chance = random.Random(3)
    project.land(rows_of("a", independent(chance)) + in_sessions(chance, 1.0, "b"))
    project.run()
    before = diagnostics(project, "a")
    later = datetime(2026, 6, 1)
    more = [{**row, "attempt": row["attempt"] + 10} for row in in_sessions(chance, 1.0, "b")]
    project.land([{**row, "loaded_at": later, "seed": 1} for row in more])
    project.run()
    assert diagnostics(project, "a") == before
    assert diagnostics(project, "b")["duplicate_seeds"]["verdict"] == "warning"
    assert diagnostics(project, "b")["drift"]["loaded_at"] == later
    assert differences(project, log_of(project)) == []

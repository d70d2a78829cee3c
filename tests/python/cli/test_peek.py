"""``passk peek``: what it says of files is what the tables say once they are loaded and built."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from passk_py.cli import cli

from ..engines.logs import HUMAN_EVAL_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Demo, Said

    Passk = Callable[..., Said]

APPROXIMATED = ("interval", "lower", "upper", "limits", "p", "z", "p_adjusted")
"""Columns that SQL finds by series and approximations, 3e-9 apart as for `passk validate`."""
CLOSE = 1e-12


def assert_same(found: Any, expected: Any, path: str = "", *, close: float = CLOSE) -> int:
    """Hold values against each other, numbers to a relative difference; give how many there are."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), path
        return sum(
            assert_same(
                found[key], value, f"{path}.{key}",
                close=3e-9 if key.endswith(APPROXIMATED) else close,
            )
            for key, value in expected.items()
        )  # fmt: skip
    if isinstance(expected, list):
        assert len(found) == len(expected), path
        return sum(
            assert_same(one, other, f"{path}[{place}]", close=close)
            for place, (one, other) in enumerate(zip(found, expected, strict=True))
        )
    if isinstance(expected, float):
        assert found == pytest.approx(
            expected, rel=close, abs=1e-15 if close == CLOSE else close
        ), path
    else:
        assert found == expected, path
    return 1


def peek(passk: Passk, *words: object) -> dict[str, Any]:
    """Give what it says to a program, beside what it says of the files."""
    said = passk("peek", *words, "--json").json
    assert said.pop("paths")
    assert said.pop("log")["rows_landed"] > 0
    return said


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def shown(passk: Passk, database: Path) -> dict[str, Any]:
    return without(passk("show", "--database", database, "--json").json, "database", "stale", "tables")  # fmt: skip


def odd_log(path: Path, seed: int) -> Path:
    """Write a log with all that keeps rows and attempts out of the metrics."""
    dice = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for run, agent in (("one", "a"), ("two", "a"), ("three", "b"), ("excluded", None)):
        for task in range(15):
            first = dice.choice([1, 1, 1, 2])
            for attempt in range(first, first + dice.choice([1, 6, 6, 6, 9])):
                outcome = dice.choices(["passed", "failed", "excluded"], [6, 3, 1])[0]
                row = {
                    "run_id": run,
                    "suite": "other" if task == 14 else "suite",
                    "task_id": f"task {task}",
                    "attempt": attempt,
                    "outcome": "excluded" if run == "excluded" else outcome,
                    "agent": agent,
                    "agent_version": "2" if run == "three" and task % 2 else "1",
                    "model": dice.choice(["m", None]) if run == "two" else "m",
                    "started_at": f"2026-01-0{('one', 'two', 'three', 'excluded').index(run) + 1}",
                    "tags": {"b": "1", "a": "2", "minutes": str(2 ** (task % 9))},
                    # One run says nothing of costs, and one not enough.
                    "cost_usd": None
                    if run == "one" or (run == "three" and attempt == 2)
                    else (task + 1) * attempt / 8,
                    "expected_attempts": 7 if run == "two" else None,
                }
                rows.append(row)
                if dice.random() < 0.04:
                    tags = dict(reversed(row["tags"].items()))
                    rows.append({**row, "tags": tags, "transcript": "copy.json"})
                if dice.random() < 0.04:
                    rows += [{**row, "score": 0.5}, row]
    rows += [
        {"run_id": "one", "suite": "suite", "task_id": "conflict", "attempt": 1, "passed": passed}
        for passed in (True, False)
    ]
    rows += [
        {"run_id": "two", "suite": "suite", "task_id": "t", "attempt": 0, "passed": True},
        {"task_id": "t", "attempt": 1, "passed": True},
        {"run_id": "lost", "task_id": "t", "attempt": -1, "passed": True},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


# ---------------------------------------------------------------------------------------------
# the numbers


def test_the_demo_is_answered_as_after_a_build(passk: Passk, demo: Demo) -> None:
    said = peek(passk, demo.folder / "passk_demo.jsonl")
    assert assert_same(said, shown(passk, demo.database)) > 400
    text = passk("peek", demo.folder / "passk_demo.jsonl").out
    answer, steps = text.split("\nNext\n")
    assert passk("show", "--database", demo.database).out.startswith(answer)
    assert "passk load " in steps


def test_a_pair_is_compared_as_after_a_build(passk: Passk, demo: Demo) -> None:
    pair = ("scout-2026-02", "scout-2026-03")
    said = peek(passk, demo.folder / "passk_demo.jsonl", "--compare", *pair)
    tables = passk("compare", *pair, "--database", demo.database, "--json").json
    rows = ("comparisons", "tasks")
    for values in (said, tables):
        # The p of two tasks may be equal but for their last digits.
        values["tasks"].sort(key=lambda task: task["task_id"])
    told = {
        name: [{key: row[key] for key in said[name][0]} for row in tables[name]] for name in rows
    }
    assert assert_same({name: said[name] for name in rows}, told) > 400


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_an_odd_log_is_answered_as_after_a_build(
    passk: Passk, tmp_path: Path, models_only: tuple[str, str], seed: int
) -> None:
    log = odd_log(tmp_path / "odd.jsonl", seed)
    assert passk("load", log).code == 0
    lengths = ("--vars", "{passk_difficulty: minutes}")
    assert passk("build", *models_only, *lengths).code == 0
    said = peek(passk, log, "--difficulty", "minutes")
    tables = shown(passk, tmp_path / "passk.duckdb")
    assert assert_same(said, tables) > 200
    (suite,) = (suite for suite in tables["suites"] if suite["suite"] == "suite")
    assert suite["costs"]
    assert suite["horizons"]
    warnings = {run["warnings"] for suite in tables["suites"] for run in suite["runs"]}
    assert any("all its attempts conflict" in (text or "") for text in warnings)
    assert said["rejected_rows"] > 3


def test_costs_and_lengths_are_answered(passk: Passk, tmp_path: Path) -> None:
    """Half of all attempts pass at $1 and half fail at $2, then at half of both; only short tasks are solved."""
    log = tmp_path / "costs.jsonl"
    rows = [
        {
            "run_id": run, "suite": "suite", "agent": "bot", "agent_version": run, "task_id": f"t{task}",
            "attempt": attempt, "passed": (passed := attempt <= (4 if task < 8 else 0)),
            "cost_usd": scale * (1 if passed else 2), "started_at": f"2026-01-0{day}", "tags": {"minutes": str(2**task)},
        }
        for day, (run, scale) in enumerate((("old", 1.0), ("new", 0.5)), 1)
        for task in range(16)
        for attempt in range(1, 5)
    ]  # fmt: skip
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (suite,) = peek(passk, log, "--difficulty", "minutes")["suites"]
    said = " ".join(suite["costs"])
    # 32 passes: (32 * 1 + 32 * 2) / 32.
    assert "old: a success costs $3.00 (" in said
    assert "new: a success costs $1.50 (" in said
    assert said.count("66.7% of what was spent went into failures") == 2
    # No task passes more often, or less.
    assert (
        "new against old: too little data at pass^4; per attempt 50 % cheaper (50 to 50)." in said
    )
    assert said.endswith("No other run beats new on both pass^4 and the cost of an attempt.")
    # Between the last length that is solved, 2^7, and the first that is not, 2^8.
    (suite,) = peek(passk, log, "--difficulty", "minutes", "--k", 1)["suites"]
    assert [one.split(" (")[0] for one in suite["horizons"]] == [
        f"pass^1 of {run} is one half at minutes 181" for run in ("old", "new")
    ]
    assert peek(passk, log)["suites"][0]["horizons"] == []
    unknown = passk("peek", log, "--difficulty", "hours")
    assert unknown.code == 0
    assert "No task with 4 attempts has a number above 0 in the tag or column hours." in unknown.err
    assert "passk build --vars '{passk_difficulty: hours}'" in unknown.out
    wrong = passk("peek", log, "--difficulty", "minutes", "--compare", "old", "new")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--difficulty is for the answer, without --compare and --gate." in wrong.err


@pytest.mark.long
@pytest.mark.parametrize("name", ["tau_bench_file", "human_eval_file"])
def test_real_logs_are_answered_as_after_a_build(
    passk: Passk,
    tmp_path: Path,
    models_only: tuple[str, str],
    name: str,
    request: pytest.FixtureRequest,
) -> None:
    log = request.getfixturevalue(name)
    words = [log, *(HUMAN_EVAL_OPTIONS if name == "human_eval_file" else ())]
    passk("load", *words)
    assert passk("build", *models_only).code == 0
    assert assert_same(peek(passk, *words), shown(passk, tmp_path / "passk.duckdb")) > 30


@pytest.mark.long
def test_k_is_that_of_a_build_with_the_vars(
    passk: Passk, make_log: Callable[..., Path], models_only: tuple[str, str], tmp_path: Path
) -> None:
    log = make_log(
        "log.jsonl", [("r", f"t{place}", "PPFPPPPPP"[place:] + "P" * place) for place in range(6)]
    )
    passk("load", log)
    said = passk(
        "build",
        *models_only,
        "--vars",
        "{passk_ks: [1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 32, 64, 100], passk_deployment_k: 7}",
    )
    assert said.code == 0, said.err
    assert assert_same(peek(passk, log, "--k", 7), shown(passk, tmp_path / "passk.duckdb")) > 60


# ---------------------------------------------------------------------------------------------
# rules


RULES = """
passk_gates:
  - name: works-once
    type: threshold
    metric: pass_at_k
    k: 1
    min: {least}
    run: all
    scope: suite
"""


@pytest.mark.parametrize(
    ("least", "code", "result"), [(0.2, 0, "pass"), (0.99, 1, "fail"), (0.5, 2, "inconclusive")]
)
def test_rules_are_judged_as_by_gate(
    passk: Passk,
    make_log: Callable[..., Path],
    tmp_path: Path,
    least: float,
    code: int,
    result: str,
) -> None:
    log = make_log("log.jsonl", [("r", f"t{place}", "PF" * 8) for place in range(9)])
    rules = tmp_path / "gates.yml"
    rules.write_text(RULES.format(least=least), encoding="utf-8")
    said = passk("peek", log, "--gate", rules)
    assert said.code == code
    assert said.out.startswith(f"{result.upper()} ")
    told = passk("peek", log, "--gate", rules, "--json").json
    assert told["exit_code"] == code
    assert [row["result"] for row in told["gates"]] == [result]


def test_no_rule_is_judged_on_a_part_of_the_log(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    log = make_log("log.jsonl", [("r", "t", "PPPP")])
    rules = tmp_path / "gates.yml"
    rules.write_text(RULES.format(least=0.1), encoding="utf-8")
    said = passk("peek", log, tmp_path / "missing.jsonl", "--gate", rules)
    assert (said.code, said.out) == (3, "")
    assert said.err.endswith("Error: No gate was judged: 1 file was not read.\n")
    said = passk("peek", log, "--gate", tmp_path / "no.yml")
    assert (said.code, said.out) == (3, "")


def test_no_rule_is_judged_if_a_log_has_no_attempt(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    """The release must not pass in the place of a candidate whose rows are all rejected."""
    release = make_log("release.jsonl", [("release", f"t{place}", "PPPP") for place in range(9)])
    candidate = make_log("candidate.jsonl", [("candidate", "t0", "FFFF")], task_id=None)
    rules = tmp_path / "gates.yml"
    rules.write_text(RULES.format(least=0.1), encoding="utf-8")
    said = passk("peek", release, candidate, "--gate", rules)
    assert (said.code, said.out) == (3, "")
    assert f"Error: No gate was judged: every row of {candidate} was rejected.\n" in said.err
    broken = make_log("broken.jsonl", [("candidate", "t0", "FFFF"), ("candidate", "t1", "PPPP")])
    broken.write_text(broken.read_text("utf-8").replace('"attempt": 4', '"attempt": 0', 1), "utf-8")
    assert passk("peek", release, broken, "--gate", rules, "--strict").code == 3
    said = passk("peek", release, broken, "--strict")
    assert f"{broken} is left out: 1 of its 8 rows are rejected" in said.err
    assert "leave out --strict to count the others" in said.err
    assert "land" not in said.err


@pytest.mark.long
@pytest.mark.parametrize("lost", ["rejected", "conflicting"])
def test_a_run_without_a_usable_attempt_is_judged_as_by_gate(
    passk: Passk,
    make_log: Callable[..., Path],
    models_only: tuple[str, str],
    tmp_path: Path,
    lost: str,
) -> None:
    good = [("one", f"t{place}", "PPPP") for place in range(9)]
    bad = [("two", "t0", "PFPF")]
    log = make_log(
        "log.jsonl", [*good, *bad, *([("two", "t0", "FPFP")] if lost == "conflicting" else [])]
    )
    if lost == "rejected":
        rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        rows = [row | {"attempt": 0} if row["run_id"] == "two" else row for row in rows]
        log.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    rules = tmp_path / "gates.yml"
    rules.write_text(
        RULES.format(least=0.1)
        + RULES.format(least=0.1)
        .replace("works-once", "two")
        .replace("run: all", "run: two")
        .replace("passk_gates:\n", ""),
        encoding="utf-8",
    )
    assert passk("load", log).code == 0
    assert passk("build", *models_only).code == 0
    tables = passk("gate", "--rules", rules, "--json").json
    said = passk("peek", log, "--gate", rules, "--json").json
    assert [row["result"] for row in tables["gates"]].count("inconclusive") > 0
    assert (said["exit_code"], said["gates"]) == (tables["exit_code"], tables["gates"])


def test_a_gate_does_not_pass_because_nobody_reads_its_notes(
    make_log: Callable[..., Path], tmp_path: Path
) -> None:
    log = make_log("log.jsonl", [("r", "t", "FFFF")])
    log.write_text(log.read_text("utf-8") + "junk\n", "utf-8")
    rules = tmp_path / "gates.yml"
    rules.write_text(RULES.format(least=0.9), encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "passk_py", "peek", str(log), "--gate", str(rules)],
            stdout=subprocess.DEVNULL, stderr=writer, check=False,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert done.returncode == 3


def test_runs_that_no_rule_judges_are_named(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    logs = [make_log(f"{run}.jsonl", [(run, "t", "PPPP")], started_at=None) for run in ("z", "a")]
    rules = tmp_path / "gates.yml"
    rules.write_text(
        RULES.format(least=0.1).replace("run: all", "suite: letters"), encoding="utf-8"
    )
    said = passk("peek", *logs, "--gate", rules, "--json")
    assert [row["run_id"] for row in said.json["gates"]] == ["a"]
    assert said.err.startswith("Not judged: z. A rule without run: judges the latest run ")


# ---------------------------------------------------------------------------------------------
# files


def test_standard_input_is_read_and_named(make_log: Callable[..., Path], passk: Passk) -> None:
    log = make_log("log.jsonl", [("r", "t", "PPFP"), ("r", "u", "PPPP")])
    text = (
        log.read_text(encoding="utf-8")
        + '{"run_id": "r", "task_id": "t", "attempt": 0, "passed": true}\n'
    )
    done = CliRunner().invoke(cli, ["peek", "-"], input=text)
    assert done.exit_code == 0
    assert (
        done.stderr
        == "-: The first rejected row is line 9: attempt is 0, but attempts are numbered from 1.\n"
        "1 row is rejected and in no number below.\n"
    )
    assert "passk load FILE" in done.stdout
    assert passk("peek", "-", "-").code == 2


def test_nothing_is_left_behind(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = make_log("log.jsonl", [("r", "t", "PPFP")])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert passk("peek", log).code == 0
    assert passk("peek", log, "--compare", "r", "s").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_can_not_be_read_is_said(
    passk: Passk, make_log: Callable[..., Path], tmp_path: Path
) -> None:
    log = make_log("log.jsonl", [("r", "t", "PPFP")])
    said = passk("peek", tmp_path / "none.jsonl")
    assert (said.code, said.out) == (2, "")
    assert (
        said.err
        == f"Error: {tmp_path / 'none.jsonl'} does not exist.\nCheck the path and the directory.\n"
    )
    # The others are answered all the same.
    said = passk("peek", log, tmp_path / "none.jsonl")
    assert said.code == 2
    assert said.out.startswith("letters · 1 run")
    bad = make_log("bad.jsonl", [("r", "t", "P")], attempt=0)
    said = passk("peek", bad)
    assert said.code == 2
    assert "Error: No attempt is left to answer from: passk rejected every row.\n" in said.err


def test_a_log_of_which_no_attempt_counts_has_no_answer(
    passk: Passk, make_log: Callable[..., Path]
) -> None:
    log = make_log("log.jsonl", [("r", "t", "P"), ("r", "t", "F")])
    for more in ((), ("--json",)):
        said = passk("peek", log, *more)
        assert said.code == 2
        assert said.err.startswith(
            "Error: No attempt is left to answer from: 2 rows are rejected, as conflicting_duplicate.\n"
        )


def test_rejected_rows_are_counted_and_the_next_steps_keep_the_options(
    passk: Passk, make_log: Callable[..., Path]
) -> None:
    log = make_log("log.jsonl", [("r", "t", "PPFP"), ("s", "t", "PPPP"), ("s", "t", "PPPP")])
    said = passk("peek", log, "--k", 2, "--tag", "a=b c", "--expected-attempts", 4, "none.jsonl")
    assert "4 rows are rejected and in no number below.\n" in said.err
    words = "--tag 'a=b c' --expected-attempts 4"
    assert f"passk load {log} none.jsonl {words}\n" in said.out
    assert f"passk peek {log} none.jsonl {words} --k 2 --compare r s\n" in said.out


def test_a_pair_or_rules(passk: Passk, make_log: Callable[..., Path]) -> None:
    log = make_log("log.jsonl", [("r", "t", "PPFP")])
    said = passk("peek", log, "--compare", "r", "s", "--gate", "x.yml")
    # With --gate, 2 would mean inconclusive (docs/exit-codes.md).
    assert said.code == 3
    assert "Give either --compare or --gate, not both." in said.err
    said = passk("peek", log, "--compare", "r", "s")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: There is no run s")

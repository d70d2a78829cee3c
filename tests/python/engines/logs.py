"""Random logs with everything in them that engines could take differently, from a seed."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from passk_py.ingest.landing.labels import LABEL_TABLES
from passk_py.ingest.landing.schema import TABLES, ensure_landing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

ROOT: Final = Path(__file__).resolve().parents[3]

STRANGE: Final = (
    "it's", 'a "quoted" one', "emoji 🦆👩‍🚀", "Ärger", "ärger", "zebra", "Zebra", "a,b;c", "back\\slash", "new\nline",
    "tab\there", "007", "1e5", "\\N", "null", "%_%", "{{ not jinja }}", "-- comment", "x" * 150, " spaces ", "日本語", "é",
)  # fmt: skip
"""Names that quoting, sorting, CSV or Jinja could take for something else."""

FIRST: Final = datetime(2026, 3, 1, 8)
BATCH: Final = timedelta(hours=1)

Row = dict[str, Any]


def land(database: Path, rows: Iterable[Mapping[str, Any]], table: str = "attempts") -> None:
    """Put rows into a table of the schema landing; what they do not say is null."""
    columns = dict(TABLES[table])
    with duckdb.connect(str(database)) as connection:
        ensure_landing(connection)
        # Through JSON, which is fast and leaves the types to the table.
        path = database.with_name("rows.jsonl")
        with path.open("w", encoding="utf-8") as lines:
            for row in rows:
                lines.write(json.dumps(row, default=str) + "\n")
        if path.stat().st_size:
            connection.execute(
                f"insert into landing.{table} by name select * from "
                f"read_json('{path}', columns = {columns}, format = 'newline_delimited')"
            )
        path.unlink()


def attempts_of(
    generator: random.Random,
    run_id: str,
    suite: str,
    tasks: Mapping[str, float],
    *,
    loaded_at: datetime,
    number: Callable[[], Iterable[int]],
    timed: bool = True,
    known: bool = True,
    agent: str | None = "agent",
    version: str | None = None,
) -> list[Row]:
    """Give the attempts of a run: each task passes with its own chance."""
    rows: list[Row] = []
    clock = loaded_at - timedelta(days=2)
    for line, (task_id, chance) in enumerate(tasks.items(), 1):
        for attempt in number():
            clock += timedelta(microseconds=generator.randrange(1, 90_000_000))
            passed = generator.random() < chance
            excluded = generator.random() < 0.06
            outcome = "excluded" if excluded else "passed" if passed else "failed"
            row: Row = {
                "run_id": run_id,
                "suite": suite,
                "task_id": task_id,
                "attempt": attempt,
                "outcome": outcome,
                "agent": agent,
                "agent_version": version,
                "source_file": f"{run_id}.jsonl",
                "source_line": line * 1000 + attempt,
                "source_format": "canonical_jsonl",
                "loaded_at": loaded_at,
            }
            if timed:
                row["started_at"] = clock
            if known:
                row |= {
                    "outcome_reason": generator.choice(["timeout", "infra_error", None])
                    if not passed
                    else None,
                    # Runs whose attempts lack scores have no estimate at thresholds.
                    "score": generator.choice(
                        [
                            0.9999995 if suite == "even" else None,
                            0.0,
                            1.0,
                            0.1 + 0.2,
                            1e-7,
                            123456.75,
                        ]
                    ),
                    "duration_s": round(generator.uniform(0, 500), generator.randrange(0, 6)),
                    "cost_usd": generator.choice([None, generator.uniform(0, 2)]),
                    "input_tokens": generator.randrange(0, 10**6),
                    "output_tokens": generator.choice([None, generator.randrange(0, 10**5)]),
                    "model": generator.choice(["model-a", "model-b"]),
                    "seed": generator.randrange(0, 40),
                    "output_hash": hashlib.sha256(
                        f"{task_id}{generator.randrange(6)}".encode()
                    ).hexdigest(),
                    "tags": {
                        "domain": generator.choice(STRANGE[:6]),
                        **({"level's": "hard"} if line % 3 == 0 else {}),
                    },
                    "transcript": f"/logs/{run_id}.eval#samples/{task_id}_epoch_{attempt}.json",
                }
            rows.append(row)
    return rows


def random_runs(seed: int = 7) -> list[Row]:
    """Give several suites and runs: unequal n, n < k, gaps, numbers above 126, copies, unknown columns."""
    generator = random.Random(seed)
    even = {f"task {i:03}": generator.choice([0, 0.1, 0.5, 0.9, 1]) for i in range(40)}
    strange = {name: generator.random() for name in STRANGE}
    rows: list[Row] = []

    def all_of(count: int) -> Callable[[], range]:
        return lambda: range(1, count + 1)

    def ragged() -> list[int]:
        return sorted(generator.sample(range(1, 30), generator.randrange(1, 25)))

    def far() -> list[int]:
        numbers = range(1, 400) if generator.random() < 0.5 else range(60, 127)
        return sorted(generator.sample(numbers, 40))

    for i, version in enumerate(["1", "2", "3"]):
        rows += attempts_of(
            generator,
            f"even-{version}",
            "even",
            even,
            loaded_at=FIRST + i * BATCH,
            number=all_of(16),
            version=version,
        )
    for i, run_id in enumerate(["Äpfel's run", "apfel 🍎", "Zoo"]):
        rows += attempts_of(
            generator,
            run_id,
            "strange 'suite'",
            strange,
            loaded_at=FIRST + i * BATCH,
            number=ragged,
            timed=False,
            agent=None,
        )
    for i, run_id in enumerate(["far-a", "far-b"]):
        rows += attempts_of(
            generator,
            run_id,
            "far",
            even,
            loaded_at=FIRST + i * BATCH,
            number=far,
            known=False,
            version="x",
        )
    rows += attempts_of(
        generator,
        "long",
        "long",
        {f"t{i}": c for i, c in enumerate([0.0005, 0.5, 0.999, 1, 0])},
        loaded_at=FIRST,
        number=all_of(1500),
        known=False,
    )
    rows += attempts_of(
        generator, "one try", "even", even, loaded_at=FIRST, number=all_of(1), version="0"
    )
    copies = [
        {**row, "source_line": row["source_line"] + 500_000}
        for row in generator.sample([row for row in rows if row["suite"] != "long"], 60)
    ]
    for row in copies[:30]:
        row["outcome"] = "failed" if row["outcome"] == "passed" else "passed"
    nothing = attempts_of(
        generator, "none counts", "even", even, loaded_at=FIRST, number=all_of(2), known=False
    )
    for row in nothing:
        row["outcome"] = "excluded"
    return rows + copies + nothing + alone_runs(generator)


def alone_runs(generator: random.Random) -> list[Row]:
    """Give a run before which only other tasks were tried, and whose loss of pass^4 is one task's: 6 / 7 of it."""
    rows = []
    for i, tasks in enumerate([("held",), ("held", "kept", "sound")]):
        rows += attempts_of(
            generator, f"alone-{i}", "alone", dict.fromkeys(tasks, 1.0), loaded_at=FIRST + i * BATCH,
            number=lambda: range(1, 8), agent="alone",
        )  # fmt: skip
    for row in rows:
        lost = row["task_id"] == "held" and row["attempt"] > 5
        row["outcome"] = "failed" if lost else "passed"
    return rows


def random_rejected() -> list[Row]:
    """Give rows that the loader refused, of a run that has others and of one that has none."""
    return [
        {
            "run_id": run_id, "suite": suite, "task_id": f"task {i}", "attempt": i, "reason_code": "wrong_type",
            "reason": "wrong_type: 'x'", "raw": '{"a": "b,\\n"}', "source_file": "refused.jsonl", "source_line": i,
            "source_format": "canonical_jsonl", "loaded_at": FIRST,
        }
        for i, (run_id, suite) in enumerate([("even-1", "even"), ("even-1", "even"), ("only refused", None)])
    ]  # fmt: skip


def random_expected() -> list[Row]:
    """Give how many attempts were to be made, of tasks that are there and of one that is not."""
    return [
        {
            "run_id": "even-2", "suite": "even", "task_id": task_id, "expected_attempts": expected,
            "source_file": "log", "loaded_at": FIRST,
        }
        for task_id, expected in [("task 000", 20), ("task 001", 16), ("never tried", 4)]
    ]  # fmt: skip


OWN_COLUMNS: Final = (
    "release", "case_id", "trial", "verdict", "is_ok", "points", "began", "seconds", "price", "tokens", "seed", "labels",
    "why", "loaded_at",
)  # fmt: skip

OWN_MAPPING: Final = {
    "run_id": "release",
    "task_id": "case_id",
    "attempt": "trial",
    "outcome": "verdict",
    "passed": "is_ok",
    "score": "points",
    "started_at": "began",
    "duration_s": "seconds",
    "cost_usd": "price",
    "input_tokens": "tokens",
    "tags": "labels",
    "outcome_reason": "why",
}


def own_rows(seed: int = 11) -> list[tuple[str | None, ...]]:
    """Give a table of somebody's own in which all is text, right and wrong."""
    generator = random.Random(seed)
    numbers = [
        "1",
        "2.0",
        " 3 ",
        "4.5",
        "x",
        "",
        "1e2",
        "-1",
        "1e400",
        "nan",
        "inf",
        "9223372036854775808",
        ".5",
        "+7",
    ]
    times = [
        "2026-01-02", "2026-01-02 03:04:05", "2026-01-02T03:04:05.678", "2026-01-02 03:04:05+02:00", "2026-02-30",
        "2026-01-02T03:04:05Z", "yesterday", "", "2024-02-29", "2023-02-29", "2026-01-02 25:00:00",
    ]  # fmt: skip
    labels = [
        '{"domain": "a"}', "{}", '{"domain": "b", "x": "1"}', "[1]", "not json", '{"a": "1", "a": "2"}', '{"n": 1.50}',
        '{"n": null}', '{"q": "it\'s \\"x\\""}', '{"a": }', "", ' {"domain": "a"} ', '{"u": "\\u00e9"}', '{"b": true}',
    ]  # fmt: skip
    rows: list[tuple[str | None, ...]] = []
    for release in ("r1", "r2"):
        for case in [f"case {i}" for i in range(25)]:
            for trial in range(1, 9):
                odd = generator.random() < 0.12
                verdict = generator.choice(["passed", "failed", " Passed ", "excluded", None, None])
                is_ok = (
                    generator.choice(["true", "no", "1", "0.0", "maybe" if odd else None, None])
                    if not verdict
                    else None
                )
                if odd and verdict and generator.random() < 0.3:
                    is_ok = "false"

                def maybe(values: list[str], *, odd: bool = odd) -> str | None:
                    return generator.choice(values) if odd and generator.random() < 0.4 else None

                rows.append(
                    (
                        release if generator.random() > 0.005 else None,
                        case if generator.random() > 0.005 else "",
                        maybe(numbers) or str(trial),
                        verdict,
                        is_ok,
                        maybe(numbers) or generator.choice(["1", "0", "0.9999999", "0.99", None]),
                        maybe(times)
                        or f"2026-01-02 03:{trial:02}:{generator.randrange(60):02}.{generator.randrange(10**6):06}",
                        maybe(numbers) or str(generator.randrange(100) / 4),
                        maybe(numbers) or "0.25",
                        maybe(numbers) or "100",
                        maybe(numbers) or "1",
                        maybe(labels)
                        or generator.choice(['{"domain": "a"}', '{"domain": "b", "x": "1"}', None]),
                        generator.choice(["timeout", "rate_limited", None]),
                        "2026-03-01 00:00:00",
                    )
                )
    return rows


RANDOM_VARS: Final = {
    "passk_slices": ["domain", {"name": "reason", "expression": "outcome_reason"}],
    "passk_cluster": "domain",
    "passk_causes": {"budget*": "budget"},
    "passk_difficulty": "duration_s",
    "passk_m_of_k": [{"m": 1, "k": 2}, {"m": 3, "k": 4}, {"m": 5, "k": 8}, {"m": 17, "k": 32}],
    "passk_score_thresholds": [0.25, 0.5, 1],
    "passk_costs": ["cost_usd", "duration_s", "tokens"],
    "passk_extrapolated_ks": [128, 1000],
    "passk_private_suites": [{"public": "even", "private": "far"}],
    "passk_quarantine": [
        # Its last day ends while a run goes on.
        {"task": "task 00*", "suite": "even", "until": "2026-02-27", "reason": "first tasks"},
        {"task": "it's", "until": "2026-12-31", "reason": "a quote"},
        {"task": "back\\slash", "until": "2026-12-31", "reason": "a backslash"},
        {"task": "Ä*", "until": "2026-12-31", "reason": "a letter of two bytes"},
        {"task": "gone", "until": "2026-12-31", "reason": "no task"},
    ],
    "passk_gates": [
        {
            "name": "most",
            "type": "threshold",
            "metric": "pass_m_of_k",
            "m": 3,
            "k": 4,
            "min": 0.5,
            "run": "all",
            "severity": "ignore",
            "inconclusive": "ignore",
        },
        {
            "name": "suite",
            "type": "threshold",
            "metric": "pass_hat_k",
            "k": 4,
            "min": 0.5,
            "run": "all",
            "severity": "ignore",
        },
        {
            "name": "cheap",
            "type": "cost",
            "metric": "cost_usd",
            "max": 1,
            "run": "all",
            "severity": "ignore",
            "inconclusive": "ignore",
        },
        {
            "name": "no dearer",
            "type": "cost_increase",
            "metric": "duration_s",
            "max_increase": 0.1,
            "run": "all",
            "severity": "ignore",
            "inconclusive": "ignore",
        },
        {
            "name": "drop",
            "type": "drop",
            "metric": "pass_hat_k",
            "k": 4,
            "max_drop": 0.1,
            "run": "all",
            "severity": "ignore",
        },
        {
            "name": "tasks",
            "type": "each_task",
            "metric": "pass_hat_k",
            "k": 2,
            "min": 0.3,
            "severity": "ignore",
        },
        {
            "name": "excluded",
            "type": "coverage",
            "metric": "excluded_attempts",
            "max": 0.05,
            "severity": "ignore",
        },
        {"name": "log", "type": "diagnostics", "diagnostics": "all", "severity": "ignore"},
        {"name": "moved", "type": "regressed_tasks", "max": 0, "severity": "ignore"},
    ],
}
OWN_VARS: Final = {
    "passk_attempts_source": ["passk_landing", "attempts"],
    "passk_attempts_columns": OWN_MAPPING,
    "passk_slices": ["domain"],
    "passk_score_thresholds": [0.99, 1],
    "passk_cluster": {"name": "shape", "expression": "substring(task_id, 1, 1)"},
    "passk_difficulty": {"name": "last", "expression": "attempt"},
    "passk_outcome_policy": {"rate_limited": "excluded"},
}

HUMAN_EVAL_OPTIONS: Final = (
    "--map", "task_id=$.task_id", "--map", "attempt=$.completion_id + 1", "--map", "passed=$.passed",
    "--map", "outcome_reason=$.result", "--map", "duration_s=$.seconds",
    "--run-id", "codegen", "--agent", "codegen", "--suite", "humaneval",
)  # fmt: skip


def load(database: Path, *words: str) -> None:
    """Load a log, as anyone would."""
    done = subprocess.run(
        [sys.executable, "-m", "passk_py", "load", "--database", str(database), *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def land_random(database: Path) -> None:
    """Land a log with every edge case."""
    land(database, random_runs())
    land(database, random_rejected(), "rejected")
    land(database, random_expected(), "expected_attempts")
    land_labels(database)


def land_labels(database: Path) -> None:
    """Label attempts of a random log, some of them twice, some in no file that is read, and judge them."""
    with duckdb.connect(str(database)) as connection:
        for name, columns in LABEL_TABLES.items():
            connection.execute(f"create table landing.{name} ({columns})")
        connection.execute(
            "insert into landing.labels select run_id, suite, task_id, attempt + (place % 37 = 0)::int, "
            "case when outcome = 'passed' and place % 11 > 0 or place % 13 = 0 then 'passed' "
            "else 'failed' end, case when place % 2 = 0 then 'ann' end, null, task_id, 'labels', place, "
            "timestamp '2026-03-01' + to_seconds(place) from (select *, row_number() over ("
            "order by run_id, suite, task_id, attempt, outcome, loaded_at) as place "
            "from landing.attempts) where place % 5 = 0 or place % 37 = 1"
        )
        connection.execute(
            "insert into landing.rejected_labels values ('r', 'even', null, 1, 'passed', null, "
            "'missing_field', 'missing_field: task_id is missing.', 'labels', 0, timestamp '2026-03-01')"
        )
        connection.execute(
            "insert into landing.verdicts select run_id, suite, task_id, attempt, "
            "case when (outcome = 'passed') = (place % 7 + again <> 3) then 'passed' else 'failed' end, "
            "case when place % 3 = 0 then 'bot' when again = 2 then 'Ann' else 'ann' end, "
            "case when again = 1 then timestamp '2026-03-01' end, null, 'verdicts', place * 3 + again, "
            "timestamp '2026-03-02' from (select *, row_number() over ("
            "order by run_id, suite, task_id, attempt, outcome, loaded_at) as place "
            "from landing.attempts) cross join range(3) as more(again) where place % 4 > 0"
        )


def land_own(database: Path) -> None:
    """Make landing.attempts a table of somebody's own, which nobody has checked."""
    land(database, [])
    with duckdb.connect(str(database)) as connection:
        columns = ", ".join(f"{name} varchar" for name in OWN_COLUMNS)
        connection.execute(f"create or replace table landing.attempts ({columns})")
        connection.executemany(
            f"insert into landing.attempts values ({', '.join('?' * len(OWN_COLUMNS))})", own_rows()
        )


def growing(database: Path) -> Iterator[str]:
    """Land a log, then new runs, then late attempts and copies, then deletions: give what was done, one by one."""
    generator = random.Random(3)
    tasks = {f"it's task {i} 🦆": generator.choice([0, 0.3, 0.7, 1]) for i in range(30)}
    late = FIRST + 9 * BATCH

    def run(run_id: str, batch: int, numbers: range) -> list[Row]:
        return attempts_of(
            generator,
            run_id,
            "suite",
            tasks,
            loaded_at=FIRST + batch * BATCH,
            number=lambda: numbers,
            version=run_id,
        )

    land(database, run("a", 0, range(1, 9)) + run("b", 1, range(1, 9)))
    yield "the first runs"
    land(database, run("c", 2, range(1, 13)) + run("far", 2, range(120, 131)))
    yield "new runs"
    land(database, run("a", 3, range(9, 12)) + run("b", 3, range(7, 10)))
    yield "late attempts"
    _forget(database, "run_id = 'c' and attempt > 6", late)
    _forget(database, "run_id = 'b' and task_id like '%1 %' or run_id = 'far'", late)
    yield "deletions"


def _forget(database: Path, condition: str, removed_at: Any) -> None:
    """Remove attempts, as `passk unload` does: what is gone is noted."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"insert into landing.removed_tasks select distinct run_id, suite, task_id, ?::timestamp "
            f"from landing.attempts where {condition}",
            [removed_at],
        )
        connection.execute(f"delete from landing.attempts where {condition}")

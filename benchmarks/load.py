"""Measure the cost of landing a harness's log, as ratios to DuckDB's own ``read_json`` in the same run.

    python benchmarks/load.py --megabytes 200
    python benchmarks/load.py --inspect-python /path/to/a/python/with/inspect-ai

Logs of several harnesses are written with attempts that have a transcript of some kilobytes, as such
logs do. Then, each in a process of its own so that peak memory is its own:

- ``create table as`` of DuckDB's ``read_json`` over the very values that the format asks for, and
- ``passk load`` of the file into a new database: recognition, digest, typing, every rule, landing.

The second part writes one log with short and one with ten times longer transcripts: peak memory must not follow them.
The third, where a Python with inspect-ai is named, lets Inspect make a log of 10,000 samples, and ten logs of 1,000, and
holds the load of them against ``inspect_ai.analysis.samples_df``. Medians of the repetitions; read the ratios. Each process
reads a small log of the format before the clock starts, so that nothing is imported while it runs.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory import peak_mib

if TYPE_CHECKING:
    from collections.abc import Callable

Json = list[dict[str, Any]] | dict[str, Any]
WORDS = (
    "lorem ",
    "ipsum ",
    'he said: "dolor"\n',
    "sit amet; ",
    "größer ",
    "\tindent\n",
    "{json: [1]} ",
)


def transcript(dice: random.Random, size: int) -> list[dict[str, Any]]:
    """Messages of some size in all, with quotes, brackets and line ends in them."""
    messages = []
    while size > 0:
        words = "".join(dice.choices(WORDS, k=40))
        messages.append({"role": "assistant", "content": words, "tool_calls": None, "cost": 0.01})
        size -= len(words) + 70
    return messages


def tau_bench(dice: random.Random, n: int, size: int) -> Json:
    return [
        {"task_id": n_ // 4, "reward": float(dice.random() < 0.5), "info": {"user_cost": 0.1},
         "traj": transcript(dice, size), "trial": n_ % 4}
        for n_ in range(n)
    ]  # fmt: skip


def tau2_bench(dice: random.Random, n: int, size: int) -> Json:
    simulations = [
        {"id": f"s{n_}", "task_id": str(n_ // 4), "timestamp": "2026-01-01T00:00:00", "start_time": "2026-01-01T00:00:00",
         "end_time": "2026-01-01T00:01:00", "duration": 60.0, "termination_reason": "user_stop", "agent_cost": 0.1,
         "user_cost": 0.1, "reward_info": {"reward": float(dice.random() < 0.5), "info": {}},
         "messages": transcript(dice, size), "trial": n_ % 4, "seed": 300 + n_ % 4}
        for n_ in range(n)
    ]  # fmt: skip
    return {
        "timestamp": "2026-01-01T00:00:00",
        "info": {"num_trials": 4},
        "tasks": [],
        "simulations": simulations,
    }


def promptfoo(dice: random.Random, n: int, size: int) -> Json:
    rows = [
        {"id": f"r{n_}", "promptIdx": 0, "testIdx": n_, "testCase": {"vars": {"q": str(n_ // 4)}, "assert": []},
         "promptId": "p", "provider": {"id": "exec:agent", "label": ""}, "prompt": {"raw": "q", "label": "q"},
         "vars": {"q": str(n_ // 4)}, "response": {"output": json.dumps(transcript(dice, size)), "cached": False},
         "error": None, "failureReason": 0, "success": dice.random() < 0.5, "score": 1, "latencyMs": 10, "cost": 0.1,
         "namedScores": {}, "gradingResult": None, "metadata": {}}
        for n_ in range(n)
    ]  # fmt: skip
    results = {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00Z",
        "prompts": [],
        "results": rows,
        "stats": {},
    }
    return {"evalId": "eval-1", "results": results, "config": {}, "shareableUrl": None}


def human_eval(dice: random.Random, n: int, size: int) -> Json:
    return [
        {"task_id": f"HumanEval/{n_ // 4}", "completion": json.dumps(transcript(dice, size)),
         "result": "passed", "passed": dice.random() < 0.5}
        for n_ in range(n)
    ]  # fmt: skip


def terminal_bench(dice: random.Random, n: int, size: int) -> Json:
    rows = [
        {"id": f"t{n_}", "trial_name": f"task-{n_ // 4}.{n_ % 4 + 1}-of-4.run", "task_id": f"task-{n_ // 4}",
         "instruction": transcript(dice, size)[0]["content"], "is_resolved": dice.random() < 0.5, "failure_mode": "unset",
         "parser_results": {"test_0": "passed", "test_1": "failed"}, "recording_path": "sessions/agent.cast",
         "total_input_tokens": 1000, "total_output_tokens": 100, "trial_started_at": "2026-01-01T00:00:00+00:00",
         "trial_ended_at": "2026-01-01T00:01:00+00:00"}
        for n_ in range(n)
    ]  # fmt: skip
    return {"id": "run", "results": rows, "accuracy": 0.5}


# The maker of a log of each format, whether it is lines, and how long a transcript in it is.
FORMATS: dict[str, tuple[Callable[[random.Random, int, int], Json], bool, int]] = {
    "tau-bench": (tau_bench, False, 10_000),
    "tau2-bench": (tau2_bench, False, 10_000),
    "promptfoo": (promptfoo, False, 10_000),
    "terminal-bench": (terminal_bench, False, 600),
    "human-eval": (human_eval, True, 1_000),
}


def read_json_sql(name: str, path: Path) -> str:
    """SQL that reads by DuckDB alone what the format itself says that it reads."""
    from passk_py.ingest.formats import format_named
    from passk_py.ingest.formats.json_harness import JsonHarness
    from passk_py.ingest.landing.json_sql import fast_columns

    reader = format_named(name)
    if not isinstance(reader, JsonHarness):
        # A row has to fit; a larger bound would only cost DuckDB memory.
        shape = "newline_delimited" if FORMATS[name][1] else "array"
        return (
            f"create table read as from read_json('{path}', format = '{shape}', "
            f"maximum_object_size = 16777216, columns = {fast_columns(reader.keys)})"
        )
    top, *inner, _ = reader.rows_at
    kind = f"{duckdb_type(reader.shape)}[]"
    for step in reversed(inner):
        kind = f'STRUCT("{step}" {kind})'
    where = ".".join(f'"{step}"' for step in (top, *inner))
    # The whole document is one object to DuckDB.
    return (
        f"create table read as select unnest({where}) as row from read_json('{path}', "
        f"format = 'unstructured', maximum_object_size = 2147483647, columns = {{'{top}': '{kind}'}})"
    )


def duckdb_type(shape: Any) -> str:  # noqa: ANN401 -- a shape of any depth
    """The type of a shape; what may be anything is text."""
    if isinstance(shape, list):
        return f"{duckdb_type(shape[0])}[]"
    if shape is None:
        return "VARCHAR"
    members = ", ".join(f'"{key}" {duckdb_type(inner)}' for key, inner in shape.items())
    return f"STRUCT({members})"


def timed(what: str, name: str, path: Path, small: Path) -> tuple[float, float, int]:
    """Run one side in a process of its own, after a small log: seconds, peak MiB, rows."""
    done = subprocess.run(
        [sys.executable, __file__, "--run", what, "--format", name, "--path", str(path),
         "--small", str(small)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, peak, rows = json.loads(done.stdout)
    return seconds, peak, rows


def run(what: str, name: str, path: Path, small: Path) -> None:
    """Be the process that is timed."""
    import duckdb

    from passk_py.ingest.landing import load

    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.duckdb"
        # Modules that both sides need are loaded before the clock starts.
        load_little(Path(folder), small)
        before = time.perf_counter()
        if what == "read_json":
            with duckdb.connect(str(database)) as connection:
                connection.execute(read_json_sql(name, path))
                rows = connection.execute("select count(*) from read").fetchall()[0][0]
        else:
            report = load(path, database=database)
            rows = report.rows_landed
            if report.exit_code or {file.format for file in report.files} != {name}:
                raise SystemExit(str(report))
        seconds = time.perf_counter() - before
    print(json.dumps([seconds, most_memory(), rows]))


def most_memory() -> float:
    """Give the most memory that this process has had, in MiB."""
    return peak_mib() or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load_little(folder: Path, small: Path) -> None:
    """Import everything, by loading a small log."""
    from passk_py.ingest.landing import load

    load(small, database=folder / "first.duckdb")


def write(name: str, path: Path, n: int, size: int) -> None:
    made = FORMATS[name][0](random.Random(1), n, size)
    text = "".join(json.dumps(row) + "\n" for row in made) if FORMATS[name][1] else json.dumps(made)
    path.write_text(text, "utf-8")


def compare_formats(folder: Path, megabytes: int, repeat: int) -> None:
    print(
        f"{'format':<15}{'MB':>6}{'rows':>9}{'read_json s':>13}{'load s':>9}{'speed':>8}{'peak MiB':>10}"
    )
    for name in FORMATS:
        path, size = folder / f"{name}.json", FORMATS[name][2]
        write(name, path, max(1, megabytes * 1_000_000 // (size * 6 // 5)), size)
        small = folder / "small.json"
        write(name, small, 8, size)
        sides = {
            what: [timed(what, name, path, small) for _ in range(repeat)]
            for what in ("read_json", "load")
        }
        theirs, ours = (
            statistics.median(s for s, _, _ in sides[what]) for what in ("read_json", "load")
        )
        peak, rows = max(p for _, p, _ in sides["load"]), sides["load"][0][2]
        if rows != sides["read_json"][0][2]:
            raise SystemExit(f"{name}: {rows} rows landed of {sides['read_json'][0][2]}")
        print(
            f"{name:<15}{path.stat().st_size / 1e6:>6.0f}{rows:>9,}{theirs:>13.2f}{ours:>9.2f}"
            f"{theirs / ours:>7.0%}{peak:>10.0f}"
        )
        path.unlink()


def compare_memory(folder: Path) -> None:
    print("\npeak MiB of a load of 2,000 attempts with transcripts of 10 kB and of 100 kB")
    for name in FORMATS:
        peaks = []
        for size in (10_000, 100_000):
            path = folder / f"{name}.json"
            write(name, path, 2_000, size)
            peaks.append(timed("load", name, path, path)[1])
            path.unlink()
        print(f"{name:<15}{peaks[0]:>8.0f}{peaks[1]:>8.0f}{peaks[1] / peaks[0]:>7.2f} x")


MAKE_INSPECT = """
import random, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

folder, samples = sys.argv[1], int(sys.argv[2])
dice = random.Random(1)
words = "what is the sum of these numbers and why would anyone ask for it at all".split()

def outputs():
    while True:
        text = " ".join(dice.choices(words, k=60)) + f" ANSWER: {dice.randint(0, 1)}"
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=50, output_tokens=60, total_tokens=110)
        yield output

cases = [
    Sample(id=f"case-{n}", input=" ".join(dice.choices(words, k=40)), target=str(n % 2),
           metadata={"category": words[n % 7], "level": n % 5})
    for n in range(samples // 4)
]
task = Task(dataset=MemoryDataset(cases), solver=generate(), scorer=match(), epochs=4)
model = get_model("mockllm/model", custom_outputs=outputs())
eval(task, model=model, log_dir=folder, display="none", max_samples=50)
"""
TIME_SAMPLES_DF = """
import sys, time, warnings
from inspect_ai.analysis import samples_df

warnings.simplefilter("ignore")
samples_df(sys.argv[2], quiet=True)
before = time.perf_counter()
frame = samples_df(sys.argv[1], quiet=True)
print(time.perf_counter() - before, len(frame))
"""


def run_inspect(python: str, script: str, *arguments: str) -> str:
    done = subprocess.run(
        [python, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def inspect_log(folder: Path, python: str, samples: int) -> Path:
    """Let Inspect itself make a log, of 4 epochs, with a model that makes things up."""
    before = set(folder.glob("*.eval"))
    run_inspect(python, MAKE_INSPECT, str(folder), str(samples))
    (made,) = set(folder.glob("*.eval")) - before
    return made


def compare_inspect(folder: Path, python: str, samples: int, repeat: int) -> None:
    """Hold one log of all samples against samples_df, and then ten logs with a tenth of them each."""
    small = inspect_log(folder / "few", python, 8)
    one = inspect_log(folder / "one", python, samples)
    for _ in range(10):
        inspect_log(folder / "ten", python, samples // 10)
    for what, path in (("one log", one), ("ten logs", folder / "ten")):
        theirs, ours, peak = inspect_sides(python, path, small, samples, repeat)
        ratio = statistics.median(theirs) / statistics.median(ours)
        print(
            f"inspect, {samples:,} samples in {what}: samples_df {statistics.median(theirs):.2f} s, load "
            f"{statistics.median(ours):.2f} s, {ratio:.1f} x as fast (fastest {min(theirs):.2f} s and "
            f"{min(ours):.2f} s, {min(theirs) / min(ours):.1f} x), peak {peak:.0f} MiB"
        )


def inspect_sides(
    python: str, path: Path, small: Path, samples: int, repeat: int
) -> tuple[list[float], list[float], float]:
    """Time both sides in turn, so that what else the machine does falls on both."""
    theirs, ours, peak = [], [], 0.0
    for _ in range(repeat):
        seconds, rows = run_inspect(python, TIME_SAMPLES_DF, str(path), str(small)).split()[-2:]
        theirs.append(float(seconds))
        seconds_of_load, used, landed = timed("load", "inspect", path, small)
        ours.append(seconds_of_load)
        peak = max(peak, used)
        if not int(rows) == landed == samples:
            raise SystemExit(f"inspect: {rows} and {landed} rows of {samples}")
    return theirs, ours, peak


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--megabytes", type=int, default=200, help="size of each log of the first part"
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--inspect-python",
        help="a Python that has inspect-ai; the third part is left out without it",
    )
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--format", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--small", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run, given.format, given.path, given.small)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare_formats(folder, given.megabytes, given.repeat)
        compare_memory(folder)
        if given.inspect_python:
            compare_inspect(folder, given.inspect_python, given.samples, given.repeat)
        else:
            print("\ninspect: left out, no --inspect-python")


if __name__ == "__main__":
    main()

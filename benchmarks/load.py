"""Measure the cost of landing a harness's log, as ratios to DuckDB's own ``read_json`` in the same run.

    python benchmarks/load.py --megabytes 200
    python benchmarks/load.py --inspect-python /path/to/a/python/with/inspect-ai

Logs of several harnesses are written with attempts that have a transcript of some kilobytes, as such
logs do. Then, each in a process of its own so that peak memory is its own:

- ``create table as`` of DuckDB's ``read_json`` over the very values that the format asks for,
- the format's own reader alone, which gives the values of each attempt and lands nothing, and
- ``passk load`` of the file into a new database: recognition, digest, typing, every rule, landing.

The readers of tau-bench, METR and human-eval are ``read_json`` itself, so that they have no figure of their own.

The second part writes one log with short and one with ten times longer transcripts: peak memory must not follow them.
The third, where a Python with inspect-ai is named, lets Inspect make a log of 10,000 samples, and ten logs of 1,000, and
holds the load of them against ``inspect_ai.analysis.samples_df``. Medians of the repetitions; read the ratios. Each process
reads a small log of the format before the clock starts, so that nothing is imported while it runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from harness_logs import FORMATS, HAVE_TRANSCRIPTS, write
from memory import peak_mib

# An attempt is not a row in every format: how many of them a table has.
ATTEMPTS = {
    "livecodebench": "sum(json_array_length(graded_list))",
    "otel-evaluations": "count(distinct row.spanId)",
}


def read_json_sql(name: str, path: Path) -> str:
    """SQL that reads by DuckDB alone what the format itself says that it reads."""
    from passk_py.ingest.formats import format_named
    from passk_py.ingest.formats.json_harness import JsonHarness
    from passk_py.ingest.landing.json_sql import fast_columns

    reader = format_named(name)
    # A row has to fit; a larger bound would only cost DuckDB memory.
    kind = "newline_delimited" if FORMATS[name][1] else "array"
    rows = f"read_json('{path}', format = '{kind}', maximum_object_size = 16777216, columns ="
    if not isinstance(reader, JsonHarness):
        return f"create table read as from {rows} {fast_columns(reader.keys)})"
    given: Any = reader.shape
    shape = duckdb_type(given)
    if name == "otel-evaluations":
        # Events are in lists of lists of lists.
        return (
            "create table read as select unnest(scope.logRecords) as row from ("
            "select unnest(resource.scopeLogs) as scope from (select unnest(resourceLogs) as resource "
            f"from {rows} {{'resourceLogs': '{shape}[]'}})))"
        )
    top, *inner = reader.rows_at[:-1] or ("",)
    if not top:
        columns = ", ".join(f"'{key}': '{duckdb_type(of)}'" for key, of in given.items())
        return f"create table read as from {rows} {{{columns}}})"
    kind = f"{shape}[]"
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
    if shape is None or isinstance(shape, str):
        return "VARCHAR"
    members = ", ".join(f'"{key}" {duckdb_type(inner)}' for key, inner in shape.items())
    return f"STRUCT({members})"


class Timed(NamedTuple):
    """One load: wall and processor time, peak memory in MiB, and how many attempts it gave."""

    seconds: float
    cpu: float
    peak: float
    rows: int


def timed(what: str, name: str, path: Path, small: Path) -> Timed:
    """Run one side in a process of its own, after a small log."""
    done = subprocess.run(
        [sys.executable, __file__, "--run", what, "--format", name, "--path", str(path),
         "--small", str(small)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return Timed(*json.loads(done.stdout))


def run(what: str, name: str, path: Path, small: Path) -> None:
    """Be the process that is timed."""
    import duckdb

    from passk_py.ingest.formats import format_named
    from passk_py.ingest.formats.harness import Log
    from passk_py.ingest.landing import load

    reader: Any = format_named(name)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.duckdb"
        # Modules that both sides need are loaded before the clock starts.
        load_little(Path(folder), small)
        before, cpu = time.perf_counter(), time.process_time()
        if what == "read_json":
            with duckdb.connect(str(database)) as connection:
                connection.execute(read_json_sql(name, path))
        elif what == "reader":
            rows = sum(1 for record in reader.read(Log(path, (path,))) if record.values)
        else:
            report = load(path, database=database)
        seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
        if what == "read_json":
            with duckdb.connect(str(database)) as connection:
                count = f"select {ATTEMPTS.get(name, 'count(*)')} from read"
                rows = int(connection.execute(count).fetchall()[0][0])
        elif what == "load":
            rows = report.rows_landed
            if (
                report.exit_code
                or report.rows_rejected
                or {file.format for file in report.files} != {name}
            ):
                raise SystemExit(str(report))
    print(json.dumps([seconds, cpu, most_memory(), rows]))


def most_memory() -> float:
    """Give the most memory that this process has had, in MiB."""
    return peak_mib() or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load_little(folder: Path, small: Path) -> None:
    """Import everything, by loading a small log."""
    from passk_py.ingest.landing import load

    load(small, database=folder / "first.duckdb")


def compare_formats(folder: Path, names: list[str], megabytes: int, repeat: int) -> None:
    """Hold logs of about one size against read_json; the sides take turns."""
    from passk_py.ingest.formats import format_named
    from passk_py.ingest.formats.json_harness import JsonHarness

    print(
        f"{'format':<18}{'MB':>4}{'rows':>9}{'read_json s':>13}{'CPU':>6}{'reader s':>10}{'CPU':>6}"
        f"{'share':>7}{'of CPU':>8}{'load s':>8}{'CPU':>6}{'share':>7}{'of CPU':>8}{'peak MiB':>10}"
    )
    for name in names:
        path, size = folder / f"{name}.json", FORMATS[name][2]
        write(name, path, max(1, megabytes * 1_000_000 // (size * 6 // 5)), size)
        small = folder / "small.json"
        write(name, small, 8, size)
        sides = (
            "read_json",
            *(("reader",) if isinstance(format_named(name), JsonHarness) else ()),
            "load",
        )
        turns = [[timed(side, name, path, small) for side in sides] for _ in range(repeat)]
        if len({one.rows for turn in turns for one in turn}) > 1:
            raise SystemExit(f"{name}: the sides do not agree on the attempts: {turns}")
        theirs, *readers, ours = (
            Timed(*map(statistics.median, zip(*side, strict=True)))
            for side in zip(*turns, strict=True)
        )
        alone = "".join(
            f"{one.seconds:>10.2f}{one.cpu:>6.2f}{theirs.seconds / one.seconds:>7.0%}{theirs.cpu / one.cpu:>8.0%}"
            for one in readers
        )
        print(
            f"{name:<18}{path.stat().st_size / 1e6:>4.0f}{ours.rows:>9,.0f}{theirs.seconds:>13.2f}"
            f"{theirs.cpu:>6.2f}{alone or '-':>31}{ours.seconds:>8.2f}{ours.cpu:>6.2f}"
            f"{theirs.seconds / ours.seconds:>7.0%}{theirs.cpu / ours.cpu:>8.0%}{ours.peak:>10.0f}"
        )
        path.unlink()


def compare_memory(folder: Path, names: list[str]) -> None:
    print("\npeak MiB of a load of 2,000 attempts with transcripts of 10 kB and of 100 kB")
    for name in names:
        peaks = []
        for size in (10_000, 100_000):
            path = folder / f"{name}.json"
            write(name, path, 2_000, size)
            peaks.append(timed("load", name, path, path).peak)
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
        load = timed("load", "inspect", path, small)
        ours.append(load.seconds)
        peak = max(peak, load.peak)
        if not int(rows) == load.rows == samples:
            raise SystemExit(f"inspect: {rows} and {load.rows} rows of {samples}")
    return theirs, ours, peak


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--megabytes", type=int, default=200, help="size of each log of the first part"
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--no-memory", action="store_true", help="leave out the second part")
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
        compare_formats(folder, given.formats, given.megabytes, given.repeat)
        if not given.no_memory:
            compare_memory(folder, [one for one in given.formats if one in HAVE_TRANSCRIPTS])
        if given.inspect_python:
            compare_inspect(folder, given.inspect_python, given.samples, given.repeat)
        else:
            print("\ninspect: left out, no --inspect-python")


if __name__ == "__main__":
    main()

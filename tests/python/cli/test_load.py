"""``passk load`` and ``passk unload``: what landed, what did not, and what is next."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from click.testing import CliRunner

from passk_py.cli import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Said

    Passk = Callable[..., Said]
    MakeLog = Callable[..., Path]

GOOD = {"run_id": "r", "task_id": "t", "attempt": 1, "passed": True}


def landed(sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect("passk.duckdb", read_only=True) as connection:
        return connection.execute(sql).fetchall()


def write(name: str, *rows: object) -> Path:
    path = Path(name)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_summary_says_what_landed_and_what_is_next(passk: Passk) -> None:
    write("a.jsonl", GOOD, GOOD | {"attempt": 2}, GOOD | {"attempt": 0})
    said = passk("load", "a.jsonl")
    assert said.code == 0
    head, _, row, _, why, build, rejected = said.out.splitlines()
    assert head.split() == ["file", "format", "status", "read", "landed", "rejected"]
    assert row.split() == ["a.jsonl", "jsonl", "landed", "3", "2", "1"]
    assert why == "a.jsonl: 1 row rejected (out_of_range)."
    assert build.split("  ")[-1] == "passk build"
    assert rejected.endswith("passk show passk_rejected_attempts")
    assert "a.jsonl: The first rejected row is line 3:" in said.err
    assert landed("select count(*) from landing.attempts") == [(2,)]


def test_loading_again_changes_nothing(passk: Passk) -> None:
    log = write("a.jsonl", GOOD)
    assert passk("load", log).code == 0
    again = passk("load", log, "--json")
    assert again.code == 0
    (file,) = again.json["files"]
    assert (file["status"], file["rows_landed"]) == ("unchanged", 1)


def test_json_says_all_that_the_summary_says(passk: Passk) -> None:
    said = passk("load", write("a.jsonl", GOOD, GOOD | {"attempt": "x"}), "--json")
    values = said.json
    assert values["database"] == "passk.duckdb"
    assert (values["rows_read"], values["rows_landed"], values["rows_rejected"]) == (2, 1, 1)
    assert values["reasons"] == {"wrong_type": 1}
    (file,) = values["files"]
    assert file["path"] == str(Path("a.jsonl").absolute())
    assert (file["status"], file["format"]) == ("landed", "jsonl")


def test_parquet_is_said_and_remembered(passk: Passk) -> None:
    said = passk("load", write("a.jsonl", GOOD), "--parquet", "lake")
    assert said.code == 0
    assert "The attempts are stored as Parquet in lake." in said.out.splitlines()
    assert len(list(Path("lake/suite=default/run_id=r").iterdir())) == 1
    assert landed("select run_id, attempt from landing.attempts") == [("r", 1)]
    again = passk("load", "a.jsonl", "--json")
    assert again.json["parquet"] == str(Path("lake").absolute())
    removed = passk("unload", "--run", "r")
    assert "Removed 1 attempt of 1 task" in removed.out
    assert not Path("lake/suite=default").exists()
    assert passk("load", "a.jsonl", "--database", "other.duckdb", "--json").json["parquet"] is None


def test_parquet_is_for_a_new_database(passk: Passk) -> None:
    passk("load", write("a.jsonl", GOOD))
    said = passk("load", write("b.jsonl", GOOD | {"attempt": 2}), "--parquet", "lake")
    assert said.code == 2
    assert "This database already has attempts in its own tables (1)" in said.err
    assert "Load all of the logs into a new database with --parquet." in said.err
    assert not Path("lake").exists()


def test_options_fill_what_the_log_does_not_say(passk: Passk) -> None:
    log = write("a.jsonl", {"task_id": "t", "attempt": 1, "score": 0.7})
    said = passk(
        *("load", log, "--run-id", "nightly", "--suite", "s", "--agent", "a", "--model", "m"),
        *("--tag", "split=private", "--tag", "x=a=b", "--score-threshold", "0.6"),
    )
    assert said.code == 0
    assert landed("select run_id, suite, agent, model, outcome, tags from landing.attempts") == [
        ("nightly", "s", "a", "m", "passed", {"split": "private", "x": "a=b"})
    ]


def test_strict_refuses_with_exit_code_one(passk: Passk) -> None:
    said = passk("load", write("a.jsonl", GOOD, GOOD | {"attempt": 0}), "--strict")
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"Error: {Path('a.jsonl').absolute()} did not land: 1 of its 2 rows are rejected, the "
        "first in line 2: attempt is 0, but attempts are numbered from 1.\n"
        "Correct the rows, or load without --strict to land the others.\n"
    )
    assert not Path("passk.duckdb").exists()


def test_what_failed_is_told_however_many_files_there_are(passk: Passk) -> None:
    Path("many").mkdir()
    for number in range(25):
        write(f"many/{number:02}.jsonl", GOOD | {"attempt": number + 1}, GOOD | {"attempt": 0})
    said = passk("load", "many", "missing.jsonl")
    assert said.code == 2
    assert "missing.jsonl does not exist." in said.err
    assert "26 files: 25 landed, 1 failed." in said.out


def test_file_that_can_not_be_read_is_exit_code_two_and_the_others_land(passk: Passk) -> None:
    write("a.jsonl", GOOD)
    said = passk("load", "a.jsonl", "missing.jsonl")
    assert said.code == 2
    assert "missing.jsonl does not exist." in said.err
    assert "2 files: 1 landed, 1 failed." in said.out
    assert landed("select count(*) from landing.attempts") == [(1,)]


def test_folder_is_searched_and_other_files_are_left_alone(passk: Passk) -> None:
    Path("logs").mkdir()
    write("logs/a.jsonl", GOOD)
    write("logs/b.jsonl", GOOD | {"task_id": "u"})
    write("logs/c.jsonl", {"other": 1})
    said = passk("load", "logs")
    assert said.code == 0
    assert "2 files: 2 landed." in said.out
    assert "Skipped: " in said.err
    known = "c.jsonl is a log of no format that passk knows: one JSON object with the keys other."
    assert known in said.err


def test_logs_that_are_called_otherwise_are_counted_and_named(passk: Passk) -> None:
    Path("logs").mkdir()
    write("logs/a.jsonl", GOOD)
    write("logs/b.out", GOOD)
    said = passk("load", "logs")
    assert said.code == 0
    assert "1 file passed over: logs/b.out; name it to read it." in said.err
    for number in range(6):
        write(f"logs/{number}.log", GOOD)
    said = passk("load", "logs")
    shown = ", ".join(f"logs/{number}.log" for number in range(5))
    assert f"7 files passed over: {shown}, ...; name them to read them." in said.err
    told = json.loads(passk("load", "logs", "--json").out)["passed_over"]
    assert told["files"] == 7
    assert [Path(path).name for path in told["paths"]] == [*(f"{n}.log" for n in range(6)), "b.out"]


def test_many_files_are_summed_up(passk: Passk) -> None:
    Path("logs").mkdir()
    for number in range(30):
        write(f"logs/{number:02}.jsonl", GOOD | {"task_id": f"t{number}"})
    write("logs/30.jsonl", GOOD, GOOD | {"attempt": 0})
    said = passk("load", "logs")
    assert said.code == 0
    assert "31 files: 31 landed." in said.out
    assert "30.jsonl" in said.out
    assert "29.jsonl" not in said.out


def test_of_many_files_the_doubtful_are_listed_and_why_attempts_are_excluded(passk: Passk) -> None:
    case = '<testsuite name="s"><testcase classname="c" name="{}">{}</testcase></testsuite>'
    for number in range(25):
        folder = Path(f"logs/suite-{number}")
        folder.mkdir(parents=True)
        inside = '<error type="api.RateLimit"/>' if number % 5 else "<skipped/>"
        (folder / "junit.xml").write_text(case.format(number, inside if number % 2 else ""))
    assert passk("load", "logs/suite-7/junit.xml", "--run-id", "alone").code == 0
    said = passk("load", "logs")
    listed = [line for line in said.out.splitlines() if line.startswith("logs/")]
    # In the table, and for what of it is excluded.
    assert [line.split()[0] for line in listed] == ["logs/suite-7", "logs/suite-7:"]
    assert "logs/suite-7/junit.xml, which is a part of it, landed before by itself:" in said.err
    assert "Attempts: 12 excluded (10 api.RateLimit, 2 skipped)." in said.out
    assert "then, which reasons exclude an attempt  passk formats --policy" in said.out


def test_unknown_format_names_those_there_are(passk: Passk) -> None:
    said = passk("load", write("a.jsonl", GOOD), "--format", "xml")
    assert said.code == 2
    assert said.err.startswith("Error: There is no format 'xml'.\nThe formats are ")


@pytest.mark.long
def test_unload_removes_a_run_and_the_next_build_shows_it(
    passk: Passk, letters: Path, models_only: tuple[str, str]
) -> None:
    said = passk("unload", "--run", "old")
    assert said.code == 0
    assert said.out == (
        "Removed 12 attempts of 3 tasks and 0 rejected rows of the run old.\n  next  passk build\n"
    )
    stale = passk("show", "--json")
    assert "3 tasks have lost attempts since the last build. `passk build` brings" in stale.err
    assert passk("build", *models_only).code == 0
    fresh = passk("show", "--json")
    assert fresh.err == ""
    (suite,) = fresh.json["suites"]
    assert [run["run_id"] for run in suite["runs"]] == ["new"]


def test_forget_is_an_alias_of_unload(passk: Passk, letters: Path) -> None:
    assert passk("forget", "--help").out == passk("unload", "--help").out
    wrong = ("--run", "nobody", "--json")
    assert passk("forget", *wrong) == passk("unload", *wrong)
    assert passk("forget", "--run", "old").out.startswith("Removed 12 attempts of 3 tasks")


def test_unload_of_what_is_not_there(passk: Passk, letters: Path) -> None:
    said = passk("unload", "--source-file", "other.jsonl")
    assert (said.code, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first == "Error: No row of the file other.jsonl has landed in passk.duckdb."
    assert second.startswith("The landed files: /")
    assert second.endswith("/letters.jsonl.")
    said = passk("unload", "--run", "nobody", "--json")
    assert said.code == 2
    assert said.json["error"] == "There is no run nobody; the runs are new, old."
    assert passk("doctor", "--json").json["stale"] is None


@pytest.mark.parametrize("word", ["a\x1b[2Jb", "a\nb"])
def test_names_can_not_move_the_cursor(word: str, passk: Passk) -> None:
    write("a.jsonl", GOOD | {"task_id": word, "attempt": 0})
    said = passk("load", "a.jsonl")
    assert said.code == 0
    assert "\x1b" not in said.out + said.err


def test_what_a_harness_left_out_is_said(passk: Passk, tmp_path: Path) -> None:
    rows = [
        {"task_id": "a", "trial": 0, "termination_reason": "user_stop", "reward_info": {"reward": 1}},
        {"task_id": "a", "trial": 1, "termination_reason": "infrastructure_error", "reward_info": None},
        {"task_id": "b", "trial": 0, "termination_reason": "unexpected_error", "reward_info": None},
        {"task_id": "c", "trial": "x", "termination_reason": "user_stop", "reward_info": None},
    ]  # fmt: skip
    info = {"num_trials": 2}
    document = {"timestamp": "t", "info": info, "tasks": [], "simulations": rows}
    Path("run.json").write_text(json.dumps(document), "utf-8")
    said = passk("load", "run.json")
    (line,) = (line for line in said.out.splitlines() if line.startswith("run.json:"))
    assert line == (
        "run.json: 1 row rejected (wrong_type); 2 attempts excluded (1 infrastructure_error, "
        "1 unexpected_error); 3 expected attempts missing."
    )
    (file,) = passk("load", "run.json", "--policy", "unexpected*=failed", "--json").json["files"]
    assert (file["status"], file["excluded"], file["missing"]) == (
        "replaced",
        {"infrastructure_error": 1},
        3,
    )


def test_a_policy_that_can_not_be(passk: Passk) -> None:
    said = passk("load", "run.json", "--policy", "timeout=passed")
    assert said.code == 2
    assert "--policy is 'timeout=passed', which is neither" in said.err


def test_any_file_by_a_mapping_that_is_kept(passk: Passk) -> None:
    Path("out.csv").write_text("case,try,score\na,0,0.9\na,1,0.2\n", "utf-8")
    lines = ["task_id=$.case", "attempt=$.try + 1", "passed=$.score >= 0.8"]
    options = [part for line in lines for part in ("--map", line)]
    said = passk("load", "out.csv", *options, "--save-mapping", "ours")
    assert said.code == 0
    assert f"The mapping was saved in {Path('passk_mappings', 'ours.yml')}." in said.err
    again = passk("load", "out.csv", "--mapping", "ours", "--json")
    assert again.json["rows_landed"] == 2
    missing = passk("load", "out.csv", "--mapping", "theirs")
    assert "There is no mapping 'theirs'" in missing.err
    assert "The mappings of passk_mappings/ are ours." in missing.err


def test_the_policy_is_shown(passk: Passk) -> None:
    said = passk("formats", "tau2-bench", "--policy", "--json").json["policy"]
    assert said[0] == {"reason": "infrastructure_error", "counts_as": "excluded"}
    assert {"reason": "*timeout*", "counts_as": "failed"} in said
    assert "infrastructure_error" in passk("formats", "tau2-bench").out


def test_standard_input_lands_once_by_its_content(tmp_path: Path) -> None:
    text_of_old = json.dumps(GOOD) + "\n"
    database = tmp_path / "passk.duckdb"
    words = ["load", "-", "--json", "--database", str(database)]
    files = []
    for text in (text_of_old, text_of_old, text_of_old.replace('"r"', '"s"')):
        done = CliRunner().invoke(cli, words, input=text)
        assert done.exit_code == 0, done.output
        files.append(json.loads(done.stdout)["files"][0])
    assert [file["status"] for file in files] == ["landed", "unchanged", "landed"]
    first, again, other = (file["path"] for file in files)
    assert first == again != other
    assert first == f"stdin:{hashlib.sha256(text_of_old.encode()).hexdigest()[:16]}"
    with duckdb.connect(str(database), read_only=True) as connection:
        names = connection.execute("select distinct source_file from landing.attempts").fetchall()
    assert sorted(names) == sorted([(first,), (other,)])
    unload = CliRunner().invoke(
        cli, ["unload", "--source-file", first, "--database", str(database)]
    )
    assert unload.exit_code == 0

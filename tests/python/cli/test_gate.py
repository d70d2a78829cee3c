"""``passk gate``: results, reasons, exit codes, and reports for CI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from defusedxml import ElementTree

import passk_py as pk
from passk_py.metrics.gates import gate_reports as reports
from passk_py.reports.queries.attempt_queries import logs_cut_off
from passk_py.warehouse.tables import open_tables, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Demo, Said

    Passk = Callable[..., Said]

ROOT = Path(__file__).resolve().parents[3]
RELIABLE = ("--metric", "pass_hat_k", "--k", 4)


def test_the_demos_gates_come_out_in_three_ways(passk: Passk, demo: Demo) -> None:
    said = passk("gate", "--database", demo.database)
    assert (said.code, said.err) == (1, "")
    lines = said.out.splitlines()
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert heads == [
        "PASS          finds-an-answer · walker-2026-03 · puzzles",
        "FAIL          no-worse-than-before · scout-2026-03 · puzzles · against scout-2026-02",
        "INCONCLUSIVE  runs-unattended · tracer-2026-03 · puzzles",
        "1 passes, 1 fails, 1 is inconclusive.",
    ]
    assert lines[1] == "              pass@4 at least 0.9 on tasks like these"
    assert lines[2].endswith(": even the lower limit reaches 0.9.")
    assert "To settle it: about" in said.out
    assert max(map(len, lines)) <= 100


def test_json_holds_the_rows_of_the_table(passk: Passk, demo: Demo) -> None:
    said = passk("gate", "--database", demo.database, "--json").json
    table = read_table("passk_gates", database=demo.database).drop("loaded_at")
    # The demo is built once, and its rules have looked at each run once.
    rows = [{**row, "looks": 1} for row in table.sort("gate").to_dicts()]
    assert sorted(said["gates"], key=lambda row: row["gate"]) == rows
    assert (said["source"], said["exit_code"]) == ("passk_gates", 1)


def test_one_gate_by_its_name(passk: Passk, demo: Demo) -> None:
    assert passk("gate", "--gate", "finds-an-answer", "--database", demo.database).code == 0
    assert passk("gate", "--gate", "runs-unattended", "--database", demo.database).code == 2
    said = passk("gate", "--gate", "safe", "--database", demo.database)
    assert said.code == 3
    assert said.err.startswith("Error: There is no gate safe.\n")
    assert "The gates are finds-an-answer, no-worse-than-before, runs-unattended." in said.err


@pytest.mark.parametrize(("least", "code"), [(0.2, 0), (0.6, 1), (0.4, 2)])
def test_one_rule_ends_with_0_1_or_2(passk: Passk, demo: Demo, least: float, code: int) -> None:
    rule = ("--run", "walker-2026-03", *RELIABLE, "--min", least, "--database", demo.database)
    said = passk("gate", *rule)
    word = ["PASS", "FAIL", "INCONCLUSIVE"][code]
    assert said.code == code
    assert said.out.startswith(f"{word.ljust(14)}walker-2026-03 · puzzles\n")


def test_one_rule_against_a_baseline(passk: Passk, demo: Demo) -> None:
    runs = ("--run", "scout-2026-03", "--baseline", "scout-2026-02")
    said = passk("gate", *runs, *RELIABLE, "--max-drop", 0.2, "--database", demo.database)
    assert said.code == 0
    assert "scout-2026-03 · puzzles · against scout-2026-02" in said.out
    declared = passk("gate", "--database", demo.database, "--json").json["gates"]
    (row,) = (row for row in declared if row["gate"] == "no-worse-than-before")
    one = passk(
        "gate", *runs, *RELIABLE, "--max-drop", 0.02, "--database", demo.database, "--json"
    ).json
    # Computed from the attempts, and the same as in the table.
    assert one["source"] == "passk_attempts"
    for name in ("estimate", "estimate_lower", "estimate_upper"):
        assert one["gates"][0][name] == pytest.approx(row[name], rel=1e-9)
    assert one["gates"][0]["reason"] == row["reason"]


@pytest.mark.parametrize(
    ("options", "rule", "words"),
    [
        (
            ("--run", "scout-2026-03", "--max", 60, "--statistic", "p95"),
            {"type": "cost", "run": "scout-2026-03", "max": 60, "statistic": "p95"},
            "95 % of attempts",
        ),
        (("--run", "all", "--max", 0.001), {"type": "cost", "run": "all", "max": 0.001}, "An attempt takes"),
        (
            ("--run", "scout-2026-03", "--baseline", "scout-2026-02", "--max-increase", 0.1),
            {"type": "cost_increase", "run": "scout-2026-03", "baseline": "scout-2026-02", "max_increase": 0.1},
            "An attempt takes",
        ),
    ],
)  # fmt: skip
def test_one_rule_about_costs(
    passk: Passk, demo: Demo, options: tuple[object, ...], rule: dict[str, Any], words: str
) -> None:
    """The demo's log has durations."""
    said = passk(
        "gate", "--metric", "duration_s", *options, "--database", demo.database, "--json"
    ).json
    log = read_table("passk_attempts", database=demo.database)
    wanted = pk.judge_gates(log, [{"name": "rule", "metric": "duration_s", **rule}])
    assert wanted.height == len(said["gates"]) > 0
    for row, ours in zip(said["gates"], wanted.iter_rows(named=True), strict=True):
        assert words in row["rule"]
        assert row["estimate"] is not None
        for name in ("run_id", "rule", "result", "reason", "estimate_lower"):
            assert row[name] == ours[name]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--min", 0.5), "metric is null, but must be one of pass_at_k, pass_hat_k, pass_m_of_k."),
        ((*RELIABLE, "--min", 3), "min is 3, but must be a number between 0 and 1;"),
        (
            RELIABLE,
            "nothing is asked for; a gate has one of min, max, max_drop, max_increase and diagnostics.",
        ),
        (
            (*RELIABLE, "--min", 0.5, "--each", "colour"),
            'each is "colour", but must be one of passk_slices',
        ),
        (
            ("--rules", "gates.yml", "--k", 4),
            "--rules can't be combined with the options of a single rule.",
        ),
        (
            ("--diagnostic", "all", "--diagnostic", "drift"),
            "diagnostics names all beside others; all stands alone.",
        ),
        (("--diagnostic", "drift", "--diagnostic", "drift"), "diagnostics names drift twice."),
        (
            ("--rules", "none.yml"),
            "none.yml can't be read: No such file or directory.\nWrite a list of rules, as in ",
        ),
        (
            ("--metric", "pass_hat_k", "--max", 0.5),
            "--max is a limit for shares of attempts and costs, not for pass_hat_k.\n"
            "--min 0.5 requires at least this pass_hat_k.\n",
        ),
        (
            ("--metric", "cost_usd", "--min", 0.5),
            "--min is a limit for pass rates, not for cost_usd.\n"
            "--max 0.5 allows at most this cost_usd.\n",
        ),
        (
            ("--metric", "cost_usd", "--max", 0.5, "--max-increase", 0.1),
            "max and max_increase stand together; a gate has one of min, ",
        ),
        (
            ("--metric", "cost_usd", "--max-increase", 0.1, "--statistic", "p95"),
            "statistic has no meaning in a rule of type cost_increase, which takes ",
        ),
        (
            ("--metric", "excluded_attempts", "--max", 0.5, "--statistic", "mean"),
            "statistic has no meaning in a rule of type coverage, which takes ",
        ),
        (
            ("--metric", "pass_hat_k", "--max-increase", 0.1),
            'metric is "pass_hat_k", but must be one of cost_usd, duration_s, ',
        ),
        (
            ("--metric", "cost_usd", "--max", 1, "--statistic", "median"),
            'statistic is "median", but must be one of mean, p95, per_success.',
        ),
        (("--metric", "cost_usd", "--max", 0), "max is 0, but must be a number above 0."),
        (("--metric", "cost_usd", "--last", 6, "--max-increase", 0.1), "--last is for --max-drop "),
        ((*RELIABLE, "--last", 6, "--min", 0.5), "--last is for --max-drop alone.\n"),
        (("--metric", "regressed_tasks", "--last", 6, "--max", 3), "--last is for --max-drop "),
        ((*RELIABLE, "--last", 6), "nothing is asked for; a gate has one of min, max, "),
    ],
)
def test_wrong_rules_are_refused(
    passk: Passk, demo: Demo, options: tuple[object, ...], said: str
) -> None:
    done = passk("gate", *options, "--database", demo.database)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"Error: {said}")


def test_a_run_that_is_not_there_is_no_pass(passk: Passk, demo: Demo) -> None:
    rule = ("--run", "other", *RELIABLE, "--min", 0.5)
    said = passk("gate", *rule, "--database", demo.database)
    assert said.code == 3
    assert "No run is judged: the log has none named other." in said.out
    # The word of exit code 2 does not stand beside a 3.
    assert said.out.startswith("NOT JUDGED")
    assert said.out.endswith("\n1 is not judged.\n")
    assert "inconclusive" not in said.out.lower()
    other = ("--run", "walker-2026-03", "--baseline", "other", *RELIABLE, "--max-drop", 0.9)
    said = passk("gate", *other, "--database", demo.database)
    assert said.code == 3
    assert "the suite has no attempt of the baseline" in said.out


def test_a_declared_gate_that_finds_no_run_is_no_pass(
    passk: Passk, demo: Demo, tmp_path: Path
) -> None:
    rule = "{name: %s, type: threshold, metric: pass_hat_k, k: 4, min: %s, agent: %s%s}"
    gates = {
        "lost": rule % ("lost", 0.1, "nobody", ""),
        "advisory": rule % ("advisory", 0.1, "nobody", ", severity: warn"),
        "open": rule % ("open", 0.4, "walker", ""),
        "low": rule % ("low", 0.1, "walker", ""),
        "high": rule % ("high", 0.9, "walker", ""),
    }
    path = tmp_path / "gates.yml"
    path.write_text("".join(f"- {one}\n" for one in gates.values()), encoding="utf-8")

    def code(*names: str) -> int:
        chosen = [word for name in names for word in ("--gate", name)]
        return passk("gate", "--rules", path, *chosen, "--database", demo.database).code

    assert [code(name) for name in gates] == [3, 0, 2, 0, 1]
    # A rule that surely does not hold goes before one that was not judged, and that before an
    # inconclusive one, which a pipeline may take for good.
    assert [code("lost", "high"), code("lost", "open"), code("advisory", "low")] == [1, 3, 0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "There is no database passk.duckdb."),
        (("--k", 0), "Invalid value for '--k'"),
        (("--nope",), "No such option"),
    ],
)
def test_what_stops_a_gate_before_it_judges_has_a_code_of_its_own(
    passk: Passk, words: tuple[object, ...], said: str
) -> None:
    done = passk("gate", *words)
    assert (done.code, done.out) == (3, "")
    assert said in done.err


def test_a_gate_on_a_database_in_use_could_not_run(passk: Passk, letters: Path) -> None:
    hold = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(letters)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        said = passk("gate")
        holder.communicate(b"\n")
    assert said.code == 3
    assert "is in use by process" in said.err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full", "2>&1 | true"])
def test_a_gate_that_could_not_run_does_not_fail_because_nobody_hears_it(
    stream: str, unbuffered: str
) -> None:
    """1 is what a rule that does not hold ends with."""
    command = f"{sys.executable} -m passk_py gate --database none.duckdb {stream}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, check=False,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert done.returncode == 3


def test_a_file_of_rules(passk: Passk, demo: Demo, tmp_path: Path) -> None:
    path = tmp_path / "gates.yml"
    path.write_text(
        "passk_gates:\n"
        "- {name: high, type: threshold, metric: pass_hat_k, k: 4, min: 0.9, agent: walker, severity: warn}\n"
        "- {name: low, type: threshold, metric: pass_hat_k, k: 4, min: 0.1, agent: walker}\n"
        "- {name: each family, type: each_task, metric: pass_at_k, k: 1, min: 0.01, agent: walker}\n"
        "- {name: sound, type: diagnostics, diagnostics: [drift], agent: walker}\n"
        "- {name: few excluded, type: coverage, metric: excluded_attempts, max: 0.5, agent: walker}\n",
        encoding="utf-8",
    )
    said = passk("gate", "--rules", path, "--database", demo.database)
    assert "FAIL          high (advisory) · walker-2026-03 · puzzles" in said.out
    assert said.out.endswith("4 pass, 1 fails.\n")
    # An advisory gate stops nothing.
    assert said.code == 0
    one = passk(
        "gate", "--rules", path, "--gate", "low", "--database", demo.database, "--json"
    ).json
    assert [row["gate"] for row in one["gates"]] == ["low"]


def test_a_declared_gate_may_be_called_rule(passk: Passk, demo: Demo, tmp_path: Path) -> None:
    path = tmp_path / "gates.yml"
    path.write_text(
        "- {name: rule, type: threshold, metric: pass_hat_k, k: 4, min: 0.9, agent: walker, severity: warn}\n",
        encoding="utf-8",
    )
    said = passk("gate", "--rules", path, "--database", demo.database)
    assert said.out.startswith("FAIL          rule (advisory) · walker-2026-03 · puzzles\n")


def test_whole_numbers_are_written_as_such(passk: Passk, demo: Demo) -> None:
    rule = ("--metric", "excluded_attempts", "--max", 0, "--run", "walker-2026-03")
    said = passk("gate", *rule, "--database", demo.database)
    assert "at most 0 of the attempts excluded\n" in said.out
    assert "0.0" not in said.out


def test_all_diagnostics_by_an_option(passk: Passk, demo: Demo) -> None:
    rule = ("--diagnostic", "all", "--run", "walker-2026-03")
    said = passk("gate", *rule, "--database", demo.database)
    assert "no warning of any diagnostic\n" in said.out


@pytest.mark.long
def test_diagnostics_that_are_not_computed_are_refused(
    passk: Passk, letters: Path, models_only: tuple[str, str], tmp_path: Path
) -> None:
    assert passk("build", *models_only, "--vars", "{passk_diagnostics: false}").code == 0
    path = tmp_path / "gates.yml"
    path.write_text("- {name: sound, type: diagnostics, diagnostics: all}\n", encoding="utf-8")
    said = passk("gate", "--rules", path)
    assert said.code == 3
    assert "sound: passk_diagnostics is false, so that no diagnostic is computed." in said.err


def test_reports_are_written(
    passk: Passk, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xml, text, summary = (tmp_path / name for name in ("gates.xml", "gates.md", "summary.md"))
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv(reports.STEP_SUMMARY, str(summary))
    passk("gate", "--junit", xml, "--markdown", text, "--step-summary", "--database", demo.database)
    suite = ElementTree.parse(xml).getroot()[0]
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    assert [[child.tag for child in case] for case in suite] == [
        ["system-out"], ["failure"], ["error"],
    ]  # fmt: skip
    table = text.read_text(encoding="utf-8")
    assert table.startswith("## Gates\n\n1 passes, 1 fails, 1 is inconclusive.\n\n| gate | run |")
    assert summary.read_text(encoding="utf-8") == f"before\n{table}\n"


def test_no_step_to_summarize(passk: Passk, demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(reports.STEP_SUMMARY, raising=False)
    said = passk("gate", "--step-summary", "--database", demo.database)
    assert said.code == 3
    assert "There is no CI step to summarize" in said.err


def test_a_report_that_cannot_be_written(passk: Passk, demo: Demo, tmp_path: Path) -> None:
    said = passk("gate", "--junit", tmp_path / "no" / "g.xml", "--database", demo.database)
    assert said.code == 3
    assert "g.xml can't be written: No such file or directory." in said.err


def test_without_gates_it_says_how_to_declare_one(passk: Passk, letters: Path) -> None:
    said = passk("gate")
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("Error: No gate is declared.\n")
    assert "passk_gates" in said.err
    # A rule needs no declaration.
    assert passk(
        "gate", "--run", "old", "--metric", "pass_hat_k", "--k", 1, "--min", 0.01
    ).code in (0, 2)


def test_names_that_others_wrote_break_no_report() -> None:
    row = {
        "gate": "a|b", "run_id": "<x>\x00", "suite": "*s*", "slice_name": "all",
        "slice_value": "all", "baseline_run_id": None, "rule": "r", "result": "fail",
        "reason": "because [of](it)", "to_settle": None, "is_advisory": False,
    }  # fmt: skip
    case = ElementTree.fromstring(reports.junit([row]))[0][0]
    assert case.get("name") == "a|b: <x>\ufffd · *s*"
    text = reports.markdown([row])
    (line,) = (line for line in text.splitlines() if line.startswith("| a"))
    assert line.startswith("| a\\|b | \\<x\\>  · \\*s\\* | r | ❌ fail | because \\[of\\](it) |")


@pytest.mark.parametrize("sign", ["\n", "\r", "\r\n", "\v", "\f", "\x1b", "\x85", "\u2028", "\x00"])
def test_no_control_character_breaks_a_row(sign: str) -> None:
    row = {
        "gate": f"a{sign}b", "run_id": "r", "suite": "s", "slice_name": "all",
        "slice_value": "all", "baseline_run_id": None, "rule": "r", "result": "pass",
        "reason": "why", "to_settle": None, "is_advisory": False,
    }  # fmt: skip
    line = reports.markdown([row]).split("\n")[-2]
    assert line == f"| a{' ' * len(sign)}b | r · s | r | ✅ pass | why |"


def test_a_gate_does_not_pass_because_nobody_reads_its_output(demo: Demo, tmp_path: Path) -> None:
    report = tmp_path / "gates.xml"
    command = (
        f"{sys.executable} -m passk_py gate --run all --metric pass_hat_k --k 1 --min 0.99 "
        f"--junit {report} --database {demo.database}"
    )
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | true"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "<testsuite" in report.read_text("utf-8")


def test_a_name_that_stands_twice_in_a_rule_is_refused(
    passk: Passk, demo: Demo, tmp_path: Path
) -> None:
    rules = tmp_path / "gates.yml"
    rules.write_text(
        "- name: high\n  type: threshold\n  metric: pass_hat_k\n  k: 1\n  min: 0.9\n  min: 0.1\n"
    )
    said = passk("gate", "--rules", str(rules), "--database", str(demo.database))
    assert said.code == 3
    assert f"{rules}, line 6, column 3: this is not valid YAML, min stands there twice." in said.err


@pytest.mark.long
def test_rule_of_a_file_sees_the_retries_that_the_table_sees(
    passk: Passk, models_only: tuple[str, str]
) -> None:
    rows = [
        {
            "run_id": "r",
            "task_id": f"t{task}",
            "attempt": attempt,
            "passed": (task + attempt) % 2 == 0,
            "tags": {"reruns": "1"} if attempt == 4 else {},
        }
        for task in range(20)
        for attempt in range(1, 5)
    ]
    Path("log.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    Path("gates.yml").write_text(
        "- {name: g, type: diagnostics, diagnostics: [retry_until_pass]}\n", "utf-8"
    )
    assert passk("load", "log.jsonl").code == 0
    assert passk("build", *models_only).code == 0
    (found,) = (
        row
        for row in passk("show", "passk_diagnostics", "--json").json["rows"]
        if row["diagnostic"] == "retry_until_pass"
    )
    assert found["verdict"] == "warning"
    said = passk("gate", "--rules", "gates.yml")
    assert said.code == 1
    assert "A warning of retry_until_pass." in said.out


@pytest.mark.long
def test_a_log_that_was_cut_off_is_named(
    passk: Passk, make_log: Callable[..., Path], models_only: tuple[str, ...]
) -> None:
    whole = make_log("whole.jsonl", [("first", "t", "PPPP")])
    log = make_log("a_b.jsonl", [("second", "t", "PPPP")])
    log.write_bytes(log.read_bytes()[:-20])
    assert passk("load", whole, log).code == 0
    assert passk("build", *models_only).code == 0
    rule = ("--metric", "pass_at_k", "--k", 1, "--min", 0.1, "--scope", "suite", "--run")
    said = passk("gate", *rule, "second", "--markdown", "gates.md")
    assert said.err == (
        "Warning: a_b.jsonl is cut off: its last row ends too early, so attempts may be missing "
        "from these gates. Write or copy it again, then load and build.\n"
    )
    assert "\na\\_b.jsonl is cut off: " in Path("gates.md").read_text("utf-8")
    assert passk("gate", *rule, "second", "--json").json["cut_off"] == ["a_b.jsonl"]
    said = passk("gate", *rule, "first", "--json")
    assert (said.json["cut_off"], said.err) == ([], "")


def test_of_a_copy_without_attempts_no_log_is_known_to_be_cut_off(
    passk: Passk, letters: Path
) -> None:
    without = ("--without", "passk_attempts", "--format", "duckdb")
    assert passk("publish", "--database", letters, "-o", "bi", *without).code == 0
    with open_tables(f"bi/{letters.name}") as tables:
        assert tables.find("passk_attempts") is None
        assert logs_cut_off(tables, {"old"}) == []

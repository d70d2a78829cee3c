"""The jobs of docs/gates-in-ci.md: the steps of the action and of the template, run as a CI system runs them."""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from .blocks import ROOT, blocks
from .conftest import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ACTION: Final = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PAGE: Final = "docs/gates-in-ci.md"
EXPRESSION: Final = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
SHELL: Final = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
NOT_RUN: Final = ("Install",)
"""It installs what these tests have."""


def ended(
    folder: Path, words: list[str], variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder of a job."""
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(folder) | dict(variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@dataclass
class Job:
    """A job that uses the action: its folder, the cache of its repository, and what it has set so far."""

    folder: Path
    cache: dict[str, bytes]
    inputs: Mapping[str, str]
    values: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def value(self, expression: str) -> str:
        """Evaluate what the action's expressions consist of: names, and comparisons of one with a text."""
        if " && " in expression:
            parts = [self.value(part) for part in expression.split(" && ")]
            return "true" if all(part == "true" for part in parts) else "false"
        compared = re.fullmatch(r"(\S+) (==|!=) '(.*)'", expression)
        if compared is not None:
            name, operator, text = compared.groups()
            return "true" if (self.value(name) == text) == (operator == "==") else "false"
        if expression.startswith("inputs."):
            name = expression.removeprefix("inputs.")
            default = ACTION["inputs"][name].get("default", "")
            return self.inputs.get(name, "" if "${{" in default else default)
        if expression.startswith("steps."):
            return self.values.get(expression, "")
        return {"runner.temp": str(self.folder / "temp"), "github.token": "none"}[expression]

    def filled(self, text: str) -> str:
        return EXPRESSION.sub(lambda found: self.value(found[1]), text)

    def run(self) -> int:
        """Run the steps up to the first that fails, and give its exit code."""
        for step in ACTION["runs"]["steps"]:
            if "if" in step and self.value(step["if"]) != "true":
                continue
            if step["name"] in NOT_RUN:
                continue
            if "uses" in step:
                self.use_cache(step)
                continue
            code = self.run_script(step)
            if code:
                return code
        return 0

    def use_cache(self, step: Mapping[str, Any]) -> None:
        """Do what the actions of the cache do."""
        path, key = (self.filled(step["with"][name]) for name in ("path", "key"))
        if "/save@" in step["uses"]:
            self.cache[key] = (self.folder / path).read_bytes()
            return
        found = key in self.cache
        if found:
            (self.folder / path).write_bytes(self.cache[key])
        self.values[f"steps.{step['id']}.outputs.cache-hit"] = str(found).lower()

    def run_script(self, step: Mapping[str, Any]) -> int:
        output = self.folder / "output.txt"
        output.write_text("", "utf-8")
        done = ended(
            self.folder,
            [*SHELL, step["run"]],
            {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(output), "RUNNER_OS": "Linux"}
            | {name: self.filled(text) for name, text in step.get("env", {}).items()},
        )
        self.said[step["name"]] = done.stdout + done.stderr
        for line in output.read_text("utf-8").splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode

    def output(self, name: str) -> str:
        return self.filled(ACTION["outputs"][name]["value"])


def log(run: str, rate: float, tasks: int) -> str:
    """Write eight attempts of each task, some of which fail."""
    dice = random.Random(run)
    rows = [
        {
            "run_id": run, "task_id": f"refund {task}", "attempt": attempt,
            "passed": dice.random() < rate, "suite": "refunds", "agent": "helpdesk",
        }
        for task in range(tasks)
        for attempt in range(1, 9)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Job]:
    """Make a job as the page writes it, in a folder with rules and logs."""
    rules, workflow, *_ = (block.text for block in blocks("yaml", PAGE))
    (using,) = (
        step
        for step in yaml.safe_load(workflow)["jobs"]["measure"]["steps"]
        if step.get("uses", "").startswith("passk/")
    )
    inputs = {name: str(value) for name, value in using["with"].items()}
    assert set(inputs) <= set(ACTION["inputs"])
    cache: dict[str, bytes] = {}

    def make(name: str, rate: float, tasks: int = 60, **more: str) -> Job:
        folder = tmp_path / name
        for path, text in (
            ("gates.yml", rules),
            ("evals/release.jsonl", log("release", 0.995, tasks)),
            ("results/candidate.jsonl", log("nightly", rate, tasks)),
            # A runner has this folder; the program of the environment is the one under test.
            ("temp/passk-venv/bin/passk", '#!/bin/sh\nexec passk "$@"\n'),
        ):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        (folder / "temp/passk-venv/bin/passk").chmod(0o755)
        return Job(folder, cache, inputs | {"comment": "false"} | more)

    return make


@pytest.mark.long
def test_the_action_stops_a_worse_agent_and_passes_one_that_is_not(
    job: Callable[..., Job],
) -> None:
    worse = job("worse", 0.7)
    assert worse.run() == 1
    assert worse.output("verdict") == "fail"
    assert worse.said["Pass, or stop the job"] == "The verdict is fail.\n"
    assert "Build the baseline" in worse.said
    report = worse.folder / worse.output("report")
    assert report.stat().st_size > 10_000
    summary = (worse.folder / "summary.md").read_text("utf-8")
    assert "no-worse-than-the-release" in summary
    assert "## Capability and reliability" in summary
    flaky = [
        line for line in worse.said["Report"].splitlines() if line.startswith("::warning title=")
    ]
    assert 0 < len(flaky) <= 10
    assert all("is flaky::helpdesk" in line for line in flaky)

    as_good = job("as good", 0.995)
    assert as_good.run() == 0, as_good.said
    assert as_good.output("verdict") == "pass"
    # The first job kept the baseline, and it has both runs.
    assert "Build the baseline" not in as_good.said
    summary = (as_good.folder / "summary.md").read_text("utf-8")
    assert "against release" in summary


@pytest.mark.long
@pytest.mark.parametrize(("allowed", "code"), [("fail", 1), ("pass", 0)])
def test_an_inconclusive_verdict_does_what_the_job_says(
    allowed: str, code: int, job: Callable[..., Job]
) -> None:
    few = job("few", 0.99, tasks=12, inconclusive=allowed)
    assert few.run() == code
    assert few.output("verdict") == "inconclusive"


def test_a_log_that_is_rejected_stops_the_action_before_anything_is_judged(
    job: Callable[..., Job],
) -> None:
    broken = job("broken", 0.9, baseline="")
    with (broken.folder / "results/candidate.jsonl").open("a", encoding="utf-8") as file:
        file.write(
            '{"run_id": "nightly", "suite": "refunds", "task_id": "no attempt", "attempt": -1, "passed": true}\n'
        )
    assert broken.run() == 1
    assert set(broken.said) == {"Find what the cache may hold", "Load"}
    assert broken.output("verdict") == ""


def test_other_logs_and_other_names_are_another_baseline(job: Callable[..., Job]) -> None:
    keys = set()
    for name, changed in (
        ("one", {}), ("two", {"suite": "returns"}), ("three", {"baseline": "results"}), ("four", {}),
    ):  # fmt: skip
        made = job(name, 0.9, **changed)
        assert made.run_script(ACTION["runs"]["steps"][0]) == 0, made.said
        keys.add(made.values["steps.keys.outputs.baseline"])
    assert len(keys) == 3


def test_the_table_of_inputs_is_that_of_the_action() -> None:
    text = (ROOT / PAGE).read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    named = {name for line in lines for name in re.findall(r"`([\w-]+)`", line.split("|")[1])}
    assert set(ACTION["inputs"]) | set(ACTION["outputs"]) <= named


@pytest.mark.long
def test_the_job_of_gitlab_runs(job: Callable[..., Job]) -> None:
    """Its lines, with the inputs of the page: a worse agent is stopped, and the files are there."""
    folder = job("gitlab", 0.7).folder
    head, template = yaml.safe_load_all((ROOT / "templates" / "passk.yml").read_text("utf-8"))
    (page,) = (block.text for block in blocks("yaml", PAGE) if "remote:" in block.text)
    given = yaml.safe_load(page)["include"][0]["inputs"]
    inputs = head["spec"]["inputs"]
    assert set(given) <= set(inputs)
    filled = {name: one.get("default", "") for name, one in inputs.items()} | given
    said = {
        name: re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: str(filled[found[1]]), text)
        for name, text in template["passk"]["variables"].items()
    }
    lines = [line for line in template["passk"]["script"] if not re.match("apt-get|pip ", line)]
    assert len(lines) == len(template["passk"]["script"]) - 2
    done = ended(folder, [*SHELL, "\n".join(lines)], said)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no-worse-than-the-release" in (folder / "passk-gates.xml").read_text("utf-8")
    assert (folder / "passk-report.html").stat().st_size > 10_000


def test_the_hook_reads_the_rules_of_the_page(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    rules = next(block.text for block in blocks("yaml", PAGE))
    for text, code, words in (
        (rules, 0, "gates.yml: 3 rules, no mistake."),
        (rules.replace("min: 0.8", "min: 8"), 3, "The gates have 1 mistake."),
    ):
        (tmp_path / "gates.yml").write_text(text, "utf-8")
        done = ended(tmp_path, [*shlex.split(hook["entry"]), *hook["args"]], {})
        assert done.returncode == code, done.stderr
        assert words in done.stdout + done.stderr

"""Flaky tasks as annotations of a CI job on GitHub, which its page shows beside the steps."""

from __future__ import annotations

from typing import Any, Final

from passk_py.common.words import percent, shortened, symbol

_MOST: Final = 10
"""GitHub shows as many warnings of a step, and drops the others."""
_LONGEST_NAME: Final = 80
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def flaky_tasks(facts: dict[str, Any]) -> list[str]:
    """Write a command of GitHub for each flaky task of the latest runs, those to mend first."""
    found = [
        _annotation(suite, task, run, facts["deployment_k"])
        for suite in facts["suites"]
        for task in suite["tasks"]
        for run in suite["runs"]
        if run["is_latest"] and task["runs"].get(run["run_id"], {}).get("task_class") == "flaky"
    ]
    return found[:_MOST]


def _annotation(suite: dict[str, Any], task: dict[str, Any], run: dict[str, Any], k: int) -> str:
    counts = task["runs"][run["run_id"]]
    title = f"{shortened(task['task_id'], _LONGEST_NAME)} is flaky"
    said = f"{run['label']} on {suite['suite']}: {counts['c']} of {counts['n']} attempts passed."
    if counts["pass_hat_k"] is not None:
        said += f" {symbol('pass_hat_k', k)} is {percent(counts['pass_hat_k'])}%."
    # Escaped, so that no name in it begins another command.
    return f"::warning title={title.translate(_PROPERTY)}::{said.translate(_DATA)}"

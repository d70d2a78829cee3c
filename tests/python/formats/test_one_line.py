"""A JSON log on one line, as `jq -c` writes it, is the log that it was on many, newline at the end or not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
LOGS = (
    "pydantic_evals/repeats.json",
    "langsmith/comparison.json",
    "langfuse/items.json",
    "phoenix/nightly.json",
    "braintrust/events.json",
    "otel_evaluations/logs.json",
    "hal/taubench_airline/taubench_airline_1795000000/taubench_airline_1795000000_UPLOAD.json",
    "playwright/report.json",
    "ctrf/pytest.json",
    "mlflow/checks/eval_results_table.json",
    "promptfoo/single.json",
    "swe_bench/runs_v4/model-old.nightly.json",
    "tau2/20260504_100000_airline/results.json",
    "tau2/old_retail.json",
    "terminal_bench/single/2026-02-01__10-00-00/results.json",
    "tracelens/trials.json",
)


@pytest.mark.long
@pytest.mark.parametrize(
    "end", ["", "\n", "\r\n", "\n \n\n"], ids=["none", "lf", "crlf", "blank lines"]
)
@pytest.mark.parametrize("name", LOGS)
def test_a_json_log_on_one_line_is_the_same_log(
    harness_log: Callable[..., Any], tmp_path: Path, name: str, end: str
) -> None:
    original = FIXTURES / name
    # Some runs are called after their folder, and some logs have a file beside them.
    folder = shutil.copytree(original.parent, tmp_path / original.parent.name)
    one_line = folder / original.name
    text = json.dumps(json.loads(original.read_bytes()), separators=(",", ":"))
    one_line.write_bytes((text + end).encode())

    def landed(path: Path) -> list[dict[str, Any]]:
        loaded = harness_log(path)
        assert not loaded.rejected
        for row in loaded.attempts:
            # Each lies in the copy as it does in the original.
            if row["transcript"]:
                row["transcript"] = row["transcript"].removeprefix(str(path.parent))
        where = ("source_file", "source_line", "loaded_at")
        return [{key: row[key] for key in row if key not in where} for row in loaded.attempts]

    expected = landed(original)
    assert expected
    assert landed(one_line) == expected

"""Helpers of the tests of Inspect: its logs, and how one is made."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "fixtures/inspect"


LOGS = HERE / "logs"


SAID = json.loads((HERE / "expected.json").read_text("utf-8"))["files"]


def fixture(start: str) -> Path:
    (found,) = LOGS.glob(f"*_{start}*")
    return found


MIXED, JSON, TWO = fixture("capitals_jqN"), fixture("capitals_kWj"), fixture("two-scorers")


def header(**changes: Any) -> dict[str, Any]:
    spec = {
        "eval_id": "E1",
        "run_id": "R1",
        "task_id": "T1",
        "task": "towns",
        "model": "acme/small",
        "model_generate_config": {"seed": 7},
        "config": {"epochs": 2},
        "dataset": {"sample_ids": ["a", "b"]},
    }
    return {"version": 2, "status": "success", "eval": {**spec, **changes}}


def row(task: Any = "a", epoch: Any = 1, value: Any = "C", **more: Any) -> dict[str, Any]:
    scores = {} if value is None else {"match": {"value": value}}
    return {"id": task, "epoch": epoch, "scores": scores, **more}


def eval_log(folder: Path, members: dict[str, Any], name: str = "log.eval") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for member, value in members.items():
            made.writestr(member, value if isinstance(value, str) else json.dumps(value))
    return path


def json_log(folder: Path, rows: list[Any], head: dict[str, Any] | None = None) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({**(head or header()), "samples": rows}, indent=2), "utf-8")
    return path

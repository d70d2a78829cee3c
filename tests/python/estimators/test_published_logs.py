"""Real logs whose pass@k and pass^k are known, where they lie beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from passk_py.metrics import frames

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"
TAU = DATA / "tau_bench" / "gpt-4o-airline.json"
HUMANEVAL = DATA / "humaneval_codegen16b" / "attempts.csv"

needs_tau = pytest.mark.skipif(
    not TAU.exists(), reason="tau_bench/gpt-4o-airline.json is not beside the checkout"
)
needs_humaneval = pytest.mark.skipif(
    not HUMANEVAL.exists(), reason="humaneval_codegen16b/attempts.csv is not beside the checkout"
)


def printed(frame: pl.DataFrame, column: str) -> list[str]:
    return [f"{value:.4f}" for value in frame[column]]


@pytest.fixture(scope="module")
def tau() -> pl.DataFrame:
    trials = json.loads(TAU.read_text(encoding="utf-8"))
    log = pl.DataFrame(
        {
            "run_id": "gpt-4o",
            "task_id": [trial["task_id"] for trial in trials],
            "attempt": [trial["trial"] + 1 for trial in trials],
            "score": [float(trial["reward"]) for trial in trials],
        }
    )
    return frames.suite_metrics(log, ks=range(1, 5), threshold=1 - 1e-6)


@needs_tau
def test_tau_bench_pass_hat_k_as_published(tau: pl.DataFrame) -> None:
    assert printed(tau, "pass_hat_k") == ["0.4200", "0.2733", "0.2200", "0.2000"]


@needs_tau
def test_tau_bench_pass_at_k(tau: pl.DataFrame) -> None:
    assert printed(tau, "pass_at_k") == ["0.4200", "0.5667", "0.6600", "0.7200"]


@needs_tau
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("pass_hat_k", "0.2733"),
        ("pass_hat_k_plugin", "0.3100"),
        ("pass_hat_k_window", "0.2667"),
        ("pass_hat_k_first_k", "0.2400"),
        ("pass_hat_k_pooled", "0.1764"),
    ],
)
def test_tau_bench_five_estimators_at_k_2(tau: pl.DataFrame, column: str, value: str) -> None:
    assert printed(tau.filter(pl.col("k") == 2), column) == [value]


@needs_tau
def test_tau_bench_intraclass_correlation(tau: pl.DataFrame) -> None:
    # The correlation corrects the noise of the mean in its denominator too.
    row = tau.filter(pl.col("k") == 2).row(0, named=True)
    noise = row["delta_k"] - (row["pass_hat_k"] - row["pass_hat_k_pooled"])
    assert f"{row['delta_k'] / (row['delta_k_max'] + noise):.3f}" == "0.405"


@pytest.fixture(scope="module")
def humaneval() -> pl.DataFrame:
    log = pl.read_csv(HUMANEVAL).with_columns(
        run_id=pl.lit("codegen-16b"), attempt=pl.col("completion_id") + 1
    )
    return frames.suite_metrics(log, ks=(1, 2, 5, 10, 100))


@needs_humaneval
def test_humaneval_pass_at_k(humaneval: pl.DataFrame) -> None:
    chosen = humaneval.filter(pl.col("k").is_in([1, 10, 100]))
    assert printed(chosen, "pass_at_k") == ["0.2212", "0.5038", "0.7378"]


@needs_humaneval
def test_humaneval_pass_hat_k(humaneval: pl.DataFrame) -> None:
    chosen = humaneval.filter(pl.col("k").is_in([2, 5, 10]))
    assert printed(chosen, "pass_hat_k") == ["0.1344", "0.0641", "0.0343"]

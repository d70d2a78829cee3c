"""The tables that people query: their keys, what to show of them first, and filtering them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.common.sql_text import quote
from passk_py.warehouse.descriptions import described_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHORT_PLACE: Final = (
    # A name without a folder begins behind the last stroke, or behind the last before a single #.
    "case when regexp_matches(transcript, '^https?://') then transcript "
    r"else regexp_replace(transcript, '(?s)^.*?([^/\\#]*(#[^#]*)?)$', '\1') end"
)
"""SQL for the place of a transcript: an address as it is, a path without its folder."""
_GRAIN: Final = re.compile(r"One row per ([^.]+) \(([\w, ]+)\)\.$")


@dataclass(frozen=True, slots=True)
class PublicTable:
    """One table that people query; all but what is shown first is what its model's YAML says."""

    name: str
    headline: tuple[str, ...]
    """The columns that a terminal shows first, the most telling ones first."""

    @property
    def grain(self) -> str:
        """The meaning of one row."""
        return self._last_sentence[1]

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell its rows apart, in the order in which rows are shown."""
        return tuple(self._last_sentence[2].split(", "))

    @property
    def description(self) -> str:
        """The purpose of the table, without its grain and key."""
        return described_table(self.name).text[: self._last_sentence.start()].strip()

    @property
    def var(self) -> str:
        """The var that asks for it; empty if every build makes it."""
        return described_table(self.name).var

    @property
    def filters(self) -> tuple[str, ...]:
        """Those of ``run_id``, ``suite`` and ``k`` by which it can be filtered."""
        # The k of passk_tasks is the deployment k in every row.
        has_k = "k" in described_table(self.name).columns and self.name != "passk_tasks"
        names = ("run_id", "suite", "k") if has_k else ("run_id", "suite")
        return tuple(name for name in names if self.columns_of(name))

    @property
    def _last_sentence(self) -> re.Match[str]:
        """The end of the description: the grain, and the key in parentheses."""
        text = described_table(self.name).text
        found = _GRAIN.search(text)
        if found is None:
            raise ValueError(f"the description of {self.name} ends without its grain: {text!r}")
        return found

    def columns_of(self, name: str) -> tuple[str, ...]:
        """Give the columns that hold a ``run_id``, a ``suite`` or a ``k``.

        A table of pairs has two of them; a row with the run in any of them is one of the run.
        """
        columns = described_table(self.name).columns
        if name in columns:
            return (name,)
        return tuple(column for column in columns if column.endswith(f"_{name}"))


PUBLIC_TABLES: Final = (
    PublicTable(
        "passk_attempts",
        ("run_id", "task_id", "attempt", "outcome", "outcome_reason", "score", "duration_s"),
    ),
    PublicTable(
        "passk_rejected_attempts",
        ("reason", "source_line", "source_file", "run_id", "task_id", "attempt"),
    ),
    PublicTable(
        "passk_runs",
        ("run_id", "tasks", "attempts", "excluded", "rejected", "pass_rate", "min_n", "max_n"),
    ),
    PublicTable(
        "passk_missing_attempts",
        ("run_id", "task_id", "expected_attempts", "attempts", "missing_attempts"),
    ),
    PublicTable(
        "passk_tasks", ("run_id", "task_id", "n", "c", "task_class", "pass_hat_k", "mend_rank")
    ),
    PublicTable(
        "passk_task_metrics",
        ("run_id", "task_id", "k", "n", "c", "pass_at_k", "pass_hat_k", "null_reason"),
    ),
    PublicTable(
        "passk_suite_metrics",
        ("run_id", "k", "pass_at_k", "pass_hat_k", "eligible_tasks", "total_tasks", "reading"),
    ),
    PublicTable(
        "passk_m_of_k", ("run_id", "metric", "m", "k", "estimate", "lower", "upper", "null_reason")
    ),
    PublicTable(
        "passk_threshold_metrics",
        ("run_id", "threshold", "metric", "k", "estimate", "lower", "upper", "null_reason"),
    ),
    PublicTable(
        "passk_costs",
        ("run_id", "measure", "coverage", "mean", "p95", "per_success", "share_on_failures"),
    ),
    PublicTable(
        "passk_cost_curves",
        ("run_id", "measure", "k", "tries", "retry_cost", "cost_per_solved", "cost_per_reliable"),
    ),
    PublicTable(
        "passk_task_costs",
        ("run_id", "task_id", "measure", "k", "n", "c", "retry_cost", "cost_per_reliable"),
    ),
    PublicTable(
        "passk_lost_reliability",
        ("run_id", "dimension", "part", "k", "lost", "lost_share", "pass_hat_k_if_passed"),
    ),
    PublicTable(
        "passk_difficulty_curve",
        ("run_id", "k", "bin", "shortest", "longest", "tasks", "pass_hat_k"),
    ),
    PublicTable(
        "passk_horizons",
        ("run_id", "k", "horizon", "horizon_lower", "horizon_upper", "fitted_tasks", "null_reason"),
    ),
    PublicTable(
        "passk_rankings",
        ("run_id", "metric", "k", "estimate", "rank_lower", "rank_upper", "may_be_best"),
    ),
    PublicTable(
        "passk_trends",
        ("agent", "metric", "k", "runs", "slope", "slope_lower", "slope_upper", "verdict"),
    ),
    PublicTable(
        "passk_frontier",
        ("run_id", "measure", "k", "pass_hat_k", "mean_cost", "is_on_frontier", "beaten_by"),
    ),
    PublicTable(
        "passk_extrapolations",
        ("run_id", "k", "pass_at_k", "pass_hat_k", "pass_hat_k_at_most", "basis", "measured_k"),
    ),
    PublicTable(
        "passk_comparisons",
        ("baseline_run_id", "candidate_run_id", "metric", "k", "difference", "p", "verdict"),
    ),
    PublicTable(
        "passk_cost_comparisons",
        ("baseline_run_id", "candidate_run_id", "measure", "relative_change", "meaning"),
    ),
    PublicTable(
        "passk_task_comparisons",
        ("task_id", "baseline_c", "baseline_n", "candidate_c", "candidate_n", "p", "moved"),
    ),
    PublicTable(
        "passk_plans",
        ("run_id", "metric", "k", "attempts", "tasks_for_width", "tasks_for_difference", "basis"),
    ),
    PublicTable(
        "passk_contamination",
        ("public_run_id", "k", "public_pass_hat_k", "private_pass_hat_k", "verdict", "meaning"),
    ),
    PublicTable(
        "passk_diagnostics",
        ("run_id", "diagnostic", "verdict", "statistic", "p_adjusted", "tasks", "finding"),
    ),
    PublicTable(
        "passk_graders",
        (
            "suite",
            "labels",
            "sensitivity",
            "false_pass_rate",
            "false_pass_rate_upper",
            "null_reason",
        ),
    ),
    PublicTable(
        "passk_corrected_metrics",
        ("run_id", "metric", "k", "raw", "corrected", "corrected_lower", "corrected_upper"),
    ),
    PublicTable(
        "passk_judges",
        ("suite", "judge", "other_judge", "agreement", "kappa", "judges_share", "null_reason"),
    ),
    PublicTable(
        "passk_rejected_labels",
        ("reason", "source_line", "source_file", "run_id", "task_id", "attempt"),
    ),
    PublicTable(
        "passk_gates", ("gate", "run_id", "result", "rule", "estimate", "threshold", "reason")
    ),
)
"""Every public table that a build makes, in the order of the way of the data."""

OPTIONAL_TABLES: Final = (
    PublicTable(
        "passk_suite_bootstrap",
        ("run_id", "slice_value", "metric", "k", "estimate", "lower", "upper", "eligible_tasks"),
    ),
)
"""Public tables that are there only if a var asks for them."""

KNOWN_TABLES: Final = (*PUBLIC_TABLES, *OPTIONAL_TABLES)
"""Every public table, whether or not a build makes it by itself."""


def public_table(name: str) -> PublicTable:
    """Find a public table by its name."""
    for table in KNOWN_TABLES:
        if table.name == name:
            return table
    from passk_py.common.names import did_you_mean

    names = [table.name for table in KNOWN_TABLES]
    raise PasskError(
        f"There is no public table '{name}'.{did_you_mean([name], names)}",
        hint=f"The tables are {', '.join(names)}.",
    )


def shared_columns(columns: Iterable[str], *, with_raw: bool) -> dict[str, str]:
    """Give the SQL of columns for a copy or a file, whose readers may not have the log."""
    # A rejected row may hold prompts, outputs and keys; a path tells of people and machines.
    others = {
        "raw": "null::varchar",
        "source_file": "parse_filename(source_file)",
        "transcript": _SHORT_PLACE,
    }
    return {name: name if with_raw else others.get(name, name) for name in columns}


@dataclass(frozen=True, slots=True)
class Filters:
    """The rows of a table that are wanted; empty means all."""

    runs: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    ks: tuple[int, ...] = ()

    def where(self, table: PublicTable) -> str:
        """Write the condition for a table in SQL; what it can't be filtered by is left out."""
        wanted: tuple[tuple[str, Sequence[str]], ...] = (
            ("run_id", [quote(run) for run in self.runs]),
            ("suite", [quote(suite) for suite in self.suites]),
            ("k", [str(k) for k in self.ks]),
        )
        parts = []
        for name, values in wanted:
            if values and name in table.filters:
                columns = table.columns_of(name)
                any_of = " or ".join(f"{column} in ({', '.join(values)})" for column in columns)
                parts.append(any_of if len(columns) == 1 else f"({any_of})")
        return " and ".join(parts) or "true"


def filters_of(
    run_id: str | Iterable[str] = (), suite: str | Iterable[str] = (), k: int | Iterable[int] = ()
) -> Filters:
    """Make filters of one value each, or of several."""
    return Filters(
        (run_id,) if isinstance(run_id, str) else tuple(run_id),
        (suite,) if isinstance(suite, str) else tuple(suite),
        (k,) if isinstance(k, int) else tuple(k),
    )

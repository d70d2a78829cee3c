"""Graders that err: their rates and the corrected metrics, from the labels of the build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.contract import KEY
from passk_py.metrics.graders.matched_labels import matched_labels, read_labels
from passk_py.validation.recompute import graders as recompute

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from passk_py.validation.check_tables import Compared
    from passk_py.validation.set_aside import Counts

LABELLED: Final = ("passk_graders", "passk_corrected_metrics")
_LABELS: Final = "int_passk__labels"
_BROKEN: Final = "'^(missing_field|wrong_type|unknown_verdict):'"


def compare_graders(
    compared: Compared, counts: Counts, runs: Sequence[tuple[str, str]], who: pl.DataFrame
) -> None:
    """Compare the tables that follow from labels; a copy of the tables has no labels."""
    labels = compared.tables.find(_LABELS)
    if labels is None:
        compared.left_out.append("The graders were not recomputed: there are no labels here.")
        return
    keys = ", ".join(KEY)
    # A row may be no label for its time alone, which no number depends on.
    told = read_labels(
        compared.frame(
            f"select {keys}, case when regexp_matches(coalesce(reject_reason, ''), {_BROKEN}) "
            f"then null else verdict end as verdict from {labels}"
        )
    )
    grades = compared.frame(
        f"select {keys}, "
        "case outcome when 'passed' then true when 'failed' then false end as passed"
        f" from {compared.tables.require('passk_attempts')}"
        f" semi join (select {keys} from {labels}) using ({keys})"
    )
    matched = matched_labels(told, grades.lazy())
    suites = set(matched["suite"])
    states = {
        run: (tasks, counts.families(*run))
        for run in runs
        if run[1] in suites and (tasks := counts.states(*run))
    }
    for name, expected in zip(
        LABELLED, recompute.graders(matched, states, who, compared.settings), strict=True
    ):
        compared.compare(name, expected)

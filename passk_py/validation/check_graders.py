"""Graders that err, and judges that agree or not: from the labels and verdicts of the build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from passk_py.common.contract import KEY
from passk_py.metrics.graders.judges import agreement_of, graded_verdicts, read_verdicts
from passk_py.metrics.graders.matched_labels import matched_labels, read_labels
from passk_py.validation.recompute import graders as recompute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passk_py.validation.check_tables import Compared
    from passk_py.validation.set_aside import Counts

LABELLED: Final = ("passk_graders", "passk_corrected_metrics", "passk_judges")
_LABELS: Final = "int_passk__labels"
_BROKEN: Final = "'^(missing_field|wrong_type|unknown_verdict|reserved_judge):'"


def compare_graders(
    compared: Compared, counts: Counts, runs: Sequence[tuple[str, str]], who: pl.DataFrame
) -> None:
    """Compare what follows from labels and verdicts; a copy of the tables has none of them."""
    labels = compared.tables.find(_LABELS)
    if labels is None:
        compared.left_out.append("The graders were not recomputed: there are no labels here.")
        return
    keys = ", ".join(KEY)
    grades = compared.frame(
        f"select {keys}, "
        "case outcome when 'passed' then true when 'failed' then false end as passed"
        f" from {compared.tables.require('passk_attempts')}"
        f" semi join (select {keys} from {labels}) using ({keys})"
    )
    _compare_judges(compared, counts, labels, grades)
    # A row may be no label for its time alone, which no number depends on.
    told = read_labels(
        compared.frame(
            f"select {keys}, case when regexp_matches(coalesce(reject_reason, ''), {_BROKEN}) "
            f"then null else verdict end as verdict from {labels} where kind = 'label'"
        )
    )
    matched = matched_labels(told, grades.lazy())
    suites = set(matched["suite"])
    states = {
        run: (tasks, counts.families(*run))
        for run in runs
        if run[1] in suites and (tasks := counts.states(*run))
    }
    for name, expected in zip(
        LABELLED[:2], recompute.graders(matched, states, who, compared.settings), strict=True
    ):
        compared.compare(name, expected)


def _compare_judges(compared: Compared, counts: Counts, labels: str, grades: pl.DataFrame) -> None:
    """Compare the pairs of judges."""
    told = compared.frame(
        f"select {', '.join(KEY)}, verdict, labeller as judge, labelled_at as judged_at, note "
        f"from {labels} where kind = 'verdict' and "
        f"not regexp_matches(coalesce(reject_reason, ''), {_BROKEN})"
    )
    used = graded_verdicts(read_verdicts(told), grades.lazy())
    families = None
    if compared.settings.cluster is not None:
        runs = used.select("run_id", "suite").unique().rows()
        types = dict.fromkeys(("run_id", "suite", "task_id", "family"), pl.String)
        of_runs = [
            counts.of_run(*run).select(
                "task_id", "family", run_id=pl.lit(run[0]), suite=pl.lit(run[1])
            )
            for run in runs
        ]
        families = pl.concat([pl.DataFrame(schema=types), *of_runs], how="diagonal")
    expected = agreement_of(used, families, compared.settings.confidence)
    compared.compare("passk_judges", recompute.judges(expected))

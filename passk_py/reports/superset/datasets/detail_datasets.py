"""One run in detail: losses, at least m of k, thresholds, lengths of tasks, grader and judges."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.datasets.cost_datasets import COST
from passk_py.reports.superset.datasets.dataset_parts import (
    CALLED,
    ROWS,
    Column,
    Dataset,
    called,
    limited,
    point,
)

LENGTH: Final = COST
"""Lengths of tasks, in any unit."""

_LOSSES: Final = """\
select
  losses.*,
  case part when 'user_simulator' then 'user simulator' else part end as called
from {table} as losses"""

_M_OF_K: Final = """\
select
  chances.*,
  case metric when 'pass_m_of_k' then 'at least m of k' else 'mG-Pass@k' end as called
from {table} as chances"""

_CORRECTED: Final = f"""\
select
  corrected.*,
  {called("metric")}
from {{table}} as corrected"""

_THRESHOLDS: Final = f"""\
select
  thresholds.*,
  {called("metric")}
from {{table}} as thresholds"""

# A grader is one of the whole suite, and a rule of rows by agent needs the agent of a run.
_OF_SUITE: Final = """\
select
  rates.*,
  runs.run_id,
  runs.agent
from {table} as rates
inner join {schema}passk_runs as runs
  on rates.suite = runs.suite"""

_ITS_RUN: Final = (
    Column("run_id", "string", "A run of the suite."),
    Column("agent", "string", "The agent of that run."),
)

DETAIL_DATASETS: Final = (
    Dataset(
        "lost reliability",
        "passk_lost_reliability",
        (
            *limited("share", "lost_share", "The share of the lost pass^k."),
            point("lost pass^k", "lost", "What pass^k lacks by this part."),
            point(
                "pass^k if these had passed",
                "pass_hat_k_if_passed",
                "pass^k without these failures.",
            ),
            ROWS,
        ),
        _LOSSES,
        (Column("called", "string", "The part in words."),),
    ),
    Dataset(
        "at least m of k",
        "passk_m_of_k",
        (*limited("chance", "estimate", "At least m of k tries succeed.", limits=""), ROWS),
        _M_OF_K,
        (Column("called", "string", "at least m of k or mG-Pass@k."),),
    ),
    Dataset(
        "score thresholds",
        "passk_threshold_metrics",
        (
            *limited(
                "at a threshold",
                "estimate",
                "pass@k or pass^k if a score passes from the threshold on.",
                limits="",
            ),
            ROWS,
        ),
        _THRESHOLDS,
        (CALLED,),
    ),
    Dataset(
        "horizons",
        "passk_horizons",
        (*limited("horizon", "horizon", "The length at which pass^k is one half.", LENGTH), ROWS),
    ),
    Dataset(
        "lengths of tasks",
        "passk_difficulty_curve",
        (
            *limited("pass^k", "pass_hat_k", "All k tries succeed, of tasks of one length."),
            ROWS,
        ),
    ),
    Dataset(
        "corrected metrics",
        "passk_corrected_metrics",
        (
            point("as graded", "raw", "pass@k or pass^k as graded."),
            *limited("corrected", "corrected", "The same without the errors of the grader."),
            ROWS,
        ),
        _CORRECTED,
        (CALLED,),
    ),
    Dataset(
        "graders",
        "passk_graders",
        (
            *limited("sensitivity", "sensitivity", "True passes that the grader passes."),
            *limited("false pass rate", "false_pass_rate", "True failures that it passes."),
            ROWS,
        ),
        _OF_SUITE,
        _ITS_RUN,
    ),
    Dataset(
        "judges",
        "passk_judges",
        (
            *limited("agreement", "agreement", "Attempts of which two judges say the same."),
            *limited(
                "share of the judges",
                "judges_share",
                "The disagreement between tries of a task that is the judges', not the agent's.",
            ),
            ROWS,
        ),
        _OF_SUITE,
        _ITS_RUN,
    ),
)

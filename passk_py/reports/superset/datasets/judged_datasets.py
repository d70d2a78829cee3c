"""Runs as they are judged: in pairs, in an order, over time, by diagnostics, by gates."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.datasets.dataset_parts import (
    AGED_RUNS,
    CALLED,
    ROWS,
    SUITE_AGE,
    Column,
    Dataset,
    Metric,
    called,
    first,
    limited,
    point,
)

_COMPARISONS: Final = f"""\
select
  comparisons.*,
  case when baseline_agent = candidate_agent then candidate_agent end as agent,
  {called("metric")},
  coalesce(meaning, null_reason) as said
from {{table}} as comparisons"""

# Superset shows nothing while a filter that needs a value has none to offer. So each run is here
# without a baseline, too, after those that have one.
_PAIRS: Final = f"""\
select
  runs.*,
  runs.run_id as candidate_run_id,
  compared.baseline_run_id,
  compared.baseline_agent,
  candidates.suite_age,
  candidates.age_in_suite
  + case when baselines.run_id is null then 500000 else 0 end as candidate_place,
  coalesce(baselines.age_in_suite, 0) as baseline_age
from {{table}} as runs
inner join ({AGED_RUNS}) as candidates
  on runs.run_id = candidates.run_id and runs.suite = candidates.suite
inner join (
  select distinct suite, candidate_run_id, baseline_run_id, baseline_agent
  from {{schema}}passk_comparisons
  union all
  select suite, run_id, 'none', null
  from {{schema}}passk_runs
) as compared
  on runs.run_id = compared.candidate_run_id and runs.suite = compared.suite
left join ({AGED_RUNS}) as baselines
  on compared.baseline_run_id = baselines.run_id and compared.suite = baselines.suite"""

_TASK_COMPARISONS: Final = """\
select
  comparisons.*,
  case when candidates.agent = baselines.agent then candidates.agent end as agent
from {table} as comparisons
inner join {schema}passk_runs as candidates
  on comparisons.candidate_run_id = candidates.run_id and comparisons.suite = candidates.suite
inner join {schema}passk_runs as baselines
  on comparisons.baseline_run_id = baselines.run_id and comparisons.suite = baselines.suite"""

_DIAGNOSTICS: Final = """\
select
  diagnostics.*,
  runs.agent
from {schema}passk_diagnostics as diagnostics
inner join {schema}passk_runs as runs
  on diagnostics.run_id = runs.run_id and diagnostics.suite = runs.suite"""

_GATES: Final = """\
select
  gates.*,
  baselines.agent as baseline_agent
from {schema}passk_gates as gates
left join {schema}passk_runs as baselines
  on gates.baseline_run_id = baselines.run_id and gates.suite = baselines.suite"""

_RANKINGS: Final = f"""\
select
  rankings.*,
  {called("metric")},
  case when may_be_best then 'yes' when not may_be_best then 'no' end as best
from {{table}} as rankings"""

_TRENDS: Final = f"""\
select
  trends.*,
  {called("metric")},
  replace(verdict, '_', ' ') as trend
from {{table}} as trends"""

_AGENT_OF_BOTH: Final = Column("agent", "string", "The agent of both runs; null if they differ.")

JUDGED_DATASETS: Final = (
    Dataset(
        "comparisons",
        "passk_comparisons",
        (
            point("difference", "difference", "Candidate less baseline.", "+.1%"),
            point("from", "difference_suite_lower", "Lower limit, for these tasks.", "+.1%"),
            point("to", "difference_suite_upper", "Upper limit, for these tasks.", "+.1%"),
            ROWS,
        ),
        _COMPARISONS,
        (
            _AGENT_OF_BOTH,
            CALLED,
            Column("said", "string", "What the difference means, or why there is none."),
        ),
    ),
    Dataset(
        "pairs",
        "passk_runs",
        (first("newest first", "suite_age", "candidate_place", "baseline_age"), ROWS),
        _PAIRS,
        (
            Column("candidate_run_id", "string", "The run."),
            Column("baseline_run_id", "string", "A run that it is compared with, or none."),
            Column("baseline_agent", "string", "The agent of the baseline; null if there is none."),
            SUITE_AGE,
            Column(
                "candidate_place",
                "bigint",
                "1 is the newest run of the suite; rows without a baseline come last.",
            ),
            Column("baseline_age", "bigint", "1 if the baseline is the newest run of the suite."),
        ),
    ),
    Dataset(
        "task comparisons",
        "passk_task_comparisons",
        (point("difference", "difference", "Candidate less baseline.", "+.1%"), ROWS),
        _TASK_COMPARISONS,
        (_AGENT_OF_BOTH,),
    ),
    Dataset(
        "rankings",
        "passk_rankings",
        (
            *limited("value", "estimate", "pass@k or pass^k of a run.", limits=""),
            point(
                "value of the top",
                "estimate_of_top",
                "The value of the run on top, without the luck of having come out highest.",
            ),
            ROWS,
        ),
        _RANKINGS,
        (CALLED, Column("best", "string", "Whether the run may be the best: yes or no.")),
        ("not_told_apart_from",),
    ),
    Dataset(
        "trends",
        "passk_trends",
        (*limited("slope", "slope", "The change from one run to the next.", "+.1%"), ROWS),
        _TRENDS,
        (CALLED, Column("trend", "string", "rising, falling or no trend.")),
    ),
    Dataset(
        "diagnostics",
        "passk_diagnostics",
        (ROWS,),
        _DIAGNOSTICS,
        (Column("agent", "string", "The agent of the run."),),
    ),
    Dataset(
        "gates",
        "passk_gates",
        (Metric("gates", "count(*)", "How many rules.", ",d"),),
        _GATES,
        (Column("baseline_agent", "string", "The agent of the baseline; null if there is none."),),
    ),
)

"""The datasets of Superset: the public tables, with metrics that can't be aggregated wrongly.

pass@k and pass^k can't be added up or averaged. So each metric of them is null wherever a group has
more than one row, as the metrics of ``semantic/`` are, and counts alone are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a group of rows."""

    name: str
    expression: str
    """SQL that every engine understands."""
    text: str
    number_format: str = ".1%"
    """In d3's notation."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a dataset adds to those of its table."""

    name: str
    data_type: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table as Superset sees it."""

    name: str
    table: str
    """The public table that it reads; its columns and their descriptions are the dataset's."""
    metrics: tuple[Metric, ...]
    sql: str = "select * from {table}"
    """The query; ``{schema}`` precedes each table."""
    added: tuple[Column, ...] = ()
    """Columns that the query adds to those of the table."""


_ROWS: Final = Metric("rows", "count(*)", "How many rows.", ",d")
_LONGEST: Final = 28
_ENDS: Final = 11
_POINT: Final = "Null where the group has more than one row: it can't be added up or averaged."


def sole(column: str) -> str:
    """Take a column of the only row of a group, and null of any other group."""
    return f"case when count(*) = 1 then max({column}) end"


def _point(name: str, column: str, text: str, number_format: str = ".1%") -> Metric:
    return Metric(name, sole(column), f"{text} {_POINT}", number_format)


def _total(name: str, column: str, text: str) -> Metric:
    return Metric(name, f"sum({column})", text, ",d")


def _limited(name: str, column: str, text: str) -> tuple[Metric, ...]:
    """Make a metric with its limits."""
    return (
        _point(name, column, text),
        _point(f"{name} from", f"{column}_lower", f"Lower limit of {name}."),
        _point(f"{name} to", f"{column}_upper", f"Upper limit of {name}."),
    )


LOWER: Final = "__yhat_lower"
UPPER: Final = "__yhat_upper"
"""How Superset knows the limits of a line by their names: it draws a band between them."""


def _band(name: str, column: str) -> tuple[Metric, ...]:
    """Make the limits of a metric once more, for a band."""
    return (
        _point(f"{name}{LOWER}", f"{column}_lower", f"Lower limit of {name}, for a band."),
        _point(f"{name}{UPPER}", f"{column}_upper", f"Upper limit of {name}, for a band."),
    )


def _estimates(who: str) -> tuple[Metric, ...]:
    return (
        *_limited("pass@k", "pass_at_k", f"At least one of k tries succeeds, {who}."),
        *_limited("pass^k", "pass_hat_k", f"All k tries succeed, {who}."),
    )


def _label(name: str, number: str) -> str:
    """Write a name so that an axis has room for it; names that differ in their middle stay two."""
    start, end = f"substr({name}, 1, {_ENDS})", f"substr({name}, length({name}) - {_ENDS - 1})"
    short = f"{start} || '\u2026' || {end} || ' #' || {number}"
    return f"case when length({name}) > {_LONGEST} then {short} else {name} end"


# A run's own time counts where all runs of its suite and agent have one, else when they were
# loaded: the order of every page of passk.
_ORDERED_RUNS: Final = """\
select
  run_id,
  suite,
  agent,
  case
    when
      count(started_at) over (partition by suite, agent)
      = count(*) over (partition by suite, agent)
      then started_at
    else loaded_at
  end as ordered_at
from {schema}passk_runs"""

_AGE: Final = """\
row_number() over (
    partition by {}
    order by
      case when runs.ordered_at is null then 1 else 0 end,
      runs.ordered_at desc,
      runs.run_id desc
  )"""

_AGED_RUNS: Final = f"""\
select
  runs.run_id,
  runs.suite,
  runs.agent,
  runs.ordered_at,
  dense_rank() over (
    order by
      case when runs.newest_in_suite is null then 1 else 0 end,
      runs.newest_in_suite desc,
      runs.suite
  ) as suite_age,
  {_AGE.format("runs.suite, runs.agent")} as age,
  {_AGE.format("runs.suite")} as age_in_suite
from (
  select *, max(ordered_at) over (partition by suite) as newest_in_suite
  from ({_ORDERED_RUNS}) as ordered_runs
) as runs"""

_SUITE_AGE: Final = Column(
    "suite_age", "bigint", "1 is the suite of the newest run, 2 the one before."
)
_RUN_COLUMNS: Final = (
    Column(
        "run",
        "string",
        f"The run_id, on axes; one of more than {_LONGEST} characters as its two ends and "
        "age_in_suite.",
    ),
    Column("ordered_at", "timestamp", "When the run began, or else was loaded: its place in time."),
    Column("age", "bigint", "1 is the newest run of the suite and agent, 2 the one before."),
    Column("age_in_suite", "bigint", "1 is the newest run of the suite, 2 the one before."),
    _SUITE_AGE,
)

_POINTS: Final = f"""\
select
  metrics.*,
  {_label("metrics.run_id", "runs.age_in_suite")} as run,
  runs.ordered_at,
  runs.age,
  runs.age_in_suite,
  runs.suite_age,
  case when metrics.k = deployment.k then 1 else 0 end as is_deployment_k,
  coalesce(metrics.reading, metrics.null_reason) as judgement
from {{schema}}passk_suite_metrics as metrics
inner join ({_AGED_RUNS}) as runs
  on metrics.run_id = runs.run_id and metrics.suite = runs.suite
cross join (select max(k) as k from {{schema}}passk_tasks) as deployment
where metrics.slice_name = 'all'"""

_TASKS: Final = f"""\
select
  tasks.*,
  {_label("tasks.run_id", "runs.age_in_suite")} as run,
  {_label("tasks.task_id", "hardest.place")} as task,
  runs.ordered_at,
  runs.age,
  runs.age_in_suite,
  runs.suite_age,
  hardest.place
from {{schema}}passk_tasks as tasks
inner join ({_AGED_RUNS}) as runs
  on tasks.run_id = runs.run_id and tasks.suite = runs.suite
left join (
  select
    suite,
    task_id,
    row_number() over (
      partition by suite
      order by cast(sum(c) as double precision) / sum(n), task_id
    ) as place
  from {{schema}}passk_tasks
  where n > 0
  group by suite, task_id
) as hardest
  on tasks.suite = hardest.suite and tasks.task_id = hardest.task_id"""

_TASK_POINTS: Final = f"""\
select
  metrics.*,
  runs.ordered_at
from {{schema}}passk_task_metrics as metrics
inner join ({_AGED_RUNS}) as runs
  on metrics.run_id = runs.run_id and metrics.suite = runs.suite"""

_PAIR: Final = f"""\
inner join ({_AGED_RUNS}) as candidates
  on comparisons.candidate_run_id = candidates.run_id and comparisons.suite = candidates.suite
inner join ({_AGED_RUNS}) as baselines
  on comparisons.baseline_run_id = baselines.run_id and comparisons.suite = baselines.suite"""

_COMPARISONS: Final = f"""\
select
  comparisons.*,
  case when candidates.agent = baselines.agent then candidates.agent end as agent,
  candidates.age_in_suite as candidate_age,
  baselines.age_in_suite as baseline_age,
  candidates.suite_age,
  case when comparisons.k = deployment.k then 1 else 0 end as is_deployment_k,
  case comparisons.metric when 'pass_at_k' then 'pass@k' else 'pass^k' end as called,
  coalesce(comparisons.meaning, comparisons.null_reason) as said
from {{schema}}passk_comparisons as comparisons
{_PAIR}
cross join (select max(k) as k from {{schema}}passk_tasks) as deployment"""

_TASK_COMPARISONS: Final = f"""\
select
  comparisons.*,
  case when candidates.agent = baselines.agent then candidates.agent end as agent
from {{schema}}passk_task_comparisons as comparisons
{_PAIR}"""

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

_AGENT_OF_BOTH: Final = Column("agent", "string", "The agent of both runs; null if they differ.")

_DEPLOYMENT_FIRST: Final = Metric(
    "deployment k first",
    "min(case when is_deployment_k = 1 then 0 else k end)",
    "Sorts the values of k: the deployment k, then the others.",
    ",d",
)
_IS_DEPLOYMENT_K: Final = Column(
    "is_deployment_k", "bigint", "1 where k is passk_deployment_k, else 0."
)


def _first(name: str, *columns: str) -> Metric:
    """Sort by columns of whole numbers, the first of them above all.

    A filter begins with its first value before it knows what the others chose. So the first run,
    task and pair have to be those of the first suite.
    """
    number = columns[0]
    for column in columns[1:]:
        number = f"({number} * 1000000 + {column})"
    return Metric(name, f"min({number})", "Sorts the values of filters.", ",d")


_NEWEST_FIRST: Final = _first("newest first", "suite_age", "age_in_suite")

DATASETS: Final = (
    Dataset(
        "points",
        "passk_suite_metrics",
        (
            *_estimates("as a mean over the tasks of a suite"),
            *_limited("delta_k", "delta_k", "How unequal the tasks are."),
            *_band("pass@k", "pass_at_k"),
            *_band("pass^k", "pass_hat_k"),
            _DEPLOYMENT_FIRST,
            _NEWEST_FIRST,
            _ROWS,
        ),
        _POINTS,
        (
            *_RUN_COLUMNS,
            _IS_DEPLOYMENT_K,
            Column("judgement", "string", "The reading, or why there is none."),
        ),
    ),
    Dataset(
        "runs",
        "passk_runs",
        (
            _total("tasks", "tasks", "Tasks, added over runs."),
            _total("attempts", "attempts", "Attempts, added over runs."),
            _total("counted attempts", "n", "Attempts that passed or failed, added over runs."),
            _total("passed attempts", "c", "Attempts that passed, added over runs."),
            _total("excluded attempts", "excluded", "Attempts that don't count, added over runs."),
            _ROWS,
        ),
    ),
    Dataset(
        "tasks",
        "passk_tasks",
        (
            _point("passed", "pass_rate", "The share of a task's counted attempts that passed."),
            _point(
                "failed", "1 - pass_rate", "The share of a task's counted attempts that failed."
            ),
            _point("pass@k", "pass_at_k", "At least one of k tries succeeds."),
            _point("pass^k", "pass_hat_k", "All k tries succeed."),
            Metric("tasks", "count(*)", "How many tasks.", ",d"),
            _first("hardest first", "suite_age", "place"),
        ),
        _TASKS,
        (
            *_RUN_COLUMNS,
            Column(
                "task",
                "string",
                f"The task_id, on axes; one of more than {_LONGEST} characters as its two ends and "
                "place.",
            ),
            Column("place", "bigint", "1 is the task of the suite that fails most over all runs."),
        ),
    ),
    Dataset(
        "points of tasks",
        "passk_task_metrics",
        (*_estimates("of one task"), _ROWS),
        _TASK_POINTS,
        (Column("ordered_at", "timestamp", "When the run began, or else was loaded."),),
    ),
    Dataset(
        "comparisons",
        "passk_comparisons",
        (
            _point("difference", "difference", "Candidate less baseline.", "+.1%"),
            _point("from", "difference_suite_lower", "Lower limit, for these tasks.", "+.1%"),
            _point("to", "difference_suite_upper", "Upper limit, for these tasks.", "+.1%"),
            _DEPLOYMENT_FIRST,
            _first("newest first", "suite_age", "candidate_age", "baseline_age"),
            _ROWS,
        ),
        _COMPARISONS,
        (
            _AGENT_OF_BOTH,
            Column("candidate_age", "bigint", "1 if the candidate is the newest run of the suite."),
            Column("baseline_age", "bigint", "1 if the baseline is the newest run of the suite."),
            _SUITE_AGE,
            _IS_DEPLOYMENT_K,
            Column("called", "string", "pass@k or pass^k."),
            Column("said", "string", "What the difference means, or why there is none."),
        ),
    ),
    Dataset(
        "task comparisons",
        "passk_task_comparisons",
        (_point("difference", "difference", "Candidate less baseline.", "+.1%"), _ROWS),
        _TASK_COMPARISONS,
        (_AGENT_OF_BOTH,),
    ),
    Dataset(
        "diagnostics",
        "passk_diagnostics",
        (_ROWS,),
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

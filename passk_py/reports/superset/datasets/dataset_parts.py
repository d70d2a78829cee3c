"""The parts of a dataset: metrics, columns, and the runs by their age."""

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
    """The query: ``{table}`` is the table, ``{schema}`` precedes any other."""
    added: tuple[Column, ...] = ()
    """Columns that the query adds to those of the table."""
    left_out: tuple[str, ...] = ()
    """Columns of the table that name runs of other agents, which a rule of rows can't hide."""


ROWS: Final = Metric("rows", "count(*)", "How many rows.", ",d")
LONGEST: Final = 28
_ENDS: Final = 11
_POINT: Final = "Null where the group has more than one row: it can't be added up or averaged."


def sole(column: str) -> str:
    """Take a column of the only row of a group, and null of any other group."""
    return f"case when count(*) = 1 then max({column}) end"


def called(metric: str) -> str:
    """Write the metric of a row as it is spoken of."""
    return f"case {metric} when 'pass_at_k' then 'pass@k' else 'pass^k' end as called"


def point(name: str, column: str, text: str, number_format: str = ".1%") -> Metric:
    """Make a metric of a column that can't be aggregated."""
    return Metric(name, sole(column), f"{text} {_POINT}", number_format)


def total(name: str, column: str, text: str) -> Metric:
    """Make a metric of a column that can be added up."""
    return Metric(name, f"sum({column})", text, ",d")


def limited(
    name: str, column: str, text: str, number_format: str = ".1%", *, limits: str | None = None
) -> tuple[Metric, ...]:
    """Make a metric with its limits, whose columns begin with the column or with another text."""
    limits = f"{column}_" if limits is None else limits
    return (
        point(name, column, text, number_format),
        point(f"{name} from", f"{limits}lower", f"Lower limit of {name}.", number_format),
        point(f"{name} to", f"{limits}upper", f"Upper limit of {name}.", number_format),
    )


LOWER: Final = "__yhat_lower"
UPPER: Final = "__yhat_upper"
"""How Superset knows the limits of a line by their names: it draws a band between them."""


def band(name: str, column: str) -> tuple[Metric, ...]:
    """Make the limits of a metric once more, for a band."""
    return (
        point(f"{name}{LOWER}", f"{column}_lower", f"Lower limit of {name}, for a band."),
        point(f"{name}{UPPER}", f"{column}_upper", f"Upper limit of {name}, for a band."),
    )


def estimates(who: str) -> tuple[Metric, ...]:
    """Make both metrics with their limits."""
    return (
        *limited("pass@k", "pass_at_k", f"At least one of k tries succeeds, {who}."),
        *limited("pass^k", "pass_hat_k", f"All k tries succeed, {who}."),
    )


def label(name: str, number: str) -> str:
    """Write a name so that an axis has room for it; names that differ in their middle stay two."""
    start, end = f"substr({name}, 1, {_ENDS})", f"substr({name}, length({name}) - {_ENDS - 1})"
    short = f"{start} || '\u2026' || {end} || ' #' || {number}"
    return f"case when length({name}) > {LONGEST} then {short} else {name} end"


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

AGED_RUNS: Final = f"""\
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

SUITE_AGE: Final = Column(
    "suite_age", "bigint", "1 is the suite of the newest run, 2 the one before."
)
RUN_COLUMNS: Final = (
    Column(
        "run",
        "string",
        f"The run_id, on axes; one of more than {LONGEST} characters as its two ends and "
        "age_in_suite.",
    ),
    Column("ordered_at", "timestamp", "When the run began, or else was loaded: its place in time."),
    Column("age", "bigint", "1 is the newest run of the suite and agent, 2 the one before."),
    Column("age_in_suite", "bigint", "1 is the newest run of the suite, 2 the one before."),
    SUITE_AGE,
)


DEPLOYMENT_FIRST: Final = Metric(
    "deployment k first",
    "min(case when is_deployment_k = 1 then 0 else k end)",
    "Sorts the values of k: the deployment k, then the others.",
    ",d",
)
IS_DEPLOYMENT_K: Final = Column(
    "is_deployment_k", "bigint", "1 where k is passk_deployment_k, else 0."
)


def first(name: str, *columns: str) -> Metric:
    """Sort by columns of whole numbers, the first of them above all.

    A filter begins with its first value before it knows what the others chose. So the first run,
    task and pair have to be those of the first suite.
    """
    number = columns[0]
    for column in columns[1:]:
        number = f"({number} * 1000000 + {column})"
    return Metric(name, f"min({number})", "Sorts the values of filters.", ",d")


CALLED: Final = Column("called", "string", "pass@k or pass^k.")
NEWEST_FIRST: Final = first("newest first", "suite_age", "age_in_suite")

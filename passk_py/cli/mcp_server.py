"""The tools of ``passk mcp``: questions about the public tables, with limits and reasons."""

# The SDK makes the schemas of tools from their annotations, so what they name is imported for good.
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import duckdb
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from rich.console import Console

from passk_py.cli.compare import find_comparison
from passk_py.cli.gate import declared_gates
from passk_py.cli.session import PIPED_WIDTH
from passk_py.common.errors import PasskError
from passk_py.common.names import did_you_mean
from passk_py.common.sql_text import identifier, quote
from passk_py.common.words import plain
from passk_py.reports.answer import Answer, find_answer
from passk_py.reports.answer.as_dict import answer_as_dict
from passk_py.reports.answer.render import render_answer
from passk_py.warehouse.catalog import filters_of, public_table, shared_columns
from passk_py.warehouse.descriptions import described_table
from passk_py.warehouse.freshness import stale
from passk_py.warehouse.project import version
from passk_py.warehouse.settings import read_settings
from passk_py.warehouse.tables import Tables, open_tables, require_filtered

MOST_ROWS: Final = 200
"""The most rows that a tool gives at once."""
_MOST_TEXT: Final = 2_000
"""The most characters of a text in a row."""
_MOST_RUNS: Final = 20
"""The most runs of an answer: its text has a line for each."""

_ABOUT: Final = """\
passk measures agents that try each task of a suite several times. pass@k (pass_at_k) is the chance
that at least one of k tries succeeds, pass^k (pass_hat_k) the chance that all k succeed: capability
and reliability. Columns that end in _lower and _upper are the limits of an interval; give them with
an estimate. A null is a number that can't be known: say so, with the reason beside it
(null_reason), and don't make up another. n counts the attempts of a task that say something about
the agent, c those that passed. If stale is not null, the tables are older than the log.
Begin with runs, then ask answer for a suite."""

_CURVE: Final = (
    *("suite", "k", "pass_at_k", "pass_at_k_lower", "pass_at_k_upper"),
    *("pass_hat_k", "pass_hat_k_lower", "pass_hat_k_upper"),
    *("pass_hat_k_suite_lower", "pass_hat_k_suite_upper", "eligible_tasks", "total_tasks"),
    *("reading", "null_reason"),
)
_RUN: Final = (
    *("suite", "run_id", "agent", "agent_version", "model", "tasks", "attempts", "excluded"),
    *("missing_attempts", "rejected", "pass_rate", "min_n", "max_n", "started_at", "warnings"),
)
_TASK: Final = (
    *("suite", "task_id", "n", "c", "excluded", "task_class", "pass_rate", "k", "pass_at_k"),
    *("pass_hat_k", "null_reason"),
)
_DIAGNOSTIC: Final = (
    *("suite", "diagnostic", "verdict", "statistic", "p", "p_adjusted", "tasks", "finding"),
    *("meaning", "advice"),
)

Row = dict[str, Any]
Result = dict[str, Any]
Suite = Annotated[str | None, Field(description="Only this suite; all by default.")]
RunId = Annotated[str, Field(description="The run_id of a run, as the tool runs lists it.")]
AnyRun = Annotated[str | None, Field(description="Only this run, by run_id; all by default.")]
K = Annotated[int | None, Field(ge=1, description="Only this number of tries; all by default.")]
Limit = Annotated[int, Field(ge=1, le=MOST_ROWS, description="Give at most this many rows.")]
Offset = Annotated[int, Field(ge=0, description="Leave out this many rows before.")]


class Questions:
    """The tools over one database; the docstring of each is what a model reads about it."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def runs(self, suite: Suite = None, limit: Limit = 50, offset: Offset = 0) -> Result:
        """List runs: agent, model, number of tasks and attempts, and warnings about each."""
        with self._reading() as (tables, about):
            filters = filters_of(suite=suite or ())
            require_filtered(tables, filters)
            where = filters.where(public_table("passk_runs"))
            return about | _rows(tables, "passk_runs", _RUN, where, limit, offset)

    def answer(
        self,
        suite: Annotated[str, Field(description="The suite to answer for.")],
        runs: Annotated[
            list[str] | None,
            Field(max_length=_MOST_RUNS, description="Only these runs, by run_id."),
        ] = None,
    ) -> Result:
        """Say which run to use on a suite, with review and unattended, and how sure that is.

        The text is that of `passk show`; the verdicts are the same for a program.
        """
        with self._reading() as (tables, about):
            filters = filters_of(runs or (), suite)
            require_filtered(tables, filters)
            found = find_answer(tables, filters)
            (one,) = answer_as_dict(found)["suites"] or ({"runs": []},)
            if not one["runs"]:
                raise ToolError(f"The suite {plain(suite)} has no attempts of these runs.")
            if len(one["runs"]) > _MOST_RUNS:
                raise ToolError(
                    f"The suite has {len(one['runs'])} runs, and an answer is about at most "
                    f"{_MOST_RUNS}. Name some of them with runs."
                )
            return about | {
                "suite": suite,
                "deployment_k": found.deployment_k,
                "verdicts": _json(one["verdicts"]),
                "text": _text(found),
            }

    def metrics(self, run_id: RunId, suite: Suite = None, k: K = None) -> Result:
        """Give pass@k and pass^k of a run over k, with limits, and the reason for each null.

        _lower and _upper hold for tasks like these, _suite_lower and _suite_upper for these tasks.
        """
        with self._reading() as (tables, about):
            filters = filters_of(run_id, suite or (), k or ())
            table = public_table("passk_suite_metrics")
            require_filtered(tables, filters, [table])
            where = f"{filters.where(table)} and slice_name = 'all' and slice_value = 'all'"
            return about | _rows(tables, table.name, _CURVE, where, MOST_ROWS)

    def tasks(
        self,
        run_id: RunId,
        suite: Suite = None,
        task_class: Annotated[
            Literal["consistent", "flaky", "incapable"] | None,
            Field(description="Only tasks that passed every time, sometimes, or never."),
        ] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Result:
        """List the tasks of a run, those that passed least first, and count them by class."""
        with self._reading() as (tables, about):
            filters = filters_of(run_id, suite or ())
            table = public_table("passk_tasks")
            require_filtered(tables, filters, [table])
            where = filters.where(table)
            classes = tables.records(
                f"select suite, task_class, count(*) as tasks from {tables.require(table.name)} "
                f"where {where} group by all order by all"
            )
            if task_class is not None:
                where += f" and task_class = {quote(task_class)}"
            order = ("pass_rate", "suite", "task_id")
            found = _rows(tables, table.name, _TASK, where, limit, offset, order)
            return about | {"classes": classes} | found

    def comparison(
        self,
        baseline: RunId,
        candidate: RunId,
        suite: Suite = None,
        k: K = None,
        limit: Limit = 20,
    ) -> Result:
        """Compare two runs: differences of candidate less baseline with limits, p and a verdict.

        The tasks are those whose change is least due to chance.
        """
        with self._reading() as (tables, about):
            ks = () if k is None else (k,)
            found = find_comparison(
                tables, read_settings(tables), baseline, candidate, suite=suite, ks=ks
            )
            return about | {
                "rows": _json(found.rows[:MOST_ROWS]),
                "total_rows": len(found.rows),
                "tasks": _json(found.tasks[:limit]),
                "total_tasks": len(found.tasks),
                "costs": _json(found.costs[:MOST_ROWS]),
            }

    def gates(self, run_id: AnyRun = None, limit: Limit = 50) -> Result:
        """Give the results of the declared gates: pass, fail or inconclusive, and why.

        An inconclusive gate says what would settle it.
        """
        with self._reading() as (tables, about):
            if about["stale"] is not None:
                raise ToolError(f"No gate was judged. {about['stale']} Run `passk build`.")
            require_filtered(tables, filters_of(run_id or ()))
            rows = declared_gates(tables, (), self._database)
            chosen = [row for row in rows if run_id in (None, row["run_id"])]
            return about | {"rows": _json(chosen[:limit]), "total_rows": len(chosen)}

    def diagnostics(self, run_id: RunId, suite: Suite = None) -> Result:
        """Say whether the log of a run can be trusted, question by question, with evidence."""
        with self._reading() as (tables, about):
            filters = filters_of(run_id, suite or ())
            table = public_table("passk_diagnostics")
            require_filtered(tables, filters, [table])
            return about | _rows(tables, table.name, _DIAGNOSTIC, filters.where(table), MOST_ROWS)

    def tables(
        self,
        table: Annotated[
            str | None, Field(description="Describe the columns of this table; else list tables.")
        ] = None,
    ) -> Result:
        """List the public tables, or describe the columns of one of them."""
        with self._reading() as (tables, about):
            if table is None:
                return about | {
                    "tables": [
                        {"table": one.name, "one_row_per": one.grain, "about": one.description}
                        for one in tables.public()
                        if tables.find(one.name)
                    ]
                }
            chosen = public_table(table)
            texts = described_table(table).columns
            return about | {
                "table": table,
                "one_row_per": chosen.grain,
                "columns": [
                    {"column": name, "type": kind, "about": texts.get(name, "")}
                    for name, kind in tables.columns(table).items()
                ],
            }

    def rows(
        self,
        table: Annotated[str, Field(description="A table, as the tool tables lists them.")],
        run_id: AnyRun = None,
        suite: Suite = None,
        k: K = None,
        equals: Annotated[
            dict[str, str | int | float | bool | None] | None,
            Field(description="Only rows whose column has this value, column by column."),
        ] = None,
        columns: Annotated[
            list[str] | None, Field(description="Only these columns; all by default.")
        ] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Result:
        """Read rows of a public table, in the order of its key."""
        with self._reading() as (tables, about):
            chosen = public_table(table)
            filters = filters_of(run_id or (), suite or (), k or ())
            if k is not None and "k" not in chosen.filters:
                raise ToolError(f"{table} has no k to filter by.")
            require_filtered(tables, filters, [chosen])
            known = tables.columns(table)
            unknown = [one for one in (*(columns or ()), *(equals or {})) if one not in known]
            if unknown:
                raise ToolError(
                    f"{table} has no column {plain(unknown[0])}."
                    f"{did_you_mean(unknown[:1], known)} Its columns are {', '.join(known)}."
                )
            # Rejected rows as they were read, and paths, stay in the database.
            shared = shared_columns(known, with_raw=False)
            where = [filters.where(chosen)]
            where += [_is(shared[name], value) for name, value in (equals or {}).items()]
            return about | _rows(
                tables, table, columns or list(known), " and ".join(where), limit, offset
            )

    @contextmanager
    def _reading(self) -> Iterator[tuple[Tables, Result]]:
        """Open the database for one question; whatever is wrong with it, the model is told."""
        try:
            with open_tables(self._database) as tables:
                yield tables, {"database": self._database.name, "stale": stale(tables)}
        except PasskError as error:
            raise ToolError(" ".join(filter(None, (error.message, error.hint)))) from error
        except duckdb.Error as error:
            raise ToolError(f"DuckDB failed: {str(error).splitlines()[0]}") from error


def _rows(
    tables: Tables,
    name: str,
    columns: Sequence[str],
    where: str,
    limit: int,
    offset: int = 0,
    order: Sequence[str] = (),
) -> Result:
    """Read rows, and say how many there are in all."""
    place, table = tables.require(name), public_table(name)
    known = tables.columns(name)
    shared = shared_columns([one for one in columns if one in known], with_raw=False)
    shown = ", ".join(f"{sql} as {identifier(one)}" for one, sql in shared.items())
    found = tables.records(
        f"select {shown} from {place} where {where} "
        f"order by {', '.join(order or table.key)} limit {limit} offset {offset}"
    )
    (total,) = tables.rows(f"select count(*) from {place} where {where}")[0]
    return {"rows": _json(found), "total_rows": total}


def _is(sql: str, value: str | float | None) -> str:
    """Write the condition that a column has a value."""
    if value is None:
        return f"({sql}) is null"
    if isinstance(value, bool):
        return f"cast({sql} as varchar) = '{str(value).lower()}'"
    if isinstance(value, str):
        return f"cast({sql} as varchar) = {quote(value)}"
    return f"try_cast({sql} as double) = {float(value)!r}"


def _json(values: Any) -> Any:  # noqa: ANN401 - rows, and what they hold
    """Turn values into what JSON can hold, long texts cut."""
    if isinstance(values, Mapping):
        return {str(name): _json(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_json(value) for value in values]
    if isinstance(values, str) and len(values) > _MOST_TEXT:
        return f"{values[:_MOST_TEXT]}..."
    return json.loads(json.dumps(values, default=_text_of))


def _text_of(value: object) -> str:
    """Write what JSON has no word for, such as a time in ISO 8601."""
    return value.isoformat() if isinstance(value, date) else str(value)


def _text(answer: Answer) -> str:
    """Write the answer as `passk show` prints it."""
    console = Console(
        width=PIPED_WIDTH, color_system=None, markup=False, emoji=False, file=StringIO()
    )
    with console.capture() as captured:
        console.print(render_answer(answer, width=PIPED_WIDTH, bars=False), highlight=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def make_server(database: Path) -> MCPServer:
    """Make the server, whose tools only read."""
    questions = Questions(database)
    server = MCPServer("passk", instructions=_ABOUT, version=version(), log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool in (
        questions.runs,
        questions.answer,
        questions.metrics,
        questions.tasks,
        questions.comparison,
        questions.gates,
        questions.diagnostics,
        questions.tables,
        questions.rows,
    ):
        server.add_tool(tool, annotations=reads)
    return server

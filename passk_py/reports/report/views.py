"""Runs, comparisons and gates as a notebook shows them: sentences and a small table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from passk_py.common import markdown
from passk_py.common.errors import PasskError
from passk_py.common.words import DASH, in_points, percent, plain, plural, symbol
from passk_py.reports.decision_words import result_of, verdict_of, why_of
from passk_py.reports.report.agent_sentences import spoken, verdict
from passk_py.reports.report.leaderboard import leaderboard
from passk_py.reports.report.page_words import limits_of, signed_points

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

Row = dict[str, Any]

_MOST: Final = 50
"""How many rows and sentences are shown."""


@dataclass(frozen=True, slots=True)
class View:
    """Sentences and a small table, for people.

    Parameters
    ----------
    sentences
        The rows in words.
    heads
        The heads of the table's columns.
    rows
        Its cells. A value that is not known is a dash; then there is a last column that says why.
    """

    sentences: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def html(self) -> str:
        """Write it as HTML without styles of its own; names can't be read as markup."""
        said = "".join(f"<p>{_shown(sentence)}</p>" for sentence in self.sentences[:_MOST])
        heads = "".join(f'<th scope="col">{_shown(head)}</th>' for head in self.heads)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows[:_MOST])
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        parts = (said, table if self.rows else "", *(f"<p>{left}</p>" for left in self._left()))
        return f'<div class="passk-view">{"".join(parts)}</div>'

    def markdown(self) -> str:
        """Write it as Markdown, which shows names letter for letter."""
        lines = [f"- {markdown.text(sentence)}" for sentence in self.sentences[:_MOST]]
        if self.rows:
            cells = [[markdown.text(cell) for cell in row] for row in self.rows[:_MOST]]
            lines += ["", *markdown.table(self.heads, cells)]
        return "\n".join([*lines, *(f"\n{left}" for left in self._left())]).strip() + "\n"

    def _left(self) -> Iterable[str]:
        if len(self.rows) > _MOST:
            yield f"{plural(len(self.rows) - _MOST, 'more row')} not shown."

    def _repr_html_(self) -> str:
        return self.html()

    def __str__(self) -> str:
        return self.markdown()


def view(rows: Any) -> View:  # noqa: ANN401 - a frame of any library
    """Show runs, comparisons or gates as sentences and a small table.

    A notebook shows the result as HTML; ``print`` writes it as Markdown.

    Parameters
    ----------
    rows
        A frame that :func:`suite_metrics`, :func:`compare` or :func:`judge_gates` gives, or of the
        tables ``passk_suite_metrics``, ``passk_comparisons`` or ``passk_gates``. Frames of polars,
        pandas and PyArrow are read.

    Returns
    -------
    View
        Shares in percent, differences in percentage points, each with its limits. A null is a dash,
        with the reason in the last column. At most 50 rows are shown; the last line says how many
        are not.

    Raises
    ------
    PasskError
        If the rows are of another kind.

    Examples
    --------
    >>> import polars as pl
    >>> import passk_py as pk
    >>> log = pl.DataFrame(
    ...     {"run_id": "r", "task_id": "t", "attempt": [1, 2], "passed": [True, False]}
    ... )
    >>> for sentence in pk.view(pk.suite_metrics(log, ks=[1])).sentences:
    ...     print(sentence)
    r: not capable at k = 1: pass@1 50.0% (0 to 100), pass^1 50.0% (0 to 100).
    """
    read = _polars_of(rows)
    for needed, made in _KINDS.items():
        if needed <= set(read.columns):
            try:
                return made(read.rows(named=True))
            except KeyError as error:
                raise PasskError(
                    f"view: the frame has no column {error.args[0]}.",
                    hint="Give the rows of suite_metrics, compare or judge_gates with all of their "
                    "columns.",
                ) from None
    raise PasskError(
        "view: the frame has neither runs, nor comparisons, nor gates.",
        hint="Give the rows of suite_metrics, compare or judge_gates with all of their columns.",
    )


def view_of_report(facts: Row) -> str:
    """Write a report for a notebook as HTML: its runs at the deployment k, changes and gates."""
    parts = []
    for suite in facts["suites"]:
        k = facts["deployment_k"]
        board = leaderboard(suite["runs"], k)
        rows = [
            {"run_id": row["run"]["run_id"], "k": k, **row["at_k"]} for row in board if row["at_k"]
        ]
        runs = view_of_runs(rows)
        said = [verdict(run, facts) for run in suite["runs"] if run["is_latest"]]
        parts.append(f"<h3>{_shown(suite['suite'])}</h3>")
        parts.append(View(tuple(said), runs.heads, runs.rows).html())
        parts += [made(suite[name]).html() for name, made in _PARTS.items() if suite[name]]
    return "".join(parts)


def _view(said: Iterable[str], heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> View:
    """Make a view, without its last column if that is empty."""
    cells = tuple(rows)
    if not any(row[-1] for row in cells):
        heads, cells = heads[:-1], tuple(row[:-1] for row in cells)
    return View(tuple(said), heads, cells)


def view_of_runs(rows: Sequence[Row]) -> View:
    """Show rows of ``passk_suite_metrics``: a sentence for each run, at its largest known k."""
    several = len({row.get("suite") for row in rows}) > 1
    largest: dict[tuple[str, ...], Row] = {}
    for row in sorted(rows, key=lambda row: int(row["k"])):
        place = _place(row, with_suite=several)
        if row["pass_hat_k"] is not None or place not in largest:
            largest[place] = row
    said = [f"{' · '.join(place)}: {_values(row)}." for place, row in largest.items()]
    heads = ("run", "k", "pass@k", "limits", "pass^k", "limits", "reading", "why not known")
    return _view(
        said,
        heads,
        (
            (
                " · ".join(_place(row, with_suite=several)),
                str(row["k"]),
                _percent(row["pass_at_k"]),
                _limits(row, "pass_at_k"),
                _percent(row["pass_hat_k"]),
                _limits(row, "pass_hat_k"),
                row.get("reading") or DASH,
                row.get("null_reason") or "",
            )
            for row in rows
        ),
    )


def view_of_comparisons(rows: Sequence[Row]) -> View:
    """Show rows of ``passk_comparisons``: what each means, in percentage points."""
    said = [
        f"{row['candidate_run_id']} against {row['baseline_run_id']}: "
        f"{in_points(row.get('meaning') or row['null_reason'] or row['verdict'])}"
        for row in rows
    ]
    heads = (
        "run", "baseline", "metric", "baseline has", "run has", "difference for these tasks",
        "for tasks like these", "verdict", "why not known",
    )  # fmt: skip
    return _view(
        said,
        heads,
        (
            (
                row["candidate_run_id"],
                row["baseline_run_id"],
                symbol(row["metric"], row["k"]),
                _percent(row["baseline"]),
                _percent(row["candidate"]),
                signed_points(row, "difference", "difference_suite"),
                _ends(row),
                verdict_of({"hidden_regression": None, **row}),
                row["null_reason"] or "",
            )
            for row in rows
        ),
    )


def view_of_gates(rows: Sequence[Row]) -> View:
    """Show rows of ``passk_gates``: the result of each, with its reason."""
    said = [f"{row['gate']}: {result_of(row)} for {row['run_id']}. {why_of(row)}" for row in rows]
    return View(
        tuple(said),
        ("gate", "result", "run", "rule", "estimate", "threshold"),
        tuple(
            (
                row["gate"],
                result_of(row),
                " · ".join(_place(row)),
                row["rule"],
                _estimate(row),
                DASH if row["threshold"] is None else f"{row['threshold']:g}",
            )
            for row in rows
        ),
    )


_KINDS: Final = {
    frozenset({"gate", "result", "rule", "estimate", "threshold", "reason"}): view_of_gates,
    frozenset(
        {"baseline_run_id", "difference", "difference_suite_lower", "verdict"}
    ): view_of_comparisons,
    frozenset({"run_id", "k", "slice_name", "pass_at_k_lower", "pass_hat_k_lower"}): view_of_runs,
}
"""The columns that tell rows apart, and how they are shown."""

_PARTS: Final = {"comparisons": view_of_comparisons, "gates": view_of_gates}
"""The other parts of a suite in a report, beside its runs."""


def _polars_of(frame: Any) -> pl.DataFrame:  # noqa: ANN401 - a frame of any library
    """Read a frame of any library."""
    import narwhals as nw
    import polars as pl

    try:
        read: Any = nw.from_native(frame)
    except TypeError:
        raise PasskError(
            f"view: {type(frame).__name__} is not a frame.",
            hint="Give the rows of suite_metrics, compare or judge_gates.",
        ) from None
    eager = read.collect(backend="polars") if isinstance(read, nw.LazyFrame) else read
    return pl.DataFrame(eager.to_polars())


def _place(row: Mapping[str, Any], *, with_suite: bool = False) -> tuple[str, ...]:
    """Name the run of a row, and its slice if it is not the whole suite."""
    run = (*((str(row["suite"]),) if with_suite else ()), str(row["run_id"]))
    if row.get("slice_name", "all") == "all":
        return run
    return (*run, f"{row['slice_name']} = {row['slice_value']}")


def _values(row: Row) -> str:
    """Say the values of a run at one k, or why they are not known."""
    if row["pass_hat_k"] is None:
        return spoken(row, "pass_hat_k")
    reading = f"{row['reading']} at k = {row['k']}: " if row.get("reading") else ""
    return f"{reading}{spoken(row, 'pass_at_k')}, {spoken(row, 'pass_hat_k')}"


def _percent(share: float | None) -> str:
    return DASH if share is None else f"{percent(share)}%"


def _limits(row: Row, metric: str) -> str:
    return DASH if row[f"{metric}_lower"] is None else limits_of(row, metric)


def _ends(row: Row) -> str:
    """Write the limits of a difference for tasks like these, in percentage points."""
    if row["difference_lower"] is None:
        return DASH
    return signed_points(row, "difference").partition("(")[2].rstrip(")")


def _estimate(row: Row) -> str:
    """Write what a rule was judged by, which may be a share, a difference or a count."""
    if row["estimate"] is None:
        return DASH
    if row["estimate_lower"] is None or row["estimate_upper"] is None:
        return f"{row['estimate']:.4g}"
    return f"{row['estimate']:.4g} ({row['estimate_lower']:.4g} to {row['estimate_upper']:.4g})"


def _shown(text: str) -> str:
    return escape(plain(text))


def _cell(text: str) -> str:
    return f"<td>{_shown(text)}</td>"

"""The report as one HTML file, which loads nothing over the network and works without scripts."""

from __future__ import annotations

import math
from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import Any, Final

import jinja2
from markupsafe import Markup

from passk_py.common.words import (
    DASH,
    TASK_CLASSES,
    in_points,
    limit,
    money,
    percent,
    plain,
    plural,
    shortened,
    symbol,
)
from passk_py.reports.cost_words import MEASURE_NAMES, amounts
from passk_py.reports.length_words import horizon_sentences
from passk_py.reports.loss_words import cause_name
from passk_py.reports.report.agent_sentences import interval
from passk_py.reports.report.explorer_data import explorer_data
from passk_py.reports.report.leaderboard import any_cost, measured, value_to_sort_by
from passk_py.reports.report.page_words import limits_of, signed_points, tone, unwarned
from passk_py.reports.report.suite_section import SuiteSection
from passk_py.reports.report.theme import HEAT, heat_step, stylesheet

Row = dict[str, Any]

_LONG: Final = 60
_TASK: Final = 46
_RUN: Final = 28
_SCRIPTS: Final = ("dataTables.min.js", "marks.js", "explorer.js")
_OUTCOMES: Final = str.maketrans({"P": "●", "F": "○", "x": "×"})  # noqa: RUF001 - a cross is meant


def as_html(facts: Row) -> str:
    """Write the facts as a page."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, finalize=_printable,
    )  # fmt: skip
    environment.filters.update(
        percent=percent,
        cause=cause_name,
        in_points=in_points,
        plain=plain,
        plural=plural,
        short=lambda name: shortened(name, _LONG),
        short_task=lambda name: shortened(name, _TASK),
        short_run=lambda name: shortened(name, _RUN),
        outcomes=lambda letters: letters.translate(_OUTCOMES),
    )
    scripts = [_read(name) for name in _SCRIPTS]
    return environment.get_template("report.html").render(
        facts=facts,
        points=signed_points,
        k=facts["deployment_k"],
        level=limit(facts["confidence"]),
        capable=limit(facts["capable_threshold"]),
        consistent=limit(facts["consistent_threshold"]),
        suites=[SuiteSection(suite, facts) for suite in facts["suites"]],
        steps=list(enumerate(HEAT)),
        styles=stylesheet() + _read("report.css"),
        data=explorer_data(facts),
        scripts=scripts,
        digest=_digest,
        classes=TASK_CLASSES,
        sortable=_sortable,
        any_cost=any_cost,
        measured=measured,
        limits=limits_of,
        unwarned=unwarned,
        horizon_sentences=horizon_sentences,
        money=money,
        amounts=amounts,
        cost_names=MEASURE_NAMES,
        dash=DASH,
        symbol=symbol,
        interval=interval,
        tone=tone,
        heat_step=heat_step,
    )


def _printable(value: Any) -> Any:  # noqa: ANN401 - whatever a template shows
    """Escape characters that can't be printed: sentences of the tables have names in them too."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _read(name: str) -> str:
    folder = resources.files("passk_py.reports.report")
    room = "vendor" if name.endswith(".min.js") else "templates"
    return (folder / room / name).read_text(encoding="utf-8")


def _sortable(row: Row | None, metric: str) -> str:
    """Write the value by which a cell is sorted; empty if it is not known."""
    value = value_to_sort_by(row, metric)
    return "" if math.isinf(value) else repr(value)


def _digest(script: str) -> str:
    """Give the digest of a script for the content security policy, which allows no other one."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"

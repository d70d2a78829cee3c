"""Charts as SVG and PNG, without a browser."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

import vl_convert as vlc

from passk_py.reports.report.theme import on_paper, stylesheet

if TYPE_CHECKING:
    from passk_py.reports.report.charts import Chart

_SIZE: Final = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"[^>]*>')


def inline(chart: Chart, label: str) -> str:
    """Draw a chart into a page: as wide as there is room, in the page's colours."""
    drawn = _drawn(chart)
    found = _SIZE.match(drawn)
    width, height = (float(size) for size in found.groups()) if found else (0.0, 0.0)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width:g} {height:g}" style="max-width:{width * 1.25:g}px">'
    )
    return head + (drawn[found.end() :] if found else drawn)


def as_svg(chart: Chart, *, follows_mode: bool = False) -> str:
    """Draw a chart as an SVG file, on white paper unless it follows the reader's mode."""
    drawn = _drawn(chart, background="var(--paper)")
    # Browsers know whether that is light or dark; few other programs do.
    if not follows_mode:
        return on_paper(drawn)
    return _SIZE.sub(lambda head: f"{head[0]}<style>{stylesheet()}</style>", drawn, count=1)


def as_png(chart: Chart) -> bytes:
    """Draw a chart as a PNG file on white paper."""
    return bytes(vlc.svg_to_png(as_svg(chart), scale=2.0))


def _drawn(chart: Chart, background: str = "transparent") -> str:
    config = {**chart["config"], "background": background}
    return str(vlc.vegalite_to_svg({**chart, "config": config}))

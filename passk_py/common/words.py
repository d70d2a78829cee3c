"""Numbers and names as a person reads them."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DASH: Final = "–"  # noqa: RUF001 - a dash as long as a number is meant

TASK_CLASSES: Final = ("consistent", "flaky", "incapable", "unknown")
"""The classes of a task, as ``task_class`` of ``passk_tasks`` has it."""

PASSWORD: Final = re.compile(r"(://[^/@:]*:)(?!X{10}@)[^/@]+(?=@)")
"""A password in an address, except the X that Superset writes in its place."""

_BARS: Final = "▁▂▃▄▅▆▇█"
_SYMBOLS: Final = {"pass_at_k": "pass@", "pass_hat_k": "pass^"}
_DECIMALS: Final = re.compile(r"-?\d\.\d{3}(?!\d)")
_LEAST_P: Final = 0.0001


def symbol(metric: str, k: int | str = "k") -> str:
    """Write a metric as it is spoken of."""
    known = _SYMBOLS.get(metric)
    if known is None:
        # At least m of k, such as pass_3_of_4.
        return f"{metric.removeprefix('pass_').replace('_', '-')} pass rate"
    return f"{known}{k}"


def percent(share: float | None) -> str:
    """Write a share in percent, so that only a whole is 100 and only nothing is 0."""
    if share is None:
        return DASH
    if share in (0.0, 1.0):
        return str(int(100 * share))
    text = f"{100 * share:.1f}"
    return {"100.0": ">99.9", "0.0": "<0.1"}.get(text, text)


def percents(first: float | None, last: float | None) -> str:
    """Write two shares in percent, such as the limits of an interval."""
    return f"{percent(first)} to {percent(last)}"


def from_to(first: object, last: object) -> str:
    """Write the ends of a range, or the one value that it has."""
    return f"{first}" if first == last else f"{first} to {last}"


def decimals(number: float) -> str:
    """Write a number from -1 to 1 to three decimals, as the sentences of the tables do."""
    thousandths = math.floor(abs(number) * 1000 + 0.5)
    return f"{'-' if number < 0 < thousandths else ''}{thousandths // 1000}.{thousandths % 1000:03}"


def limit(share: float) -> str:
    """Write a threshold in percent, with no more digits than it was given."""
    return f"{100 * share:.10g}"


def below(share: float, threshold: float) -> str:
    """Write a share in percent, with as many digits as show that it is below a threshold."""
    if share <= 0:
        return percent(share)
    texts = (f"{100 * share:.{digits}f}" for digits in range(1, 12))
    return next((text for text in texts if float(text) < 100 * threshold), limit(share))


def money(dollars: float | None) -> str:
    """Write an amount of dollars: cents, or three digits of less than a dollar."""
    if dollars is None:
        return DASH
    return f"{dollars:,.2f}" if dollars >= 1 or dollars == 0 else f"{dollars:.3g}"


def points(gap: float) -> str:
    """Write a difference of shares in percentage points."""
    text = f"{100 * abs(gap):.1f}"
    if text == "0.0":
        return "less than 0.1 points"
    return f"{text} point{'' if text == '1.0' else 's'}"


def in_points(sentence: str) -> str:
    """Write the shares of a sentence of ``passk_comparisons`` in percentage points."""

    def said(found: re.Match[str]) -> str:
        if found[0].startswith("("):
            # An interval, after a difference that has the unit.
            return _DECIMALS.sub(lambda limit: f"{100 * float(limit[0]):.1f}", found[0])
        return points(float(found[0]))

    return re.sub(rf"\([^)]*\)|{_DECIMALS.pattern}", said, sentence)


def side_of_zero(number: float, said: str) -> str:
    """Write a limit that rounds to 0 as the side of 0 on which it is."""
    if number == 0 or float(said) != 0:
        return said
    return "below 0" if number < 0 else "above 0"


def chance(p: float | None, none: str = DASH) -> str:
    """Write a p-value to four decimals."""
    if p is None:
        return none
    return f"<{_LEAST_P}" if p < _LEAST_P else f"{p:.4f}"


def as_part(sentence: str) -> str:
    """Write a sentence as a part of another one."""
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_families(families: int | None) -> str:
    """End a count of tasks with the families that they come in, where those are known."""
    if families is None:
        return ""
    return f" in {families:,} {'family' if families == 1 else 'families'}"


def and_list(texts: Iterable[str], *, most: int = 4, word: str = "and") -> str:
    """Write a list as in a sentence."""
    items = list(texts)
    if len(items) > most:
        items = [*items[:most], f"{len(items) - most} more"]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}"


def sparkline(shares: Sequence[float | None]) -> str:
    """Draw shares as small bars, all on the scale from 0 to 1."""
    top = len(_BARS) - 1
    return "".join(" " if share is None else _BARS[round(share * top)] for share in shares)


def interval_line(
    lower: float, middle: float, upper: float, *, bounds: tuple[float, float], width: int
) -> str:
    """Draw an interval on a line of characters, with a mark where nothing changes."""
    low, high = bounds

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (width - 1))

    cells = [" "] * width
    first, last = place(lower), place(upper)
    cells[first : last + 1] = "─" * (last - first + 1)
    cells[place(0)] = "┼" if first <= place(0) <= last else "┊"
    cells[first], cells[last] = "├", "┤"
    cells[place(middle)] = "●"
    return "".join(cells).rstrip()


def plain(text: str) -> str:
    """Escape what would move the cursor or redraw the screen: names come from files of others."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or unicodedata.category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shortened(text: str, width: int) -> str:
    """Cut a text in its middle, because names differ at their ends."""
    from rich.cells import cell_len, chop_cells

    text = plain(text)
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    tail = (width - 1) // 2
    head = chop_cells(text, width - 1 - tail)[0]
    end = chop_cells(text[::-1], tail)[0][::-1] if tail else ""
    return f"{head}…{end}"

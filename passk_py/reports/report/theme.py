"""Colours, for pages that follow the reader's light or dark mode and for files that can't."""

from __future__ import annotations

import re
from typing import Final

_COLOURS: Final = {
    "paper": ("#ffffff", "#0f1318"),
    "ink": ("#1b1f24", "#e6edf3"),
    "quiet": ("#59636e", "#a3adb8"),
    "rule": ("#d1d9e0", "#363e47"),
    "wash": ("#f6f8fa", "#171c22"),
    "mark": ("#0b6e7f", "#4fc3d5"),
    "good": ("#116329", "#56d07a"),
    "bad": ("#a40e26", "#ff8a8a"),
    "unsure": ("#7d4e00", "#e3b341"),
    "agent1": ("#8a2795", "#dd8be6"),
    "agent2": ("#0b6e7f", "#4fc3d5"),
    "agent3": ("#b35900", "#f0a35e"),
    "agent4": ("#2358c4", "#8ab4ff"),
    "agent5": ("#4f7a00", "#a8cf4d"),
    "agent6": ("#b0215e", "#ff8fb8"),
    "agent7": ("#6b5b00", "#d6c45a"),
    "agent8": ("#5c6670", "#b3bcc6"),
    "heat0": ("#7a1f0f", "#ffb59c"),
    "heat1": ("#b8431c", "#f08a5d"),
    "heat2": ("#e07b39", "#dc7843"),
    "heat3": ("#f2b680", "#8f4a26"),
    "heat4": ("#f8e0c8", "#553527"),
    "heat5": ("#dcefe9", "#1d3a36"),
    "none": ("#e6e9ec", "#262c33"),
}
"""Each on white paper and on a dark screen. Neighbours of the heat map differ in lightness, so that
they can be told apart in grey and by the colour-blind; text on the paper has a contrast of at least
4.5."""

PAPER: Final = {name: paper for name, (paper, _) in _COLOURS.items()}
"""The colours on white paper."""

AGENTS: Final = 8
"""How many agents can be told apart by colour; the others share a grey."""

PALE: Final = 0.6
"""The strength of the colour for the earlier runs of an agent."""

HEAT: Final = ("never", "under 25%", "25 to 50%", "50 to 75%", "75% and more", "always")
"""The steps of the heat map in words: shares of the attempts that passed."""

HEAT_EDGES: Final = (1e-9, 0.25, 0.5, 0.75, 1.0)
"""Where the next step begins."""

_NAMED: Final = re.compile(r"var\(--([a-z0-9]+)\)")


def colour(name: str) -> str:
    """Name a colour so that the page decides what it is."""
    return f"var(--{name})"


def heat_step(share: float) -> int:
    """Give the step of the heat map for a share of passed attempts."""
    return sum(share >= edge for edge in HEAT_EDGES)


def on_paper(drawing: str) -> str:
    """Put the colours of white paper into what was drawn with named ones."""
    return _NAMED.sub(lambda found: PAPER[found[1]], drawing)


def stylesheet() -> str:
    """Write the colours of both modes as CSS."""
    light, dark = (
        "".join(f"--{name}:{both[mode]};" for name, both in _COLOURS.items()) for mode in (0, 1)
    )
    swatches = "".join(
        f".swatch.{name}{{background:var(--{name})}}"
        for name in (*(f"agent{place}" for place in range(1, AGENTS + 1)), "quiet")
    )
    # Paper is white whatever the screen is.
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f"{swatches}.earlier .role-mark,i.earlier,.earlier i.swatch{{opacity:{PALE}}}"
    )

"""Colours, for pages that follow the reader's light or dark mode and for files that can't."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HEAT", "HEAT_EDGES", "PAPER", "RUNS", "colour", "heat_step", "on_paper", "stylesheet"]

PAPER: Final[dict[str, str]] = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "quiet": "#59636e",
    "rule": "#d1d9e0",
    "wash": "#f6f8fa",
    "at": "#0b6e7f",
    "hat": "#8a2795",
    "good": "#116329",
    "bad": "#a40e26",
    "unsure": "#7d4e00",
    "run1": "#8a2795",
    "run2": "#0b6e7f",
    "run3": "#b35900",
    "run4": "#2358c4",
    "run5": "#4f7a00",
    "run6": "#b0215e",
    "run7": "#6b5b00",
    "run8": "#5c6670",
    "heat0": "#7a1f0f",
    "heat1": "#b8431c",
    "heat2": "#e07b39",
    "heat3": "#f2b680",
    "heat4": "#f8e0c8",
    "heat5": "#dcefe9",
    "none": "#e6e9ec",
}
"""The colours on white paper. Neighbours of the heat map differ in lightness, so that they can be
told apart in grey and by the colour-blind; text on the paper has a contrast of at least 4.5."""

_DARK: Final[dict[str, str]] = {
    "paper": "#0f1318",
    "ink": "#e6edf3",
    "quiet": "#a3adb8",
    "rule": "#363e47",
    "wash": "#171c22",
    "at": "#4fc3d5",
    "hat": "#dd8be6",
    "good": "#56d07a",
    "bad": "#ff8a8a",
    "unsure": "#e3b341",
    "run1": "#dd8be6",
    "run2": "#4fc3d5",
    "run3": "#f0a35e",
    "run4": "#8ab4ff",
    "run5": "#a8cf4d",
    "run6": "#ff8fb8",
    "run7": "#d6c45a",
    "run8": "#b3bcc6",
    "heat0": "#ffb59c",
    "heat1": "#f08a5d",
    "heat2": "#dc7843",
    "heat3": "#8f4a26",
    "heat4": "#553527",
    "heat5": "#1d3a36",
    "none": "#262c33",
}

RUNS: Final = 8
"""How many runs can be told apart by colour."""

HEAT: Final = ("never", "under 25%", "25 to 50%", "50 to 75%", "75% and more", "always")
"""What the steps of the heat map mean, of the share of attempts that passed."""

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
        "".join(f"--{name}:{code};" for name, code in colours.items())
        for colours in (PAPER, {**PAPER, **_DARK})
    )
    # Paper is white whatever the screen is.
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )

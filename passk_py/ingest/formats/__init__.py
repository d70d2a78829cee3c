"""The formats of attempt logs that ``passk load`` reads, one file for each harness.

A new format is a file with a subclass of :class:`~passk_py.ingest.formats.base.Format`, and a line
in :data:`FORMATS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.base import Field, Format, Key
from passk_py.ingest.formats.bigcodebench import BigCodeBench
from passk_py.ingest.formats.canonical import (
    CanonicalCsv,
    CanonicalJson,
    CanonicalJsonl,
    CanonicalParquet,
)
from passk_py.ingest.formats.ctrf import Ctrf
from passk_py.ingest.formats.deepeval import DeepEval
from passk_py.ingest.formats.evalplus import EvalPlus
from passk_py.ingest.formats.harbor import Harbor
from passk_py.ingest.formats.human_eval import HumanEval
from passk_py.ingest.formats.inspect import Inspect
from passk_py.ingest.formats.junit import JUnit
from passk_py.ingest.formats.kinds import Container, Kind, Refusal, listed
from passk_py.ingest.formats.lm_eval import LmEval
from passk_py.ingest.formats.mlflow import Mlflow
from passk_py.ingest.formats.playwright import Playwright
from passk_py.ingest.formats.promptfoo import Promptfoo, PromptfooLines
from passk_py.ingest.formats.pydantic_evals import PydanticEvals
from passk_py.ingest.formats.swe_bench import SweBench
from passk_py.ingest.formats.tau2_bench import Tau2Bench
from passk_py.ingest.formats.tau_bench import TauBench
from passk_py.ingest.formats.terminal_bench import TerminalBench
from passk_py.ingest.formats.tracelens import TraceLens

if TYPE_CHECKING:
    from passk_py.ingest.formats.sample import Sample

__all__ = [
    "FORMATS",
    "Container",
    "Field",
    "Format",
    "Key",
    "Kind",
    "Refusal",
    "format_named",
    "listed",
    "recognise",
]

FORMATS: Final[tuple[Format, ...]] = (
    # Harness formats come first: their fields may look canonical too.
    TauBench(),
    Tau2Bench(),
    TerminalBench(),
    Harbor(),
    SweBench(),
    JUnit(),
    Inspect(),
    Promptfoo(),
    PromptfooLines(),
    DeepEval(),
    TraceLens(),
    EvalPlus(),
    BigCodeBench(),
    HumanEval(),
    LmEval(),
    Mlflow(),
    PydanticEvals(),
    Playwright(),
    Ctrf(),
    CanonicalJsonl(),
    CanonicalJson(),
    CanonicalCsv(),
    CanonicalParquet(),
)


def format_named(name: str) -> Format:
    """Find a format by the name that ``--format`` gives."""
    for known in FORMATS:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in FORMATS)
    raise PasskError(f"There is no format '{name}'.", hint=f"The formats are {names}.")


def recognise(sample: Sample) -> Format | None:
    """Find the format of a file by its content."""
    return next((known for known in FORMATS if known.recognises(sample)), None)

"""The formats of attempt logs that ``passk load`` reads, one file for each.

A new format is a file in ``harnesses``, ``platforms`` or ``test_reports`` with a subclass of
:class:`~passk_py.ingest.formats.base.Format`, and a line in :data:`FORMATS`. ``mappings`` reads
files that no format knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from passk_py.common.errors import PasskError
from passk_py.ingest.formats.base import Field, Format, Key
from passk_py.ingest.formats.canonical import (
    CanonicalCsv,
    CanonicalJson,
    CanonicalJsonl,
    CanonicalParquet,
)
from passk_py.ingest.formats.harnesses.bigcodebench import BigCodeBench
from passk_py.ingest.formats.harnesses.deepeval import DeepEval
from passk_py.ingest.formats.harnesses.evalplus import EvalPlus
from passk_py.ingest.formats.harnesses.hal import Hal
from passk_py.ingest.formats.harnesses.harbor import Harbor
from passk_py.ingest.formats.harnesses.helm import Helm
from passk_py.ingest.formats.harnesses.human_eval import HumanEval
from passk_py.ingest.formats.harnesses.inspect import Inspect
from passk_py.ingest.formats.harnesses.lighteval import LightEval
from passk_py.ingest.formats.harnesses.livecodebench import LiveCodeBench
from passk_py.ingest.formats.harnesses.lm_eval import LmEval
from passk_py.ingest.formats.harnesses.metr import Metr
from passk_py.ingest.formats.harnesses.openai_evals import OpenAiEvals
from passk_py.ingest.formats.harnesses.promptfoo import Promptfoo, PromptfooLines
from passk_py.ingest.formats.harnesses.swe_bench import SweBench
from passk_py.ingest.formats.harnesses.tau2_bench import Tau2Bench
from passk_py.ingest.formats.harnesses.tau_bench import TauBench
from passk_py.ingest.formats.harnesses.terminal_bench import TerminalBench
from passk_py.ingest.formats.harnesses.tracelens import TraceLens
from passk_py.ingest.formats.harnesses.verifiers import Verifiers, VerifiersTraces
from passk_py.ingest.formats.kinds import Container, Kind, Refusal, listed
from passk_py.ingest.formats.platforms.braintrust import Braintrust
from passk_py.ingest.formats.platforms.langfuse import Langfuse
from passk_py.ingest.formats.platforms.langsmith import LangSmith
from passk_py.ingest.formats.platforms.mlflow import Mlflow
from passk_py.ingest.formats.platforms.otel_evaluations import OtelEvaluations
from passk_py.ingest.formats.platforms.phoenix import Phoenix
from passk_py.ingest.formats.platforms.pydantic_evals import PydanticEvals
from passk_py.ingest.formats.platforms.weave import Weave
from passk_py.ingest.formats.test_reports.ctrf import Ctrf
from passk_py.ingest.formats.test_reports.junit import JUnit
from passk_py.ingest.formats.test_reports.playwright import Playwright
from passk_py.ingest.formats.test_reports.pytest_json_report import PytestJsonReport

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
    OpenAiEvals(),
    LmEval(),
    LightEval(),
    Helm(),
    LiveCodeBench(),
    Hal(),
    Metr(),
    Verifiers(),
    VerifiersTraces(),
    Mlflow(),
    PydanticEvals(),
    LangSmith(),
    Langfuse(),
    Phoenix(),
    Braintrust(),
    Weave(),
    OtelEvaluations(),
    Playwright(),
    Ctrf(),
    PytestJsonReport(),
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

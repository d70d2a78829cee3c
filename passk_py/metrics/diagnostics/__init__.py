"""Can a log be trusted? The diagnostics of ``passk_diagnostics``, from attempts in polars.

They ask whether attempts are what the metrics take them for: independent tries of one agent, as
many as were meant, judged the same way. Tests are exact in their moments given how often each task
passed, so that they do not depend on how hard tasks are: under the hypothesis, every order of the
verdicts of a task is equally likely.
"""

from passk_py.metrics.diagnostics.diagnostics_table import diagnose

__all__ = ["diagnose"]

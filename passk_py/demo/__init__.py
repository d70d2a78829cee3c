"""The demo log: attempts of solvers that really try, and really fail, on real puzzles.

Four runs of three agents over one suite of satisfiability, queens and factoring puzzles. Every
attempt runs a randomized or systematic algorithm from its own seed under a budget of steps, and a
checker that knows nothing of the algorithm reads its output and gives the verdict. The log is the
same byte for byte wherever it is made.

Two things in it are simulated, and only these: time is counted in steps of the solvers instead of
seconds of a clock (:mod:`passk_py.demo.clock`), and now and then the dice, not a machine, lose a
worker (:mod:`passk_py.demo.evaluation`).
"""

from __future__ import annotations

from passk_py.demo.evaluation import AttemptRow, generate
from passk_py.demo.log_files import write_csv, write_log

__all__ = ["AttemptRow", "generate", "write_csv", "write_log"]

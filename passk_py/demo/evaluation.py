"""The demo's harness: runs the agents over the suite and tells what happened.

Each run goes over the suite in rounds, one attempt a task, with one worker. Tasks that are tried
more often than others fill the last rounds alone.

Now and then a worker is lost. That is simulated: before each attempt the dice decide, with a
chance of 1 in 64 and regardless of run, task and outcome, whether and after how many steps the
worker goes. Such an attempt is excluded with the reason ``infra_error``, and has no score and no
output.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypedDict

from passk_py.demo.agents import BUDGET, SCOUT_FEBRUARY, SCOUT_MARCH, TRACER, WALKER
from passk_py.demo.checkers import check
from passk_py.demo.clock import StepClock
from passk_py.demo.dice import below, dice, fold
from passk_py.demo.suite import SUITE, tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.demo.agents import Agent
    from passk_py.demo.suite import Task


class AttemptRow(TypedDict):
    """One attempt in the columns of the attempt contract, ready to be written as JSON."""

    run_id: str
    suite: str
    task_id: str
    attempt: int
    outcome: str
    outcome_reason: str | None
    score: float | None
    agent: str
    agent_version: str
    model: str
    seed: int
    started_at: str
    duration_s: float
    cost_usd: None
    input_tokens: None
    output_tokens: None
    output_hash: str | None
    tags: dict[str, str]


@dataclass(frozen=True)
class Run:
    """One evaluation of one agent, from a start in UTC."""

    agent: Agent
    start: datetime

    @property
    def run_id(self) -> str:
        """The run's name: the agent and its version."""
        return f"{self.agent.name}-{self.agent.version}"


RUNS: Final = (
    Run(SCOUT_FEBRUARY, datetime(2026, 2, 9, 6)),
    Run(WALKER, datetime(2026, 3, 2, 6)),
    Run(TRACER, datetime(2026, 3, 3, 6)),
    Run(SCOUT_MARCH, datetime(2026, 3, 9, 6)),
)
"""The runs of the log, in the order of execution."""

_LOSS: Final = 1 / 64


def generate(*, seed: int = 2026) -> Iterator[AttemptRow]:
    """Run every agent over the suite and yield the attempts in the order of execution.

    The same seed gives the same rows on every machine and Python version.
    """
    suite = tasks()
    rounds = max(task.attempts for task in suite)
    for run in RUNS:
        clock = StepClock(run.start)
        for attempt in range(1, rounds + 1):
            for task in suite:
                if attempt <= task.attempts:
                    yield _attempt(run, task, attempt, clock, seed)


def _attempt(run: Run, task: Task, attempt: int, clock: StepClock, seed: int) -> AttemptRow:
    """Try one task once, judge the answer, and let the time pass."""
    own_seed = fold(seed, run.run_id, task.task_id, attempt)
    fate = dice(fold(seed, run.run_id, task.task_id, attempt, "worker"))
    started_at = clock.now
    output: str | None = None
    score: float | None = None
    reason: str | None = None
    if fate() < _LOSS:
        steps = 1 + below(fate, BUDGET)
        outcome, reason = "excluded", "infra_error"
    else:
        effort = run.agent.attempt(task.puzzle, dice(own_seed))
        steps, output = effort.steps, effort.output
        verdict = check(task.puzzle, output)
        score = verdict.score
        outcome = "passed" if verdict.passed else "failed"
        reason = None if verdict.passed else "budget_exhausted"
    return {
        "run_id": run.run_id,
        "suite": SUITE,
        "task_id": task.task_id,
        "attempt": attempt,
        "outcome": outcome,
        "outcome_reason": reason,
        "score": score,
        "agent": run.agent.name,
        "agent_version": run.agent.version,
        "model": run.agent.model,
        "seed": own_seed,
        "started_at": f"{started_at.isoformat(timespec='milliseconds')}Z",
        "duration_s": clock.spend(steps),
        "cost_usd": None,
        "input_tokens": None,
        "output_tokens": None,
        "output_hash": output and hashlib.sha256(output.encode()).hexdigest(),
        "tags": {"domain": task.domain, "difficulty": task.difficulty},
    }

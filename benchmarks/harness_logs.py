"""Logs of harnesses for :mod:`load`, as large as such logs are, in the form in which the harness writes them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Json = list[dict[str, Any]] | dict[str, Any]
WORDS = (
    "lorem ",
    "ipsum ",
    'he said: "dolor"\n',
    "sit amet; ",
    "größer ",
    "\tindent\n",
    "{json: [1]} ",
)


def transcript(dice: random.Random, size: int) -> list[dict[str, Any]]:
    """Messages of some size in all, with quotes, brackets and line ends in them."""
    messages = []
    while size > 0:
        words = "".join(dice.choices(WORDS, k=40))
        messages.append({"role": "assistant", "content": words, "tool_calls": None, "cost": 0.01})
        size -= len(words) + 70
    return messages


def tau_bench(dice: random.Random, n: int, size: int) -> Json:
    return [
        {"task_id": n_ // 4, "reward": float(dice.random() < 0.5), "info": {"user_cost": 0.1},
         "traj": transcript(dice, size), "trial": n_ % 4}
        for n_ in range(n)
    ]  # fmt: skip


def tau2_bench(dice: random.Random, n: int, size: int) -> Json:
    simulations = [
        {"id": f"s{n_}", "task_id": str(n_ // 4), "timestamp": "2026-01-01T00:00:00", "start_time": "2026-01-01T00:00:00",
         "end_time": "2026-01-01T00:01:00", "duration": 60.0, "termination_reason": "user_stop", "agent_cost": 0.1,
         "user_cost": 0.1, "reward_info": {"reward": float(dice.random() < 0.5), "info": {}},
         "messages": transcript(dice, size), "trial": n_ % 4, "seed": 300 + n_ % 4}
        for n_ in range(n)
    ]  # fmt: skip
    return {
        "timestamp": "2026-01-01T00:00:00",
        "info": {"num_trials": 4},
        "tasks": [],
        "simulations": simulations,
    }


def promptfoo(dice: random.Random, n: int, size: int) -> Json:
    rows = [
        {"id": f"r{n_}", "promptIdx": 0, "testIdx": n_, "testCase": {"vars": {"q": str(n_ // 4)}, "assert": []},
         "promptId": "p", "provider": {"id": "exec:agent", "label": ""}, "prompt": {"raw": "q", "label": "q"},
         "vars": {"q": str(n_ // 4)}, "response": {"output": json.dumps(transcript(dice, size)), "cached": False},
         "error": None, "failureReason": 0, "success": dice.random() < 0.5, "score": 1, "latencyMs": 10, "cost": 0.1,
         "namedScores": {}, "gradingResult": None, "metadata": {}}
        for n_ in range(n)
    ]  # fmt: skip
    results = {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00Z",
        "prompts": [],
        "results": rows,
        "stats": {},
    }
    return {"evalId": "eval-1", "results": results, "config": {}, "shareableUrl": None}


def human_eval(dice: random.Random, n: int, size: int) -> Json:
    return [
        {"task_id": f"HumanEval/{n_ // 4}", "completion": json.dumps(transcript(dice, size)),
         "result": "passed", "passed": dice.random() < 0.5}
        for n_ in range(n)
    ]  # fmt: skip


def terminal_bench(dice: random.Random, n: int, size: int) -> Json:
    rows = [
        {"id": f"t{n_}", "trial_name": f"task-{n_ // 4}.{n_ % 4 + 1}-of-4.run", "task_id": f"task-{n_ // 4}",
         "instruction": transcript(dice, size)[0]["content"], "is_resolved": dice.random() < 0.5, "failure_mode": "unset",
         "parser_results": {"test_0": "passed", "test_1": "failed"}, "recording_path": "sessions/agent.cast",
         "total_input_tokens": 1000, "total_output_tokens": 100, "trial_started_at": "2026-01-01T00:00:00+00:00",
         "trial_ended_at": "2026-01-01T00:01:00+00:00"}
        for n_ in range(n)
    ]  # fmt: skip
    return {"id": "run", "results": rows, "accuracy": 0.5}


def metr(dice: random.Random, n: int, _: int) -> Json:
    return [
        {"task_id": f"family_{n_ // 40}/task_{n_ // 4}", "task_family": f"family_{n_ // 40}", "task_version": "1.0.2",
         "run_id": f"{dice.getrandbits(64):016x}", "alias": "Agent 2 (new)", "model": "acme/agent-2-20260101",
         "score_binarized": n_ % 2, "score_cont": dice.random(), "fatal_error_from": None, "human_minutes": 2.5 + n_ // 4,
         "human_score": 1.0, "human_source": "baseline", "human_cost": 10.5, "task_source": "HCAST",
         "generation_cost": dice.random(), "time_limit": None, "started_at": 1795000000000.0 + 60_000 * n_,
         "completed_at": 1795000012345.0 + 60_000 * n_, "tokens_count": dice.randint(1_000, 900_000) if n_ % 4 else None}
        for n_ in range(n)
    ]  # fmt: skip


# The stats that HELM writes of a question with one completion.
HELM_STATS = (
    *(
        "num_references",
        "num_train_trials",
        "exact_match",
        "quasi_exact_match",
        "prefix_exact_match",
    ),
    *("quasi_prefix_exact_match", "logprob", "num_perplexity_tokens", "num_bytes", "batch_size"),
    *("inference_runtime", "training_co2_cost", "training_energy_cost", "num_prompt_tokens"),
    *("num_completion_tokens", "num_output_tokens", "finish_reason_length", "finish_reason_stop"),
    *("finish_reason_unknown", "num_train_instances", "prompt_truncated", "max_prob"),
)
HELM_NUMBERS = frozenset(("sum", "sum_squared", "min", "max", "mean"))


def helm(dice: random.Random, n: int, _: int) -> Json:
    def stat(name: str) -> dict[str, Any]:
        is_whole = "match" in name or name.startswith(("num_", "finish_", "prompt_"))
        value = float(dice.randint(0, 1)) if is_whole else dice.random() * 100
        said = {"name": {"name": name, "split": "test"}, "count": 1}
        return said | dict.fromkeys(HELM_NUMBERS, value) | {"variance": 0.0, "stddev": 0.0}

    return [
        {"instance_id": f"id{n_ // 3}", "train_trial_index": n_ % 3, "stats": [stat(name) for name in HELM_STATS]}
        for n_ in range(n)
    ]  # fmt: skip


def livecodebench(dice: random.Random, n: int, size: int) -> Json:
    samples = 10

    def problem(place: int) -> dict[str, Any]:
        codes = ["".join(dice.choices(WORDS, k=size // 27)) for _ in range(samples)]
        graded = [dice.random() < 0.5 for _ in range(samples)]
        wrong = {
            "output": "3",
            "expected": "4",
            "inputs": "1 2",
            "error_code": -2,
            "error_message": "Wrong Answer",
        }
        return {
            "question_title": "A", "question_content": "".join(dice.choices(WORDS, k=200)), "platform": "atcoder",
            "question_id": f"abc{place}_a", "contest_id": f"abc{place}", "contest_date": "2023-05-13T00:00:00",
            "starter_code": "", "difficulty": "easy",
            "output_list": [f"Think.\n{code}\n```python\n{code}\n```" for code in codes],
            "code_list": codes, "graded_list": graded, "pass@1": sum(graded) / samples,
            "metadata": [json.dumps({"execution time": 0.1} if is_right else wrong) for is_right in graded],
        }  # fmt: skip

    return [problem(place) for place in range(-(-n // samples))]


def verifiers(dice: random.Random, n: int, size: int) -> Json:
    timing = {
        "setup": {"start": 0.0, "end": 0.0, "duration": 0.0},
        "model": {"spans": [], "duration": 0},
        "total": 2.5,
    }
    return [
        {"example_id": n_ // 4, "prompt": transcript(dice, size // 4), "completion": transcript(dice, 3 * size // 4),
         "answer": "0", "reward": float(dice.random() < 0.5), "error": None,
         "timing": {"start_time": 1795000000.0 + n_, "generation": {"start": 1795000000.0 + n_}, **timing},
         "is_completed": True, "is_truncated": False, "stop_condition": "max_turns_reached",
         "metrics": {"exact": float(n_ % 2), "num_turns": 2.0}, "tool_defs": None,
         "token_usage": {"input_tokens": 103.0 + n_, "output_tokens": 7.0}, "exact": float(n_ % 2), "num_turns": 2.0}
        for n_ in range(n)
    ]  # fmt: skip


def otel_evaluations(dice: random.Random, n: int, _: int) -> Json:
    why = transcript(dice, 200)[0]["content"][:200]

    def event(place: int, score: str, value: dict[str, Any], label: str) -> dict[str, Any]:
        time = str(1795255213000000000 + 1_000_000 * place)
        said = {
            "gen_ai.evaluation.name": {"stringValue": score}, "gen_ai.evaluation.score.value": value,
            "gen_ai.evaluation.score.label": {"stringValue": label}, "gen_ai.evaluation.explanation": {"stringValue": why},
            "test.case.name": {"stringValue": f"case {place // 4}"}, "test.suite.name": {"stringValue": "arithmetic"},
        }  # fmt: skip
        return {
            "timeUnixNano": time, "observedTimeUnixNano": time, "body": {},
            "attributes": [{"key": key, "value": value} for key, value in said.items()], "flags": 1,
            "traceId": f"{place:032x}", "spanId": f"{place + 1:016x}", "eventName": "gen_ai.evaluation.result",
        }  # fmt: skip

    def events(places: range) -> list[dict[str, Any]]:
        made = []
        for place in places:
            right = dice.random() < 0.5
            made.append(
                event(place, "correct", {"doubleValue": float(right)}, "pass" if right else "fail")
            )
            made.append(event(place, "brevity", {"doubleValue": dice.random()}, "medium"))
        return made

    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]}
    lines = [
        {
            "resource": resource,
            "scopeLogs": [
                {"scope": {"name": "e"}, "logRecords": events(range(at, min(at + 50, n)))}
            ],
        }
        for at in range(0, n, 50)
    ]
    return [{"resourceLogs": [line]} for line in lines]


# The maker of a log of each format, whether it is lines, and how long a transcript in it is.
FORMATS: dict[str, tuple[Callable[[random.Random, int, int], Json], bool, int]] = {
    "tau-bench": (tau_bench, False, 10_000),
    "tau2-bench": (tau2_bench, False, 10_000),
    "promptfoo": (promptfoo, False, 10_000),
    "terminal-bench": (terminal_bench, False, 600),
    "human-eval": (human_eval, True, 1_000),
    "metr": (metr, True, 470),
    "helm": (helm, False, 6_000),
    "livecodebench": (livecodebench, False, 3_000),
    "verifiers": (verifiers, True, 10_000),
    "otel-evaluations": (otel_evaluations, True, 1_650),
}

# The formats whose attempts are as long as one asks for.
HAVE_TRANSCRIPTS = (
    *("tau-bench", "tau2-bench", "promptfoo", "human-eval", "livecodebench", "verifiers"),
)

# The harnesses that indent their JSON.
INDENTS = {"helm": 2, "livecodebench": 4}


def write(name: str, path: Path, n: int, size: int) -> None:
    made = FORMATS[name][0](random.Random(1), n, size)
    if FORMATS[name][1]:
        text = "".join(json.dumps(row) + "\n" for row in made)
    else:
        text = json.dumps(made, indent=INDENTS.get(name))
    path.write_text(text, "utf-8")

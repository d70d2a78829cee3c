"""Rules: what they say, what is wrong with them, in dbt and in Python alike."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl
import pytest

from passk_py.common.errors import PasskError
from passk_py.metrics.gates import Rule, judge_gates, read_rules, rules_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Project

RATE: Final = {"metric": "pass_hat_k", "k": 4}
KS: Final = [1, 2, 4]
BETWEEN: Final = "a number between 0 and 1; no number of attempts shows that a chance is 1"
TYPES: Final = (
    "threshold, each_task, drop, coverage, cost, cost_increase, regressed_tasks, diagnostics"
)
COMMON: Final = "name, type, run, suite, agent, severity, inconclusive"
KNOWN: Final = (
    "serial_dependence, drift, shared_run_effect, batch_effect, duplicate_seeds, duplicate_outputs, "
    "noisy_grader, temperature_zero, retry_until_pass, window_gap, first_k_gap, dominant_tasks, "
    "related_tasks, jensen_bounds"
)

WRONG: Final[list[tuple[dict[str, Any], list[str]]]] = [
    # The type to write where a rule has none, by the keys that it has.
    ({}, [f"type is missing; write {' or '.join(f'type: {one}' for one in TYPES.split(', '))}."]),
    ({**RATE, "min": 0.5}, ["type is missing; write type: threshold or type: each_task."]),
    ({**RATE, "max_drop": 0.1}, ["type is missing; write type: drop."]),
    ({"metric": "regressed_tasks", "max": 1}, ["type is missing; write type: coverage or type: cost or type: regressed_tasks."]),
    ({"diagnostics": "all"}, ["type is missing; write type: diagnostics."]),
    (
        {**RATE, "min": 0.5, "max_drop": 0.1},
        ["type is missing; write type: threshold or type: each_task or type: drop."],
    ),
    ({"type": "floor", **RATE, "min": 0.5}, [f'type is "floor", but must be one of {TYPES}.']),
    ({"type": None, **RATE, "min": 0.5}, [f"type is null, but must be one of {TYPES}."]),
    ({"type": ["drop"], **RATE, "max_drop": 0.1}, [f'type is ["drop"], but must be one of {TYPES}.']),
    (
        {"type": "drop", **RATE, "min": 0.5, "max_drop": 0.1},
        [f"min has no meaning in a rule of type drop, which takes {COMMON}, metric, k, max_drop, baseline, scope."],
    ),
    ({"type": "threshold", **RATE}, [f"min is null, but must be {BETWEEN}."]),
    (
        {"type": "each_task", **RATE, "min": 0.5, "each": "task"},
        [f"each has no meaning in a rule of type each_task, which takes {COMMON}, metric, k, min."],
    ),
    ({"type": "threshold", **RATE, "min": 1}, [f"min is 1, but must be {BETWEEN}."]),
    ({"type": "threshold", **RATE, "min": "0.5"}, [f'min is "0.5", but must be {BETWEEN}.']),
    ({"type": "threshold", **RATE, "min": True}, [f"min is true, but must be {BETWEEN}."]),
    ({"type": "threshold", "min": 0.5}, ["metric is null, but must be one of pass_at_k, pass_hat_k, pass_m_of_k."]),
    ({"type": "threshold", "metric": "pass^k", "min": 0.5}, ['metric is "pass^k", but must be one of pass_at_k, pass_hat_k, pass_m_of_k.']),
    ({"type": "threshold", **RATE, "k": 3, "min": 0.5}, ["k is 3, but must be one of passk_ks, which is [1, 2, 4]."]),
    ({"type": "threshold", **RATE, "k": 0, "min": 0.5}, ["k is 0, but must be an integer of at least 1."]),
    ({"type": "drop", **RATE, "max_drop": 1}, ["max_drop is 1, but must be a number from 0 to less than 1."]),
    (
        {"type": "coverage", "metric": "excluded_attempts", "max": 1.5},
        ["max is 1.5, but must be a share, from 0 to 1."],
    ),
    (
        {"type": "coverage", "metric": "tasks", "max": 1},
        ['metric is "tasks", but must be one of excluded_attempts, missing_attempts, rejected_attempts.'],
    ),
    (
        {"type": "regressed_tasks", "max": 0.5},
        ["max is 0.5, but must be a number of tasks, an integer of at least 0."],
    ),
    (
        {"type": "coverage", "metric": "excluded_attempts", "max": 0.1, "k": 4},
        [f"k has no meaning in a rule of type coverage, which takes {COMMON}, metric, max."],
    ),
    (
        {"type": "threshold", **RATE, "min": 0.5, "baseline": "r"},
        [f"baseline has no meaning in a rule of type threshold, which takes {COMMON}, metric, m, k, min, each,"
         " slice_value, scope, sequential, attempts."],
    ),
    ({"type": "threshold", **RATE, "min": 0.5, "scope": "all"}, ['scope is "all", but must be unseen (tasks like these) or suite (these tasks).']),
    ({"type": "threshold", **RATE, "min": 0.5, "each": "colour"}, ['each is "colour", but must be one of passk_slices, which is ["domain"].']),
    ({"type": "threshold", **RATE, "min": 0.5, "slice_value": "air"}, ["slice_value stands without each, which says of which slice it is."]),
    ({"type": "threshold", **RATE, "min": 0.5, "run": 7, "suite": ""}, ["run is 7, but must be a text.", 'suite is "", but must be a text.']),
    (
        {"type": "threshold", **RATE, "min": 0.5, "severity": "fatal", "inconclusive": "fail"},
        ['severity is "fatal", but must be error, warn or ignore.',
         'inconclusive is "fail", but must be error, warn or ignore.'],
    ),
    # Texts that YAML takes for something else, keys that a dict lacks, and letters that HTML would escape.
    (
        {"type": "threshold", **RATE, "min": 0.5, "run": date(2026, 3, 1), "agent": datetime(2026, 3, 1, 12)},
        ["run is 2026-03-01, but must be a text; write it in quotes.",
         "agent is 2026-03-01 12:00:00, but must be a text; write it in quotes."],
    ),
    ({"type": "threshold", **RATE, "min": date(2026, 3, 1)}, [f"min is 2026-03-01, but must be {BETWEEN}."]),
    (
        {"type": "threshold", **RATE, "min": 0.5, "severity": "<it's> \"é\" \\u0027 & \t😀"},
        ['severity is "<it\'s> \\"é\\" \\\\u0027 & \\t😀", but must be error, warn or ignore.'],
    ),
    (
        {"type": "threshold", **RATE, "min": 0.5, "suite": {"b": [1.5, None], "a": {"d": True, "C": "x"}}},
        ['suite is {"a": {"C": "x", "d": true}, "b": [1.5, null]}, but must be a text.'],
    ),
    ({"type": "threshold", **RATE, "min": 0.5, "each": "all"}, ['each is "all", but must be one of passk_slices, which is ["domain"].']),
    ({"type": "diagnostics", "diagnostics": [["drift"]]}, [f'diagnostics is ["drift"], but must be all, or one or more of {KNOWN}.']),
    ({"type": "diagnostics", "diagnostics": [{"drift": 1}]}, [f'diagnostics is {{"drift": 1}}, but must be all, or one or more of {KNOWN}.']),
    (
        {"type": "diagnostics", "diagnostics": ["drift", "window_gap", "drift", "window_gap", "drift"]},
        ["diagnostics names drift twice.", "diagnostics names window_gap twice."],
    ),
    ({"type": "diagnostics", "diagnostics": ["all", "drift"]}, ["diagnostics names all beside others; all stands alone."]),
    ({"type": "diagnostics", "diagnostics": ["all", "all"]}, ["diagnostics names all twice."]),
    ({"type": "diagnostics", "diagnostics": None}, ["diagnostics is null, but must be all, or a list of diagnostics."]),
    ({"type": "diagnostics", "diagnostics": []}, ["diagnostics is [], but must be all, or a list of diagnostics."]),
    (
        {"type": "diagnostics", "diagnostics": ["drift", "luck"]},
        [f'diagnostics is "luck", but must be all, or one or more of {KNOWN}.'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "mistakes"), WRONG)
def test_mistakes_are_named_in_python(gate: dict[str, Any], mistakes: list[str]) -> None:
    with pytest.raises(PasskError) as caught:
        rules_of([{"name": "g", **gate}], slices=["domain"], ks=KS)
    lines = str(caught.value).splitlines()
    assert [line for line in lines if line.startswith("  - ")] == [f"  - g: {m}" for m in mistakes]


@pytest.mark.long
def test_dbt_says_the_same_of_all_of_them_at_once(make_project: Callable[[], Project]) -> None:
    project = make_project()
    gates = [{"name": f"g{place}", **gate} for place, (gate, _) in enumerate(WRONG)]
    gates += [{"name": "it's", "type": "threshold", **RATE, "min": 0.5}] * 2
    gates += [cast("dict[str, Any]", 7), {"min": 0.5, "k": 4}]
    gates += [{"name": date(2026, 3, 1), **RATE}]
    refused = project.refused(
        {"passk_gates": gates, "passk_ks": KS, "passk_slices": ["domain"], "passk_deployment_k": 4}
    )
    expected = [
        f'passk_gates, "g{place}": {mistake}'
        for place, (_, mistakes) in enumerate(WRONG)
        for mistake in mistakes
    ]
    mappings = "but must hold mappings, each with a name that is a text"
    of_the_list = [
        'has two gates of the name "it\'s".',
        f"holds 7, {mappings}.",
        f'holds {{"k": 4, "min": 0.5}}, {mappings}.',
        f'holds {{"k": 4, "metric": "pass_hat_k", "name": 2026-03-01}}, {mappings}; write it in quotes.',
    ]
    expected += [f"passk_gates {mistake}" for mistake in of_the_list]
    assert (
        refused
        == "\n  - ".join([f"passk: {len(expected)} vars are wrong.", *expected])
        + "\nSee docs/vars.md for what each var takes."
    )
    with pytest.raises(PasskError) as caught:
        rules_of(gates, slices=["domain"], ks=KS)
    said = [line for line in str(caught.value).splitlines() if line.startswith("  - ")]
    of_gates = [
        f"  - g{place}: {mistake}"
        for place, (_, mistakes) in enumerate(WRONG)
        for mistake in mistakes
    ]
    assert said == [*of_gates, *(f"  - The list {mistake}" for mistake in of_the_list)]


@pytest.mark.long
def test_no_list_of_rules_is_refused(make_project: Callable[[], Project]) -> None:
    project = make_project()
    said = "but must be a list of rules, each a mapping with a name."
    assert f'passk_gates is "x", {said}' in project.refused({"passk_gates": "x"})
    assert "so that no diagnostic is computed" in project.refused(
        {
            "passk_gates": [{"name": "g", "type": "diagnostics", "diagnostics": "all"}],
            "passk_diagnostics": False,
        }
    )


def test_two_rules_of_a_name_are_refused_in_python() -> None:
    written: dict[str, Any] = {"name": "g", "type": "threshold", **RATE, "min": 0.5}
    (read,) = rules_of([written])
    log = pl.DataFrame({"run_id": ["r"], "task_id": ["t"], "attempt": [1], "passed": [True]})
    for gates in ([written, written], [read, written], [written, read], [read, read]):
        with pytest.raises(PasskError, match='The list has two gates of the name "g"'):
            judge_gates(log, gates)


def test_rules_that_are_read_already_keep_their_place() -> None:
    log = pl.DataFrame({"run_id": ["r"], "task_id": ["t"], "attempt": [1], "passed": [True]})
    written = [
        {"name": name, "type": "coverage", "metric": "excluded_attempts", "max": 0}
        for name in "abcd"
    ]
    read = rules_of(written)
    mixed: list[dict[str, Any] | Rule] = [written[0], read[1], written[2], read[3]]
    assert judge_gates(log, mixed).get_column("gate").to_list() == list("abcd")


def test_all_is_no_slice_where_the_slices_are_not_known_either() -> None:
    with pytest.raises(PasskError, match='each is "all", but must be one of passk_slices'):
        rules_of([{"name": "g", "type": "threshold", **RATE, "min": 0.5, "each": "all"}])


def test_diagnostics_that_are_not_computed_are_refused_in_python() -> None:
    with pytest.raises(PasskError, match="g: passk_diagnostics is false, so that no diagnostic is"):
        rules_of([{"name": "g", "type": "diagnostics", "diagnostics": "all"}], diagnostics=False)


def test_a_list_of_all_alone_means_all() -> None:
    listed, said = (
        rules_of([{"name": "g", "type": "diagnostics", "diagnostics": given}])[0]
        for given in (["all"], "all")
    )
    assert listed == said
    assert listed.all_diagnostics


def test_rules_are_the_same_in_dbt(make_project: Callable[[], Project]) -> None:
    gates: list[dict[str, Any]] = [
        {"name": "listed", "type": "diagnostics", "diagnostics": ["all"]},
        {"name": "none", "type": "coverage", "metric": "excluded_attempts", "max": 0.0},
        {"name": "any", "type": "coverage", "metric": "excluded_attempts", "max": 1.0},
        {"name": "some", "type": "coverage", "metric": "excluded_attempts", "max": 0.25},
        {"name": "same", "type": "drop", **RATE, "max_drop": 0.0},
    ]
    template = (
        "{% for rule in passk._gates() %}[{{ rule.rule }}; {{ rule.diagnostics | length }}; "
        "{{ rule.threshold }}]{% endfor %}"
    )
    rules = rules_of(gates)
    texts = [
        f"[{rule.text}; {len(rule.diagnostics)}; "
        f"{None if rule.type == 'diagnostics' else rule.threshold}]"
        for rule in rules
    ]
    assert "at most 0 of the attempts excluded" in texts[1]
    assert make_project().render(template, {"passk_gates": gates}).strip() == "".join(texts)


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        ({"type": "threshold", **RATE, "min": 0.9}, "pass^4 at least 0.9 on tasks like these"),
        ({"type": "threshold", "metric": "pass_at_k", "min": 0.9, "scope": "suite"}, "pass@6 at least 0.9 on these tasks"),
        ({"type": "threshold", **RATE, "min": 0.9, "each": "domain"}, "pass^4 at least 0.9 on tasks like these, in each domain"),
        (
            {"type": "threshold", **RATE, "min": 0.9, "each": "domain", "slice_value": "air"},
            "pass^4 at least 0.9 on tasks like these, in domain air",
        ),
        ({"type": "each_task", **RATE, "min": 0.9}, "pass^4 of each task at least 0.9"),
        ({"type": "drop", **RATE, "max_drop": 0.03}, "pass^4 at most 0.03 below the baseline, on these tasks"),
        ({"type": "coverage", "metric": "missing_attempts", "max": 0}, "at most 0 of the expected attempts missing"),
        ({"type": "coverage", "metric": "missing_attempts", "max": 0.0}, "at most 0 of the expected attempts missing"),
        ({"type": "regressed_tasks", "max": 1}, "at most 1 task worse than in the baseline"),
        ({"type": "diagnostics", "diagnostics": "all"}, "no warning of any diagnostic"),
        ({"type": "diagnostics", "diagnostics": ["drift", "noisy_grader"]}, "no warning of drift, noisy_grader"),
    ],
)  # fmt: skip
def test_a_rule_in_words(gate: dict[str, Any], text: str) -> None:
    (rule,) = rules_of([{"name": "g", **gate}], deployment_k=6)
    assert rule.text == text


# ---------------------------------------------------------------------------------------------
# files of rules


@pytest.mark.parametrize("lead", ["", "passk_gates:\n"])
def test_a_file_is_a_list_or_vars(tmp_path: Path, lead: str) -> None:
    path = tmp_path / "gates.yml"
    path.write_text(
        f"{lead}- {{name: g, type: threshold, metric: pass_hat_k, k: 4, min: 0.5}}\n",
        encoding="utf-8",
    )
    assert read_rules(path) == [{"name": "g", "type": "threshold", **RATE, "min": 0.5}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no list of rules."),
        ("passk_ks: [1]", "has no list of rules."),
        ("- {name: g", ", line 1, column 11: this is not valid YAML"),
        (b"\xff\xfe\x00", "is not UTF-8 text."),
    ],
)
def test_a_file_without_rules_is_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = tmp_path / "gates.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(PasskError) as caught:
        read_rules(path)
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PasskError, match=r"gates\.yml can't be read: No such file"):
        read_rules(tmp_path / "gates.yml")

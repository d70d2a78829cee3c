"""Wrong vars are refused all at once, in words, before anything is built."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

CONTRACT: Final = (
    "run_id, suite, task_id, attempt, outcome, outcome_reason, score, agent, agent_version, model,"
    " seed, started_at, duration_s, cost_usd, input_tokens, output_tokens, output_hash, tags,"
    " transcript, source_file, source_line, source_format, loaded_at, expected_attempts, passed"
)
DEFAULT_KS: Final = "[1, 2, 3, 4, 5, 6, 8, 10, 16, 32, 64, 100]"
AN_INPUT: Final = "are set, but at most one input can be."
KS: Final = "a list of integers of at least 1."
A_SHARE: Final = "a number from 0 to 1."
LEVELS: Final = "0.8, 0.9, 0.95 or 0.99."
PAIRS: Final = (
    "a list of {baseline: run_id, candidate: run_id}, each with a suite if it is for one only."
)
A_PAIR: Final = (
    "{baseline: run_id, candidate: run_id} or {baseline: run_id, candidate: run_id, suite: suite},"
    " all texts."
)
SLICES: Final = "a list of tags or of {name: ..., expression: ...}."


def said(*mistakes: str) -> str:
    """Give the whole message of these mistakes."""
    are = "1 var is" if len(mistakes) == 1 else f"{len(mistakes)} vars are"
    lines = "".join(f"\n  - {mistake}" for mistake in mistakes)
    return f"passk: {are} wrong.{lines}\nSee docs/vars.md for what each var takes."


@pytest.fixture(scope="module")
def landed(make_project: Callable[[], Project], attempts: Callable[..., list[Any]]) -> Project:
    made = make_project()
    made.land(attempts("run", "task", "PFP"))
    return made


WRONG: Final[list[tuple[dict[str, Any], list[str]]]] = [
    (
        {"passk_baseline": date(2026, 3, 1), "passk_min_eligible_share": "it's <&>"},
        [
            'passk_min_eligible_share is "it\'s <&>", but must be a number from 0 to 1.',
            "passk_baseline is 2026-03-01, but must be a run_id; write it in quotes.",
        ],
    ),
    ({"passk_ks": 5}, [f"passk_ks is 5, but must be {KS}"]),
    ({"passk_ks": None}, [f"passk_ks is null, but must be {KS}"]),
    ({"passk_ks": "1, 2"}, [f'passk_ks is "1, 2", but must be {KS}']),
    ({"passk_ks": []}, [f"passk_ks is [], but must be {KS}"]),
    ({"passk_ks": {"a": 1}}, [f'passk_ks is {{"a": 1}}, but must be {KS}']),
    (
        {"passk_ks": [0, 4, 1.5, True, "2", None, -1]},
        [
            f"passk_ks holds {shown}, but must hold integers of at least 1 only."
            for shown in ("0", "1.5", "true", '"2"', "null", "-1")
        ],
    ),
    (
        {"passk_ks": [1, 4, 4]},
        ["passk_ks is [1, 4, 4], but must hold each k once."],
    ),
    ({"passk_slices": 5}, [f"passk_slices is 5, but must be {SLICES}"]),
    ({"passk_slices": "difficulty"}, [f'passk_slices is "difficulty", but must be {SLICES}']),
    ({"passk_slices": {"name": "a"}}, [f'passk_slices is {{"name": "a"}}, but must be {SLICES}']),
    (
        {"passk_slices": [5, "", {"name": "a"}, ["b"]]},
        [
            f"passk_slices holds {shown}, but must hold tags or {{name: ..., expression: ...}}."
            for shown in ("5", '""', '{"name": "a"}', '["b"]')
        ],
    ),
    (
        {"passk_slices": ["a", "a"]},
        [
            'passk_slices names ["a", "a"], but names must differ, and \'all\' is the whole suite.'
        ],
    ),
    (
        {"passk_slices": ["all"]},
        ["passk_slices names [\"all\"], but names must differ, and 'all' is the whole suite."],
    ),
    (
        {"passk_attempts_model": 5},
        ["passk_attempts_model is 5, but must be a model name or [project, model]."],
    ),
    (
        {"passk_labels_model": 5, "passk_verdicts_model": ["a"]},
        [
            "passk_labels_model is 5, but must be a model name or [project, model].",
            'passk_verdicts_model is ["a"], but must be a model name or [project, model].',
        ],
    ),
    (
        {"passk_attempts_model": ["a", "b", "c"]},
        ['passk_attempts_model is ["a", "b", "c"], but must be a model name or [project, model].'],
    ),
    (
        {"passk_attempts_source": "evals.log"},
        ['passk_attempts_source is "evals.log", but must be [source, table].'],
    ),
    (
        {"passk_attempts_source": ["log"]},
        ['passk_attempts_source is ["log"], but must be [source, table].'],
    ),
    ({"passk_attempts_files": 5}, ["passk_attempts_files is 5, but must be a path or a glob."]),
    ({"passk_attempts_files": ""}, ['passk_attempts_files is "", but must be a path or a glob.']),
    (
        {"passk_attempts_columns": 5},
        [
            ("passk_attempts_columns is 5, but must be a mapping of contract columns to SQL"
            " expressions.")
        ],
    ),
    (
        {"passk_attempts_columns": {"task": "id", "run_id": 5, "suite": ""}},
        [
            ('passk_attempts_columns maps "task", but the contract has no such column. It has'
            f" {CONTRACT}."),
            "passk_attempts_columns.run_id is 5, but must be an SQL expression.",
            'passk_attempts_columns.suite is "", but must be an SQL expression.',
        ],
    ),
    ({"passk_landing_schema": ""}, ['passk_landing_schema is "", but must be a schema name.']),
    (
        {"passk_score_threshold": "high"},
        ['passk_score_threshold is "high", but must be a finite number.'],
    ),
    ({"passk_score_threshold": True}, ["passk_score_threshold is true, but must be a finite number."]),
    (
        {"passk_outcome_policy": 5},
        ["passk_outcome_policy is 5, but must be a mapping of outcome_reason to failed or excluded."],
    ),
    (
        {"passk_outcome_policy": {"timeout": "passed", "crash": None}},
        [
            'passk_outcome_policy.timeout is "passed", but must be failed or excluded.',
            "passk_outcome_policy.crash is null, but must be failed or excluded.",
        ],
    ),
    (
        {"passk_min_eligible_share": "skip"},
        ['passk_min_eligible_share is "skip", but must be a number from 0 to 1.'],
    ),
    *(
        ({"passk_confidence": level}, [f"passk_confidence is {level}, but must be {LEVELS}"])
        for level in (0.5, 1, 95)
    ),
    (
        {"passk_pairs": "old new"},
        [f'passk_pairs is "old new", but must be {PAIRS}'],
    ),
    (
        {"passk_pairs": {"baseline": "old", "candidate": "new"}},
        [f'passk_pairs is {{"baseline": "old", "candidate": "new"}}, but must be {PAIRS}'],
    ),
    (
        {
            "passk_pairs": [
                "old",
                {"baseline": "old"},
                {"baseline": "old", "candidate": 7},
                {"baseline": "old", "candidate": "new", "suite": ""},
                {"baseline": "old", "candidate": "new", "k": "4"},
                {"baseline": "old", "candidate": "new", "suite": None},
            ]
        },
        [
            f"passk_pairs holds {shown}, but must hold {A_PAIR}"
            for shown in (
                '"old"',
                '{"baseline": "old"}',
                '{"baseline": "old", "candidate": 7}',
                '{"baseline": "old", "candidate": "new", "suite": ""}',
                '{"baseline": "old", "candidate": "new", "k": "4"}',
            )
        ],
    ),
    (
        {"passk_pairs": [{"baseline": "old", "candidate": "old"}]},
        ['passk_pairs compares "old" with itself.'],
    ),
    ({"passk_baseline": 7}, ["passk_baseline is 7, but must be a run_id."]),
    ({"passk_baseline": ""}, ['passk_baseline is "", but must be a run_id.']),
    *(
        (
            {"passk_minimum_change": change},
            [f"passk_minimum_change is {shown}, but must be a number from 0 to less than 1."],
        )
        for change, shown in ((-0.1, "-0.1"), (1, "1"), (True, "true"), ("0.03", '"0.03"'))
    ),
    *(
        (
            {"passk_bootstrap": wrong},
            [f"passk_bootstrap is {shown}, but must be 0 or an integer from 100."],
        )
        for wrong, shown in ((99, "99"), (-1, "-1"), (True, "true"), ("x", '"x"'), (None, "null"))
    ),
    *(
        (
            {"passk_bootstrap_seed": wrong},
            [f"passk_bootstrap_seed is {shown}, but must be an integer."],
        )
        # 0.0 and 4.0 are equal to the defaults, and are no integers.
        for wrong, shown in ((0.5, "0.5"), (0.0, "0.0"), ("x", '"x"'))
    ),
    (
        {"passk_m_of_k": {"m": 3, "k": 4}},
        ['passk_m_of_k is {"k": 4, "m": 3}, but must be a list of {m: ..., k: ...}.'],
    ),
    (
        {"passk_m_of_k": [{"m": 5, "k": 4}, {"m": 1, "k": 33}, {"m": 1}, [3, 4], {"m": True, "k": 4}]},
        [
            f"passk_m_of_k holds {shown}, but must hold {{m: ..., k: ...}}, both integers, with m from 1 to k and k up to 32."
            for shown in ('{"k": 4, "m": 5}', '{"k": 33, "m": 1}', '{"m": 1}', "[3, 4]", '{"k": 4, "m": true}')
        ],
    ),
    (
        {"passk_m_of_k": [{"m": 3, "k": 4}, {"m": 2, "k": 4}, {"m": 3, "k": 4}]},
        ['passk_m_of_k is [{"k": 4, "m": 3}, {"k": 4, "m": 2}, {"k": 4, "m": 3}], but must hold each pair once.'],
    ),
    (
        {"passk_score_thresholds": 0.5},
        ["passk_score_thresholds is 0.5, but must be a list of numbers."],
    ),
    (
        {"passk_score_thresholds": [0.5, "0.8", True, None, float("inf"), float("nan"), 0.5]},
        [
            *(
                f"passk_score_thresholds holds {shown}, but must hold finite numbers only."
                for shown in ('"0.8"', "true", "null", "Infinity", "NaN")
            ),
            'passk_score_thresholds is [0.5, "0.8", true, null, Infinity, NaN, 0.5], but must hold each threshold once.',
        ],
    ),
    # The same number, written as one of both kinds.
    (
        {"passk_score_thresholds": [1, 1.0]},
        ["passk_score_thresholds is [1, 1.0], but must hold each threshold once."],
    ),
    (
        {"passk_extrapolated_ks": 8},
        ["passk_extrapolated_ks is 8, but must be a list of integers from 1 to 99999."],
    ),
    (
        {"passk_extrapolated_ks": [0, "8", 100_000]},
        [
            f"passk_extrapolated_ks holds {shown}, but must hold integers from 1 to 99999 only."
            for shown in ("0", '"8"', "100000")
        ],
    ),
    (
        {"passk_extrapolated_ks": [8, 8]},
        ["passk_extrapolated_ks is [8, 8], but must hold each k once."],
    ),
    *(
        (
            {"passk_plan_attempts": planned},
            [f"passk_plan_attempts is {shown}, but must be a list of integers from 1 to 1000."],
        )
        for planned, shown in ((8, "8"), ([], "[]"), ("8", '"8"'), (None, "null"))
    ),
    (
        {"passk_plan_attempts": [0, 4, 1.5, True, "2", 1001]},
        [
            f"passk_plan_attempts holds {shown}, but must hold integers from 1 to 1000 only."
            for shown in ("0", "1.5", "true", '"2"', "1001")
        ],
    ),
    (
        {"passk_plan_attempts": [4, 8, 4]},
        ["passk_plan_attempts is [4, 8, 4], but must hold each number once."],
    ),
    *(
        ({name: wrong}, [f"{name} is {shown}, but must be a number from 0.001 to less than 1."])
        for name in ("passk_plan_width", "passk_plan_difference")
        for wrong, shown in ((0, "0"), (1, "1"), (5, "5"), (True, "true"), ("0.1", '"0.1"'))
    ),
    *(
        ({"passk_plan_power": wrong}, [f"passk_plan_power is {shown}, but must be {LEVELS}"])
        for wrong, shown in ((0.85, "0.85"), (1, "1"), (80, "80"), ("0.8", '"0.8"'))
    ),
    *(
        (
            {"passk_private_suites": wrong},
            [
                f"passk_private_suites is {shown}, but must be a list of {{public: suite,"
                " private: suite}."
            ],
        )
        for wrong, shown in (
            ("open", '"open"'),
            ({"public": "a", "private": "b"}, '{"private": "b", "public": "a"}'),
        )
    ),
    (
        {
            "passk_private_suites": [
                "open",
                {"public": "a"},
                {"public": "a", "private": 7},
                {"public": "", "private": "b"},
                {"public": "a", "private": "b", "k": 4},
            ]
        },
        [
            f"passk_private_suites holds {shown}, but must hold {{public: suite, private: suite}},"
            " both texts."
            for shown in (
                '"open"',
                '{"public": "a"}',
                '{"private": 7, "public": "a"}',
                '{"private": "b", "public": ""}',
                '{"k": 4, "private": "b", "public": "a"}',
            )
        ],
    ),
    (
        {"passk_private_suites": [{"public": "a", "private": "a"}]},
        ['passk_private_suites compares "a" with itself.'],
    ),
    (
        {"passk_deployment_k": 7},
        [f"passk_deployment_k is 7, but must be one of passk_ks, which is {DEFAULT_KS}."],
    ),
    (
        {"passk_ks": [1, 2], "passk_deployment_k": 4},
        ["passk_deployment_k is 4, but must be one of passk_ks, which is [1, 2]."],
    ),
    (
        {"passk_deployment_k": "four"},
        ['passk_deployment_k is "four", but must be an integer of at least 1.'],
    ),
    (
        {"passk_deployment_k": 4.0},
        ["passk_deployment_k is 4.0, but must be an integer of at least 1."],
    ),
    ({"passk_deployment_k": 0}, ["passk_deployment_k is 0, but must be an integer of at least 1."]),
    *(
        ({name: wrong}, [f"{name} is {shown}, but must be {A_SHARE}"])
        for name in (
            "passk_capable_threshold",
            "passk_consistent_threshold",
            "passk_consistent_rate",
            "passk_incapable_rate",
        )
        for wrong, shown in ((1.5, "1.5"), (-0.1, "-0.1"), ("0.5", '"0.5"'), (None, "null"), (True, "true"))
    ),
    *(
        ({name: wrong}, [f"{name} is {shown}, but must be true or false."])
        for name in (
            "passk_ordered_metrics",
            "passk_diagnostics",
            "passk_create_sql_functions",
            "passk_incremental_by_loaded_at",
        )
        for wrong, shown in (("yes", '"yes"'), (1, "1"), (None, "null"))
    ),
]  # fmt: skip


def named(case: tuple[dict[str, Any], list[str]]) -> set[str]:
    """Give the vars that a case is about: what k may be deployed depends on the ks."""
    together = {"passk_ks", "passk_deployment_k"}
    names = set(case[0])
    return names | together if names & together else names


def batches() -> list[list[tuple[dict[str, Any], list[str]]]]:
    """Put cases of different vars together: a build refuses them all, and costs a second."""
    found: list[list[tuple[dict[str, Any], list[str]]]] = []
    for case in WRONG:
        for batch in found:
            if not any(named(case) & named(other) for other in batch):
                batch.append(case)
                break
        else:
            found.append([case])
    return found


@pytest.mark.long
@pytest.mark.parametrize("batch", range(len(batches())))
def test_wrong_vars_are_refused_in_words(landed: Project, batch: int) -> None:
    cases = batches()[batch]
    variables = {name: value for case, _ in cases for name, value in case.items()}
    inputs = [f"passk_attempts_{kind}" for kind in ("model", "source", "files")]
    several = [name for name in inputs if variables.get(name) is not None]
    expected = [mistake for _, mistakes in cases for mistake in mistakes]
    if len(several) > 1:
        expected.append(f"{' and '.join(several)} {AN_INPUT}")
    head, *lines, tail = landed.refused(variables).splitlines()
    assert sorted(lines) == sorted(f"  - {mistake}" for mistake in expected)
    assert [head, tail] == [said(*expected).splitlines()[0], said().splitlines()[-1]]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("passk_gate", "passk_gates"),
        ("passk_pair", "passk_pairs"),
        ("passk_baselines", "passk_baseline"),
        ("pask_ks", "passk_ks"),
        ("passk_delpoyment_k", "passk_deployment_k"),
        ("passk_confidnce", "passk_confidence"),
        ("passk_kz", "passk_ks"),
        ("passk_consistency_threshold", "passk_consistent_threshold"),
        ("passk_slicing", "passk_slices"),
    ],
)
def test_a_misspelt_var_is_refused(landed: Project, given: str, meant: str) -> None:
    assert landed.refused({given: ["x"]}) == said(f"There is no var {given}. Did you mean {meant}?")


def test_a_var_that_is_like_none_is_refused_too(landed: Project) -> None:
    assert landed.refused({"passk_zzz": 1}) == said("There is no var passk_zzz.")


def test_vars_of_others_are_let_through(landed: Project) -> None:
    landed.run({"passes": 1, "task_ks": [1], "ks": 2, "passk": 3}, select=["stg_passk__attempts"])


def test_a_scope_in_the_command_line_is_refused(landed: Project) -> None:
    """dbt would take passk for the name of a var, and no var from below it."""
    assert landed.refused({"passk": {"passk_ks": [1]}}) == said(
        "passk: stands in --vars, where dbt reads nothing below it. Write its vars without it."
    )


@pytest.mark.long
def test_all_mistakes_are_reported_at_once(landed: Project) -> None:
    wrong = {
        "passk_attempts_model": 5,
        "passk_attempts_source": "x",
        "passk_attempts_files": "",
        "passk_attempts_columns": {"colour": "x"},
        "passk_landing_schema": "",
        "passk_score_threshold": "x",
        "passk_outcome_policy": {"timeout": "x"},
        "passk_ks": [0, 2, 2],
        "passk_min_eligible_share": "x",
        "passk_slices": 5,
        "passk_confidence": 95,
        "passk_deployment_k": 3,
        "passk_capable_threshold": 2,
        "passk_consistent_threshold": 2,
        "passk_consistent_rate": 2,
        "passk_incapable_rate": 2,
        "passk_ordered_metrics": "x",
        "passk_diagnostics": "x",
        "passk_create_sql_functions": "x",
        "passk_incremental_by_loaded_at": "x",
    }
    inputs = "passk_attempts_model and passk_attempts_source and passk_attempts_files"
    assert landed.refused(wrong) == said(
        f"{inputs} {AN_INPUT}",
        "passk_attempts_model is 5, but must be a model name or [project, model].",
        'passk_attempts_source is "x", but must be [source, table].',
        'passk_attempts_files is "", but must be a path or a glob.',
        'passk_attempts_columns maps "colour", but the contract has no such column. It has'
        f" {CONTRACT}.",
        'passk_landing_schema is "", but must be a schema name.',
        'passk_incremental_by_loaded_at is "x", but must be true or false.',
        'passk_score_threshold is "x", but must be a finite number.',
        'passk_outcome_policy.timeout is "x", but must be failed or excluded.',
        "passk_ks holds 0, but must hold integers of at least 1 only.",
        "passk_ks is [0, 2, 2], but must hold each k once.",
        'passk_min_eligible_share is "x", but must be a number from 0 to 1.',
        f"passk_slices is 5, but must be {SLICES}",
        'passk_ordered_metrics is "x", but must be true or false.',
        'passk_diagnostics is "x", but must be true or false.',
        f"passk_confidence is 95, but must be {LEVELS}",
        f"passk_capable_threshold is 2, but must be {A_SHARE}",
        f"passk_consistent_threshold is 2, but must be {A_SHARE}",
        f"passk_consistent_rate is 2, but must be {A_SHARE}",
        f"passk_incapable_rate is 2, but must be {A_SHARE}",
        'passk_create_sql_functions is "x", but must be true or false.',
        "passk_deployment_k is 3, but must be one of passk_ks, which is [0, 2, 2].",
    )


@pytest.mark.long
def test_a_wrong_var_leaves_the_tables_as_they_were(
    project: Project, attempts: Callable[..., list[Any]]
) -> None:
    project.land(attempts("run", "task", "PFP"))
    project.run()
    before = project.query("select * from passk_suite_metrics order by k")
    project.land(attempts("other run", "task", "PFP"))
    project.refused({"passk_min_eligible_share": "x"})
    assert project.query("select * from passk_suite_metrics order by k") == before


def test_without_a_landed_log_it_says_what_to_do(project: Project) -> None:
    project.execute("drop table landing.attempts")
    message = 'passk: there is no table "passk"."landing"."attempts".'
    assert project.refused({}) == (
        f"{message} Load a log with `passk load FILE`, or name your own table in the var"
        " passk_attempts_model: [project, model]."
    )


@pytest.mark.long
def test_an_empty_log_gives_empty_tables(project: Project) -> None:
    project.run()
    project.run()
    for table in (
        "attempts", "rejected_attempts", "runs", "suite_metrics", "task_metrics", "tasks",
    ):  # fmt: skip
        assert project.query(f"from passk_{table}") == []

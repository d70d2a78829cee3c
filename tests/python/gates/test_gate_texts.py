"""Rules and their results, in words."""

from __future__ import annotations

from passk_py.metrics.gates import Rule, rules_of
from passk_py.metrics.gates.gate_reports import count, junit, markdown, settling, title
from passk_py.metrics.gates.rule_schema import keys_of
from passk_py.metrics.run_order import Run


def test_a_rule_reads_as_a_sentence() -> None:
    text = "pass^8 at least 0.95 on tasks like these"
    given = {"name": "safe", "type": "threshold", "metric": "pass_hat_k", "k": 8, "min": 0.95}
    assert Rule("g", "threshold", "pass_hat_k", 8, 0.95, "unseen").text == text
    assert [rule.text for rule in rules_of([given])] == [text]


def test_a_rule_of_an_agent_judges_runs_of_no_known_agent_only_if_told_to() -> None:
    run = Run("r", "s", {"agent": "a"}, None, is_latest=True)
    rule = Rule("g", "threshold", "pass_hat_k", 8, 0.95, "unseen", agent="b")
    assert not rule.judges(run)
    assert rule.judges(run, of_anyone=True)


def test_a_type_takes_the_common_keys_and_its_own() -> None:
    common = ["name", "type", "run", "suite", "agent", "severity", "inconclusive"]
    assert list(keys_of("coverage")) == [*common, "metric", "max"]


def test_a_result_names_the_run_and_what_it_was_compared_with() -> None:
    place = {"run_id": "new", "suite": "airline", "slice_name": "all", "slice_value": "all"}
    assert title({**place, "baseline_run_id": "old"}) == "new · airline · against old"


def test_what_settles_a_result_ends_a_sentence() -> None:
    assert settling({"to_settle": "At least 59 tasks."}) == "To settle it: at least 59 tasks."


def test_results_are_counted_by_kind() -> None:
    rows = [{"result": "pass"}, {"result": "fail"}, {"result": "pass"}]
    assert count(rows) == "2 pass, 1 fails."
    assert count([]) == "No gate was judged."


def test_reports_without_a_result() -> None:
    empty = '<testsuite name="passk gates" tests="0" failures="0" errors="0" skipped="0" />'
    assert junit([]).splitlines()[-2].strip() == empty
    assert markdown([]).splitlines()[0] == "## Gates"

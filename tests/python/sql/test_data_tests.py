"""The generic data tests find what they are for, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Project

TESTS: Final = {
    "is_key": "passk.test_passk_rows_hold('rows', key=['a', 'b'])",
    "all_hold": "passk.test_passk_rows_hold('rows', key=['a'], claims={'b is small': 'b < 10'})",
    "not_null": "passk.test_passk_rows_hold('rows', not_null=['a'])",
    "accepted": "passk.test_passk_rows_hold('rows', accepted_values={'a': ['x', \"y's\"]})",
    "rates_hold": "passk.test_passk_rows_hold('rows', rates=['rate', 'other'])",
    "rows_hold": "passk.test_passk_rows_hold('rows', claims={'a is small': 'a < 10', \"b isn't 0\": 'b <> 0'})",
    "follows_k": "passk.test_passk_follows_k('rows', ['task'], rising=['up'], falling=['down'])",
    "totals_agree": "passk.test_passk_totals_agree('rows', 'sum(a)', 'others', 'count(*)')",
    "attempts_are_unique": "passk.test_passk_attempts_are_unique('rows')",
    "nothing_disappears": "passk.test_passk_nothing_disappears('rejected', 'staged', 'kept')",
}

Run = "Callable[[str, dict[str, str]], list[tuple[Any, ...]]]"


@pytest.fixture(scope="module")
def run(make_project: Callable[[], Project]) -> Run:
    """Runs one of the tests on relations given as selects."""
    rendered = make_project().render("\n;;\n".join(f"{{{{ {call} }}}}" for call in TESTS.values()))
    statements = dict(zip(TESTS, rendered.split(";;"), strict=True))

    def run_on(test: str, relations: dict[str, str]) -> list[tuple[Any, ...]]:
        statement = statements[test]
        with duckdb.connect() as connection:
            connection.execute("attach ':memory:' as passk")
            connection.execute("create schema passk.landing")
            connection.execute("create table passk.landing.rejected as select 1 as row_number")
            for name, select in relations.items():
                connection.execute(f"create view {name} as {select}")
            return connection.execute(statement).fetchall()

    return run_on


def values(columns: str, *rows: str) -> dict[str, str]:
    return {"rows": f"select * from (values {', '.join(rows)}) as v({columns})"}


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (["(1, 1)", "(1, 2)", "(2, 1)"], 0),
        (["(1, 1)", "(1, 2)", "(1, 1)", "(1, 1)"], 2),
        (["(1, 1)", "(1, 1)", "(2, 1)", "(2, 1)"], 2),
        (["(1, 1)", "(1, null)"], 1),
        (["(null, null)", "(null, null)"], 2),
    ],
)
def test_a_key_is_unique_and_complete(run: Run, rows: list[str], found: int) -> None:
    broken = run("is_key", values("a, b", *rows))
    assert broken == ([("the_key_is_unique_and_complete", found)] if found else [])


def test_a_key_and_the_claims_are_told_together(run: Run) -> None:
    broken = run("all_hold", values("a, b", "(1, 1)", "(1, 10)", "(2, 11)"))
    assert sorted(broken) == [("b is small", 2), ("the_key_is_unique_and_complete", 1)]
    assert run("all_hold", values("a, b", "(1, 1)", "(2, 9)")) == []


def test_nulls_are_found_where_none_may_be(run: Run) -> None:
    assert run("not_null", values("a", "(1)", "(null)")) == [("a_is_not_null", 1)]
    assert run("not_null", values("a", "(1)")) == []


def test_values_are_null_or_accepted(run: Run) -> None:
    assert run("accepted", values("a", "('x')", "('y''s')", "(null)")) == []
    assert run("accepted", values("a", "('x')", "('z')", "('')")) == [("a_is_accepted", 2)]


@pytest.mark.parametrize("rate", ["0", "1", "0.5", "null", "5e-324"])
def test_rates_may_be_null_and_reach_their_ends(run: Run, rate: str) -> None:
    assert run("rates_hold", values("rate, other", f"({rate}::double, 0.5::double)")) == []


@pytest.mark.parametrize("rate", ["1.0000000000000002", "-1e-300", "'nan'", "'inf'", "'-inf'"])
def test_rates_are_neither_nan_nor_outside_of_0_and_1(run: Run, rate: str) -> None:
    rows = values("rate, other", "(0.5, 0.5)", f"({rate}::double, 0.5::double)")
    assert run("rates_hold", rows) == [("rate_is_a_rate", 1)]


def test_a_broken_claim_is_named_with_its_rows(run: Run) -> None:
    rows = values("a, b", "(1, 1)", "(10, 1)", "(11, 0)")
    assert sorted(run("rows_hold", rows)) == [("a is small", 2), ("b isn't 0", 1)]


def test_a_claim_that_is_null_is_broken(run: Run) -> None:
    assert run("rows_hold", values("a, b", "(null, 1)", "(1, 1)")) == [("a is small", 1)]


def test_every_claim_holds_of_no_rows(run: Run) -> None:
    assert run("rows_hold", {"rows": "select 1 as a, 1 as b where false"}) == []


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (["('t', 1, 0.5, 0.5)", "('t', 2, 0.5, 0.5)", "('t', 4, 0.75, 0.25)"], []),
        (["('t', 2, 0.75, 0.25)", "('t', 1, 0.5, 0.5)"], []),
        (["('t', 1, 0.5, 0.5)", "('t', 2, 0.25, 0.5)"], [("up", 1)]),
        (["('t', 1, 0.5, 0.5)", "('t', 2, 0.5, 0.75)"], [("down", 1)]),
        (["('t', 1, 0.5, 0.5)", "('u', 2, 0.25, 0.75)"], []),
        (["('t', 1, 0.5, 0.5)", "('t', 2, null, null)"], []),
        (["('t', 1, 1, 0)", "('t', 2, 0.9999999999999999, 1e-16)"], []),
    ],
)
def test_columns_follow_k_within_their_group(run: Run, rows: list[str], found: list[Any]) -> None:
    assert run("follows_k", values("task, k, up, down", *rows)) == found


@pytest.mark.parametrize(
    ("rows", "others", "found"),
    [
        (["(2)"], "select * from range(2)", []),
        (["(2)"], "select * from range(3)", [(2, 3)]),
        (["(null::int)"], "select * from range(0)", []),
        (["(null::int)"], "select * from range(1)", [(None, 1)]),
    ],
)
def test_totals_agree(run: Run, rows: list[str], others: str, found: list[Any]) -> None:
    assert run("totals_agree", values("a", *rows) | {"others": others}) == found


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("('r', 's', 't', 3)", []),
        ("('r', 's', 't', 2)", [("r", "s", "t", 2, 2)]),
        ("('r', 's', 'u', 300)", [("r", "s", "u", 300, 2)]),
        ("('r', 's', 't', 0)", []),
        ("('r', 's', 't', null)", [("r", "s", "t", None, 1)]),
        ("(null, 's', 't', 1)", [(None, "s", "t", None, 1)]),
    ],
)
def test_attempts_are_unique_with_masks_and_without(run: Run, row: str, found: list[Any]) -> None:
    rows = [
        "('r', 's', 't', 1)",
        "('r', 's', 't', 2)",
        "('r', 's', 'u', 300)",
        "('r', 's', 'u', 301)",
    ]
    relations = values("run_id, suite, task_id, attempt", *rows, row)
    assert run("attempts_are_unique", relations) == found


@pytest.mark.parametrize(("kept", "found"), [(3, []), (2, [(4, 1, 2, 2)])])
def test_rows_read_are_kept_or_rejected(run: Run, kept: int, found: list[Any]) -> None:
    relations = {
        "staged": "select * from range(4)",
        "kept": f"select * from range({kept})",
        "rejected": "select * from range(2)",
    }
    assert run("nothing_disappears", relations) == found

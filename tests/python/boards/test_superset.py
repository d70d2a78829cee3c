"""The dashboards of ``passk superset`` in a browser: they show what the tables hold.

Superset runs in an environment of its own: ``PASSK_SUPERSET`` is its command. It asks the demo in
DuckDB and, where its programs are installed, in Postgres.
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Final

import pytest

from .demo import DECOY_SHOWN, rows_of
from .superset_site import needs_superset, passk

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from .demo import Row
    from .superset_site import Page

LATEST: Final = ("scout-2026-03", "tracer-2026-03", "walker-2026-03")
SECONDS: Final = 60

pytestmark = needs_superset


@pytest.fixture(params=["duckdb", "postgres"])
def engine(request: pytest.FixtureRequest, postgres: str | None) -> str:
    if request.param == "postgres" and postgres is None:
        pytest.skip("no Postgres: see scripts/install_programs")
    return str(request.param)


def close(told: object, held: object) -> bool:
    if isinstance(told, float | int) and isinstance(held, float | int):
        return abs(told - held) <= 1e-12 * max(abs(told), abs(held))
    return told == held


def check(told: list[Row], held: list[Row]) -> None:
    assert held
    assert len(told) == len(held)
    for left, right in zip(told, held, strict=True):
        for name, value in right.items():
            assert close(left[name], value), (name, left, right)


def ordered(rows: list[Row], *keys: str) -> list[Row]:
    return sorted(rows, key=lambda row: tuple(str(row[key]) for key in keys))


def share(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.1f}%"


def change(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:+.1f}%"


def check_order(page: Page, tables: duckdb.DuckDBPyConnection, k: int) -> None:
    """Compare the order of runs and the trends with their tables, of all runs and not the latest alone."""
    held = rows_of(
        tables,
        f"from passk_rankings where k = {k} and metric = 'pass_hat_k' and estimate is not null "
        "order by estimated_rank, run_id",
    )
    assert page.table("The order of runs by pass^k") == [
        [
            row["run_id"],
            str(k),
            *(share(row[name]) for name in ("estimate", "lower", "upper")),
            *(str(row[name]) for name in ("rank_lower", "rank_upper", "ranked_runs")),
            "yes" if row["may_be_best"] else "no",
            share(row["estimate_of_top"]),
        ]
        for row in held
    ]
    held = rows_of(
        tables, f"from passk_trends where k = {k} and metric = 'pass_hat_k' order by agent"
    )
    assert held
    assert page.table("From run to run") == [
        [
            row["agent"],
            str(k),
            str(row["runs"]),
            (row["verdict"] or "N/A").replace("_", " "),
            *(change(row[name]) for name in ("slope", "slope_lower", "slope_upper")),
            row["null_reason"] or "N/A",
        ]
        for row in held
    ]


def check_overview(page: Page, tables: duckdb.DuckDBPyConnection, k: int) -> None:
    check_order(page, tables, k)
    held = rows_of(
        tables,
        f"from passk_suite_metrics where slice_name = 'all' and k = {k} and run_id in {LATEST} "
        "order by run_id",
    )
    assert page.table("The latest run of each agent") == [
        [
            row["run_id"],
            row["agent"],
            str(row["k"]),
            *(
                share(row[f"{metric}{limit}"])
                for metric in ("pass_at_k", "pass_hat_k")
                for limit in ("", "_lower", "_upper")
            ),
            row["reading"] or row["null_reason"],
        ]
        for row in held
    ]
    assert page.table("How much was counted") == [
        [
            row["run_id"],
            *(str(row[name]) for name in ("total_tasks", "eligible_tasks", "attempts", "excluded")),
        ]
        for row in held
    ]


def test_the_overview_has_the_latest_runs(
    page: Page, engine: str, tables: duckdb.DuckDBPyConnection
) -> None:
    page.open(f"{engine}-overview")
    check_overview(page, tables, 4)
    assert DECOY_SHOWN not in page.text
    # The first half are the rows of pass@k, the second those of pass^k.
    drawn = page.rows("pass@k and pass^k over k")
    half = len(drawn) // 2
    for told, column in ((drawn[:half], "pass_at_k"), (drawn[half:], "pass_hat_k")):
        held = rows_of(
            tables,
            f"select k, run_id, {column} as value from passk_suite_metrics "
            f"where slice_name = 'all' and {column} is not null and run_id in {LATEST}",
        )
        assert len(held) == len(LATEST) * len(told)
        of_k = {row["k"]: row for row in told}
        for row in held:
            assert close(of_k[row["k"]][row["run_id"]], row["value"])


def test_k_can_be_chosen(page: Page, engine: str, tables: duckdb.DuckDBPyConnection) -> None:
    page.open(f"{engine}-overview").choose("k", "8")
    check_overview(page, tables, 8)
    page.choose("k", "100")
    check_overview(page, tables, 100)
    assert "n < 100 in 48 of 48 tasks" in page.text


def test_another_suite_can_be_chosen(page: Page, engine: str) -> None:
    page.open(f"{engine}-overview").choose("Suite", "older")
    (row,) = page.table("The latest run of each agent")
    assert row[0] == "walker-older"
    assert row[3] == f"{DECOY_SHOWN}%"
    (row,) = page.table("From run to run")
    assert row == ["local-search", "4", "6", "falling", "-5.0%", "N/A", "N/A", "N/A"]


def test_costs_are_shown_with_their_limits(page: Page, engine: str) -> None:
    page.open(f"{engine}-costs")
    # The demo has none: nothing breaks, and nothing of the other suite is shown.
    assert page.text.count("No results were returned for this query") == 3
    page.choose("Suite", "older")
    assert page.table("Cost of attempts and successes") == [
        ["walker-older", "cost, $", "0.310", "0.760", "0.570", "0.440", "0.710", "40.1%", "N/A"]
    ]
    assert page.table("Cost of tasks, retried or always right") == [
        ["walker-older", "cost, $", "4", "0.480", "0.390", "0.620", "1,230", "988", "N/A", "N/A"]
    ]
    assert page.table("pass^k and cost, unbeaten runs first") == [
        [
            "walker-older", "cost, $", "4", "53.0%", "41.0%", "66.0%", "0.310", "0.280", "0.350",
            "None beats it.",
        ]
    ]  # fmt: skip


def test_details_are_shown_where_a_build_was_asked_for_them(page: Page, engine: str) -> None:
    page.open(f"{engine}-details")
    assert page.text.count("No results were returned for this query") == 7
    page.choose("Suite", "older")
    page.choose("Run", "walker-older")
    assert page.table("At least m of k") == [
        ["walker-older", "at least m of k", "3", "4", "77.0%", "65.0%", "86.0%", "N/A"]
    ]
    assert page.table("How long tasks may be") == [
        ["walker-older", "4", "minutes", "37.3", "12.5", "N/A", "N/A", "one limit"]
    ]
    assert page.table("Short and long tasks") == [
        ["4", "2.00", "3.00", "8", "90.0%", "80.0%", "100.0%"],
        ["4", "4.00", "5.00", "8", "80.0%", "70.0%", "100.0%"],
    ]
    assert page.table("Without the errors of the grader") == [
        ["walker-older", "pass^k", "4", "53.0%", "61.0%", "50.0%", "72.0%", "17.0%", "N/A"]
    ]
    assert page.table("How often the grader errs") == [
        ["240", "96.0%", "93.0%", "98.0%", "N/A", "N/A", "N/A", "too few labels of failures"]
    ]
    assert page.table("If a score passes from a threshold on") == [
        ["walker-older", called, "4", *numbers, "N/A", "some have no score"]
        for called, *numbers in (
            ("pass@k", "0.5", "95.0%", "85.0%", "99.0%"),
            ("pass@k", "0.8", "91.0%", "81.0%", "95.0%"),
            ("pass^k", "0.5", "63.0%", "53.0%", "67.0%"),
            ("pass^k", "0.8", "44.0%", "34.0%", "48.0%"),
        )
    ]
    assert page.table("Do judges agree?") == [
        ["grader", "model-b", "90", "94.0%", "88.0%", "97.0%", "27.0%", "12.0%", "45.0%", "N/A"]
    ]


def test_a_run_has_its_numbers(page: Page, engine: str, tables: duckdb.DuckDBPyConnection) -> None:
    page.open(f"{engine}-run")
    for run in ("scout-2026-03", "tracer-2026-03"):
        if run != "scout-2026-03":
            page.choose("Run", run)
        drawn = page.rows("pass@k and pass^k over k")
        half = len(drawn) // 2
        for told, metric, column in (
            (drawn[:half], "pass@k", "pass_at_k"),
            (drawn[half:], "pass^k", "pass_hat_k"),
        ):
            known = rows_of(
                tables,
                f"""
                select k, {column} as "{metric}", {column}_lower as "{metric}__yhat_lower",
                  {column}_upper as "{metric}__yhat_upper"
                from passk_suite_metrics
                where slice_name = 'all' and run_id = '{run}' and {column} is not null order by k
                """,
            )
            check(told, known)
        gap = rows_of(
            tables,
            f"""
            select k, delta_k, delta_k_lower as "delta_k from", delta_k_upper as "delta_k to"
            from passk_suite_metrics
            where slice_name = 'all' and run_id = '{run}' and delta_k is not null order by k
            """,
        )
        check(page.rows("delta_k over k"), gap)
        classes = rows_of(
            tables,
            f"select task_class, count(*) as tasks from passk_tasks where run_id = '{run}' "
            "group by 1",
        )
        check(ordered(page.rows("Tasks by class"), "task_class"), ordered(classes, "task_class"))
        costly = rows_of(
            tables,
            "select task_id, task_class, c, n, k, pass_at_k, pass_hat_k, expected_gain "
            f"from passk_tasks where run_id = '{run}' and c < n "
            "order by mend_rank",
        )
        check(
            ordered(page.rows("What to mend first"), "task_id"),
            ordered(costly, "task_id"),
        )
        lost = rows_of(
            tables,
            "select case part when 'user_simulator' then 'user simulator' else part end as called, k, failed_attempts, lost_share, "
            "lost_share_lower, lost_share_upper, lost, pass_hat_k_if_passed "
            f"from passk_lost_reliability where run_id = '{run}' and k = 4 "
            "and dimension = 'cause' and lost_share > 0",
        )
        assert sum(row["lost_share"] for row in lost) == pytest.approx(1)
        check(ordered(page.rows("Where reliability is lost"), "called"), ordered(lost, "called"))
        trusted = page.rows("Can the log be trusted?")
        held = rows_of(
            tables,
            f"select diagnostic, verdict, finding from passk_diagnostics where run_id = '{run}'",
        )
        check(ordered(trusted, "diagnostic"), ordered(held, "diagnostic"))
        (row,) = page.table("At this k")
        (at_k,) = rows_of(
            tables,
            f"from passk_suite_metrics where slice_name = 'all' and run_id = '{run}' and k = 4",
        )
        assert row == [
            run,
            "4",
            *(
                share(at_k[f"{metric}{limit}"])
                for metric in ("pass_at_k", "pass_hat_k")
                for limit in ("", "_lower", "_upper")
            ),
            at_k["reading"],
        ]
        assert page.table("How much was counted") == [
            [str(at_k[name]) for name in ("total_tasks", "eligible_tasks", "n", "excluded")]
        ]


def test_a_pair_has_its_differences(
    page: Page, engine: str, tables: duckdb.DuckDBPyConnection
) -> None:
    page.open(f"{engine}-compare")
    pair = "baseline_run_id = 'scout-2026-02' and candidate_run_id = 'scout-2026-03'"
    held = rows_of(tables, f"from passk_comparisons where {pair} and k = 4 order by metric")
    assert page.table("Differences") == [
        [
            {"pass_at_k": "pass@k", "pass_hat_k": "pass^k"}[row["metric"]],
            "4",
            share(row["baseline"]),
            share(row["candidate"]),
            *(
                f"{100 * row[name]:+.1f}%"
                for name in (
                    "difference",
                    "difference_suite_lower",
                    "difference_suite_upper",
                    "difference_lower",
                    "difference_upper",
                )
            ),
        ]
        for row in held
    ]
    assert page.table("What they mean") == [
        [
            {"pass_at_k": "pass@k", "pass_hat_k": "pass^k"}[row["metric"]],
            "scout-2026-03",
            "scout-2026-02",
            row["verdict"],
            row["meaning"],
        ]
        for row in held
    ]
    for metric, called in (("pass_at_k", "pass@k"), ("pass_hat_k", "pass^k")):
        curve = rows_of(
            tables,
            f"""
            select k, difference, difference_suite_lower as "from", difference_suite_upper as "to"
            from passk_comparisons
            where {pair} and metric = '{metric}' and difference is not null order by k
            """,
        )
        check(page.rows(f"Difference of {called} over k"), curve)
    moved = rows_of(
        tables,
        "select task_id, baseline_c, baseline_n, candidate_c, candidate_n, direction, p_adjusted "
        f"from passk_task_comparisons where {pair} and moved",
    )
    check(
        ordered(page.rows("Tasks that moved by more than chance does"), "task_id"),
        ordered(moved, "task_id"),
    )


def test_a_task_has_its_runs(page: Page, engine: str, tables: duckdb.DuckDBPyConnection) -> None:
    page.open(f"{engine}-tasks").choose("Task", "sat-15")
    told = page.rows("One task over the runs")
    held = rows_of(
        tables,
        "select run_id, task_id, k, pass_at_k, pass_at_k_lower, pass_at_k_upper, pass_hat_k, "
        "pass_hat_k_lower, pass_hat_k_upper from passk_task_metrics "
        "where task_id = 'sat-15' and k = 4",
    )
    check(ordered(told, "run_id"), ordered(held, "run_id"))
    counted = rows_of(
        tables,
        "select run_id, c, n, excluded from passk_task_metrics where task_id = 'sat-15' and k = 4",
    )
    check(ordered(page.rows("How much was counted"), "run_id"), ordered(counted, "run_id"))
    map_ = page.rows("The share of attempts that failed")
    failed = rows_of(
        tables,
        "select run_id as run, task_id as task, 1 - pass_rate as failed from passk_tasks where n > 0 "
        "and task_id in (select task_id from passk_tasks where n > 0 group by 1 "
        "order by sum(c) / sum(n), task_id limit 40)",
    )
    check(ordered(map_, "run", "task"), ordered(failed, "run", "task"))


def test_gates_have_their_reasons(
    page: Page, engine: str, tables: duckdb.DuckDBPyConnection
) -> None:
    page.open(f"{engine}-gates").choose("Suite", "puzzles")
    held = rows_of(tables, "from passk_gates order by result")
    assert [row[0] for row in page.table("Rules")] == [row["result"] for row in held]
    for row in held:
        assert row["reason"] in page.text
        assert page.rows(f"Gates: {row['result']}")[0]["gates"] == 1
    page.choose("Result", "fail")
    assert {row[1] for row in page.table("Reasons")} == {"no-worse-than-before"}
    (row,) = page.table("Rules")
    assert row[1] == "no-worse-than-before"


class Builds(threading.Thread):
    """Loads, builds and publishes over and over: with one run more, and without it again."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.published = 0
        self.failure: BaseException | None = None
        self.stop = threading.Event()

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                if self.published % 2 == 0:
                    passk(self.folder, "load", "more.parquet")
                else:
                    passk(self.folder, "unload", "--run", "another")
                passk(self.folder, "build")
                passk(self.folder, "publish", "-o", "bi")
                self.published += 1
        except BaseException as failure:
            self.failure = failure
            raise


def frozen(told: list[tuple[str, list[Row]]]) -> set[str]:
    """Write each answer as a text. Sums that were added up in another order differ in their last bit."""
    return {
        json.dumps(
            [
                name,
                [
                    {
                        key: round(value, 12) if isinstance(value, float) else value
                        for key, value in row.items()
                    }
                    for row in rows
                ],
            ],
            sort_keys=True,
        )
        for name, rows in told
    }


def test_a_dashboard_stays_up_while_builds_go_on(page: Page, looped: Path) -> None:
    """Every answer in a minute of builds is that of one of the two states, and none is refused."""
    page.open("looped-overview")
    without = frozen(page.answers)
    passk(looped, "load", "more.parquet")
    passk(looped, "build")
    passk(looped, "publish", "-o", "bi")
    page.open("looped-overview")
    states = without | frozen(page.answers)
    assert "another" in page.text
    passk(looped, "unload", "--run", "another")
    passk(looped, "build")
    passk(looped, "publish", "-o", "bi")
    page.open("looped-overview")
    assert frozen(page.answers) == without
    assert len(states) > len(without)

    builds = Builds(looped)
    builds.start()
    loads, seen = 0, set[str]()
    start = time.monotonic()
    try:
        # Longer on a slow machine, until both states were seen.
        while (passed := time.monotonic() - start) < SECONDS or (
            passed < 10 * SECONDS and (seen != states or builds.published < 4)
        ):
            page.open("looped-overview")
            assert frozen(page.answers) <= states, "an answer of neither state"
            seen |= frozen(page.answers)
            loads += 1
    finally:
        builds.stop.set()
        builds.join()
    assert builds.failure is None
    assert seen == states
    assert builds.published >= 4
    print(f"{loads} loads of the page, {builds.published} builds and copies in {passed:.0f} s")

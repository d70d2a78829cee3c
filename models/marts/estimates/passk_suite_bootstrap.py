"""The percentile bootstrap over tasks, made where the var passk_bootstrap asks for it."""
# ruff: noqa: INP001, ANN001, ANN201, I001 - dbt calls it by its place and gives what it likes


def model(dbt, session):
    """Draw suites from the families of tasks of every run and slice; most are of one task."""
    import tempfile
    from collections import Counter, defaultdict
    from pathlib import Path

    import polars as pl
    from passk_py.metrics.bootstrap import LIMIT_TYPES, limits_of_families
    from passk_py.metrics.states import families_of_states

    counted = (
        dbt.ref("int_passk__task_counts")
        .filter("attempts > 0")
        .aggregate("run_id, suite, slice_name, slice_value, family, n, c, count(*) as tasks")
        .fetchall()
    )
    states = defaultdict(lambda: defaultdict(Counter))
    for *place, family, n, c, tasks in counted:
        states[tuple(place)][family][n, c] = tasks
    # By itself: dbt gives a model what it finds asked for. Keys of one's own stand in `meta`, which
    # is read whole, because dbt 1.10 does not know `meta_get`.
    settings = dbt.config.get("meta")
    names = ("run_id", "suite", "slice_name", "slice_value")
    rows = [
        {**dict(zip(names, place, strict=True)), **row}
        for place in sorted(states)
        for row in limits_of_families(
            families_of_states(states[place]),
            settings["ks"],
            resamples=settings["resamples"],
            seed=settings["seed"],
            place=place,
            confidence=settings["confidence"],
            min_eligible_share=settings["min_eligible_share"],
        )
    ]
    frame = pl.DataFrame(
        rows, schema={**dict.fromkeys(names, pl.String), **LIMIT_TYPES}, orient="row"
    )
    # By way of Parquet, because every direct way needs pyarrow.
    with tempfile.TemporaryDirectory(prefix="passk-") as folder:
        path = Path(folder) / "rows.parquet"
        frame.write_parquet(path)
        session.execute(
            "create or replace temp table passk_bootstrap_rows as"
            f" select * from read_parquet('{path}')"
        )
    return session.table("passk_bootstrap_rows")

# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""How capable and how reliable the runs of a published copy are. docs/notebook.md starts it."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="passk", css_file="reliability.css")

with app.setup(hide_code=True):
    from datetime import UTC, datetime, timedelta
    from html import escape

    import duckdb
    import marimo as mo
    import polars as pl

    import passk_py as pk
    from passk_py.common.words import DASH, percent, percents, plain, plural, symbol
    from passk_py.metrics.run_order import in_order, runs_in_order
    from passk_py.reports.report import charts
    from passk_py.reports.report.drawing import inline
    from passk_py.reports.report.report_facts import add_colours
    from passk_py.reports.report.theme import stylesheet


@app.function
def page(*parts):
    """Put HTML on the page, in its styles."""
    return mo.Html(f'<div class="passk">{"".join(parts)}</div>')


@app.function
def said(text):
    """Escape a text: names come from logs of others."""
    return escape(plain(str(text)))


@app.function
def seen(table):
    """Show a view of passk, in a box that scrolls where it is wider than the page."""
    return page(f'<div class="scroll" tabindex="0" role="region">{table.html()}</div>')


@app.function
def unknown(why):
    """Show a dash with the reason."""
    return page(f"<p>{DASH} {said(why)}</p>")


@app.function
def table_of(name, copy, **chosen):
    """Read a table of the copy; None if it was published without it."""
    try:
        return pk.read_table(name, database=copy, **chosen)
    except pk.PasskError:
        return None


@app.function
def share(value):
    """Write a share in percent, and a dash for one that is not known."""
    return DASH if value is None else f"{percent(value)}%"


@app.function
def limits_column(metric):
    """Write the limits of a metric; a dash where they are not known."""
    return (
        pl.struct(f"{metric}_lower", f"{metric}_upper")
        .map_elements(lambda one: percents(*one.values()), pl.String)
        .replace(percents(None, None), DASH)
    )


@app.cell(hide_code=True)
def _():
    page(f"<style>{stylesheet()}</style><h1>Capability and reliability</h1>")
    return


@app.cell
def _():
    copy = str(mo.cli_args().get("database") or "bi/passk.duckdb")
    try:
        _runs = pk.read_table("passk_runs", database=copy)
        _metrics = pk.read_table("passk_suite_metrics", database=copy).filter(slice_name="all")
        pk.read_table("passk_task_metrics", database=copy, limit=1)
        deployment_k = next(iter(pk.read_table("passk_tasks", database=copy, limit=1)["k"]), None)
        _why = "" if _runs.height and _metrics.height else f"{copy} has no run."
    except pk.PasskError as _error:
        _why = f"{_error} {_error.hint or ''}"
    mo.stop(
        bool(_why),
        page(
            f"<h2>Nothing to show</h2><p>{said(_why)}</p>",
            "<p>To publish a copy of the demo, and to open it:</p><pre>passk demo\n"
            "passk publish -o bi --database passk_demo.duckdb\n"
            "python -m marimo run docs/notebooks/reliability.py</pre>",
        ),
    )
    _curves = _metrics.sort("k").partition_by("suite", "run_id", as_dict=True)
    _ordered = runs_in_order(_runs.to_dicts())
    _latest = {(one.suite, one.run_id) for one in _ordered if one.is_latest or one.agent is None}
    # The newest run first, and so its suite.
    suites = {}
    for _run in reversed(in_order(_runs.to_dicts())):
        _place = (_run["suite"], _run["run_id"])
        if _place in _curves:
            _told = {"curve": _curves[_place].to_dicts(), "is_latest": _place in _latest}
            suites.setdefault(_run["suite"], []).append(_run | _told)
    add_colours([{"runs": _of_suite} for _of_suite in suites.values()], deployment_k)
    return copy, deployment_k, suites


@app.cell
def _(copy):
    _columns = "copy_id, published_at, newest_loaded_at, landed_since_build"
    try:
        with duckdb.connect(copy, read_only=True) as _tables:
            _row = _tables.execute(f"select {_columns} from passk_published").fetchone()
        _name, _published, _loaded, _landed = _row
        _hours = (datetime.now(UTC) - _published.replace(tzinfo=UTC)) // timedelta(hours=1)
        _age = plural(_hours, "hour") if _hours < 48 else plural(_hours // 24, "day")
        _fresh = f"Copy {_name}, published {_published:%Y-%m-%d %H:%M} UTC ({_age} ago)."
        if _loaded:
            _fresh += f" The newest attempts were loaded {_loaded:%Y-%m-%d %H:%M} UTC."
        if _landed:
            _fresh += f" {plural(_landed, 'attempt')} landed after the build: no number has them."
    except duckdb.CatalogException:
        _fresh = f"{copy} was not written by passk publish: how fresh it is, is not known."
    page(f'<p class="quiet" id="fresh">{said(_fresh)}</p>')
    return


@app.cell(hide_code=True)
def _():
    # The address has what was chosen: filters are made anew when another one changes, and keep it.
    _address = mo.query_params()

    def choice(name, options, usual, *, optional=False):
        """Make a filter that keeps what was chosen, as long as there is such an option."""
        known = {str(option): option for option in options}
        usual = None if usual is None else str(usual)
        chosen = _address.get(name, usual)

        def remember(value):
            _address.set(name, "" if value is None else str(value))

        return mo.ui.dropdown(
            known,
            value=chosen if chosen in known or (optional and chosen == "") else usual,
            label=name,
            allow_select_none=optional,
            full_width=True,
            on_change=remember,
        )

    return (choice,)


@app.cell
def _(choice, suites):
    suite = choice("suite", suites, next(iter(suites)))
    return (suite,)


@app.cell
def _(choice, suite, suites):
    runs = {one["run_id"]: one for one in suites[suite.value]}
    run = choice("run", runs, next(iter(runs)))
    return run, runs


@app.cell
def _(choice, copy, deployment_k, run, runs, suite):
    # First the run with which the last build compared this one.
    pairs = table_of("passk_comparisons", copy, suite=suite.value, run_id=run.value)
    if pairs is not None:
        pairs = pairs.filter(candidate_run_id=run.value)
    _compared = [] if pairs is None else pairs["baseline_run_id"].to_list()
    _ks = [one["k"] for one in runs[run.value]["curve"]]
    _others = [one for one in runs if one != run.value]
    baseline = choice("baseline", _others, next(iter(_compared), None), optional=True)
    k = choice("k", _ks, deployment_k if deployment_k in _ks else _ks[0])
    return baseline, k, pairs


@app.cell(hide_code=True)
def _(baseline, k, run, suite):
    page(f'<div class="filters">{suite}{run}{baseline}{k}</div>')
    return


@app.cell
def _(baseline, copy, k, run, suite):
    _both = [one for one in (run.value, baseline.value) if one]
    _of = {"database": copy, "suite": suite.value, "k": k.value}
    _each = [pk.read_table("passk_suite_metrics", run_id=one, **_of) for one in _both]
    at_k = pl.concat(_each).filter(slice_name="all")
    return (at_k,)


@app.cell(hide_code=True)
def _(at_k, k, run):
    _row = at_k.row(0, named=True)

    def _tile(metric, meaning):
        limits = percents(_row[f"{metric}_lower"], _row[f"{metric}_upper"])
        beside = _row["null_reason"] or f"{limits}, for tasks like these"
        return (
            f'<div class="tile"><span>{symbol(metric, k.value)}: {meaning}</span>'
            f"<b>{share(_row[metric])}</b><span>{said(beside)}</span></div>"
        )

    page(
        f"<h2>{said(run.value)} at k = {k.value}</h2>",
        '<div class="tiles">',
        _tile("pass_at_k", f"at least one of {k.value} tries succeeds"),
        _tile("pass_hat_k", f"all {k.value} tries succeed"),
        f'<div class="tile"><span>reading</span><b>{said(_row["reading"] or DASH)}</b><span>'
        f"{plural(_row['total_tasks'], 'task')}, {plural(_row['attempts'], 'attempt')}"
        f"{', ' + said(_row['caveat']) if _row['caveat'] else ''}</span></div></div>",
    )
    return


@app.cell(hide_code=True)
def _(baseline, k, run, runs):
    _drawn = [runs[one] for one in (run.value, baseline.value) if one]
    _ks = charts.known_ks(_drawn)

    def _figure(one):
        name = said(one["run_id"])
        if not charts.known_ks([one]):
            return f"<figure><figcaption>{name}: {DASH} no k has a value</figcaption></figure>"
        label = f"pass@k, dashed, and pass^k, solid, over k, with limits, for {name}"
        chart = charts.curve(one, _ks, k.value, width=420, height=240)
        return f"<figure>{inline(chart, label)}<figcaption>{name}</figcaption></figure>"

    page(
        "<h2>Over k</h2>",
        "<p>pass@k is dashed, pass^k solid. The bands are limits for tasks like these.</p>",
        f'<div class="pair">{"".join(map(_figure, _drawn))}</div>',
    )
    return


@app.cell
def _(at_k):
    seen(pk.view(at_k))
    return


@app.cell
def _(baseline, k, pairs, run):
    _pair = None if pairs is None else pairs.filter(baseline_run_id=baseline.value or "", k=k.value)
    if _pair is None:
        _shown = unknown("The copy was published without passk_comparisons.")
    elif not baseline.value:
        _shown = unknown("No baseline is chosen.")
    elif not _pair.height:
        _both = f"{run.value} with {baseline.value}"
        _shown = unknown(f"The last build did not compare {_both}: the var passk_pairs adds pairs.")
    else:
        _shown = seen(pk.view(_pair))
    mo.vstack([page("<h2>Against the baseline</h2>"), _shown])
    return


@app.cell
def _(copy, k, run, suite):
    _of_run = {"database": copy, "suite": suite.value, "run_id": run.value}
    _order = pk.read_table("passk_tasks", **_of_run)
    _order = _order.select("task_id", "mend_rank", "task_class", "expected_gain")
    _at, _hat = (symbol(metric, k.value) for metric in ("pass_at_k", "pass_hat_k"))
    tasks = (
        pk.read_table("passk_task_metrics", k=k.value, **_of_run)
        .join(_order, on="task_id")
        .sort("mend_rank", "task_id", nulls_last=True)
        .select(
            pl.col("task_id").alias("task"),
            pl.col("mend_rank").alias("to fix"),
            pl.col("task_class").alias("class"),
            pl.col("c").alias("passed"),
            pl.col("n").alias("of"),
            pl.col("pass_at_k").alias(_at),
            limits_column("pass_at_k").alias(f"limits of {_at}"),
            pl.col("pass_hat_k").alias(_hat),
            limits_column("pass_hat_k").alias(f"limits of {_hat}"),
            pl.col("expected_gain").alias("gain"),
            pl.col("null_reason").alias("why not known"),
        )
    )
    return (tasks,)


@app.cell
def _(deployment_k, k, tasks):
    _shares = (symbol("pass_at_k", k.value), symbol("pass_hat_k", k.value), "gain")
    _widths = (190, 70, 95, 70, 55, 80, 130, 80, 130, 80, 150)
    chosen = mo.ui.table(
        tasks,
        selection="single",
        page_size=15,
        show_data_types=False,
        show_column_summaries=False,
        format_mapping={
            **dict.fromkeys(_shares, share),
            "to fix": lambda one: DASH if one is None else one,
            "why not known": lambda one: one or "",
        },
        wrapped_columns=["task", "why not known"],
        hidden_columns=[] if tasks["why not known"].count() else ["why not known"],
        column_widths=dict(zip(tasks.columns, _widths, strict=True)),
    )
    _said = (
        f"<p>Gain is how much {symbol('pass_hat_k', deployment_k)} of the suite should rise if the "
        "task is fixed. Click a head to sort. Choose a row to see its attempts.</p>"
    )
    mo.vstack([page("<h2>Tasks to fix first</h2>", _said), chosen])
    return (chosen,)


@app.cell
def _(chosen, copy, run, suite):
    mo.stop(not chosen.value.height)
    _task = chosen.value.item(0, "task")
    # Copies of older versions lack some of them.
    _names = "attempt|outcome|outcome_reason|score|duration_s|started_at|transcript"
    _sql = f"select columns('^({_names})$') from passk_attempts "
    _sql += "where suite = ? and run_id = ? and task_id = ? order by attempt limit 200"
    try:
        with duckdb.connect(copy, read_only=True) as _tables:
            _found = _tables.execute(_sql, [suite.value, run.value, _task])
            _names, _rows = [one[0] for one in _found.description], _found.fetchall()
    except duckdb.CatalogException:
        _names, _rows = [], []

    def _cell(value):
        is_time = isinstance(value, datetime)
        text = DASH if value is None else said(f"{value:%F %T}" if is_time else value)
        is_link = text.startswith(("https://", "http://"))
        return f'<td><a href="{text}">{text}</a></td>' if is_link else f"<td>{text}</td>"

    _heads = "".join(f'<th scope="col">{name.replace("_", " ")}</th>' for name in _names)
    _body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in _rows)
    page(
        f"<h3>Attempts of {said(_task)}</h3>",
        f'<div class="scroll" tabindex="0"><table id="attempts"><thead><tr>{_heads}</tr></thead>'
        f"<tbody>{_body}</tbody></table></div>"
        if _rows
        else f"<p>{DASH} The copy has none of them: it was published without passk_attempts.</p>",
    )
    return


@app.cell
def _(copy, suite):
    _gates = table_of("passk_gates", copy, suite=suite.value)
    if _gates is None:
        _shown = unknown("The copy was published without passk_gates.")
    elif not _gates.height:
        _shown = unknown("No gate judges this suite: the var passk_gates declares rules.")
    else:
        _shown = seen(pk.view(_gates))
    mo.vstack([page("<h2>Gates</h2>"), _shown])
    return


@app.cell
def _(copy, run, suite):
    _found = table_of("passk_diagnostics", copy, suite=suite.value, run_id=run.value)
    _said = [
        f"<p><b>{said(one['diagnostic'])}</b>: {said(one['finding'])} {said(one['meaning'])}</p>"
        for one in ([] if _found is None else _found.filter(verdict="warning").to_dicts())
    ]
    _is_known = _found is not None and _found.height
    _none = "No diagnostic warns of this run." if _is_known else f"{DASH} There are no diagnostics."
    page("<h2>Can the log be trusted?</h2>", "".join(_said) or f"<p>{_none}</p>")
    return


@app.cell(hide_code=True)
def _(baseline, copy, k, run, suite):
    _of = f"database={copy!r}, suite={suite.value!r}"
    _code = f"""import passk_py as pk
metrics = pk.read_table("passk_suite_metrics", {_of}, run_id={run.value!r}, k={k.value})
pk.view(metrics)"""
    if baseline.value:
        _code += f"""
attempts = pk.read_table("passk_attempts", {_of})
changes = pk.compare(attempts, {baseline.value!r}, {run.value!r}, ks=[{k.value}])
pk.view(changes)"""
    page("<h2>The same in Python</h2>", f"<pre>{escape(_code)}</pre>")
    return


if __name__ == "__main__":
    app.run()

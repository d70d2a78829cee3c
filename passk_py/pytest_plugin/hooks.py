"""The hooks that pytest calls, and the fixtures of tests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from passk_py.pytest_plugin.repetition import (
    ARGUMENT,
    MARKER,
    ending,
    other_repeats,
    whole_tests,
    wish_of,
)
from passk_py.pytest_plugin.reported_attempts import ATTRIBUTE, Recorder

if TYPE_CHECKING:
    from collections.abc import Generator


_ABOUT: Final = pytest.StashKey[dict[str, Any]]()
_END: Final = pytest.StashKey[Any]()
_RECORDER: Final = pytest.StashKey[Recorder]()


def _from_1(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1.")
    return number


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add = parser.getgroup(MARKER, "pass@k and pass^k of repeated tests").addoption
    add(
        "--passk-repeat",
        type=_from_1,
        metavar="N",
        help="Run each test N times, and print pass@k and pass^k.",
    )
    add("--passk-k", type=_from_1, metavar="K", help="Judge by K tries. [default: 4]")
    add(
        "--passk-gate",
        type=Path,
        metavar="FILE",
        help="Judge the rules of a YAML file; the exit status is that of `passk gate`.",
    )
    add(
        "--passk-min",
        type=float,
        metavar="VALUE",
        help="Require at least this value of the metric; the exit status is that of `passk gate`.",
    )
    add(
        "--passk-metric",
        choices=("pass_hat_k", "pass_at_k"),
        help="Judge this metric by --passk-min. [default: pass_hat_k]",
    )
    add(
        "--passk-scope",
        choices=("unseen", "suite"),
        help="Judge --passk-min for tests like these (unseen), or for these tests only (suite). "
        "[default: unseen]",
    )
    add(
        "--passk-log",
        type=Path,
        metavar="FILE",
        help="Write the attempts to this file as JSON lines. [default: RUN_ID.jsonl in pytest's "
        "cache]",
    )
    add("--passk-database", type=Path, metavar="PATH", help="Load the attempts into this database.")
    add("--passk-run-id", metavar="NAME", help="Name the run. [default: pytest- and the time]")
    add("--passk-suite", metavar="NAME", default="pytest", help="Name the suite. [default: pytest]")
    add("--passk-agent", metavar="NAME", help="Name the agent that the tests are about.")
    add("--passk-model", metavar="NAME", help="Name the model that the tests are about.")
    add(
        "--passk-seed",
        type=int,
        default=0,
        metavar="N",
        help="Count the seeds of attempts from N + 1 on. [default: 0]",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Check the options before any test runs."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(repeat=N, k=K, min_pass_hat_k=VALUE): run the test N times, and require this "
        "pass^k of it.",
    )
    repeat = config.getoption("passk_repeat")
    if repeat is not None and (other := other_repeats(config)):
        raise pytest.UsageError(other)
    last_failed = getattr(config.pluginmanager.get_plugin("lfplugin"), "lastfailed", None)
    if last_failed:
        kind = type(next(iter(last_failed)))
        make = getattr(kind, "parse", kind)
        others = whole_tests([str(one) for one in last_failed], repeat)
        last_failed.update(dict.fromkeys(map(make, others), True))
    option = config.option
    is_worker = hasattr(config, "workerinput")
    if is_worker or option.collectonly or option.setuponly or option.setupplan:
        return
    has_rules = option.passk_gate is not None or option.passk_min is not None
    if getattr(option, "lf", False) and (has_rules or option.passk_database is not None):
        raise pytest.UsageError(
            "--lf selects tests by their results, so no gate can be judged, and nothing should "
            "land in a database. Run all tests, or leave out --passk-gate, --passk-min and "
            "--passk-database."
        )
    if has_rules:
        from passk_py.common.errors import PasskError
        from passk_py.pytest_plugin.session_end import read_rules_of_session

        try:
            read_rules_of_session(option)
        except PasskError as error:
            raise pytest.UsageError(" ".join(filter(None, (error.message, error.hint)))) from error
    elif option.passk_metric or option.passk_scope:
        raise pytest.UsageError("--passk-metric and --passk-scope are for --passk-min VALUE.")
    config.stash[_RECORDER] = Recorder()
    config.pluginmanager.register(config.stash[_RECORDER], "passk_recorder")


@pytest.fixture
def passk_attempt(request: pytest.FixtureRequest) -> int:
    """Give the number of this repetition of the test, from 1."""
    number: int = getattr(request, "param", 1)
    return number


@pytest.fixture
def passk_seed(request: pytest.FixtureRequest, passk_attempt: int) -> int:
    """Give the seed of this repetition, another one for each, and note it in the attempt."""
    seed: int = request.config.getoption("passk_seed") + passk_attempt
    request.node.user_properties.append(("seed", seed))
    return seed


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat a test: the last parameter is the number of the repetition."""
    wish = wish_of(metafunc.definition)
    if wish is None or wish.repeat == 1:
        return
    if ARGUMENT not in metafunc.fixturenames:
        metafunc.fixturenames.append(ARGUMENT)
    numbers = range(1, wish.repeat + 1)
    ids = [ending(number, wish.repeat) for number in numbers]
    metafunc.parametrize(ARGUMENT, numbers, indirect=True, ids=ids)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note which attempt of which test an item is."""
    wish = wish_of(item) if isinstance(item, pytest.Function) else None
    number = getattr(item, "callspec", None) and item.callspec.params.get(ARGUMENT)  # type: ignore[attr-defined]
    if wish is None or (number is None and wish.repeat > 1):
        # A doctest or a method of unittest.TestCase, which is not made of parameters.
        return
    of = wish.repeat if number is not None else 1
    nodeid = item.nodeid
    if number is not None:
        nodeid = nodeid.removesuffix(f"{ending(number, of)}]")
        nodeid = nodeid[:-1] if nodeid.endswith("[") else f"{nodeid[:-1]}]"
    item.stash[_ABOUT] = {"nodeid": nodeid, "number": number or 1, "of": of, "gate": wish.gate}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write into the report which attempt it is of, so that xdist sends it along."""
    report = yield
    if (about := item.stash.get(_ABOUT, None)) is not None:
        setattr(report, ATTRIBUTE, about)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write, land and judge the attempts; the exit status is then that of the gates."""
    recorder = session.config.stash.get(_RECORDER, None)
    if recorder is None or not (recorder.attempts or session.config.option.passk_repeat):
        return
    from passk_py.pytest_plugin.session_end import end_session

    end = session.config.stash[_END] = end_session(session, recorder, int(exitstatus))
    session.exitstatus = end.status


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the answer and the gates."""
    end = config.stash.get(_END, None)
    if end is not None:
        terminalreporter.write_sep("=", "passk")
        end.print()

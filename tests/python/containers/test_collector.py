"""The collector of cycles: paused while rows are made, and on again whatever happens."""

from __future__ import annotations

import gc
from threading import Barrier, Thread

import pytest

from passk_py.ingest.containers.collector import Collector


def test_it_goes_on_after_the_last_of_several_pauses() -> None:
    collector = Collector()
    with collector.paused():
        with collector.paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(RuntimeError), Collector().paused():
        raise RuntimeError
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with Collector().paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_that_pause_it_at_a_time_leave_it_on() -> None:
    collector, together = Collector(), Barrier(4)

    def pause() -> None:
        together.wait()
        for _ in range(200):
            with collector.paused():
                pass

    threads = [Thread(target=pause) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.isenabled()

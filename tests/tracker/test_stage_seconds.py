"""Where time goes, by several threads too."""

from __future__ import annotations

import pytest

from auctrack.tracker import stage_seconds
from auctrack.tracker.stage_seconds import BusySeconds


def test_what_two_do_at_the_same_time_counts_once(monkeypatch):
    times = iter([1.0, 4.0, 10.0, 12.0])
    monkeypatch.setattr(stage_seconds, "perf_counter", lambda: next(times))
    reading = BusySeconds()
    first, second = reading.busy(), reading.busy()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert reading.total == 0.0
    second.__exit__(None, None, None)
    assert reading.total == 3.0
    with reading.busy():
        pass
    assert reading.total == 5.0


def test_what_fails_counts_too(monkeypatch):
    times = iter([1.0, 4.0])
    monkeypatch.setattr(stage_seconds, "perf_counter", lambda: next(times))
    reading = BusySeconds()
    with pytest.raises(OSError, match="gone"), reading.busy():
        raise OSError("gone")
    assert reading.total == 3.0

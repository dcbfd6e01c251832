"""Work in other threads: it learns at its next report that it is to stop, whoever asks for it."""

from __future__ import annotations

import threading
import time

import pytest

from .conftest import wait

MOST = 500  # reports, after which work that is not stopped ends by itself


@pytest.mark.usefixtures("viewer")
@pytest.mark.parametrize("way", ["stopped", "its desk is gone"])
def test_work_stops_at_its_next_report(way):
    from qtpy.QtCore import QCoreApplication, QEvent, QObject

    from auctrack.plugins.napari.threads.job import Desk
    from auctrack.plugins.napari.threads.stopped import Stopped

    began, stopped, ended = threading.Event(), threading.Event(), threading.Event()

    def work(report) -> None:
        try:
            for _ in range(MOST):
                report("going on")
                began.set()
                time.sleep(0.01)
        except Stopped:
            stopped.set()
            raise
        finally:
            ended.set()

    parent = QObject()
    desk = Desk(parent)
    desk.start(work)
    wait(began.is_set)
    if way == "stopped":
        desk.stop()
    else:
        parent.deleteLater()
        QCoreApplication.sendPostedEvents(parent, QEvent.Type.DeferredDelete)
    wait(ended.is_set)
    assert stopped.is_set()

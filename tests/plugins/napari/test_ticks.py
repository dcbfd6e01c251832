"""The measure of how long the window goes without a tick, for which BENCHMARKS.md has the figures."""

from __future__ import annotations

import re
import time

import pytest

from .conftest import finish, process_events, wait


def test_a_tick_is_as_long_as_what_holds_the_window(viewer, open_widget):
    from auctrack.plugins.napari.scripted.ticks import WORKING, Ticks

    widget = open_widget()
    finish(widget)
    ticks = Ticks(widget)
    wait(lambda: WORKING in ticks.longest)
    time.sleep(0.15)
    process_events()
    ticks.stop()
    longest = ticks.longest[WORKING]
    assert longest.seconds >= 0.15
    assert longest.cpu_seconds < longest.seconds
    assert longest.long >= 1
    assert not viewer.layers


@pytest.mark.usefixtures("display")
def test_the_command_tells_linking_from_what_napari_draws(capsys):
    from auctrack.plugins.napari.scripted.ticks import DRAWING, MAKING, WORKING, main

    main(["--particles", "60", "--frames", "6", "--runs", "2"])
    said = capsys.readouterr().out
    rows = re.findall(r"^\| (\d) \| ([\w ]+) \| \d+ \| \d+ \| \d+ \|$", said, re.MULTILINE)
    assert {(1, WORKING), (1, MAKING), (2, WORKING), (2, DRAWING)} == {(int(run), state) for run, state in rows}
    assert re.search(r"^Cancel gave the widget back after \d+ ms\.$", said, re.MULTILINE)

"""What the first *Run all* of a session takes beside the command line, for which BENCHMARKS.md has the figures."""

from __future__ import annotations

import re

import pytest


@pytest.mark.usefixtures("display")
def test_the_command_times_the_window_and_the_command_line_on_the_same_points(capsys):
    from auctrack.plugins.napari.scripted.first_run import main

    main(["--particles", "60", "--frames", "6"])
    (row,) = re.findall(
        r"^\| points\.csv \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", capsys.readouterr().out, re.MULTILINE
    )
    by_command, in_window, ratio = map(float, row)
    assert by_command > 0
    assert in_window > 0
    assert ratio == pytest.approx(in_window / by_command, rel=0.1)

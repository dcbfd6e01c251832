"""What the command line warns of stands in the widget too, beside the proof."""

from __future__ import annotations

import re

import numpy as np
from typer.testing import CliRunner

from auctrack.plugins.cli.app import app

from ...tracker.linking.movies import walks
from .conftest import finish


def run(widget) -> str:
    widget.running.run_all()
    finish(widget)
    return widget.parts.bar.warnings.text()


def test_random_points_are_linked_with_a_warning_that_goes_with_the_next_run(viewer, open_widget):
    random = np.random.default_rng(0)
    noise = np.column_stack([np.repeat(np.arange(6), 30), random.uniform(0, 100, (180, 3))])
    viewer.add_points(noise, name="noise")
    widget = open_widget()
    finish(widget)
    assert "have no link to the next frame" in run(widget)
    assert "proven optimal" in widget.parts.bar.status.text()
    assert widget.parts.bar.warnings.isVisible()
    viewer.layers.clear()
    still = np.column_stack([np.repeat(np.arange(6), 30), np.tile(random.uniform(0, 100, (30, 3)), (6, 1))])
    viewer.add_points(still + random.normal(0, 0.1, still.shape) * (0, 1, 1, 1), name="still")
    finish(widget)
    assert run(widget) == ""
    assert not widget.parts.bar.warnings.isVisible()


def test_a_search_range_that_reaches_nobody_is_said(viewer, open_widget):
    viewer.add_points([[0, 5, 5, 5], [1, 5, 5, 50], [2, 5, 5, 5]], name="far")
    widget = open_widget()
    finish(widget)
    widget.parts.link.search_range.setValue(3)
    said = run(widget)
    assert "so nothing was linked" in said
    assert "--" not in said


def test_a_frame_step_is_stated_where_it_can_be(viewer, open_widget, tmp_path):
    """There is no field for it: the command that the details name is run, and its tracks are opened."""
    table = walks(12, 6, seed=1)[0].table.assign(frame=lambda table: table["frame"] * 10)
    table.to_csv(tmp_path / "points.csv", index=False)
    viewer.open(str(tmp_path / "points.csv"), plugin="auctrack")
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    (command,) = re.findall(r"in a terminal (auctrack .* \d+) says so", widget.parts.bar.details.toPlainText())
    words = command.replace("FILE", str(tmp_path / "points.csv")).split()
    ran = CliRunner().invoke(app, [*words[1:], "--output", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    viewer.open(str(tmp_path / "out" / "points.tracks.csv"), plugin="auctrack")
    mended = widget.parts.input
    mended.choose_layer("points.tracks.csv")
    widget.running.take_up()
    finish(widget)
    assert len(widget.parts.session.linked.linking.links) > 0

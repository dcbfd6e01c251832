"""Of a file with several series the one that is tracked is seen, and no results over the picture of another."""

from __future__ import annotations

import pytest
import tifffile

from .conftest import finish, open_dock, spots
from .test_by_mouse import mouse  # noqa: F401 - a fixture

SIZES = {f"PhysicalSize{axis}": 0.5 for axis in "YX"} | {f"PhysicalSize{axis}Unit": "µm" for axis in "YX"}


@pytest.fixture
def opened(viewer, tmp_path):
    """A viewer with a file of three positions, opened before the dock as most users do."""
    path = tmp_path / "plate.ome.tif"
    with tifffile.TiffWriter(path, ome=True) as tif:
        for number in range(3):
            movie = spots(frames=3, shape=(48, 48), seed=number)
            tif.write(movie, metadata={"axes": "TYX", **SIZES, "Name": f"Pos{number}"})
    viewer.open(str(path), plugin="auctrack")
    widget = open_dock(viewer)
    finish(widget)
    return widget


def shown(viewer) -> set[str]:
    return {layer.name for layer in viewer.layers if layer.visible}


def choose(widget, name: str) -> None:
    box = widget.parts.input.layer_box
    box.setCurrentIndex(box.findText(name))
    finish(widget)


def test_the_series_that_is_shown_is_the_input_to_begin_with(viewer, opened):
    assert viewer.layers.selection.active.name == "plate Pos2"  # opened last, and hidden
    assert opened.parts.input.layer.name == "plate Pos0"
    assert shown(viewer) == {"plate Pos0"}


def test_a_series_that_is_chosen_is_shown_without_the_others(viewer, opened):
    choose(opened, "plate Pos1")
    assert shown(viewer) == {"plate Pos1"}


def test_results_of_a_run_are_seen_over_the_picture_of_their_own_series_alone(viewer, opened, mouse):  # noqa: F811
    for name in ("plate Pos0", "plate Pos2", "plate Pos0"):
        choose(opened, name)
        mouse.click(opened.parts.bar.run_button)
        finish(opened)
        assert shown(viewer) == {name, f"particles of {name}", f"tracks of {name}"}
        opened.looking.choose_track(0)
        finish(opened)


def test_series_that_the_user_shows_together_stay_so(viewer, opened):
    for layer in viewer.layers:
        layer.visible = True
    choose(opened, "plate Pos1")
    assert shown(viewer) == {f"plate Pos{number}" for number in range(3)}

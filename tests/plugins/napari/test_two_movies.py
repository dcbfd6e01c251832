"""Results lie over the layer that was tracked, and those of another movie in the viewer stay as they are."""

from __future__ import annotations

import numpy as np

from .conftest import PHYSICAL, finish, process_events, same_tracks, spots
from .test_by_mouse import mouse  # noqa: F401 - a fixture


def run_all(widget, mouse) -> None:  # noqa: F811
    mouse.click(widget.parts.bar.run_button)
    finish(widget)


def add_second(viewer, widget) -> None:
    viewer.add_image(spots(seed=1), name="second", blending="opaque", **PHYSICAL)
    box = widget.parts.input.layer_box
    box.setCurrentIndex(box.findText("second"))
    finish(widget)


def ringed(viewer) -> bool:
    """Whether rings and tails are seen: they are the only colours over grey images."""
    seen = viewer.screenshot(canvas_only=True, flash=False)[..., :3].astype(int)
    return bool((np.ptp(seen, axis=-1) > 60).any())


def test_tracks_of_a_movie_opened_later_lie_above_it(viewer, widget, mouse):  # noqa: F811
    run_all(widget, mouse)
    add_second(viewer, widget)
    process_events()
    assert not ringed(viewer)
    run_all(widget, mouse)
    names = [layer.name for layer in viewer.layers]
    assert {"particles of second", "tracks of second"} == set(names[names.index("second") + 1 :])
    assert ringed(viewer)


def test_tracks_are_raised_over_the_movie_where_it_was_put_above_them(viewer, widget, mouse):  # noqa: F811
    run_all(widget, mouse)
    viewer.layers.move(viewer.layers.index("movie"), len(viewer.layers))
    run_all(widget, mouse)
    assert viewer.layers[0].name == "movie"


def test_tracks_of_the_first_movie_are_corrected_in_their_layer(viewer, widget, mouse):  # noqa: F811
    run_all(widget, mouse)
    table = widget.parts.session.data.tracks.table
    add_second(viewer, widget)
    run_all(widget, mouse)
    box = widget.parts.input.layer_box
    assert [box.itemText(k) for k in range(box.count())] == ["movie", "second", "tracks of movie"]
    box.setCurrentIndex(2)
    mouse.click(widget.parts.input.take_up_button)
    finish(widget)
    same_tracks(widget.parts.session.data.tracks.table, table)


def test_results_of_the_first_movie_stay_and_are_filled_again_by_its_next_run(viewer, widget, mouse):  # noqa: F811
    run_all(widget, mouse)
    first = viewer.layers["tracks of movie"]
    before = first.data.copy()
    add_second(viewer, widget)
    run_all(widget, mouse)
    np.testing.assert_array_equal(viewer.layers["tracks of movie"].data, before)
    assert len(viewer.layers["tracks of second"].data) == len(widget.parts.session.data.tracks)
    widget.parts.input.layer_box.setCurrentIndex(widget.parts.input.layer_box.findText("movie"))
    finish(widget)
    run_all(widget, mouse)
    assert viewer.layers["tracks of movie"] == first
    assert sorted(layer.name for layer in viewer.layers) == sorted(
        f"{of}{name}" for name in ("movie", "second") for of in ("", "particles of ", "tracks of ")
    )


def test_only_the_last_run_is_seen_where_two_layers_of_one_place_were_tracked(viewer, widget, mouse):  # noqa: F811
    """Two rings around each particle, and two tails, look like two particles."""
    run_all(widget, mouse)
    add_second(viewer, widget)
    assert in_sight(viewer) == {"particles of movie", "tracks of movie"}
    run_all(widget, mouse)
    assert in_sight(viewer) == {"particles of second", "tracks of second"}
    viewer.layers["tracks of movie"].visible = True  # to compare them
    run_all(widget, mouse)
    assert in_sight(viewer) == {"particles of second", "tracks of second", "tracks of movie"}
    widget.parts.input.layer_box.setCurrentIndex(widget.parts.input.layer_box.findText("movie"))
    finish(widget)
    run_all(widget, mouse)
    assert in_sight(viewer) == {"particles of movie", "tracks of movie"}


def test_tracks_that_are_taken_up_are_seen_once(viewer, widget, mouse):  # noqa: F811
    run_all(widget, mouse)
    add_second(viewer, widget)
    run_all(widget, mouse)
    viewer.layers["particles of movie"].visible = True
    box = widget.parts.input.layer_box
    box.setCurrentIndex(box.findText("tracks of movie"))
    mouse.click(widget.parts.input.take_up_button)
    finish(widget)
    assert in_sight(viewer) == {"particles of tracks of movie", "tracks of tracks of movie"}


def test_results_of_a_movie_elsewhere_stay_in_sight(viewer, widget, mouse):  # noqa: F811
    run_all(widget, mouse)
    add_second(viewer, widget)
    viewer.layers["second"].translate = (0, 0, 0, 100)
    finish(widget)
    run_all(widget, mouse)
    assert len(in_sight(viewer)) == 4


def in_sight(viewer) -> set[str]:
    """Results that are seen, whatever was tracked."""
    return {layer.name for layer in viewer.layers if " of " in layer.name and layer.visible}

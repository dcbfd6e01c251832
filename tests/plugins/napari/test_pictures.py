"""A 3D view of the overlay shows tracks, in their colours."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from auctrack.plugins.napari.layers import many_lines

from .conftest import PHYSICAL, finish, process_events, spots
from .test_small_screen import contrast


def coloured_share(picture: np.ndarray) -> float:
    """Share of the pixels that are of a strong colour: the movie is grey."""
    rgb = picture[..., :3].astype(int)
    return float((rgb.max(axis=2) - rgb.min(axis=2) > 60).mean())


def hues(picture: np.ndarray) -> int:
    """Number of twelfths of the colour circle that appear."""
    rgb = picture[..., :3].reshape(-1, 3)
    strong = rgb[(rgb.max(axis=1).astype(int) - rgb.min(axis=1)) > 60]
    return len({int(12 * colorsys.rgb_to_hsv(*(pixel / 255))[0]) for pixel in strong[::5]})


def test_tracks_are_seen_in_colour_in_3d(viewer, open_widget):
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_widget()
    viewer.dims.ndisplay = 3
    viewer.scene.camera.angles = (10, -25, 115)
    viewer.dims.set_current_step(0, 5)
    process_events()
    before = viewer.screenshot(flash=False)
    assert before.max() > 100  # the movie itself is drawn: the display is no black one
    assert coloured_share(before) == 0
    widget.running.run_all()
    finish(widget)
    viewer.layers["particles of movie"].visible = False
    process_events()
    after = viewer.screenshot(flash=False)
    assert coloured_share(after) > 0.0005
    assert hues(after) >= 4
    viewer.layers["tracks of movie"].visible = False
    process_events()
    assert coloured_share(viewer.screenshot(flash=False)) == 0


def test_rings_are_seen_over_saturated_spots_in_3d(viewer, open_widget):
    movie = viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    movie.contrast_limits = (0, 9)  # below the background: all of it is white
    viewer.layers["tracks of movie"].visible = False
    viewer.dims.ndisplay = 3
    process_events()
    assert coloured_share(viewer.screenshot(flash=False)) > 0.001
    viewer.layers["particles of movie"].visible = False
    process_events()
    assert coloured_share(viewer.screenshot(flash=False)) == 0


def test_a_missing_value_leaves_the_other_tracks_in_sight(viewer, open_widget):
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_widget()
    widget.parts.link.motion.setCurrentIndex(widget.parts.link.motion.findData("none"))
    widget.parts.detect.threshold.setValue(3)  # some noise, whose tracks of one detection have no speed
    widget.running.run_all()
    finish(widget)
    viewer.dims.set_current_step(0, 5)
    viewer.layers["particles of movie"].visible = False
    assert widget.parts.session.data.measures["mean_speed"].isna().any()
    widget.parts.results.colour.choose("mean_speed")
    finish(widget)
    process_events()
    assert "grey" in widget.parts.results.colour.legend.text()
    assert coloured_share(viewer.screenshot(flash=False)) > 0.0005


def test_real_nuclei_are_opened_tracked_and_overlaid(viewer, open_widget, real_data):
    viewer.open(str(real_data("hl60_3d/movie.ome.tif")), plugin="auctrack")
    widget = open_widget()
    assert "voxel size is not known" in widget.parts.input.problem.text()
    widget.parts.input.sizes[0].setValue(2.0)
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    assert (widget.parts.session.data.measures["length"] > 30).sum() >= 8  # 6 to 15 nuclei in 75 frames
    movie, tracks = viewer.layers["movie"], viewer.layers["tracks of movie"]
    np.testing.assert_array_equal(tracks.scale, movie.scale)
    frames, places = tracks.data[:, 1].astype(int), np.round(tracks.data[:, 2:]).astype(int)
    under = np.asarray(movie.data)[(frames, *places.T)]
    assert np.median(under) > np.percentile(np.asarray(movie.data), 97)  # they lie on what is bright
    viewer.dims.set_current_step(0, 60)
    viewer.dims.ndisplay = 3
    process_events()
    assert coloured_share(viewer.screenshot(flash=False)) > 0.0005


@pytest.mark.parametrize(("theme", "has_image", "ink"), [("light", False, 0), ("light", True, 1), ("dark", False, 1)])
def test_the_chosen_track_and_links_are_seen_on_every_canvas(viewer, open_widget, theme, has_image, ink):
    """Black on a white canvas, white over an image."""
    if has_image:
        viewer.add_image(np.zeros((4, 60, 60)), name="movie")
    viewer.add_points([(frame, 20.0 * row, 10.0 + frame) for frame in range(4) for row in range(3)], name="beads")
    before, viewer.theme = viewer.theme, theme
    try:
        widget = open_widget()
        widget.parts.input.choose_layer("beads")
        widget.running.run_all()
        finish(widget)
        widget.looking.choose_track(0)
        finish(widget)
        np.testing.assert_array_equal(viewer.layers["chosen track"].track_colors[:, :3], ink)
        widget.parts.results.suspicious.step(1)
        finish(widget)
        drawn = viewer.layers["link looked at"].track_colors[:, :3]
        assert contrast(viewer.layers["particles of beads"].border_color[0, :3], [1 - ink] * 3) > 3
        assert min(contrast(colour, [1 - ink] * 3) for colour in drawn) > 3
    finally:
        viewer.theme = before


def test_very_many_lines_are_neither_smoothed_nor_kept_in_a_thumbnail(viewer, widget, monkeypatch):
    def drawn_as(most: int) -> tuple[np.ndarray, bool]:
        """The picture of lines of which so many are not many, and whether the thumbnail follows the time."""
        monkeypatch.setattr(many_lines, "_MANY", most)
        widget.parts.overlay.show(widget.parts.overlay.shown.drawing)
        finish(widget)
        thumbnails = []
        for frame in (2, 5):
            viewer.dims.set_current_step(0, frame)
            process_events()
            thumbnails.append(np.array(viewer.layers["tracks of movie"].thumbnail))
        return viewer.screenshot(flash=False), not np.array_equal(*thumbnails)

    widget.running.run_all()
    finish(widget)
    smooth, follows = drawn_as(1000)
    assert follows
    plain, follows = drawn_as(5)
    assert not follows
    assert not np.array_equal(plain, smooth)
    again, follows = drawn_as(1000)
    assert follows
    np.testing.assert_array_equal(again, smooth)

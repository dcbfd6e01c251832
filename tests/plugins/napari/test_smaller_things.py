"""What a user meets on the way: an empty viewer, units, a mask, Jaqaman's linking, measures taken away, given links."""

from __future__ import annotations

import io
import tomllib

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.plugins.cli.app import app
from auctrack.tracker.linking.settings import PENALTIES, SEGMENT_RANGES
from auctrack.tracker.pipeline import track
from auctrack.tracker.settings import Settings

from ...tracker.linking.movies import walks
from .conftest import PHYSICAL, assert_copies_give_these_tracks, clipboard, finish, same_tracks, spots
from .test_correcting import chosen, links, press


def test_an_empty_viewer_says_what_to_do(open_widget):
    widget = open_widget()
    assert widget.parts.input.problem.isVisibleTo(widget)
    assert "Open a movie" in widget.parts.input.problem.text()
    assert not widget.parts.bar.run_button.isEnabled()
    assert [field.text() for field in widget.parts.input.sizes] == ["1", "1", "1"]


@pytest.mark.parametrize("is_dark", [False, True])
def test_where_nothing_is_found_the_remedy_is_the_field_s_name(viewer, open_widget, is_dark):
    viewer.add_image(np.random.default_rng(0).poisson(9, (5, 64, 64)), name="noise")
    widget = open_widget()
    detect = widget.parts.detect
    dark = detect.fields.ticks["bright_on_dark"]
    dark.setChecked(is_dark)
    widget.running.run_all()
    finish(widget)
    said = widget.parts.bar.error.text()
    assert "bright_on_dark" not in said
    assert f"{'clear' if is_dark else 'tick'} “{dark.text()}”" in said


@pytest.mark.parametrize("unit", ["mm", "m"])
def test_lengths_are_in_the_unit_that_is_chosen(viewer, widget, unit):
    box = widget.parts.input.unit_box
    sizes = [field.number for field in widget.parts.input.sizes]
    box.setCurrentText(unit)
    widget.running.run_all()
    finish(widget)
    assert box.currentText() == unit
    assert [field.number for field in widget.parts.input.sizes] == sizes
    calibration = widget.parts.session.data.tracks.calibration
    assert (calibration.unit, calibration.scale) == (unit, tuple(sizes))
    assert str(viewer.layers["tracks of movie"].units[-1]) == str(viewer.layers["movie"].units[-1])
    assert f"displacement ({unit})" in [chart.title for chart in widget.parts.results.filters.charts.values()]


@pytest.mark.parametrize("step", ["detect", "run all"])
def test_a_mask_that_becomes_one_particle_is_said(viewer, open_widget, step):
    viewer.add_labels((spots() > 40).astype(np.uint8), name="mask", **PHYSICAL)
    widget = open_widget()
    finish(widget)
    if step == "detect":
        widget.running.run_detect()
    else:
        widget.running.run_all()
    finish(widget)
    assert "is a mask" in widget.parts.bar.warnings.text()


def test_labels_with_a_number_for_each_particle_are_no_mask(viewer, open_widget):
    labels = np.zeros((4, 8, 20, 20), np.uint8)
    labels[:, 2:5, 3:6, 3:6], labels[:, 2:5, 12:15, 12:15] = 1, 2
    viewer.add_labels(labels, name="cells", **PHYSICAL)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert "mask" not in widget.parts.bar.warnings.text()


@pytest.fixture
def by_jaqaman(viewer, open_widget):
    """A widget over points, Jaqaman's linking chosen."""
    viewer.add_points(walks(60, 6, seed=4)[0].table[["frame", "z", "y", "x"]].to_numpy(), name="beads")
    widget = open_widget()
    finish(widget)
    link = widget.parts.link
    link.linking.setCurrentIndex(link.linking.findData("jaqaman"))
    return widget


def test_jaqamans_linking_is_chosen_with_its_ranges(by_jaqaman):
    link = by_jaqaman.parts.link
    link.fields.lengths["gap_closing_range"].setValue(3.5)
    assert not link.motion.isEnabled()
    assert link.fields.counts["max_missed_frames"].isEnabled()
    by_jaqaman.running.run_all()
    finish(by_jaqaman)
    linking = by_jaqaman.parts.session.linked.linking
    assert by_jaqaman.parts.bar.error.text() == ""
    assert (linking.settings.linking, linking.settings.gap_closing_range) == ("jaqaman", 3.5)
    assert linking.report["is_optimal"]


def type_into(field, text: str) -> None:
    from qtpy.QtTest import QTest

    QTest.keyClicks(field, text)


def test_penalties_of_features_are_typed_as_on_the_command_line(viewer, by_jaqaman):
    viewer.layers["beads"].features = {"size": np.arange(len(viewer.layers["beads"].data)) % 2 + 1.0}
    for name in PENALTIES:
        type_into(by_jaqaman.parts.link.fields.texts[name], "size=2")
        by_jaqaman.running.run_all()
        finish(by_jaqaman)
        assert by_jaqaman.parts.bar.error.text() == ""
        assert getattr(by_jaqaman.parts.session.linked.linking.settings, name) == {"size": 2.0}
    by_jaqaman.taking_away.copy_toml()
    link = tomllib.loads(clipboard())["link"]
    assert all(link[name] == {"size": 2.0} for name in PENALTIES)


@pytest.mark.parametrize(("typed", "named"), [("size", "size"), ("brightness=1", "brightness")])
def test_penalties_that_cannot_be_are_said_and_nothing_runs(by_jaqaman, typed, named):
    field = by_jaqaman.parts.link.fields.texts["division_penalties"]
    type_into(field, typed)
    by_jaqaman.suggesting.suggest_linking()
    by_jaqaman.running.run_all()
    finish(by_jaqaman)
    error = by_jaqaman.parts.bar.error.text()
    assert named in error
    assert error.startswith("Division penalties")
    assert by_jaqaman.parts.session.linked is None
    field.clear()
    by_jaqaman.running.run_all()
    finish(by_jaqaman)
    assert by_jaqaman.parts.bar.error.text() == ""
    assert by_jaqaman.parts.session.linked.linking.settings.division_penalties is None


@pytest.mark.parametrize("of", [SEGMENT_RANGES, PENALTIES], ids=["ranges", "penalties"])
def test_ranges_and_penalties_of_segments_are_shown_for_jaqaman_alone(by_jaqaman, of):
    link = by_jaqaman.parts.link
    fields = [link.fields.in_order()[name] for name in of]
    assert all(field.isVisibleTo(link) for field in fields)
    link.linking.setCurrentIndex(0)
    assert not any(field.isVisibleTo(link) for field in fields)
    assert link.settings.linking == "auctrack"


def test_jaqamans_links_are_corrected_like_any_others(viewer, by_jaqaman):
    by_jaqaman.running.run_all()
    finish(by_jaqaman)
    before = links(by_jaqaman)
    press(viewer, "n")
    finish(by_jaqaman)
    wrong = chosen(by_jaqaman)
    press(viewer, "b")
    finish(by_jaqaman)
    assert by_jaqaman.parts.bar.error.text() == ""
    after = links(by_jaqaman)
    assert wrong not in after
    assert len(before - after) < 5


def test_the_table_of_tracks_is_copied_with_units(widget):
    widget.running.run_all()
    finish(widget)
    widget.parts.results.tracks.copy_button.click()
    copied = pd.read_csv(io.StringIO(clipboard()), sep="\t")
    assert len(copied) == len(widget.parts.results.kept)
    assert "mean speed (µm/s)" in copied.columns


@pytest.mark.parametrize(
    ("layer", "stem"),
    [("movie", "movie"), ("day 1: cells/red", "day 1_ cells_red"), ("m.tracks.csv", "m"), ("m.auctrack", "m")],
)
def test_files_are_proposed_under_the_name_of_what_was_tracked(viewer, widget, monkeypatch, layer, stem):
    from qtpy.QtWidgets import QFileDialog

    proposed = []

    def ask(_parent, _title, path, *_filters, **_options):
        proposed.append(path)
        return "", ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    widget.running.run_all()
    finish(widget)
    viewer.layers["movie"].name = layer
    finish(widget)
    widget.parts.results.export_button.click()
    widget.parts.results.tracks.save_button.click()
    widget.taking_away.ask_session()
    assert proposed == [f"{stem}.tracks.csv", f"{stem}.measures.csv", f"{stem}.auctrack"]


def test_the_table_of_tracks_is_written_as_the_command_line_writes_it(widget, tmp_path):
    from typer.testing import CliRunner

    widget.running.run_all()
    finish(widget)
    widget.taking_away.export(str(tmp_path / "tracks.csv"))
    finish(widget)
    widget.taking_away.export_table(str(tmp_path / "mine.csv"))
    finish(widget)
    assert f"to {tmp_path / 'mine.csv'}" in widget.parts.bar.status.text()
    asked = ["measure", str(tmp_path / "tracks.csv"), "-o", str(tmp_path / "theirs.csv")]
    assert CliRunner().invoke(app, asked).exit_code == 0
    mine, theirs = (pd.read_csv(tmp_path / name) for name in ("mine.csv", "theirs.csv"))
    pd.testing.assert_frame_equal(mine[list(theirs.columns)], theirs)


def test_settings_copied_after_corrections_give_the_corrected_tracks(viewer, open_widget, tmp_path):
    sizes = {"PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 1.0, "TimeIncrement": 10.0}
    source = tmp_path / "movie.ome.tif"
    tifffile.imwrite(source, spots(), ome=True, photometric="minisblack", metadata={"axes": "TZYX", **sizes})
    viewer.open(str(source), plugin="auctrack")
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    for key in ("n", "b", "n", "c"):
        press(viewer, key)
        finish(widget)
    widget.taking_away.copy_toml()
    again = track(source, Settings.from_mapping(tomllib.loads(clipboard()))).tracks.table
    same_tracks(widget.parts.session.data.tracks.table, again, renumbered=True)  # a run knows no numbers of before
    widget.taking_away.copy_command()
    assert "export the tracks first" in widget.parts.bar.error.text()  # a line has no room for links
    assert widget.parts.bar.status.text() == ""  # and not still that the settings are copied
    assert_copies_give_these_tracks(widget, source, tmp_path, renumbered=True)  # which exports
    press(viewer, "n")
    press(viewer, "b")
    finish(widget)
    widget.parts.bar.clear_error()
    widget.taking_away.copy_command()
    assert "export the tracks first" in widget.parts.bar.error.text()  # the export lacks this link


@pytest.mark.parametrize("motion", ["none", "auto"])
@pytest.mark.parametrize("method", [0, 1])
def test_what_is_suggested_is_what_a_run_takes(widget, motion, method):
    detect, link = widget.parts.detect, widget.parts.link
    detect.fields.choices["method"].setCurrentIndex(method)
    link.motion.setCurrentIndex(link.motion.findData(motion))
    widget.suggesting.suggest_detection()
    finish(widget)
    suggested = [detect.diameter.text(), detect.threshold.text()]
    widget.running.run_detect()
    finish(widget)
    assert [detect.diameter.text(), detect.threshold.text()] == suggested
    widget.suggesting.suggest_linking()
    finish(widget)
    suggested = link.search_range.text()
    widget.running.run_link()
    finish(widget)
    assert suggested in ("auto", link.search_range.text())
    assert (suggested == "auto") == (motion == "auto")  # learned motion finds it in the run


def test_a_table_that_says_its_units_is_not_asked_for_them(viewer, open_widget, tmp_path):
    table = walks(20, 5, seed=4)[0].table
    named = table.rename(columns={"z": "z_um", "y": "y_um", "x": "x_um"}).assign(t_s=table["frame"] * 2.0)
    named[["frame", "t_s", "z_um", "y_um", "x_um"]].to_csv(tmp_path / "in µm.csv", index=False)
    viewer.open(str(tmp_path / "in µm.csv"), plugin="auctrack")
    widget = open_widget()
    finish(widget)
    source = widget.parts.input.source
    assert (source.calibration.unit, source.calibration.frame_interval) == ("µm", 2.0)
    assert widget.parts.input.problem.text() == ""


def test_axes_that_were_guessed_are_said_to_be_a_guess(viewer, open_widget):
    viewer.add_image(np.swapaxes(spots(), 0, 1), name="z before time")
    widget = open_widget()
    assert "choose the axes" in widget.parts.input.summary.text()


def test_plots_of_a_track_name_both_axes_with_units_and_fit(widget):
    from qtpy.QtGui import QFontMetrics

    widget.running.run_all()
    finish(widget)
    widget.looking.choose_track(0)
    finish(widget)
    titles = [chart.title for chart in widget.parts.results.plots]
    assert titles[1:5] == [
        "speed (µm/s) over time (s)",
        "mean squared displacement (µm²) over lag (s)",
        "velocity correlation (µm²/s²) over lag (s)",
        "density (1/µm) over displacement in a frame (µm)",
    ]
    room = widget.parts.results.plots[0].width()
    assert all(QFontMetrics(widget.font()).horizontalAdvance(title) <= room for title in titles)

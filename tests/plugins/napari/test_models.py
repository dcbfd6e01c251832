"""The logic behind the widget, without any widget."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import ndimage

from auctrack.plugins.napari.draw.colours import BY_TRACK, colormap_for, colour_features, colouring
from auctrack.plugins.napari.draw.drawing import Drawing, draw
from auctrack.plugins.napari.layers.layer_input import LayerInput
from auctrack.plugins.napari.layers.layer_movie import LayerMovie
from auctrack.plugins.napari.layers.window import window_around
from auctrack.plugins.napari.session.advice import advise_detection, advise_linking, range_warning
from auctrack.plugins.napari.session.clicked import CLICKED_ACTS
from auctrack.plugins.napari.session.corrections import Corrections
from auctrack.plugins.napari.session.curves import plots_of
from auctrack.plugins.napari.session.filters import measured, measured_links
from auctrack.plugins.napari.session.session import WidgetSession
from auctrack.plugins.napari.session.steps import chain, find, find_and_chain, take_up
from auctrack.plugins.napari.session.suspicious import suspicious_links
from auctrack.plugins.napari.threads.stopped import Stopped
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.detecting.detect import resolve_settings
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.editing.session import Session as EditSession
from auctrack.tracker.errors import InvalidEdit, InvalidInput, InvalidSetting
from auctrack.tracker.linking.link import LinkSettings, link_points
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.reading.movie import read_movie
from auctrack.tracker.settings import Settings
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate

from ...tracker.linking.movies import walks

POINTS = simulate(SimulationSettings(particles=60, frames=12, missed=0.05, false=0.05, seed=5)).detections


def unheard(advance):
    del advance


def reports():
    reports_seen = []
    return reports_seen, reports_seen.append


@pytest.fixture(scope="module")
def linked():
    return chain(POINTS, LinkSettings(), unheard)


def test_tracks_are_those_of_the_library(linked):
    wanted = link_points(POINTS, LinkSettings()).tracks.table
    pd.testing.assert_frame_equal(linked.linking.tracks.table, wanted)


def test_progress_goes_from_nothing_to_all():
    reports_seen, report = reports()
    chain(POINTS, LinkSettings(), report)
    assert [reports_seen[0].done, reports_seen[-1].done, reports_seen[-1].total] == [0, 12, 12]


def test_stopped_linking_leaves_with_the_tracks_so_far(monkeypatch):
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._EDGES", 50)
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._REPORT_SECONDS", 0)

    def report(advance):
        if advance.done >= 4:
            raise Stopped

    with pytest.raises(Stopped) as stop:
        chain(POINTS, LinkSettings(motion="none"), report)
    partial = stop.value.partial.tracks
    whole = link_points(POINTS, LinkSettings(motion="none")).tracks
    assert 3 <= partial.frames.max() < 11
    same = partial.table.merge(whole.table, on=["frame", "z", "y", "x"], suffixes=("", "_whole"))
    assert len(same) == len(partial)
    assert same.groupby("track_id")["track_id_whole"].nunique().max() == 1


def test_partial_tracks_come_while_it_works(monkeypatch):
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._EDGES", 50)
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._SHOW_SECONDS", 0)
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._SHOW_SHARE", 1e9)
    reports_seen, report = reports()
    chain(POINTS, LinkSettings(motion="none"), report)
    partial = [advance.partial for advance in reports_seen if advance.partial is not None]
    last = [data.tracks.frames.max() for data in partial]
    assert len(last) > 3
    assert last == sorted(last)


def test_a_filter_keeps_its_ends_and_the_unknown_only_while_it_is_open(linked):
    data = linked.data
    lengths = data.measures["length"]
    assert len(data.kept({"length": (3, 8)})) == int(lengths.between(3, 8).sum())
    single = data.measures["mean_speed"].isna()
    assert single.any()
    speeds = data.measures["mean_speed"].dropna()
    assert len(data.kept({"mean_speed": (speeds.min(), speeds.max())})) == len(lengths)
    assert len(data.kept({"mean_speed": (speeds.median(), speeds.max())})) < (~single).sum()
    kept = data.kept({"length": (5, 99)})
    assert set(data.only(kept).table["track_id"]) == set(kept["track_id"])


def test_tracks_that_moved_are_measured_anew(linked):
    tracks = linked.linking.tracks
    moved = replace(tracks, table=tracks.table.assign(x=tracks.table["x"] + tracks.frames))
    linking = replace(linked.linking, tracks=moved)
    again = measured_links(linking, linked.data)
    pd.testing.assert_frame_equal(again.measures, measured_links(linking).measures)


def test_filtered_lineage_stays_among_the_kept():
    table = pd.DataFrame({"frame": [0, 1, 2, 2, 3], "y": 0.0, "x": 0.0, "track_id": [0, 0, 1, 2, 2]})
    data = measured(Tracks(table, Calibration(), {1: [0], 2: [0]}))
    assert data.only(data.kept({"length": (2, 9)})).parents == {2: [0]}


@pytest.mark.usefixtures("display")
def test_colours_span_the_percentiles_and_the_missing_are_grey():
    values = np.append(np.linspace(0, 1, 99), [1e9, np.nan])
    table = pd.DataFrame({"frame": np.arange(101), "y": 0.0, "x": 0.0, "speed": values, "track_id": 0})
    tracks = Tracks(table)
    colours = colouring(tracks, measured(tracks).measures, "speed", (2, 98))
    assert colours.limits[1] < 1.1  # the outlier does not flatten the others
    assert np.nanmin(colours.scaled) == 0
    assert np.nanmax(colours.scaled) == 1
    assert colours.n_missing == 1
    painted = colormap_for("speed").map(colours.scaled)
    np.testing.assert_allclose(painted[-1], [0.5, 0.5, 0.5, 1])
    assert np.isfinite(painted).all()


def test_another_frame_takes_the_colours_of_the_one_before_it_and_nothing_else_does(linked):
    data = linked.data
    first = draw(Drawing(data, data.measures, BY_TRACK, (2, 98), 4, "it", 0, 50, 3.0, 30, 1.0))
    later = draw(replace(first.drawing, frame=3), first)
    assert later.colouring is first.colouring
    alone = draw(later.drawing)
    for role, (positions, _, _) in later.layers.items():
        np.testing.assert_array_equal(positions, alone.layers[role][0])
    pd.testing.assert_series_equal(later.of_tracks, alone.of_tracks)
    for other in ({"feature": "mean_speed"}, {"percentiles": (0, 100)}, {"kept": data.measures.iloc[:5]}):
        changed = draw(replace(first.drawing, **other), first)
        np.testing.assert_array_equal(changed.colouring.scaled, draw(changed.drawing).colouring.scaled)
        assert changed.colouring is not first.colouring


def test_tracks_are_told_apart_by_colour(linked):
    data = linked.data
    assert colour_features(data.tracks, data.measures)[0] == BY_TRACK
    colours = colouring(data.tracks, data.measures, BY_TRACK)
    ids = data.tracks.table["track_id"].to_numpy()
    assert pd.Series(colours.scaled).groupby(ids).nunique().max() == 1


@pytest.mark.parametrize("most", [50, 500, 10_000])
def test_a_window_holds_the_current_frame_and_no_more_than_asked(linked, most):
    tracks = linked.linking.tracks
    for frame in (0, 6, 11):
        window = window_around(tracks, frame, most)
        if most > len(tracks):
            assert window.rows is None
            assert window.describe(len(tracks)) == ""
        else:
            assert np.count_nonzero(window.rows) <= 1.5 * most  # whole tracks are left out, not exact numbers of points
            assert window.shows(frame)
            assert (tracks.frames[window.rows] == frame).any()
            assert "everything is kept" in window.describe(len(tracks))


def test_a_window_does_not_depend_on_the_number_of_the_first_frame(linked):
    tracks = linked.linking.tracks
    later = replace(tracks, table=tracks.table.assign(frame=tracks.frames + 1000))
    window, shifted = window_around(tracks, 6, 100), window_around(later, 1006, 100)
    assert (shifted.first, shifted.last) == (window.first + 1000, window.last + 1000)
    np.testing.assert_array_equal(shifted.rows, window.rows)


def test_suspicious_links_are_the_longest_and_the_least_sure(linked):
    linking = linked.linking
    rng = np.random.default_rng(0)
    margins = rng.random(len(linking.links))
    links = suspicious_links(linking, margins, 10)
    assert margins.min() in links["margin"].to_numpy()
    assert linking.links["length"].max() in links["distance"].to_numpy()
    assert not links["target"].duplicated().any()
    frames = linking.tracks.table["frame"].to_numpy()[links["target"]]
    np.testing.assert_array_equal(links["frame"], frames)


def test_margins_are_shown_with_the_tracks(linked):
    smallest = linked.data.measures["smallest_margin"]
    assert (smallest.dropna() >= 0).all()
    assert smallest.isna().sum() == (linked.data.measures["length"] == 1).sum()


def test_plots_of_a_straight_track():
    frames = np.arange(5)
    table = pd.DataFrame({"frame": frames, "y": 3.0 * frames, "x": 9 + 4.0 * frames, "intensity": 7.0, "track_id": 2})
    calibration = Calibration((1, 0.5, 0.5), "µm", 10, "s")
    position, speed, msd, correlation, density, intensity = plots_of(Tracks(table, calibration), 2)
    assert speed.title == "speed (µm/s)"
    np.testing.assert_allclose(speed.curves[0].y, 0.25)
    np.testing.assert_allclose(msd.curves[0].y, (2.5 * np.arange(1, 5)) ** 2)
    np.testing.assert_allclose(position.curves[1].y, 2.0 * frames)
    assert intensity.title == "intensity"
    assert (correlation.title, correlation.x_label) == ("velocity correlation (µm²/s²)", "lag (s)")
    np.testing.assert_allclose(correlation.curves[0].x, 10.0 * np.arange(4))
    np.testing.assert_allclose(correlation.curves[0].y, 0.25**2)
    assert (density.title, density.x_label) == ("density (1/µm)", "displacement in a frame (µm)")
    assert {curve.name: curve.x.tolist() for curve in density.curves} == {"y": [1.5], "x": [2.0]}


def test_a_track_that_is_never_in_two_frames_in_a_row_has_no_plots_of_steps():
    table = pd.DataFrame({"frame": [0, 2, 4], "y": 0.0, "x": [0.0, 1.0, 5.0], "track_id": 0})
    other = pd.DataFrame({"frame": np.arange(5), "y": 9.0, "x": 9.0, "track_id": 1})
    plots = plots_of(Tracks(pd.concat([table, other]), Calibration()), 0)
    assert [plot.title.split(" (")[0] for plot in plots] == [
        "position from its start",
        "speed",
        "mean squared displacement",
    ]


def test_the_threshold_that_is_advised_is_that_of_detection_where_a_camera_has_hot_pixels():
    rng = np.random.default_rng(3)
    images = rng.normal(100.0, 5.0, (4, 96, 96))
    for image in images:
        for y, x in rng.integers(4, 88, (12, 2)):
            image[y : y + 5, x : x + 5] += 60.0
    images.reshape(4, -1)[:, rng.choice(96 * 96, 60, replace=False)] += 500.0
    movie = read_movie(images.astype(np.uint16), axes="TYX", scale=(1.0, 1.0))
    advice, used = advise_detection(movie, DetectSettings()), resolve_settings(movie, DetectSettings())
    assert (advice.diameter, advice.threshold) == (used.diameter, used.threshold)
    assert not (advice.qualities > 200.0).any()


def found_in(images, **settings):
    calibration = Calibration((1.0, 1.0, 1.0), "µm")
    movie = LayerMovie(images, calibration, Path("movie"), tuple(range(len(images))))
    return find(
        LayerInput("movie", movie, "", None, None), DetectSettings(diameter=8, **settings), LinkSettings(), unheard
    )


def test_images_are_doubted_as_on_the_command_line_in_the_words_of_the_panels():
    labels = np.zeros((3, 48, 48), np.uint16)
    for number, corner in enumerate((4, 20, 34), start=1):
        labels[:, corner : corner + 9, corner : corner + 9] = number
    (said,) = found_in(labels).notes
    assert "looks like labels" in said
    assert "Convert to Labels" in said
    grey = np.random.default_rng(0).normal(100.0, 2.0, (3, 96, 96))
    blobs = np.zeros_like(grey)
    blobs[:, 12::24, 12::24] = 60.0 * 8 * 8
    blobs = ndimage.gaussian_filter(blobs, (0, 3, 3))
    assert found_in(grey + blobs).notes == ()
    (said,) = found_in(grey - blobs).notes
    assert "“dark on a bright background” finds those" in said
    assert found_in(grey - blobs, bright_on_dark=False).notes == ()
    half = grey + blobs
    half[1, :, 80:] = np.nan
    assert any("holds no numbers" in note for note in found_in(half).notes)


def test_advice_names_its_reasons_and_warns_of_wide_ranges():
    advice = advise_linking(POINTS)
    assert f"{advice.search_range:.3g} µm" in advice.reason
    assert range_warning(advice.search_range, advice, "µm") == ""
    assert "times the distance between neighbours" in range_warning(2 * advice.spacing, advice, "µm")
    assert range_warning(np.median(advice.steps), advice, "µm").startswith("50 % of the steps are longer")
    assert range_warning(1e-9, advice, "µm").startswith("100 % of the steps are longer")


def test_there_is_no_advice_where_every_particle_is_alone():
    assert advise_linking(Points(pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 0.0}))) is None


def session_of(points, path):
    session = WidgetSession()
    session.begin(LayerInput("points", points, "", path, None))
    session.keep(find_and_chain(session.source, DetectSettings(), LinkSettings(), unheard))
    return session


def test_the_command_and_the_settings_file_say_what_took_effect():
    session = session_of(POINTS, "/data/my points.csv")
    words = shlex.split(session.command(4))
    assert words[:3] == ["auctrack", "track", "/data/my points.csv"]
    assert words[words.index("--min-length") + 1] == "4"
    settings = Settings.from_mapping(tomllib.loads(session.toml(4)))
    assert settings.link == session.linked.linking.settings
    assert settings.min_length == 4


def test_points_that_are_in_no_file_have_no_command():
    with pytest.raises(InvalidInput):
        session_of(POINTS, None).command(1)


def test_before_a_run_there_is_nothing_to_copy():
    session = WidgetSession()
    session.begin(LayerInput("points", POINTS, "", "p.csv", None))
    with pytest.raises(InvalidInput):
        session.toml(1)


@pytest.mark.parametrize("count", [0, 1, 7, 60, 99])
def test_the_least_of_many_are_those_of_a_stable_sort(count):
    from auctrack.plugins.napari.session.suspicious import _least

    values = np.random.default_rng(0).integers(0, 9, 60).astype(float)
    assert _least(values, count).tolist() == np.argsort(values, kind="stable")[:count].tolist()


@pytest.mark.parametrize(("later", "has_others"), [([0.5], False), ([0.5, 1.0], True)])
def test_a_correction_says_whether_other_links_changed_with_it(later, has_others):
    table = pd.DataFrame({"frame": [0, *[1] * len(later)], "y": 0.0, "x": [0.0, *later]})
    corrections = Corrections(chain(Points(table), LinkSettings(5.0, 4.0, motion="none"), unheard))
    assert corrections.make(EditSession.break_link, (0, 1), unheard).has_others == has_others


def test_what_cannot_be_done_is_said_by_track_and_frame():
    """Rows of the table mean nothing to who sees the tracks."""
    table = pd.DataFrame({"frame": [7, 7, 8, 8], "y": [0.0, 9.0, 9.0, 0.0], "x": 0.0})
    corrections = Corrections(chain(Points(table), LinkSettings(5.0, 4.0, motion="none"), unheard))
    with pytest.raises(InvalidEdit, match=r"^Track 0 already ends in frame 8\.$"):
        corrections.make(EditSession.split_track, (3,), unheard)
    with pytest.raises(InvalidEdit, match="no link from track 0 in frame 7 to track 1 in frame 8"):
        corrections.look_at((0, 2), unheard, ticks_off=True)


@pytest.mark.parametrize(
    ("frames", "parents", "settings", "said"),
    [
        ([3, 7], {}, LinkSettings(max_missed_frames=1), "from track 4 in frame 3 to track 4 in frame 7"),
        ([3, 4, 4, 4], {5: [4], 6: [4], 7: [4]}, LinkSettings(), "Track 4 in frame 3 has too many links"),
    ],
)
def test_tracks_that_cannot_be_taken_up_are_refused_by_track_and_frame(frames, parents, settings, said):
    """The first is missed too long, the second divides into three."""
    track_id = [4] * len(frames) if not parents else [4, *parents]
    # other particles before them, so that rows are no frames
    table = pd.DataFrame({"frame": [3, 4, *frames], "y": [50.0, 50.0, *range(len(frames))], "x": 0.0})
    with pytest.raises(InvalidSetting, match=said):
        take_up(Tracks(table.assign(track_id=[1, 1, *track_id]), parents=parents), settings, unheard)


def test_tracks_are_written_with_every_margin_measured_though_those_shown_are_near_the_corrections_only(tmp_path):
    """As a linking of the library with the same corrections has them."""
    linked = chain(walks(60, 6, seed=4)[0], LinkSettings(), unheard)
    corrections, edits = Corrections(linked), EditSession(linked.linking)
    for source, target in linked.suspicious[["source", "target"]].to_numpy()[:8].tolist():
        if target in edits.successors(source):
            edits.break_link(source, target)
            corrections.make(EditSession.break_link, (source, target), unheard)
    corrections.show(shown := corrections.follow(unheard))
    written: list[Tracks] = []
    corrections.write(str(tmp_path / "tracks.csv"), written.append)
    pd.testing.assert_frame_equal(written[0].table, edits.linking().tracks.table)
    assert not written[0].table["link_margin"].equals(shown.linked.linking.tracks.table["link_margin"])
    assert corrections.n_unsaved == 0


@pytest.mark.parametrize(
    ("key", "clicked", "taken"),
    [
        ("j", [(9, 1), (4, 8), (3, 7)], (7, 8)),
        ("j", [(3, 7), (3, 8)], None),
        ("j", [(3, 7)], None),
        ("s", [(3, 8), (3, 7)], (8, 7)),
        ("s", [(3, 8), (4, 7)], None),
        ("d", [(5, 1), (4, 8), (5, 2)], (8, 1, 2)),
        ("d", [(4, 1), (4, 8), (5, 2)], None),
        ("e", [(5, 1), (4, 8)], (8,)),
        ("e", [], None),
    ],
)
def test_an_act_takes_the_particles_clicked_last_in_its_own_order(key, clicked, taken):
    """Of each particle that is clicked its frame and row are known."""
    (act,) = (act for act in CLICKED_ACTS if act.key == key)
    assert act.take(clicked) == taken

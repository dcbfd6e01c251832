"""The picture of measures: the curve with its errors on logarithmic axes, histograms of all tracks, in units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from auctrack.plugins.report.measure_picture import draw, draw_histogram, draw_points
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.measuring.displacements import measure_displacements
from auctrack.tracker.measuring.measures import measure_tracks
from auctrack.tracker.measuring.msd import mean_squared_displacement
from auctrack.tracker.measuring.pair_correlation import pair_correlation
from auctrack.tracker.measuring.velocity import velocity_correlation
from auctrack.tracker.points import Tracks

IN_NM = Calibration((1.0, 1.0, 1.0), "nm", 2.0, "ms")


def walks(n, frames=12, step=1.0):
    places = np.random.default_rng(0).normal(0, step, (n, frames, 2)).cumsum(axis=1).reshape(-1, 2)
    table = pd.DataFrame(places, columns=["y", "x"])
    table["frame"], table["track_id"] = np.tile(np.arange(frames), n), np.repeat(np.arange(n), frames)
    return Tracks(table, IN_NM)


def drawn(of, min_length=1):
    figure = draw(measure_tracks(of), mean_squared_displacement(of), of, "walks.csv", min_length)
    FigureCanvasAgg(figure).draw()
    return figure


def test_the_curve_stands_with_its_errors_on_logarithmic_axes_in_units():
    of = walks(30)
    panel, curve = drawn(of).axes[0], mean_squared_displacement(of)
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("time lag (ms)", "mean squared displacement (nm²)")
    (bars,) = panel.containers
    points, _, (lines,) = bars
    np.testing.assert_allclose(points.get_xydata(), curve[["lag_time", "msd"]])
    ends = np.array([line[:, 1] for line in lines.get_segments()])
    np.testing.assert_allclose(ends[:, 1] - curve["msd"], curve["standard_error"])
    np.testing.assert_allclose(curve["msd"] - ends[:, 0], curve["standard_error"])


@pytest.mark.parametrize(
    ("interval", "frames"), [(0.05, 15), (0.002, 21), (2.2, 3), (10.0, 15), (3600.0, 41), (0.03, 300)]
)
def test_labels_of_the_curve_are_plain_numbers_that_do_not_touch(interval, frames):
    of = walks(5, frames, step=300.0)
    panel = drawn(replace(of, calibration=replace(IN_NM, frame_interval=interval))).axes[0]
    for axis, along in ((panel.xaxis, 0), (panel.yaxis, 1)):
        low, high = axis.get_view_interval()
        labels = [
            of for of in axis.get_ticklabels(which="both") if of.get_text() and low <= sum(of.get_position()) <= high
        ]
        assert labels
        assert all(float(label.get_text()) and "e" not in label.get_text() for label in labels)
        boxes = np.sort([np.array(label.get_window_extent())[:, along] for label in labels], axis=0)
        assert (boxes[1:, 0] > boxes[:-1, 1]).all()


def test_medians_have_no_powers_of_ten():
    titles = [panel.get_title(loc="right") for panel in drawn(walks(30, step=5000.0)).axes[1:]]
    assert titles
    assert not [title for title in titles if "e+" in title]


def test_the_guides_rise_as_diffusion_and_as_straight_motion():
    guides = [line.get_xydata() for line in drawn(walks(30)).axes[0].lines if len(line.get_xydata()) > 1][:2]
    slopes = [np.polyfit(*np.log(guide).T, 1)[0] for guide in guides]
    assert slopes == pytest.approx([1, 2])


def test_histograms_count_every_track_of_two_detections_and_name_their_units():
    labels = ("mean speed (nm/ms)", "net displacement (nm)", "duration (ms)")
    for panel, label in zip(drawn(walks(30)).axes[1:], labels, strict=True):
        assert panel.get_xlabel() == label
        assert sum(bar.get_height() for bar in panel.patches) == 30


@pytest.mark.parametrize("n", [3, 30])
def test_tracks_are_counted_in_whole_numbers_and_medians_have_their_unit(n):
    for panel, unit in zip(drawn(walks(n)).axes[1:], ("nm/ms", "nm", "ms"), strict=True):
        counts = panel.get_yticks()
        np.testing.assert_array_equal(counts, counts.round())
        assert panel.get_title(loc="right").endswith(f" {unit}")


@pytest.mark.parametrize(("min_length", "said"), [(1, "2"), (5, "5")])
def test_the_title_says_of_how_many_detections_the_tracks_are(min_length, said):
    title = drawn(walks(30), min_length).get_suptitle()
    assert title == f"walks.csv: 30 tracks of {said} detections or more"


@pytest.mark.parametrize("of", [walks(0), walks(1), walks(3, frames=1), walks(3, step=0.0)], ids=str)
def test_few_short_or_still_tracks_are_drawn_too(of):
    assert len(drawn(of).axes) == 4


@pytest.mark.parametrize("frame", [1, 0.1, 3600.0], ids="{} a frame".format)
def test_lengths_that_are_all_as_frequent_make_bars_that_are_all_as_high(frame):
    panel = Figure().subplots()
    draw_histogram(panel, pd.Series(np.repeat(np.arange(2, 22) * frame, 5)), "duration", "s")
    *bars, last = [bar.get_height() for bar in panel.patches]
    assert len(bars) > 3
    assert len(set(bars)) == 1
    assert sum(bars) + last == 100
    assert frame != 1 or all(tick == round(tick) for tick in panel.get_xticks())


@pytest.mark.parametrize("value", [12, 41.0, 0.03])
def test_one_value_alone_is_a_narrow_bar_where_it_stands(value):
    panel = Figure().subplots()
    draw_histogram(panel, pd.Series([value] * 7), "duration", "s")
    (bar,) = panel.patches
    assert bar.get_height() == 7
    assert bar.get_x() + bar.get_width() / 2 == pytest.approx(value)
    assert bar.get_width() < value / 10


def test_other_tables_are_drawn_below_in_units_with_what_a_gaussian_would_be():
    of = walks(30)
    others = {
        "displacements": measure_displacements(of, [1, 5]),
        "velocity_correlation": velocity_correlation(of),
        "pair_correlation": pair_correlation(of),
    }
    figure = draw(measure_tracks(of), mean_squared_displacement(of), of, "walks.csv", 1, others)
    FigureCanvasAgg(figure).draw()
    spread, kept, around = figure.axes[4:]
    assert (spread.get_xlabel(), spread.get_ylabel()) == ("displacement (nm)", "density (1/nm)")
    assert len(spread.lines) == 2 * 2 * 2  # of two lags and two axes, points and a line
    of_bins = others["displacements"].query("lag == 5 and axis == 'x'")
    np.testing.assert_allclose(spread.lines[-2].get_xydata(), of_bins[["displacement", "density"]])
    np.testing.assert_allclose(spread.lines[-1].get_xydata(), of_bins[["displacement", "gaussian"]])
    assert (kept.get_xlabel(), kept.get_ylabel()) == ("time lag (ms)", "velocity correlation (nm²/ms²)")
    (bars,) = kept.containers
    np.testing.assert_allclose(bars[0].get_xydata(), others["velocity_correlation"][["lag_time", "correlation"]])
    assert (around.get_xlabel(), around.get_ylabel()) == ("distance (nm)", "pair correlation")
    g = others["pair_correlation"][["distance", "pair_correlation"]]
    np.testing.assert_allclose(around.lines[-1].get_xydata(), g)


def test_other_tables_that_are_empty_say_so():
    of = walks(1).only(walks(1).frames == 0)
    others = {
        "displacements": measure_displacements(of),
        "velocity_correlation": velocity_correlation(of),
        "pair_correlation": pair_correlation(of),
    }
    figure = draw(measure_tracks(of), mean_squared_displacement(of), of, "walks.csv", 1, others)
    FigureCanvasAgg(figure).draw()
    assert [panel.texts[0].get_text() for panel in figure.axes[4:]] == [
        "no two positions that far apart",
        "no step over one frame",
        "no two particles in a frame",
    ]
    assert len(draw(measure_tracks(of), mean_squared_displacement(of), of, "walks.csv", 1, {}).axes) == 4


def test_points_that_nobody_linked_have_a_picture_of_what_is_around_them():
    table = pair_correlation(walks(30))
    figure = draw_points(table, walks(30), "walks.csv")
    FigureCanvasAgg(figure).draw()
    (panel,) = figure.axes
    np.testing.assert_allclose(panel.lines[-1].get_xydata(), table[["distance", "pair_correlation"]])
    assert (panel.get_xlabel(), figure.get_suptitle()) == ("distance (nm)", "walks.csv: 360 points")

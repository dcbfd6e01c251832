"""Detection on real movies: nuclei that touch, TrackMate's own spots, beads in a gel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from auctrack.tracker.detecting.detect import detect
from auctrack.tracker.detecting.diameter import suggest_diameter
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.reading.movie import read_movie

AXES = ["z", "y", "x"]


def pairs_within(earlier, later, reach):
    """Return the one-to-one pairs of least total squared distance; leaving one unmatched costs reach²."""
    n, m = len(earlier), len(later)
    cost = np.full((n + m, n + m), 1e9)
    cost[:n, :m] = cdist(earlier, later, "sqeuclidean")
    cost[np.arange(n), m + np.arange(n)] = reach**2
    cost[n + np.arange(m), np.arange(m)] = reach**2
    cost[n:, m:] = 0.0
    rows, columns = linear_sum_assignment(cost)
    real = (rows < n) & (columns < m)
    real[real] &= cost[rows[real], columns[real]] <= reach**2
    return rows[real], columns[real]


def link_f1(table, truth, scale, reach=10.0, tolerance=5.0):
    """F1 of the links within one cell's life; detections stand for the true cell within `tolerance` voxels."""
    named = []
    for frame in sorted(truth["frame"].unique()):
        found, real = table[table["frame"] == frame], truth[truth["frame"] == frame]
        rows, columns = pairs_within(found[AXES].to_numpy(), real[AXES].to_numpy(), tolerance)
        name = np.full(len(found), -1)
        name[rows] = real["true_id"].to_numpy()[columns]
        named.append((found[AXES].to_numpy() * scale, name, set(real["true_id"])))
    correct = linked = real_links = 0
    for (earlier, name, alive), (later, next_name, still_alive) in pairwise(named):
        rows, columns = pairs_within(earlier, later, reach)
        correct += int(((name[rows] == next_name[columns]) & (name[rows] >= 0)).sum())
        linked += len(rows)
        real_links += len(alive & still_alive)
    return 2.0 * correct / (linked + real_links)


@pytest.fixture(scope="module")
def nuclei(real_data):
    movie = read_movie(real_data("hl60_3d/movie.ome.tif"), scale=(2, 1, 1))
    return movie, pd.read_csv(real_data("hl60_3d/truth.csv"))


@pytest.mark.parametrize("method", ["log", "dog"])
@pytest.mark.parametrize("diameter", [7.5, 8.0, 8.5])
def test_nuclei_that_touch_are_told_apart_at_their_own_diameter(nuclei, diameter, method):
    movie, truth = nuclei
    assert link_f1(detect(movie, DetectSettings(diameter, method=method)).table, truth, (2, 1, 1)) >= 0.985


def test_nuclei_are_found_with_nothing_given_but_the_voxel_size(nuclei):
    movie, truth = nuclei
    assert link_f1(detect(movie, DetectSettings()).table, truth, (2, 1, 1)) >= 0.95


def test_at_its_diameter_the_spots_are_those_of_trackmate(real_data):
    spots = pd.read_csv(real_data("faketracks/trackmate_tracks_with_splitting_merging_spots.csv"))
    movie = read_movie(real_data("faketracks/FakeTracks.tif"), scale=(1, 1))
    table = detect(movie, DetectSettings(10.0)).table
    assert len(table) == len(spots) == 183
    for frame, theirs in spots.groupby("frame"):
        ours = table.loc[table["frame"] == frame, ["y", "x"]].to_numpy()
        rows, columns = pairs_within(ours, theirs[["position_y", "position_x"]].to_numpy(), 2.0)
        assert len(rows) == len(theirs)
        assert np.abs(ours[rows] - theirs[["position_y", "position_x"]].to_numpy()[columns]).mean() < 0.1


def test_beads_are_counted_alike_over_diameters_and_with_nothing_given(real_data):
    movie = read_movie(real_data("beads_confocal/beads.tif"))
    counts = [len(detect(movie, DetectSettings(diameter))) for diameter in (1.0, 2.0)]
    suggestion = suggest_diameter(movie)
    assert 0.6 < suggestion.diameter < 1.2
    counts.append(len(detect(movie, DetectSettings(suggestion.diameter))))
    assert min(counts) > 1200
    assert max(counts) < 1.1 * min(counts)

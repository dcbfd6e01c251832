"""Divisions and merges in the assignment of a whole movie."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import dividing, walks


def dividing_cells(missed: str) -> tuple[Points, np.ndarray]:
    """Twenty-five cells far apart, one detection missed of every other division; and who each detection is.

    Cell k is number 3k; after frame 3 its daughters 3k + 1 and 3k + 2 are on either side of it.
    """
    rng, rows, names = np.random.default_rng(0), [], []
    for k, corner in enumerate(np.mgrid[:5, :5].reshape(2, -1).T * 10.0):
        for frame in range(8):
            for name, side in [(3 * k, 0.0)] if frame < 4 else [(3 * k + 1, -1.5), (3 * k + 2, 1.5)]:
                is_missed = frame == {"mother": 3, "daughter": 4}[missed] and (missed == "mother" or side > 0)
                if k % 2 and is_missed:
                    continue
                y, x = corner + rng.normal(0, 0.2, 2)
                rows.append((frame, y + side, x))
                names.append(name)
    return Points(pd.DataFrame(rows, columns=["frame", "y", "x"])), np.array(names)


@pytest.mark.parametrize("missed", ["mother", "daughter"])
def test_a_division_is_found_where_one_of_its_detections_is_missed(missed):
    points, who = dividing_cells(missed)
    links = link_points(points, LinkSettings(divisions=True, max_missed_frames=1)).links
    found = {(int(who[a]), int(who[b])) for a, b in links[["source", "target"]].to_numpy() if who[a] != who[b]}
    assert found == {(3 * k, 3 * k + daughter) for k in range(25) for daughter in (1, 2)}
    assert links.query("kind == 'division'")["frames"].max() == 2


def test_no_frame_between_a_mother_and_her_daughters_is_missed_where_none_may_be():
    points, _ = dividing_cells("daughter")
    links = link_points(points, LinkSettings(divisions=True, max_missed_frames=0)).links
    assert links["frames"].max() == 1


def seen_to_divide(points: Points, who: np.ndarray, parents: dict[int, list[int]]) -> set[frozenset[int]]:
    """The pairs of sisters that are seen in the frame after their mother."""
    frames = {int(name): points.frames[who == name] for name in np.unique(who[who >= 0])}
    sisters: dict[int, list[int]] = {}
    for daughter in parents.keys() & frames.keys():
        sisters.setdefault(parents[daughter][0], []).append(daughter)
    first = {mother: {int(frames[d].min()) for d in pair} for mother, pair in sisters.items()}
    return {
        frozenset(pair)
        for mother, pair in sisters.items()
        if len(pair) == 2 and mother in frames and first[mother] == {int(frames[mother].max()) + 1}
    }


def pairs_of_sisters(points: Points, who: np.ndarray) -> set[frozenset[int]]:
    """The particles that links lead to from one detection in the frame before."""
    links = link_points(points, LinkSettings(divisions=True)).links
    made = links.loc[links["frames"] == 1, ["source", "target"]].to_numpy()
    mothers = np.flatnonzero(np.bincount(made[:, 0]) == 2)
    return {frozenset(who[made[made[:, 0] == mother, 1]].tolist()) for mother in mothers}


@pytest.mark.parametrize("seed", [0, 1])
def test_daughters_as_far_away_as_neighbours_are_told_by_being_on_both_sides(seed):
    points, who, parents = dividing(step=0.1, apart=0.3, seed=seed)
    pairs = pairs_of_sisters(points, who)
    true = seen_to_divide(points, who, parents)
    assert len(true) > 60
    assert len(pairs & true) >= 0.9 * len(true)
    assert len(pairs - true) <= 0.05 * len(true)


@pytest.mark.parametrize("step", [0.3, 0.4])
def test_sisters_hardly_farther_apart_than_steps_are_told_by_where_their_mother_was_about_to_go(step):
    points, who, parents = dividing(step=step)
    pairs, true = pairs_of_sisters(points, who), seen_to_divide(points, who, parents)
    assert 2 * len(pairs & true) > 0.75 * (len(pairs) + len(true))


@pytest.mark.parametrize("movie", [{"step": 0.6}, {"missed": 0.0, "false": 0.2}], ids=["long steps", "false ones"])
def test_where_nothing_divides_hardly_a_detection_is_taken_for_a_daughter(movie):
    points, who = walks(400, 10, **movie)
    assert len(pairs_of_sisters(points, who)) <= 2

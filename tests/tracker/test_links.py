"""Links as a table: one schema whoever makes it, and the tracks and the lineage that links make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.links import ends_of, links_between, median_step, tracks_of, with_sureness
from auctrack.tracker.points import Points

from .traced import with_peak

FORK = np.array([0, 1, 1, 0]), np.array([1, 2, 3, 3])
"""0 to 1, which divides into 2 and 3; 3 is also 0's after a gap, a second link into it."""


@pytest.fixture
def points() -> Points:
    places = pd.DataFrame({"frame": [0, 1, 2, 2], "y": [0.0, 3.0, 3.0, 7.0], "x": [0.0, 4.0, 5.0, 4.0]})
    return Points(places)


@pytest.fixture
def links(points: Points) -> pd.DataFrame:
    seconds = {"is_division": np.array([0, 0, 1, 0], bool), "is_merge": np.array([0, 0, 1, 1], bool)}
    return links_between(points, *FORK, np.array([0.9, 0.8, 0.7, 0.6]), np.array([4.0, 3.0, 2.0, 1.0]), **seconds)


def test_a_link_says_how_far_it_leads_and_of_what_kind_it_is(points: Points, links: pd.DataFrame):
    assert links["frames"].tolist() == [1, 1, 1, 2]
    assert links["length"].tolist() == [5.0, 1.0, 4.0, np.hypot(7.0, 4.0)]
    assert links["kind"].tolist() == ["step", "step", "division", "merge"]
    assert links_between(points, *FORK, np.nan, np.nan)["kind"].tolist() == ["step", "step", "step", "gap"]
    assert median_step(links, 1) == 4.0
    assert median_step(links, 5) is None


def test_the_ends_of_links_are_measured_a_part_at_a_time():
    n = 300_000
    places = pd.DataFrame(np.random.default_rng(0).random((2 * n, 3)), columns=list("zyx"))
    points, row, sure = Points(places.assign(frame=np.repeat([0, 1], n))), np.arange(n), np.ones(n)
    positions = points.positions
    links, taken = with_peak(lambda: links_between(points, row, row + n, sure, sure))
    assert taken < 100 * n  # 150 where the positions of all are held at once
    np.testing.assert_array_equal(links["length"], np.linalg.norm(positions[n:] - positions[:n], axis=1))


def test_links_that_share_an_end_make_a_lineage(points: Points, links: pd.DataFrame):
    tracks = tracks_of(points, *ends_of(links))
    assert tracks.table["track_id"].tolist() == [0, 1, 2, 3]
    assert tracks.parents == {1: [0], 2: [1], 3: [1, 0]}


def test_a_detection_is_as_sure_as_the_less_probable_of_two_links_into_it(points: Points, links: pd.DataFrame):
    table = with_sureness(tracks_of(points, *ends_of(links)), links).table
    np.testing.assert_array_equal(table["link_probability"], [np.nan, 0.9, 0.8, 0.6])
    np.testing.assert_array_equal(table["link_margin"], [np.nan, 4.0, 3.0, 1.0])


@pytest.mark.parametrize("settings", [{}, {"motion": "none"}, {"linking": "jaqaman", "motion": "none"}], ids=str)
def test_the_table_has_one_schema_whatever_way_was_taken(links: pd.DataFrame, settings: dict[str, Any]):
    rng = np.random.default_rng(0)
    start = rng.random((40, 2)) * 100
    table = pd.concat(
        pd.DataFrame(start + rng.normal(0.0, 0.3, start.shape), columns=["y", "x"]).assign(frame=f) for f in range(4)
    )
    made = link_points(Points(table.reset_index(drop=True)), LinkSettings(**settings)).links
    assert made.dtypes.to_dict() == links.dtypes.to_dict()
    assert (made["kind"] == "step").all()

"""Scores against a truth of some particles only: equal to the competition's program, and true to its rules."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.points import Tracks
from auctrack.tracker.scoring.lineages import Lineages
from auctrack.tracker.scoring.names import names_of
from auctrack.tracker.scoring.sparse import Counts, SparseScore, score_sparse

from .lineage_movies import as_tracks, dividing_cells, spoiled

COMPETITION = {
    (0, 2.0): ((39, 8, 15), (4, 3, 3), 124, 0.9298245614035088),
    (0, 7.0): ((39, 9, 15), (4, 3, 3), 124, 0.9473684210526315),
    (1, 2.0): ((33, 2, 6), (2, 1, 0), 115, 1.0),
    (2, 7.0): ((49, 7, 12), (7, 3, 2), 115, 0.984375),
    (5, 2.0): ((39, 9, 20), (4, 5, 5), 107, 0.9032258064516129),
}
"""By seed and tolerance, with every second tree as truth: edges and divisions (right, wrong, missed), detections and
node recall, as `evaluate` and `node_recall` of royerlab/kaggle-cell-tracking-competition return them (with tracksdata
0.1.0rc12)."""


def counts(of: Counts) -> tuple[int, int, int]:
    return of.right, of.wrong, of.missed


@pytest.mark.parametrize(("seed", "tolerance"), COMPETITION)
def test_the_counts_are_the_competitions(seed: int, tolerance: float):
    rng = np.random.default_rng(seed)
    graph = dividing_cells(rng)
    truth = as_tracks(graph)
    tree = Lineages.of(truth, names_of(truth)).tree
    annotated = replace(truth, table=truth.table[np.isin(tree, np.unique(tree)[::2])].reset_index(drop=True))
    score = score_sparse(as_tracks(spoiled(rng, graph)), annotated, tolerance=tolerance)
    ours = counts(score.edges), counts(score.divisions), score.detections, score.node_recall
    assert ours == COMPETITION[seed, tolerance]


Cells = dict[str, tuple[int, float]]
"""Frame and y of cells by name."""

FAMILY: Cells = {"P": (0, 0), "D": (1, 0), "C1": (2, 5), "C2": (2, -5), "G1": (3, 5), "G2": (3, -5)}
FAMILY_LINKS = ("PD", "DC1", "DC2", "C1G1", "C2G2")
LINE: Cells = {"A": (0, 0), "B": (1, 0), "C": (2, 0)}


def lineages(cells: Cells, links: tuple[str, ...]) -> Tracks:
    """Return cells in the plane x = 0, linked by pairs of names."""
    names = list(cells)
    split = [
        next((a, link[len(a) :]) for a in names if link.startswith(a) and link[len(a) :] in names) for link in links
    ]
    edges = [(names.index(a), names.index(b)) for a, b in split]
    return as_tracks(([(frame, 0.0, float(y), 0.0) for frame, y in cells.values()], edges))


@pytest.mark.parametrize(
    ("extra", "wrong"), [("DA", 0), ("DB", 1), ("DC", 1), ("AD", 1), ("BD", 1), ("CD", 0)], ids=lambda value: str(value)
)
def test_a_link_is_wrong_only_where_the_truth_knows_what_comes_before_or_after(extra: str, wrong: int):
    """D stands far from all that is annotated; A begins the annotated track and C ends it."""
    when = {"DA": -1, "DB": 0, "DC": 1, "AD": 1, "BD": 2, "CD": 3}[extra]
    found = lineages({**LINE, "D": (when, 100)}, ("AB", "BC", extra))
    score = score_sparse(found, lineages(LINE, ("AB", "BC")), tolerance=5.0)
    assert counts(score.edges) == (2, wrong, 0)


FORK: Cells = {"A": (0, 0), "B": (1, 0), "C": (2, 10), "D": (2, -10)}
PAIR: Cells = {"A": (0, 0), "B": (1, 0), "C": (2, 0), "D": (0, 50), "E": (1, 50), "F": (2, 50)}
TWO: Cells = {"A": (0, 0), "B": (1, 10), "C": (1, -10)}
RUNGS: Cells = {"A": (0, 0), "D": (1, 0), "B": (0, 50), "E": (1, 50), "C": (0, 100), "F": (1, 100)}
COMPETITIONS_OWN: dict[str, tuple[Cells, str, Cells, str, float]] = {
    "a daughter too many": (FORK, "AB BC BD", {**FORK, "E": (2, 100)}, "AB BC BD BE", 3 / 4),
    "a daughter missed": (FORK, "AB BC BD", FORK, "AB BD", 2 / 3),
    "across tracks": (PAIR, "AB BC DE EF", PAIR, "AB BC DE EF BF", 4 / 5),
    "another mother": (LINE, "AB BC", {"D": (0, 100), "B": (1, 0), "C": (2, 0)}, "DB BC", 1 / 3),
    "a child missed": (TWO, "AB AC", TWO, "AB", 1 / 2),
    "a nearer one": ({"A": (0, 0), "B": (1, 0)}, "AB", {"A": (0, 5), "S": (0, 1), "B": (1, 0)}, "AB", 0),
    "all to all": (RUNGS, "AD BE CF", RUNGS, "AD AE AF BD BE BF CD CE CF", 1 / 3),
    "a frame skipped": (LINE, "AB BC", LINE, "AC", 0),
    "in the background": (LINE, "AB BC", {**LINE, "D": (2, 100), "E": (3, 100)}, "AB BC DE", 1),
}
"""True cells and links, found cells and links, and the edge Jaccard that the competition's tests work out by hand; the
drawings of its other golden cases are in no copy that could be had."""


@pytest.mark.parametrize("case", COMPETITIONS_OWN)
def test_the_competitions_own_cases_have_its_figures(case: str):
    real, real_links, found, found_links, jaccard = COMPETITIONS_OWN[case]
    truth = lineages(real, tuple(real_links.split()))
    score = score_sparse(lineages(found, tuple(found_links.split())), truth, tolerance=7.0)
    assert score.edges.jaccard == pytest.approx(jaccard)


def divisions(cells: Cells, links: tuple[str, ...], tolerance: float = 1.0) -> tuple[int, int, int]:
    return counts(score_sparse(lineages(cells, links), lineages(FAMILY, FAMILY_LINKS), tolerance=tolerance).divisions)


def test_a_division_found_as_it_is_counts_once_however_often_it_was_found():
    assert divisions(FAMILY, FAMILY_LINKS) == (1, 0, 0)
    again = {**FAMILY, **{name.lower(): place for name, place in FAMILY.items()}}
    assert divisions(again, (*FAMILY_LINKS, *(link.lower() for link in FAMILY_LINKS))) == (1, 0, 0)


def test_a_division_needs_both_daughters_in_one_tree_with_the_mother():
    assert divisions(FAMILY, ("PD", "DC1", "C1G1", "C2G2")) == (0, 0, 1)
    assert divisions({name: FAMILY[name] for name in ("P", "D", "C1", "G1")}, ("PD", "DC1", "C1G1")) == (0, 0, 1)


def test_a_division_a_frame_late_is_right():
    late: Cells = {"P": (0, 0), "D": (1, 0), "M": (2, 0), "G1": (3, 5), "G2": (3, -5)}
    assert divisions(late, ("PD", "DM", "MG1", "MG2")) == (1, 0, 0)


def test_a_division_of_a_cell_that_is_followed_on_is_wrong_and_one_elsewhere_is_not_judged():
    truth = lineages(LINE, ("AB", "BC"))
    near = lineages({**LINE, "E": (2, 5)}, ("AB", "BC", "BE"))
    far = lineages({**LINE, "X": (0, 100), "Y": (1, 105), "Z": (1, 95)}, ("AB", "BC", "XY", "XZ"))
    ended = lineages({**LINE, "E": (3, 0), "F": (3, 5)}, ("AB", "BC", "CE", "CF"))
    of = [counts(score_sparse(found, truth, tolerance=1.0).divisions) for found in (near, far, ended)]
    assert of == [(0, 1, 0), (0, 0, 0), (0, 0, 0)]


def test_as_many_are_paired_as_can_be_even_if_farther_apart():
    truth = lineages({"A": (0, 0), "B": (0, 6)}, ())
    found = lineages({"a": (0, 6), "b": (0, 11)}, ())
    assert score_sparse(found, truth, tolerance=7.0).node_recall == 1.0


def test_the_tolerance_itself_is_near_enough():
    truth, found = lineages({"A": (0, 0)}, ()), lineages({"a": (0, 7)}, ())
    assert score_sparse(found, truth, tolerance=7.0).node_recall == 1.0
    assert score_sparse(found, truth, tolerance=6.9).node_recall == 0.0


def of(right: int, wrong: int, missed: int, *, found: int = 100, real: float = 100) -> SparseScore:
    return SparseScore(Counts(right, wrong, missed), Counts(0, 0, 0), found, 1.0, real)


def test_too_many_detections_take_a_tenth_for_every_time_as_many_again():
    assert of(1, 0, 1, found=200).adjusted_edge_jaccard == pytest.approx(0.45)
    assert of(1, 0, 0, found=2000).adjusted_edge_jaccard == 0.0
    assert math.isnan(of(1, 0, 0, real=math.nan).adjusted_edge_jaccard)


def test_a_tolerance_of_nothing_is_refused():
    with pytest.raises(InvalidSetting, match="tolerance"):
        score_sparse(lineages(LINE, ()), lineages(LINE, ()), tolerance=0.0)


def test_a_movie_without_tracks_has_missed_all():
    nothing = Tracks(pd.DataFrame({"track_id": [], "frame": [], "z": [], "y": [], "x": []}, dtype="int64"))
    score = score_sparse(nothing, lineages(FAMILY, FAMILY_LINKS))
    assert (counts(score.edges), counts(score.divisions)) == ((0, 0, 5), (0, 0, 1))

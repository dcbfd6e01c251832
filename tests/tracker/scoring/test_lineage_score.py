"""Scores of lineages: equal to those of traccuracy and py-ctcmetrics, and what single mistakes cost."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.points import Tracks
from auctrack.tracker.scoring.lineage_score import LineageScore, score_lineages

from .lineage_movies import as_tracks, dividing_cells, spoiled

FIELD = {
    0: {
        "node_f1": 0.9387755102040816,
        "edge_f1": 0.8256880733944955,
        "DET": 0.9429752066115702,
        "TRA": 0.9077757685352622,
        "LNK": 0.6608695652173913,
        "CHOTA": 0.6871419109485601,
        "HOTA": 0.7407426231152314,
        "CT": 0.28865979381443296,
        "TF": 0.7657452071737786,
        "BC": 0.5714285714285715,
        "CCA": 0.7272727272727273,
        "correct_divisions": 10,
    },
    1: {
        "node_f1": 0.9511111111111111,
        "edge_f1": 0.8888888888888888,
        "DET": 0.9654545454545455,
        "TRA": 0.9378980891719745,
        "LNK": 0.7435897435897436,
        "CHOTA": 0.7859413486652542,
        "HOTA": 0.7729182346164422,
        "CT": 0.15384615384615385,
        "TF": 0.8047195558065124,
        "BC": 0.7368421052631577,
        "CCA": 0.5,
        "correct_divisions": 7,
    },
    5: {
        "node_f1": 0.9209302325581395,
        "edge_f1": 0.782608695652174,
        "DET": 0.9092592592592592,
        "TRA": 0.8686131386861313,
        "LNK": 0.5816993464052287,
        "CHOTA": 0.6343680410570928,
        "HOTA": 0.7153747855102542,
        "CT": 0.33707865168539325,
        "TF": 0.7833916900093371,
        "BC": 0.4827586206896552,
        "CCA": 0.6545454545454545,
        "correct_divisions": 7,
    },
}
"""By seed of `spoiled(dividing_cells)`, at a tolerance of 2 and one frame for divisions: node and edge F1, DET, TRA,
LNK, CHOTA and right divisions by traccuracy 0.4.3; HOTA, CT, TF, BC and CCA by py-ctcmetrics 1.3.3, TF without the
`break` of which its source says that it makes the figure depend on the order of labels."""


@pytest.mark.parametrize("seed", FIELD)
def test_the_figures_are_those_of_the_field(seed: int):
    rng = np.random.default_rng(seed)
    truth = dividing_cells(rng)
    score = score_lineages(as_tracks(spoiled(rng, truth)), as_tracks(truth), tolerance=2.0, frame_tolerance=1)
    summary = score.summary()
    assert {name: summary[name] for name in FIELD[seed]} == pytest.approx(FIELD[seed], abs=1e-12)


def family(divides_at: int, *, ends: int = 8, third: bool = False, mother: bool = True) -> Tracks:
    """One cell in the plane that divides before a frame into two, or three."""
    rows = [(0, frame, 0.0) for frame in range(divides_at)]
    places = (-3.0, 3.0, 9.0)[: 3 if third else 2]
    rows += [(name + 1, frame, x) for name, x in enumerate(places) for frame in range(divides_at, ends)]
    table = pd.DataFrame(rows, columns=["track_id", "frame", "x"]).assign(y=0.0)
    return Tracks(table, parents={name + 1: [0] for name in range(len(places))} if mother else {})


def scored(found: Tracks, truth: Tracks, **options: int) -> LineageScore:
    return score_lineages(found, truth, tolerance=4.0, **options)


def test_a_lineage_is_right_by_every_score():
    summary = scored(family(4), family(4)).summary()
    ones = ("node_f1", "edge_f1", "division_f1", "DET", "TRA", "LNK", "CHOTA", "HOTA", "CT", "TF", "BC")
    assert {summary[name] for name in ones} == {1.0}
    assert summary["AOGM"] == 0.0


@pytest.mark.parametrize("found_at", [2, 3, 5, 6])
def test_a_division_some_frames_off_is_right_within_that_many(found_at: int):
    off = abs(found_at - 4)
    truth, found = family(4), family(found_at)
    assert scored(found, truth, frame_tolerance=off - 1).divisions.correct == 0
    assert scored(found, truth, frame_tolerance=off).divisions.correct == 1
    assert scored(found, truth, frame_tolerance=off).bc == 1.0


def test_a_daughter_too_many_is_no_right_branching():
    assert scored(family(4, third=True), family(4)).bc == 0.0


def test_without_its_mother_a_division_is_two_missed_links():
    score = scored(family(4, mother=False), family(4))
    assert (score.repairs.missed_edges, score.repairs.spurious_edges, score.repairs.aogm) == (2, 0, 3.0)
    assert (score.divisions.real, score.divisions.predicted) == (1, 0)
    assert score.chota < score.hota == 1.0


def test_a_link_to_one_daughter_alone_has_the_wrong_meaning():
    both, one = family(4), family(4)
    one = Tracks(one.table, parents={1: [0]})
    score = scored(one, both)
    assert (score.repairs.missed_edges, score.repairs.wrong_meanings) == (1, 1)


def test_tracks_meet_where_one_particle_takes_over_from_two():
    table = pd.DataFrame(
        [(0, 0, -3.0), (0, 1, -3.0), (1, 0, 3.0), (1, 1, 3.0), (2, 2, 0.0), (2, 3, 0.0)],
        columns=["track_id", "frame", "x"],
    ).assign(y=0.0)
    merged = Tracks(table, parents={2: [0, 1]})
    score = scored(merged, merged)
    assert (score.chota, score.repairs.tra, score.ct, score.divisions.real) == (1.0, 1.0, 1.0, 0)


def test_a_gap_is_one_link():
    rows = pd.DataFrame({"track_id": 0, "frame": [0, 1, 3, 4], "y": 0.0, "x": 0.0})
    whole = pd.DataFrame({"track_id": 0, "frame": range(5), "y": 0.0, "x": 0.0})
    score = scored(Tracks(rows), Tracks(whole))
    assert (score.edges.real, score.edges.predicted, score.edges.correct) == (4, 3, 2)
    assert (score.repairs.missed_nodes, score.repairs.missed_edges, score.repairs.spurious_edges) == (1, 2, 1)


def test_what_cannot_be_judged_is_none():
    nothing = Tracks(pd.DataFrame({"track_id": [0], "frame": [0], "y": [0.0], "x": [0.0]}))
    summary = scored(nothing, nothing).summary()
    assert [name for name in ("division_f1", "edge_f1", "LNK", "BC", "CCA") if summary[name] is not None] == []
    empty = Tracks(nothing.table.iloc[:0])
    score = scored(empty, empty)
    assert all(math.isnan(value) for value in (score.chota, score.hota, score.ct, score.repairs.det, score.repairs.tra))
    assert scored(empty, nothing).repairs.tra == scored(empty, nothing).chota == 0.0


def test_a_negative_frame_tolerance_is_refused():
    with pytest.raises(InvalidSetting, match="frame_tolerance"):
        scored(family(4), family(4), frame_tolerance=-1)

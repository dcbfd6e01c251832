"""The counts every run reports agree with what happened: the papers' Figure 2 and tables are drawn from them."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.cardinality import maximum_matching
from auctrack.matching.cardinality.gpu_persistent import phases_of

from .conftest import GRAPHS

PHASED = ["hopcroft-karp", "hkdw", "p-dbfs", "parallel-hopcroft-karp", "apfb", "apsb"]


@pytest.mark.parametrize("algorithm", PHASED)
def test_phases_levels_and_frontiers_fit(edges, algorithm):
    stats = maximum_matching(edges, algorithm, device="cpu").stats
    assert len(stats["levels"]) == len(stats["frontiers"]) == stats["phases"]
    assert [len(sizes) for sizes in stats["frontiers"]] == stats["levels"]
    assert len(stats["phase_seconds"]) == stats["phases"]
    assert 0 <= sum(stats["phase_seconds"]) <= stats["seconds"]["search"]


@pytest.mark.parametrize("algorithm", [*PHASED, "pothen-fan", "parallel-pothen-fan"])
def test_augmentations_add_up(edges, maximum, algorithm):
    stats = maximum_matching(edges, algorithm, device="cpu").stats
    assert stats["initial_size"] + sum(stats["augmentations"]) + sum(stats.get("extra_augmentations", [])) == maximum


def test_frontiers_start_at_the_free_vertices(edges):
    n_rows, n_columns = edges.shape
    rows_first = maximum_matching(edges, "hopcroft-karp", "none", "cpu").stats["frontiers"][0]
    assert rows_first[:1] == ([n_rows] if n_rows else [])
    assert maximum_matching(edges, "apfb", "none", "cpu").stats["frontiers"][0][0] == n_columns


def test_apsb_searches_no_deeper_than_apfb_in_its_first_phase(edges):
    shallow, deep = (maximum_matching(edges, name, device="cpu").stats["levels"][0] for name in ("apsb", "apfb"))
    assert shallow <= deep


def test_hopcroft_karp_follows_the_chain_in_one_phase():
    """From nothing, shortest paths are single edges; cheap leaves one row whose only path has every row on it."""
    edges = GRAPHS["chain"]()
    start = np.append(np.arange(299)[::-1], -1)
    stats = maximum_matching(edges, "hopcroft-karp", start, "cpu").stats
    assert stats["levels"][0] == 300
    assert stats["augmentations"] == [1]


def test_disjoint_trees_count_their_rows_by_depth():
    """One tree, the chain's: a row at each depth, then nothing is left to search."""
    edges = GRAPHS["chain"]()
    start = np.append(np.arange(299)[::-1], -1)
    stats = maximum_matching(edges, "p-dbfs", start, "cpu").stats
    assert stats["frontiers"] == [[1] * 300, []]


def test_what_a_launch_reports_is_told_phase_by_phase():
    """Numbers of phases in rows, then the sizes of all levels one after another, cut where the room ended."""
    numbers = np.array([[9, 2], [5, 3], [1, 2], [0, 0]], np.int32)
    phases = phases_of(("free_rows", "levels"), numbers.ravel(), 3, np.array([9, 4, 5, 7, 2, 1], np.int32))
    assert phases == [
        {"free_rows": 9, "levels": 2, "frontiers": [9, 4]},
        {"free_rows": 5, "levels": 3, "frontiers": [5, 7, 2]},
        {"free_rows": 1, "levels": 2, "frontiers": [1]},
    ]


def test_push_relabel_counts():
    edges = GRAPHS["particle_gate"]()
    often = maximum_matching(edges, "push-relabel", device="cpu", k=0.02).stats
    seldom = maximum_matching(edges, "push-relabel", device="cpu", k=2.0).stats
    assert often["global_relabels"] > seldom["global_relabels"] >= 1
    assert often["active_rows"][-1] == seldom["active_rows"][-1] == 0
    assert seldom["pushes"] >= edges.shape[0] - seldom["initial_size"] - seldom["active_rows"][0]


def test_g_pr_relabels_by_its_strategy():
    edges = GRAPHS["particle_gate"]()
    fixed = maximum_matching(edges, "g-pr", device="cpu", strategy=("fix", 10)).stats
    assert fixed["global_relabels"] == len(fixed["relabel_seconds"]) == fixed["loops"] // 10 + 1
    assert len(fixed["active_columns"]) == fixed["loops"]


def test_g_pr_gives_up_what_a_gap_cuts_off():
    """More columns than rows: gaps open as the last free rows go, and spare the columns left over their climb."""
    edges = GRAPHS["particle_gate"]()[:1200]
    plain, gapped = (
        maximum_matching(edges, "g-pr", device="cpu", strategy=("fix", 10**6), gap=gap).stats for gap in (False, True)
    )
    assert gapped["gap_relabels"] > 0 == plain["gap_relabels"]
    assert gapped["pushes"] < plain["pushes"]

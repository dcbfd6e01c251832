"""What links are worth by a truth, and the benchmark that says it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from auctrack.plugins.bench.measure.harness import WrongAnswer
from auctrack.plugins.bench.tracking.attainable import attainable_f1
from auctrack.plugins.bench.tracking.known_links import UNKNOWN, link_facts
from auctrack.plugins.bench.tracking.movies import LinkingInput, simulated
from auctrack.plugins.cli.app import app
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.points import Points


def movie(rows, *, divides=False):
    """A movie of rows (frame, true_id) or (frame, true_id, parent_id)."""
    table = pd.DataFrame(rows, columns=["frame", "true_id", "parent_id"][: len(rows[0])])
    points = Points(table.assign(z=0.0, y=np.arange(len(rows), dtype=float), x=0.0))
    return LinkingInput(points, 1.0, 1.0, 1, divides)


def test_steps_and_gaps_are_judged_apart_and_together():
    given = movie([(0, 7), (1, 7), (3, 7), (0, 8), (1, -1), (1, 8)])
    facts = link_facts(given, [[0, 1], [1, 2], [3, 4]])
    assert facts["f1"] == pytest.approx(0.5)  # 0→1 of two made and two real
    assert (facts["gap_recall"], facts["gap_precision"]) == (1, 1)
    assert facts["f1_with_gaps"] == pytest.approx(2 / 3)
    assert link_facts(given, [[0, 1]])["gap_precision"] is None


def test_links_of_which_the_truth_says_nothing_are_not_judged():
    given = movie([(0, 7), (1, 7), (0, UNKNOWN), (1, -1)])
    assert link_facts(given, [[0, 1], [2, 3]])["f1"] == 1
    assert link_facts(movie([(0, 7), (1, 7), (0, -1), (1, -1)]), [[0, 1], [2, 3]])["f1"] == pytest.approx(2 / 3)


def test_a_division_is_right_with_both_children_and_is_no_wrong_link():
    rows = [(0, 1, -1), (1, 1, -1), (2, 2, 1), (2, 3, 1), (2, 4, -1)]
    both = link_facts(movie(rows, divides=True), [[0, 1], [1, 2], [1, 3]])
    assert (both["division_f1"], both["f1"]) == (1, 1)
    other = link_facts(movie(rows, divides=True), [[0, 1], [1, 2], [1, 4]])
    assert other["division_f1"] == 0
    assert other["f1"] == pytest.approx(2 / 3)


def test_two_links_into_a_detection_are_no_answer_and_two_out_of_it_only_where_cells_divide():
    rows = [(0, 1), (0, 2), (1, 1), (1, 2)]
    with pytest.raises(WrongAnswer):
        link_facts(movie(rows, divides=True), [[0, 2], [1, 2]])
    with pytest.raises(WrongAnswer):
        link_facts(movie(rows), [[0, 2], [0, 3]])
    link_facts(movie(rows, divides=True), [[0, 2], [0, 3]])


def test_probabilities_are_held_to_the_share_of_right_links():
    n = 4000
    given = movie([(0, k) for k in range(n)] + [(1, k) for k in range(n)])
    heads, rng = np.arange(n), np.random.default_rng(0)
    probability = np.where(rng.random(n) < 0.05, 0.5, 1.0)
    swapped = np.flatnonzero(probability < 1)
    swapped = swapped[: len(swapped) // 4 * 2].reshape(-1, 2)  # every other doubtful link is wrong
    heads[swapped] = heads[swapped[:, ::-1]]
    links = np.column_stack([np.arange(n), n + heads])
    facts = link_facts(given, links, probability)
    assert facts["wrong"] == swapped.size
    assert facts["expected_wrong"] == pytest.approx(facts["wrong"], rel=0.05)
    assert facts["calibration_error"] < 0.005
    assert facts["among_least_sure"] > 0.9
    assert link_facts(given, links, np.ones(n))["calibration_error"] == pytest.approx(swapped.size / n)


@pytest.mark.parametrize("step", [0.05, 0.4])
def test_no_method_can_expect_more_than_trackings_by_the_true_model_agree_on(step):
    given = simulated(1, particles=300, frames=6, step=step, persistence=0.5, missed=0.0, false=0.0)
    links = link_points(given.points).links[["source", "target"]].to_numpy()
    most, reached = attainable_f1(given, trackings=60), link_facts(given, links)["f1"]
    assert most == pytest.approx(reached, abs=0.01)
    assert most > 0.999 if step < 0.1 else 0.9 < most < 0.99


def test_the_benchmark_says_which_real_movies_are_not_there(tmp_path):
    folder = tmp_path / "data" / "tcells_3d"
    folder.mkdir(parents=True)
    table = [(frame, 0.0, 5.0 * who, 0.1 * frame, who) for who in range(30) for frame in range(8)]
    pd.DataFrame(table, columns=["frame", "z", "y", "x", "true_id"]).to_csv(folder / "tracks_um.csv", index=False)
    options = ("--quick", "--sizes", "40", "--only", "*/auctrack*", "--data", str(tmp_path / "data"))
    outcome = CliRunner().invoke(app, ["bench", "linking", *options, "-o", str(tmp_path)])
    assert outcome.exit_code == 0, outcome.output
    cells = json.loads((tmp_path / "linking.json").read_text())["cells"]
    found = {cell["series"]: cell["facts"][0] for cell in cells if cell["variant"] == "auctrack"}
    assert found["T cells"]["f1"] == 1
    assert found["step 0.3, persistence 0.9"]["f1"] > 0.9
    assert (tmp_path / "linking-reliability.png").exists()
    page = (tmp_path / "linking.md").read_text()
    assert "not there (--data DIR): mosquito swarm" in page
    assert "least sure" in page

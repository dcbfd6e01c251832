"""`auctrack bench`: each benchmark once, at the smallest size, from the command line to its files."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from auctrack.plugins.cli.app import app


@pytest.fixture
def bench(tmp_path):
    def run(*arguments, code=0):
        outcome = CliRunner().invoke(app, ["bench", *arguments, "-o", str(tmp_path)])
        assert outcome.exit_code == code, outcome.output
        return outcome.output

    return run


def cells(folder, name):
    return json.loads((folder / f"{name}.json").read_text())["cells"]


def answered(folder, name, **wanted):
    """The cells with times, of these experiments, variants, …"""
    found = [cell for cell in cells(folder, name) if all(cell[key] == value for key, value in wanted.items())]
    assert found, wanted
    return [cell for cell in found if cell["seconds"]]


def test_tracking(bench, tmp_path):
    printed = bench("tracking", "--quick", "--sizes", "12,20", "--repetitions", "1", "--limit", "5")
    assert "Figure 6" in printed
    assert "20 particles" in printed
    drawn = (
        "figure-5",
        "figure-6",
        *(f"accuracy-{what}" for what in ("persistence", "step", "missed", "false", "range")),
    )
    for name in ("tracking.md", *(f"tracking-{what}.png" for what in drawn)):
        assert (tmp_path / name).stat().st_size > 1000
    assert len(answered(tmp_path, "tracking", experiment="figure-6", variant="auctrack, CPU")) == 2
    harder = {cell["series"]: cell["facts"][0]["f1"] for cell in answered(tmp_path, "tracking", variant="auctrack")}
    assert harder["step 0.1"] > harder["step 0.6"]
    assert all(f1 > 0.8 for f1 in harder.values())
    assert {series.split()[0] for series in harder} == {"persistence", "step", "missed", "false", "range"}


def test_a_second_run_measures_nothing_again_and_says_where_it_ran_and_of_which_code(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("auctrack.plugins.bench.measure.machine.commit_of", lambda: "1edabfb")
    arguments = ("lap", "--quick", "--sizes", "30", "--repetitions", "2", "--clock", "cpu")
    bench(*arguments)
    before = cells(tmp_path, "lap")
    assert "CPU seconds" in bench(*arguments)
    after = cells(tmp_path, "lap")
    assert [c["seconds"] for c in before] == [c["seconds"] for c in after]
    record = json.loads((tmp_path / "lap.json").read_text())
    assert len(record["sessions"]) == 2
    assert {"processor", "cores", "gpus", "versions"} <= set(record["sessions"][0]["machine"])
    assert record["sessions"][0]["commit"] == "1edabfb"
    assert "; commit 1edabfb. Times are CPU seconds" in " ".join((tmp_path / "lap.md").read_text().split())


def test_what_was_measured_before_a_ctrl_c_can_be_read_and_the_same_command_goes_on(bench, tmp_path, monkeypatch):
    from auctrack.plugins.bench.measure import harness

    repeat, calls = harness._repeat, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        repeat(*arguments)

    monkeypatch.setattr(harness, "_repeat", interrupted)
    command = ("lap", "--quick", "--sizes", "30", "--repetitions", "1", "--only", "table-1/*CPU,table-3/*CPU")
    bench(*command, code=130)
    assert "Table 1" in (tmp_path / "lap.md").read_text()
    assert "Table 3" not in (tmp_path / "lap.md").read_text()
    assert "Table 3" in bench(*command)
    assert len(calls) == 3 + 6  # two of the eight were there


def test_lap_solves_every_family_to_the_same_optimum(bench, tmp_path):
    printed = bench("lap", "--quick", "--sizes", "40", "--repetitions", "1")
    assert "paper: OMP-8" in printed
    for series in ("costs in [0, n/10]", "costs in [0, n]", "costs in [0, 10n]"):
        found = answered(tmp_path, "lap", experiment="table-3", series=series)
        assert len({cell["facts"][0]["cost"] for cell in found}) == 1
    assert (tmp_path / "lap-figure-2.png").exists()


def test_auction_tells_the_work_of_every_kind_of_problem(bench, tmp_path):
    printed = bench("auction", "--quick", "--sizes", "60", "--repetitions", "1")
    assert "bids a row" in printed
    for experiment in (
        "dense",
        "unmatched",
        "differing-dense",
        "points",
        "differing-points",
        "gated",
        "sparse",
        "batch",
        "point-batch",
        "unequal",
    ):
        for cell in answered(tmp_path, "auction", experiment=experiment):
            assert cell["facts"][0]["instance_bytes"] > 0
            assert cell["facts"][0]["gap"] <= 1e-9 * cell["facts"][0]["cost"]
    assert (tmp_path / "auction-gated.png").exists()


def test_a_refusal_is_an_answer_when_hall_s_condition_fails(bench, tmp_path):
    bench("auction", "--quick", "--repetitions", "1", "--only", "short/*CPU")
    found = answered(tmp_path, "auction", experiment="short")
    assert {cell["variant"] for cell in found} == {"auction, CPU", "jv, CPU"}
    assert all(cell["facts"][0]["violators"] > 1 for cell in found)


def test_only_what_matches_is_measured(bench, tmp_path):
    printed = bench("auction", "--quick", "--sizes", "30", "--repetitions", "1", "--only", "gated/jv*,batch/auto*")
    assert "Gates with" in printed
    assert "Point sets" not in printed
    assert {(c["experiment"], c["variant"]) for c in cells(tmp_path, "auction")} == {
        ("gated", "jv, CPU"),
        ("batch", "auto, CPU"),
    }


def test_what_only_leaves_out_is_neither_shown_nor_drawn(bench, tmp_path):
    """The paper's own columns, which are always there, keep no table alive."""
    printed = bench(
        "lap", "--quick", "--sizes", "5000", "--limit", "9", "--repetitions", "1", "--only", "table-1/auct*"
    )
    assert "Table 1" in printed
    assert "Table 3" not in printed
    assert "Table 5" not in printed
    assert [path.name for path in tmp_path.glob("*.png")] == ["lap-figure-2.png"]


def test_under_the_cpu_clock_the_steps_of_a_cpu_are_shares_not_wall_seconds(bench):
    printed = bench(
        "lap", "--quick", "--sizes", "40", "--repetitions", "1", "--only", "table-3/classical? CPU", "--clock", "cpu"
    )
    assert re.search(r"reduction \d+ %, search \d+ %", printed)


def test_a_pattern_that_names_nothing_ends_in_a_sentence(bench):
    assert "table-9/*" in bench("lap", "--quick", "--only", "table-9/*", code=2)


def test_cardinality_on_a_file_shows_the_papers_row_of_that_graph(bench, tmp_path):
    from scipy.io import mmwrite
    from scipy.sparse import random_array

    path = tmp_path / "amazon0505.mtx"
    mmwrite(path, random_array((60, 60), density=0.05, rng=1))
    printed = bench("cardinality", str(path), "--quick", "--repetitions", "1")
    assert "22.7 s" in printed  # P-DBFS in Table 2
    assert "395,397" not in printed  # the size of theirs is not claimed for ours
    sizes = {cell["facts"][0]["maximum"] for cell in answered(tmp_path, "cardinality", experiment="algorithms")}
    assert len(sizes) == 1
    assert {cell["series"] for cell in cells(tmp_path, "cardinality")} >= {"amazon0505", "amazon0505, permuted"}


def test_cardinality_families(bench, tmp_path):
    bench("cardinality", "--quick", "--sizes", "6", "--repetitions", "1")
    for cell in answered(tmp_path, "cardinality", experiment="algorithms"):
        assert cell["facts"][0]["maximum"] <= 64
    assert (tmp_path / "cardinality-performance-permuted.png").exists()


@pytest.mark.gpu
def test_cardinality_on_a_gpu(bench, tmp_path):
    wanted = "algorithms/auctrack*,algorithms/APFB*,algorithms/G-PR,table-1/*,figure-1/*"
    bench("cardinality", "--quick", "--sizes", "8", "--repetitions", "1", "--only", wanted)
    for cell in cells(tmp_path, "cardinality"):
        assert cell["seconds"], cell["why_not"]
    sizes = {(cell["series"], cell["facts"][0]["maximum"]) for cell in cells(tmp_path, "cardinality")}
    assert len(sizes) == len({series for series, _ in sizes})


def test_a_part_of_cardinality_shows_its_table_only(bench, tmp_path):
    printed = bench("cardinality", "--quick", "--sizes", "6", "--repetitions", "1", "--only", "figure-2/*")
    assert "Figure 2" in printed
    assert "Table 1" not in printed
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "cardinality-figure-2-delaunay.png",
        "cardinality-figure-2-road.png",
    }


def test_peers_on_the_same_inputs_as_ratios(bench, tmp_path):
    printed = bench("peers", "--quick", "--sizes", "40", "--repetitions", "1")
    assert " ×" in printed
    for experiment in ("assignment", "gated", "cardinality", "detection", "linking"):
        assert answered(tmp_path, "peers", experiment=experiment, variant="auctrack")
    assert {cell["size"] for cell in cells(tmp_path, "peers")} == {40}
    assert {path.name for path in tmp_path.glob("*.png")} == {
        f"peers-{part}.png" for part in ("assignment", "gated", "cardinality", "detection", "linking")
    }
    for cell in cells(tmp_path, "peers"):
        assert not (cell["why_not"] or "").startswith("wrong"), cell


def test_what_is_not_here_is_said(bench, tmp_path):
    from auctrack.matching.device import cuda

    if cuda.is_available():
        pytest.skip("there is a GPU here")
    assert "needs a CUDA device" in bench("lap", "--quick", "--sizes", "20", "--repetitions", "1")
    assert answered(tmp_path, "lap", variant="auction, GPU") == []


def test_where_nothing_can_be_measured_the_reason_is_said_and_the_run_fails(bench, monkeypatch):
    monkeypatch.setattr("auctrack.matching.device.cuda.is_available", lambda: False)
    quick = ("auction", "--quick", "--sizes", "30", "--repetitions", "1", "--only")
    printed = bench(*quick, "points/*GPU,gated/*GPU", code=1)
    assert "needs a CUDA device" in printed
    assert "nothing could be measured" in printed
    printed = bench(*quick, "points/*GPU,gated/jv*")
    assert "needs a CUDA device" in printed
    assert "nothing could be measured" not in printed


def test_three_repetitions_see_the_papers_three_instances(bench, tmp_path):
    bench("lap", "--quick", "--sizes", "40", "--repetitions", "3", "--only", "table-1/auctrack*")
    (cell,) = answered(tmp_path, "lap")
    assert len({facts["cost"] for facts in cell["facts"]}) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lap", "--sizes", "10,x"), "--sizes"),
        (("lap", "--clock", "sun"), "--clock"),
        (("peers", "--repetitions", "0"), "--repetitions"),
        (("nothing",), "nothing"),
    ],
)
def test_wrong_usage_ends_in_a_sentence(bench, arguments, said):
    assert said in bench(*arguments, code=2)


@pytest.mark.parametrize(
    "text",
    [
        "Shall I compare thee",
        "%%MatrixMarket matrix coordinate pattern general\n5 5 2\n1 1\n2 9\n",
        "%%MatrixMarket matrix coordinate pattern general\n5 5 3\n1 1\n",
    ],
    ids=["no matrix", "a column that is not there", "fewer entries than promised"],
)
def test_a_file_that_is_no_matrix_ends_in_a_sentence(bench, tmp_path, text):
    (tmp_path / "poem.mtx").write_text(text)
    said = bench("cardinality", str(tmp_path / "poem.mtx"), "--quick", code=1)
    assert "poem.mtx" in said
    assert ".." not in said


def test_a_file_that_is_not_there_ends_in_a_sentence(bench, tmp_path):
    said = bench("cardinality", str(tmp_path / "nowhere.mtx"), "--quick", code=1)
    assert "nowhere.mtx cannot be read as a MatrixMarket file" in " ".join(said.split())


def test_correcting_counts_looks_by_the_order_and_times_each_act(bench, tmp_path):
    printed = bench("correcting", "--quick", "--sizes", "60", "--repetitions", "1")
    assert "our queue" in printed
    assert (tmp_path / "correcting-looked-at.png").stat().st_size > 1000
    looked = {
        cell["variant"]: cell["facts"][0]
        for cell in answered(tmp_path, "correcting", series="step 0.6, persistence 0.9")
    }
    assert looked["our queue"]["looked"] < 0.5 * looked["random"]["looked"]
    assert looked["our queue"]["corrected"] > 0
    assert {cell["variant"] for cell in answered(tmp_path, "correcting", experiment="acting")} >= {"break a link"}


def test_nothing_is_written_unasked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["bench", "lap", "--quick", "--sizes", "30", "--repetitions", "1"]).output
    assert "Table" in printed
    assert "--output" in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["lap", "cardinality"])
def test_where_the_papers_tables_are_not_installed_their_command_says_so(bench, monkeypatch, name):
    monkeypatch.setattr("auctrack.plugins.cli.commands.bench.find_spec", lambda *_: None)
    assert "not in the installed package" in bench(name, "--quick", code=1)

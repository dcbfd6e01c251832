"""Tables 4 and 5 of Date & Nagi: our times and efficiencies beside the paper's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auctrack.matching import DeviceMemoryExceeded, HungarianTree, ShardedCosts, solve
from auctrack.matching.device import cuda
from auctrack.plugins.bench.assignment.generated_costs import GeneratedCosts
from auctrack.plugins.bench.assignment.lap_instances import uniform_costs
from auctrack.plugins.bench.benchmark import Effort
from auctrack.plugins.bench.draw.tables import NOTHING, Table
from auctrack.plugins.bench.measure.record import Cell, Record
from auctrack.plugins.bench.reproduced import lap_large, lap_scaling


@pytest.fixture
def experiment():
    return lap_scaling.scaling(Effort())


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """The classical method took 1 s on one GPU at 10,000 and at 20,000 4 s on one and 2 s on four."""
    record = Record(tmp_path / "record.json", "lap", sessions=[{"machine": {}}])
    for n, gpus, seconds in ((10_000, 1, 1.0), (20_000, 1, 4.0), (20_000, 4, 2.0)):
        name = lap_scaling.METHODS[2].name(gpus)
        record.keep(Cell("table-5", lap_scaling.SERIES, n, name, device="cuda:0", seconds=[seconds]))
    return record


def _row(table: Table, label: str) -> dict[str, str]:
    return next(dict(zip(table.columns, row, strict=True)) for row in table.rows if row[0] == label)


def test_efficiencies_are_those_of_the_paper_and_ours(experiment, record):
    weak, strong = lap_scaling.tables(experiment, record)
    row = _row(weak, "n = 20,000, 4 GPUs")
    assert (row["classical"], row["paper: CU-CLASS"]) == ("2.00 s (0.50)", "15.0 s (0.69)")
    row = _row(strong, "n = 20,000, 4 GPUs")
    assert (row["classical"], row["paper: CU-CLASS"]) == ("2.00 s (0.50)", "15.1 s (0.47)")
    assert _row(strong, "n = 20,000, 1 GPU")["classical"] == "4.00 s (1.00)"
    assert _row(strong, "n = 14,142, 2 GPUs")["classical"] == NOTHING


def test_figures_are_drawn_of_what_is_there(experiment, record, tmp_path):
    for path in lap_scaling.figures(experiment, record, tmp_path):
        assert path.stat().st_size > 1000


def test_devices_that_are_not_there_are_said_to_be_missing(experiment, monkeypatch):
    if not cuda.is_available():
        assert all("CUDA device" in variant.missing for variant in experiment.variants)
    device = cuda.Device(0, "GPU", (9, 0), 2**30, 4)
    monkeypatch.setattr(cuda, "devices", lambda: (device, device))
    missing = {v.name: v.missing for v in lap_scaling.scaling(Effort()).variants}
    assert missing["classical, 2 GPUs"] is None
    assert missing["classical, 4 GPUs"] == "needs 4 CUDA devices; there are 2"


def test_large_problems_give_every_gpu_as_many_costs():
    assert [lap_large.rows(600, gpus) for gpus in (1, 2, 4)] == [600, 849, 1200]
    for of_one in lap_large.ROWS:
        for gpus in lap_large.GPUS:
            assert lap_large.rows(of_one, gpus) ** 2 / gpus == pytest.approx(of_one**2, rel=1e-5)


def test_the_table_of_large_problems_has_times_efficiencies_and_memory(tmp_path: Path):
    record = Record(tmp_path / "record.json", "lap", sessions=[{"machine": {}}])
    for n, gpus, seconds in ((100_000, 1, 0.2), (200_000, 4, 0.25)):
        name = lap_large.OURS[0].name(gpus)
        experiment, used = f"large-{gpus}-classical", {"gpu_bytes": [50_000_000_000] * gpus}
        record.keep(Cell(experiment, "costs in [0, 10n]", n, name, seconds=[seconds] * 2, facts=[used] * 2))
    table = lap_large.table(lap_large.large(Effort()), Effort(), record)
    row = _row(table, "[0, 10n], n = 200,000 (160 GB), 4 GPUs")
    assert (row["classical"], row["classical: memory of each GPU"]) == ("250 ms (0.80)", "50.0 GB")
    assert [row[0].partition(" (")[0] for row in table.rows] == ["[0, 10n], n = 100,000", "[0, 10n], n = 200,000"]
    assert table.columns == ("", "classical", "classical: memory of each GPU")


def test_large_problems_say_which_gpus_they_lack(monkeypatch):
    device = cuda.Device(0, "GPU", (9, 0), 2**30, 4)
    monkeypatch.setattr(cuda, "devices", lambda: (device,))
    missing = {e.name: variant.missing for e in lap_large.large(Effort()) for variant in e.variants}
    assert missing["large-1-classical"] is None
    assert missing["large-4-classical"] == "needs 4 CUDA devices; there are 1"


@pytest.mark.multigpu
@pytest.mark.parametrize("axis", [0, 1])
def test_costs_made_on_several_gpus_are_those_of_the_host(axis: int):
    gpus = [f"cuda:{device.index}" for device in cuda.devices()]
    shards = GeneratedCosts(90, "10n", 2).on(gpus, axis)
    assert isinstance(shards, ShardedCosts)
    np.testing.assert_array_equal(shards.on_host().cost_matrix, uniform_costs(90, "10n", 2))
    solver = "auto" if axis == 0 else HungarianTree(variant="paper")  # which alone splits columns
    facts = GeneratedCosts(90, "10n", 2).checked(solve(shards, solver), gpus)
    assert facts["cost"] == solve(uniform_costs(90, "10n", 2), "jv", "cpu").cost
    assert len(facts["gpu_bytes"]) == len(gpus)


@pytest.mark.gpu
def test_costs_that_a_gpu_cannot_hold_are_refused():
    with pytest.raises(DeviceMemoryExceeded, match="3,000,000 × 3,000,000 of 3,000,000 × 3,000,000 costs, on cuda:0"):
        GeneratedCosts(3_000_000, "n", 1).on(["cuda:0"])

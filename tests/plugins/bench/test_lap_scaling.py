"""Tables 4 and 5 of Date & Nagi: our times and efficiencies beside the paper's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from auctrack.matching import cuda, solve
from auctrack.plugins.bench import lap_scaling
from auctrack.plugins.bench.benchmark import Effort
from auctrack.plugins.bench.record import Cell, Record
from auctrack.plugins.bench.tables import NOTHING, Table


@pytest.fixture
def experiment():
    return lap_scaling.scaling(Effort(), lambda n, seed: (n, seed))


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
    assert _row(strong, "n = 20,000, 1 GPUs")["classical"] == "4.00 s (1.00)"
    assert _row(strong, "n = 14,142, 2 GPUs")["classical"] == NOTHING


def test_figures_are_drawn_of_what_is_there(experiment, record, tmp_path):
    for path in lap_scaling.figures(experiment, record, tmp_path):
        assert path.stat().st_size > 1000


def test_devices_that_are_not_there_are_said_to_be_missing(experiment, monkeypatch):
    if not cuda.is_available():
        assert all("CUDA device" in variant.missing for variant in experiment.variants)
    device = cuda.Device(0, "GPU", (9, 0), 2**30, 4)
    monkeypatch.setattr(cuda, "devices", lambda: (device, device))
    missing = {v.name: v.missing for v in lap_scaling.scaling(Effort(), lambda n, seed: (n, seed)).variants}
    assert missing["tree, 2 GPUs"] is None
    assert missing["tree, 4 GPUs"] == "needs 4 CUDA devices; there are 2"


def test_answers_are_checked_against_the_costs_as_the_devices_got_them(experiment):
    given = SimpleNamespace(values=np.random.default_rng(0).integers(0, 300, (30, 30)))
    answer = solve(lap_scaling.as_solved(given.values), "hungarian-classical", device="cpu")
    for variant in experiment.variants:
        assert variant.check(given, answer)["cost"] == answer.cost

"""How many blocks a forest of all rows is grown by on a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.paths import gpu_paths
from auctrack.matching.paths.gpu_paths import EDGES_OF_A_THREAD, THREADS

MULTIPROCESSORS, RESIDENT = 4, 11
OF_A_BLOCK = EDGES_OF_A_THREAD * THREADS


@pytest.mark.parametrize(
    ("n_edges", "blocks"),
    [(0, 4), (4 * OF_A_BLOCK, 4), (7 * OF_A_BLOCK, 7), (100 * OF_A_BLOCK, 11)],
    ids=["no edges", "few", "more than a block a multiprocessor holds", "more than the GPU holds at once"],
)
def test_a_forest_has_a_block_a_multiprocessor_and_more_for_many_edges(
    n_edges: int, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "multiprocessors", lambda: MULTIPROCESSORS)
    monkeypatch.setattr(cuda, "resident_blocks", lambda *_: RESIDENT)
    graph: Any = SimpleNamespace(cost=np.broadcast_to(0.0, n_edges))
    assert gpu_paths._blocks_of_forest(graph, None) == blocks

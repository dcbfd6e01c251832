"""Exchanges of detections between tracks on a GPU, as in `exchanges` and `passed_over`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....matching.device import cuda
from ..gate.gpu_movie import launch
from ..motion.candidates.graph import Graph
from ..motion.inference.gpu_sweep import model_there
from ..motion.models.step_model import Packed

_ONE = 2.0**40
_KERNELS = str(Path(__file__).with_name("exchanges.cu"))


def exchange_odds(
    graph: Graph, links: tuple[Any, Any], allowed: Any, chains: tuple[Any, ...], model: Packed, *, linked: bool
) -> Any:
    """Return what `exchanges.exchange_odds` does, float64 (links,), to 2^-40, of links that all are candidates.

    Parameters
    ----------
    graph : Graph
    links : int (links,), int (links,)
        Sources and targets.
    allowed : bool (edges,)
    chains
        Displacements, base, densities, classes by the past, and ties; see `exchanges.chains_of`.
    model : tuple
    linked : bool
        Whether links know of the links before them.
    """
    cp, n = cuda.cupy(), graph.n
    source, target = (cp.asarray(ends, np.int32) for ends in links)
    kernels = cuda.load(_KERNELS, f"-DNDIM={graph.ndim}", f"-DCLASSES={chains[2].shape[1]}")
    out, into = cp.full(n, -1, np.int32), cp.full(n, -1, np.int32)
    count = np.int32(len(source))
    kernels["links_laid"](*launch(len(source)), (count, graph.indptr, graph.head, source, target, out, into))
    odds = cp.zeros(n, np.uint64)
    ways = graph.indptr, graph.tail, graph.head, graph.lag, allowed, out, into
    kernels["exchanged"](*launch(n), (np.int32(n), *ways, *chains, *model_there(model), np.int32(linked), odds))
    return odds[source].astype(np.float64) / _ONE

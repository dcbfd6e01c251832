"""The solvers that `bench cardinality` compares, and how their matchings are checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from .....matching.cardinality import BipartiteGraph, maximum_matching
from .....matching.cardinality.gpu_graph import DeviceGraph
from .....matching.cardinality.matching import Matching
from .....matching.device import cuda
from ...assignment.solver_variants import missing_device
from ...graphs.checking import Graph, checked, unseen
from ...measure.harness import Variant, as_it_is
from .. import deveci_euro_par_2013 as euro_par
from .record import ALGORITHM_NAMES, APFB, G_PR, G_PR_FORMS, OURS, RELABELLING, form_name, relabelling_name


def algorithms(gpu: str) -> list[Variant]:
    """The algorithms of both papers' tables, and ours."""
    return [
        papers_variant(APFB, "apfb", gpu, bfs="gpubfs-wr", launch="ct"),
        papers_variant(G_PR, "g-pr", gpu),
        papers_variant("P-DBFS", "p-dbfs"),
        papers_variant("P-PFP", "parallel-pothen-fan"),
        papers_variant("P-HK", "parallel-hopcroft-karp"),
        papers_variant("PFP", "pothen-fan"),
        papers_variant("HK", "hopcroft-karp"),
        papers_variant("PR", "push-relabel"),
        ours("cpu"),
        ours(gpu),
    ]


def forms(gpu: str) -> list[Variant]:
    """The forms of the GPU algorithm in Euro-Par's Table 1."""
    return [papers_variant(form_name(form), form[0], gpu, bfs=form[1], launch=form[2]) for form in euro_par.FORMS]


def level_counters(gpu: str) -> list[Variant]:
    """The algorithms of Figure 2: on the GPU, or without one in their plain form on the CPU, which counts the same."""
    device = gpu if cuda.is_available() else "cpu"
    return [
        papers_variant(f"{name}-{bfs.upper()}", algorithm, device, bfs=bfs)
        for algorithm, name in ALGORITHM_NAMES.items()
        for bfs in ("gpubfs", "gpubfs-wr")
    ]


def relabelling(gpu: str, strategies: tuple[tuple[str, float], ...] = RELABELLING) -> list[Variant]:
    """The forms of G-PR with each way to choose when it relabels."""
    return [
        papers_variant(relabelling_name(form, how), "g-pr", gpu, form=form, strategy=how)
        for form in G_PR_FORMS
        for how in strategies
    ]


def ours(device: str) -> Variant:
    """Our own choice, which gets a graph that nobody has looked at: transposing it counts."""
    label = OURS[device != "cpu"]
    return _variant(label, lambda graph: maximum_matching(unseen(graph), "auto", "auto", device), device)


def papers_variant(label: str, algorithm: str, device: str = "cpu", **options: Any) -> Variant:
    """A search of the papers after their cheap start; what it derives from a graph is there from the first call on."""
    return _variant(label, lambda graph: maximum_matching(graph, algorithm, "cheap", device, **options), device)


def _variant(label: str, run: Callable[[Graph], Matching], device: str) -> Variant:
    prepare = as_it_is if device == "cpu" else partial(_copied, device)
    return Variant(label, run, checked, prepare, device=device, missing=missing_device(device))


@lru_cache(maxsize=1)
def _copied(device: str, graph: BipartiteGraph) -> DeviceGraph:
    """Copy a graph to the GPU, once for all variants that take turns on it."""
    with cuda.using(device):
        return DeviceGraph.of(graph)

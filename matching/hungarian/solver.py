"""Solvers `hungarian-classical` and `hungarian-tree`: the options, and the code of each device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..certificate.matched import Matched, SolverMatching
from ..device import cuda
from ..named import named
from ..options import need_choice, need_whole_number
from ..presolve.groups import by_orientation, by_shape, one_by_one
from ..presolve.sharded import ShardedCosts
from ..problem import Problem

_ON_CPU = ".papers.date_nagi_2016.cpu"
"""Where the code of a CPU is: `auto` takes the Hungarian methods on GPUs only."""


class _Code(NamedTuple):
    """Where the methods of a solver are (see `named`), by variant and for matrices of one shape, and what they take.

    Several GPUs share the rows (axis 0) or the columns.
    """

    on_gpu: dict[str, str]
    on_gpus: dict[str, str]
    at_once: str
    split_axis: int


class _Hungarian:
    """What both solvers do: refuse unknown variants, choose the blocks that go together, and the code of a device."""

    name: ClassVar[str]
    devices: ClassVar[tuple[str, ...]] = ("cpu", "cuda", "several cuda")
    variants: ClassVar[tuple[str, ...]] = ("default", "paper")
    code: ClassVar[_Code]
    variant: Any  # of `variants`

    def __post_init__(self) -> None:
        need_choice("variant", self.variant, self.variants)

    def groups(self, problem: Problem, device: str) -> list[np.ndarray]:
        """Return the blocks that go together: edges all at once, and on a GPU small matrices of one shape."""
        if "," in device:
            return one_by_one(problem)
        if device == "cpu" or problem.kind == "sparse" or (problem.kind == "points" and problem.has_unmatched_cost):
            return by_orientation(problem)
        if self.variant == "paper":
            return one_by_one(problem)
        from .gpu_batch import fits_a_block

        return by_shape(problem, fits_a_block)

    def match(self, problem: Problem | ShardedCosts, device: str = "cpu") -> SolverMatching:
        """Match a problem whose shorter side is its rows, or which has an `unmatched_cost`.

        Raises
        ------
        Infeasible
            With a Hall violator, when there is no assignment.
        NotConverged
            When `most_updates` ran out.
        """
        if "," in device or isinstance(problem, ShardedCosts):
            from .multi_gpu import match_on_gpus

            split = named(self.code.on_gpus[self.variant])
            return match_on_gpus(problem, self.name, device.split(","), self.code.split_axis, split)
        if device == "cpu":
            return self._match_on_cpu(problem)
        from .gpu import match_on_gpu

        codes = self.code.on_gpu[self.variant], self.code.at_once
        method, at_once = (partial(named(code), **self._limits()) for code in codes)
        return match_on_gpu(problem, method, at_once)

    def _limits(self) -> dict[str, Any]:
        """Return what the method on one GPU may spend."""
        return {}

    def _match_on_cpu(self, problem: Problem) -> Matched:
        raise NotImplementedError


@dataclass(frozen=True)
class HungarianClassical(_Hungarian):
    """The Hungarian method after Munkres: a maximum matching on the pairs of zero slack, a dual update, and again.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term, zero
    slack decided without a tolerance (see `hungarian`). Sparse costs stay sparse, and their components are solved
    side by side in threads.

    On several GPUs each has some of the rows: all list their cheap pairs, and the first searches among the lists, so
    that what is shared is the passes over the matrix, not the chain of rounds.

    Attributes
    ----------
    variant : {"default", "paper"}
        "default": in dual phases, each of which changes the duals once, as far as many paths need it
        (`classical.cu`);
        dense problems take some 5 to 80 of them. "paper": the steps of Date & Nagi, on the CPU the sequential algorithm
        of their section 2.2; O(n⁴) at worst, every dual update looks at all pairs.
    most_updates : int, optional
        Changes of the duals after which the default variant on one GPU gives up a dense problem, by `NotConverged`
        without an answer; where matrices of a shape are solved at once, by one that names the `blocks`. No limit by
        default, and nowhere else.
    few_left : int
        Rows with which it goes on all the same: each further change matches one or more of them.
    """

    name: ClassVar[str] = "hungarian-classical"
    code: ClassVar[_Code] = _Code(
        {
            "default": ".hungarian.gpu_classical:match_by_dual_phases",
            "paper": ".papers.date_nagi_2016.gpu_classical:match_by_zeros",
        },
        {
            "default": ".hungarian.multi_gpu_classical:match_by_dual_phases",
            "paper": ".papers.date_nagi_2016.multi_gpu_classical:match_by_zeros",
        },
        ".hungarian.gpu_batch:match_by_dual_phases",
        split_axis=0,
    )

    variant: Literal["default", "paper"] = "default"
    most_updates: int | None = None
    few_left: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most_updates is not None:
            need_whole_number("most_updates", self.most_updates, 2**31 - 1, words=", or None for no limit")
        need_whole_number("few_left", self.few_left, 2**31 - 1, least=0)

    def devices_for(self, problem: Problem) -> tuple[str, ...]:
        """Return the kinds of devices that take the problem: without a GPU if it has too many rows."""
        if self.variant == "default" and problem.kind == "dense":
            from .gpu_classical import MOST_LEVELS, MOST_ROWS

            rows, cols = np.diff(problem.row_offsets), np.diff(problem.col_offsets)
            shorter = np.minimum(rows, cols)
            searched = rows if problem.has_unmatched_cost else shorter
            return self.devices if (searched < MOST_ROWS).all() and (shorter < MOST_LEVELS).all() else ("cpu",)
        return self.devices

    def _limits(self) -> dict[str, Any]:
        return {"most_updates": self.most_updates, "few_left": self.few_left} if self.variant == "default" else {}

    def _match_on_cpu(self, problem: Problem) -> Matched:
        return named(f"{_ON_CPU}:match_classical")(problem, sequential=self.variant == "paper")


@dataclass(frozen=True)
class HungarianTree(_Hungarian):
    """The Hungarian method after Lawler: alternating trees, with the least slack of every column kept up to date.

    Exact: integer costs in integer arithmetic with gap 0, real costs in float64 within 64 ulp term by term, zero
    slack decided without a tolerance (see `hungarian`). O(n³) at worst. Sparse costs stay sparse, and their
    components are solved side by side in threads.

    Several GPUs share the columns with variant="paper" alone; `HungarianClassical` is the faster on them.

    Attributes
    ----------
    variant : {"default", "paper", "sequential"}
        "sequential": the stack of Date & Nagi's section 2.3, one path a search; only on the CPU. The others grow trees
        from all unmatched rows level by level and take a path of each (their Algorithms 4 to 6 and 9); on the CPU they
        are the same for dense costs. On sparse ones the default is that of `HungarianClassical`.
    threads : int, optional
        Threads of the CPU, as the paper's OMP-1 and OMP-8, for dense costs; one by default. Answers don't depend on it.
        They end with the solve, so that a child may be forked at any time.
    """

    name: ClassVar[str] = "hungarian-tree"
    variants: ClassVar[tuple[str, ...]] = ("default", "paper", "sequential")
    code: ClassVar[_Code] = _Code(
        {
            "default": ".paths.gpu_forest:match_by_forests",
            "paper": ".papers.date_nagi_2016.gpu_tree:match_by_trees",
        },
        {
            "paper": ".papers.date_nagi_2016.multi_gpu_tree:match_by_trees",
        },
        ".hungarian.gpu_tree_batch:match_by_trees",
        split_axis=1,
    )

    variant: Literal["default", "paper", "sequential"] = "default"
    threads: int | None = None

    def devices_for(self, problem: Problem) -> tuple[str, ...]:
        """Return the kinds of devices that take the problem: one thread of the CPU, or all that have the room."""
        if self.variant == "paper":
            return self.devices
        if self.variant == "default" and problem.kind == "dense":
            from ..paths.gpu_forest import columns_held

            widest = max(int(np.diff(offsets).max()) for offsets in (problem.row_offsets, problem.col_offsets))
            found = cuda.devices()
            if not found or widest > columns_held(found[0].multiprocessors):
                return ("cpu",)
        return ("cpu",) if self.variant == "sequential" else ("cpu", "cuda")

    def _match_on_cpu(self, problem: Problem) -> Matched:
        return named(f"{_ON_CPU}:match_tree")(problem, variant=self.variant, threads=self.threads)

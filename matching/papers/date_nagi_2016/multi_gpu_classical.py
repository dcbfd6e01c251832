"""Date & Nagi's classical variant on several GPUs (section 5): the steps of `gpu_search`, two of them on every shard.

The rows are split: every device lists the pairs of zero slack of its own and finds their least uncovered slack. The
first one searches among all the lists, finds the paths and augments along them; covers, matchings and duals are handed
out. What the paper sends through the hosts by MPI goes from device to device here (`collectives`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...device import cuda
from ...hungarian.shards import Shards
from ...paths.gpu_dense import DeviceCosts, DeviceState
from .exchange import take_largest
from .gpu_classical import ZeroSearch

_COVERS = "row_covered", "col_covered", "entered"
_DUALS = "r", "v", "col_of_row"


def match_by_zeros(shards: Shards, state: DeviceState) -> tuple[int, DeviceState, dict[str, Any]]:
    """Match by the classical variant; as `multi_gpu.Method` says."""
    with shards.parts[0].device:
        search = SplitZeroSearch(shards, state)
        return search.run(), search.on_host(), search.stats()


class SplitZeroSearch(ZeroSearch):
    """A solve by the classical variant on the first device; the others list zero slacks and find θ in their rows.

    Attributes
    ----------
    helpers : list of ZeroSearch
        One a shard. Their arrays of rows are windows of what `shared` holds of all rows on their device, those of
        columns are there as a whole.
    shared : dict of str to list of array
        By device, the first one's being this search's own.
    """

    def __init__(self, shards: Shards, state: DeviceState) -> None:
        part = shards.parts[0]
        whole = type(part)(
            part.cp,
            part.cp.broadcast_to(part.cp.zeros(1, part.cost.dtype), shards.outline.shape),
            None,
            *map(part.cp.asarray, shards.outline.dual_bounds()),
        )
        arrays = state.r, state.v, state.col_of_row, state.row_of_col
        super().__init__(whole, DeviceState(*map(part.cp.array, arrays)))
        self.shards = shards
        own = {name: getattr(self, name) for name in _COVERS} | {name: getattr(self.state, name) for name in _DUALS}
        self.shared = {name: self._everywhere(array) for name, array in own.items()}
        self.helpers = shards.each(self._helper, range(len(shards.parts)))

    def _everywhere(self, array: Any) -> list[Any]:
        """Return an array of the first device, and copies on the others."""
        others = self.shards.copies(cuda.to_host(array))
        return [array, *others[1:]]

    def _helper(self, part: DeviceCosts, k: int) -> ZeroSearch:
        rows = self.shards.slices()[k]
        here = {name: arrays[k] for name, arrays in self.shared.items()}
        helper = ZeroSearch(part, DeviceState(here["r"][rows], here["v"], here["col_of_row"][rows], None))
        helper.row_covered, helper.entered, helper.col_covered = (
            here["row_covered"][rows],
            here["entered"][rows],
            here["col_covered"],
        )
        return helper

    def _each(self, do: Callable[..., Any], *of_parts: Any) -> list[Any]:
        for helper in self.helpers:
            helper.delta = self.delta
        return self.shards.each(lambda _, *own: do(*own), self.helpers, *of_parts)

    def _hand_out(self, names: tuple[str, ...]) -> None:
        for name in names:
            self.shards.collective.broadcast(self.shared[name])

    def least_uncovered(self) -> Any:
        """Return θ (Algorithm 7, over all devices)."""
        self._hand_out(_COVERS)
        least = self._each(lambda helper: helper.least_of_rows().min().reshape(1))
        self.shards.collective.all_min(least)
        return least[0].item()

    def compressed(self) -> tuple[Any, Any]:
        """Return the pairs of zero slack of all rows as (first, columns) of compressed rows."""
        self._hand_out(_COVERS)
        firsts = self._each(ZeroSearch.counted)
        zeros = self._each(ZeroSearch.listed, firsts)
        counts = self._each(lambda _, first: first[1:] - first[:-1], firsts)
        first = self.costs.cp.zeros(self.shards.outline.n_rows + 1, np.int64)
        first[1:] = self.costs.cp.cumsum(self.shards.collective.gathered(counts))
        return first, self.shards.collective.gathered(zeros)

    def remove_slack(self) -> None:
        """Take the duals of matched rows from their matched edges, which are known where their rows are."""
        self._hand_out(_DUALS)

        def own(helper: ZeroSearch, rows: slice) -> Any:
            cp, cols = helper.costs.cp, helper.state.col_of_row
            r = cp.full(self.shards.outline.n_rows, helper.costs.lowest, helper.costs.dual_dtype)
            matched = cp.flatnonzero(cols >= 0)
            cost = helper.costs.cost[matched, cols[matched]].astype(r.dtype)
            r[rows.start + matched] = cost - helper.state.v[cols[matched]]
            return r

        take_largest(self.shards, self._each(own, self.shards.slices()), self.shared["r"])

    def on_host(self) -> DeviceState:
        """Return duals and matching."""
        arrays = self.state.r, self.state.v, self.state.col_of_row, self.state.row_of_col
        return DeviceState(*map(cuda.to_host, arrays))

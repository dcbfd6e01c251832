"""Reductions and broadcasts among the shards of a problem, of one array a shard.

Over NCCL when each shard has a GPU of its own; by plain copies when all lie in one memory (the host's, or one GPU's),
so that the sharded algorithms can be run, and tested, without several GPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Collective(Protocol):
    """Operations on one array a shard; all arrays have one shape and type, and are contiguous."""

    def all_min(self, parts: Sequence[Any]) -> None:
        """Make every part the element-wise minimum of all."""
        ...

    def all_max(self, parts: Sequence[Any]) -> None:
        """Make every part the element-wise maximum of all."""
        ...

    def broadcast(self, parts: Sequence[Any]) -> None:
        """Make every part the first one."""
        ...

    def gathered(self, parts: Sequence[Any]) -> Any:
        """Return the parts, of any lengths, one after the other, beside the first."""
        ...


@dataclass(frozen=True)
class Copies:
    """Among shards in one memory; `xp` is NumPy or CuPy."""

    xp: Any

    def all_min(self, parts: Sequence[Any]) -> None:
        """Make every part the element-wise minimum of all."""
        self._spread(self.xp.stack(parts).min(axis=0), parts)

    def all_max(self, parts: Sequence[Any]) -> None:
        """Make every part the element-wise maximum of all."""
        self._spread(self.xp.stack(parts).max(axis=0), parts)

    def broadcast(self, parts: Sequence[Any]) -> None:
        """Make every part the first one."""
        self._spread(parts[0], parts[1:])

    def gathered(self, parts: Sequence[Any]) -> Any:
        """Return the parts one after the other."""
        return self.xp.concatenate(parts)

    @staticmethod
    def _spread(value: Any, parts: Sequence[Any]) -> None:
        for part in parts:
            part[...] = value


_TYPES = {"uint8": "UINT8", "int32": "INT32", "int64": "INT64", "float64": "FLOAT64"}


@dataclass(frozen=True)
class Nccl:
    """Among shards on GPUs of their own: NCCL, all devices driven by this process.

    Attributes
    ----------
    cp, nccl : module
        CuPy, and its binding of NCCL.
    communicators : tuple
        One a device, in the order of the shards.
    """

    cp: Any
    nccl: Any
    communicators: tuple[Any, ...]

    def all_min(self, parts: Sequence[Any]) -> None:
        """Make every part the element-wise minimum of all."""
        self._reduce(parts, self.nccl.NCCL_MIN)

    def all_max(self, parts: Sequence[Any]) -> None:
        """Make every part the element-wise maximum of all."""
        self._reduce(parts, self.nccl.NCCL_MAX)

    def broadcast(self, parts: Sequence[Any]) -> None:
        """Make every part the first one."""

        def call(communicator: Any, part: Any, stream: int) -> None:
            communicator.broadcast(part.data.ptr, part.data.ptr, part.size, self._type(part), 0, stream)

        self._together([(call, rank, part) for rank, part in enumerate(parts)])

    def gathered(self, parts: Sequence[Any]) -> Any:
        """Return the parts one after the other, on the first device."""
        ends = np.cumsum([part.size for part in parts])
        whole = self.cp.empty(int(ends[-1]), parts[0].dtype)
        whole[: ends[0]] = parts[0]
        calls: list[tuple[Callable[[Any, Any, int], None], int, Any]] = []
        for rank, part in enumerate(parts[1:], start=1):
            if not part.size:
                continue

            def send(communicator: Any, part: Any, stream: int) -> None:
                communicator.send(part.data.ptr, part.size, self._type(part), 0, stream)

            def receive(communicator: Any, part: Any, stream: int, rank: int = rank) -> None:
                communicator.recv(part.data.ptr, part.size, self._type(part), rank, stream)

            calls += [(send, rank, part), (receive, 0, whole[ends[rank - 1] : ends[rank]])]
        self._together(calls)
        return whole

    def _reduce(self, parts: Sequence[Any], operation: int) -> None:
        def call(communicator: Any, part: Any, stream: int) -> None:
            communicator.allReduce(part.data.ptr, part.data.ptr, part.size, self._type(part), operation, stream)

        self._together([(call, rank, part) for rank, part in enumerate(parts)])

    def _type(self, part: Any) -> int:
        return getattr(self.nccl, f"NCCL_{_TYPES[part.dtype.name]}")

    def _together(self, calls: Sequence[tuple[Callable[[Any, Any, int], None], int, Any]]) -> None:
        """Make the calls in one group, each on the current stream of the device that its array is on."""
        self.nccl.groupStart()
        for call, rank, part in calls:
            with _on(part):
                call(self.communicators[rank], part, self.cp.cuda.get_current_stream().ptr)
        self.nccl.groupEnd()


def _on(part: Any) -> AbstractContextManager[Any]:
    """Make the device of an array current."""
    return part.device

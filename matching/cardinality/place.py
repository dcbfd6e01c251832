"""Where a question about a graph is answered: on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ..device import cuda
from ..errors import InvalidProblem
from .gpu_graph import DeviceGraph
from .graph import BipartiteGraph
from .reading import is_on_device

Back = Callable[[Any], Any]


@contextmanager
def placed(graph: Any, device: str) -> Generator[tuple[BipartiteGraph | DeviceGraph, Back]]:
    """Yield the graph where the work is to be done, and what takes an array back to where the graph was.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
    device : str
        ``"cpu"``, ``"cuda"`` or ``"cuda:N"``; ``"auto"`` is where the graph is.
    """
    comes_from_device = is_on_device(graph)
    device = chosen_device(device, is_there=comes_from_device)
    if device != "cpu":
        with cuda.using(device):
            yield DeviceGraph.from_any(graph), _stay if comes_from_device else cuda.to_host
    elif comes_from_device:
        yield BipartiteGraph.from_any(graph), cuda.cupy().asarray
    else:
        yield BipartiteGraph.from_any(graph), _stay


def chosen_device(device: str, *, is_there: bool) -> str:
    """Return the device meant; ``"auto"`` is the current GPU if the input `is_there`, else the CPU."""
    if device == "auto":
        return "cuda" if is_there else "cpu"
    check_device(device)
    return device


def check_device(device: Any) -> None:
    """Raise `InvalidProblem` unless `device` is ``"cpu"``, ``"cuda"`` or ``"cuda:N"``."""
    if device != "cpu" and not cuda.is_device_name(device):
        raise InvalidProblem(f"device needs 'auto', 'cpu', 'cuda' or 'cuda:N'; got {device!r}.", argument="device")


def _stay(array: Any) -> Any:
    return array

"""What the machine code of a numba function is made from, as a hash: its instructions and all they depend on."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic as Intrinsic  # pyright: ignore[reportPrivateUsage]

PACKAGE = __name__.partition(".")[0]


@functools.cache
def sources(function: Any) -> str:
    """Return a hash of a compiled function, its options, and the functions and constants that go into it.

    Comments, docstrings and line numbers do not count; nor do other packages, which come and go with their versions.
    """
    reached = {function: None}
    waiting = [function]
    while waiting:
        found = [callee for callee in _own(waiting.pop())[1] if callee not in reached]
        reached.update(dict.fromkeys(found))
        waiting += found
    return digest(_own(one)[0] for one in reached)


@functools.cache
def _own(function: Any) -> tuple[str, list[Any]]:
    """Return what a function brings itself, as text, and the compiled functions that it calls."""
    plain = getattr(function, "py_func", None) or getattr(function, "_defn", function)
    taken = dict(_taken(plain))
    calls = [value for value in taken.values() if _is_ours(value)]
    constants = [f"{name} = {_constant(value)}" for name, value in taken.items() if not _is_ours(value)]
    options = sorted(getattr(function, "targetoptions", {}).items())
    brought = [plain.__module__, plain.__qualname__, options, plain.__defaults__, constants]
    return repr([*brought, *_instructions(plain.__code__, plain.__doc__)]), calls


def _is_ours(value: Any) -> bool:
    """Tell whether a value is a function whose instructions go into what calls it."""
    if isinstance(value, FunctionType):
        return value.__module__.startswith(f"{PACKAGE}.")
    return isinstance(value, (Dispatcher, Intrinsic))


def _taken(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield by name what a function closes over and the globals it uses; of a module of ours, what it uses of that."""
    code = function.__code__
    yield from zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()), strict=True)
    names = sorted({name for part in _parts(code) for name in part.co_names})
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType) and value.__name__.startswith(f"{PACKAGE}."):
            yield from ((f"{name}.{inner}", getattr(value, inner)) for inner in names if hasattr(value, inner))
        elif name in function.__globals__:
            yield name, value


def _instructions(code: CodeType, docstring: str | None) -> Iterator[tuple[Any, ...]]:
    """Yield what the interpreter would do, and the constants that stand in the text."""
    for part in _parts(code):
        constants = [value for value in part.co_consts if not isinstance(value, CodeType) and value != docstring]
        yield part.co_code, constants, part.co_names, part.co_varnames


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of what is defined inside it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _parts(value)


def _constant(value: Any) -> str:
    """Return a text that differs where constants do."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {value.tobytes()!r}"
    if isinstance(value, (ModuleType, FunctionType)):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    return repr(value)


def digest(parts: Iterable[str]) -> str:
    """Return a short name for texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

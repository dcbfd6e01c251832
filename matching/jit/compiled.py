"""numba functions whose machine code is kept on disk, under names that say all that it was made from.

numba's own cache judges a function by its file alone, so that what it takes from another file may change unseen; and it
lists what it holds in an index, which two processes that save at once damage (numba issue 4807). Here a file holds one
function for one signature and is named by a hash of what went into it: nothing can be stale, and there is no index.

Symbols in machine code are told apart by a number that numba counts up from 1 in every process. Closures of one name
from two processes, such as those of `np.sort` and `np.argsort`, may so have one symbol, and where both are loaded one
runs in the other's place. So the count begins at a number drawn for the process.
"""

from __future__ import annotations

import functools
import itertools
import logging
import pickle
import secrets
import sys
import uuid
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, overload

import numba
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator, UserWideCacheLocator
from numba.core.serialize import dumps

from .parts import KernelDispatcher
from .sources import digest, sources

_LOG = logging.getLogger(__name__)

Function = Callable[..., Any]

FORMAT = "symbols numbered from a drawn number"
"""What files must have in common to be loaded beside each other, beyond numba and Python."""

BORROWING = {"_nrt": False}
"""Options of a kernel that other kernels call, and that makes no array or list.

numba else counts every array that it is given as in use, and as done with, in each call: up to three quarters of one.
"""

SMALL = 1 << 16
"""Elements of the arrays of a small movie: 2,000 particles and their candidates."""

numba_names: Any = FunctionIdentity
numba_names._unique_ids = itertools.count(secrets.randbits(60))  # noqa: SLF001 - numba has no other door


class Kernel(Protocol):
    """A compiled function, and the function that it was made from."""

    py_func: Function

    def __call__(self, *given: Any) -> Any:
        """Call the machine code."""
        ...


@overload
def compiled(function: Function) -> Kernel: ...
@overload
def compiled(**options: Any) -> Callable[[Function], Kernel]: ...
def compiled(
    function: Function | None = None, *, plain: int = 0, steps: Callable[..., int] | None = None, **options: Any
) -> Kernel | Callable[[Function], Kernel]:
    """Compile a function when it is first called, free of the interpreter lock, and keep the machine code on disk.

    Parameters
    ----------
    function
        What to compile.
    plain
        Up to so many array elements a command runs it as Python while that is quick (`plain.py`).
    steps
        Of a kernel whose work grows faster than its arrays: about how many turns its inner loop takes for arguments.
    **options
        Those of `numba.njit`, such as ``inline="always"``.

    Warns
    -----
    UserWarning
        Once, where the machine code cannot be written; it serves this process all the same.
    """
    if function is None:
        return functools.partial(compiled, plain=plain, steps=steps, **options)
    asked = {"nopython": True, "nogil": True, "boundscheck": None, **options}  # None: as NUMBA_BOUNDSCHECK says
    dispatcher: Any = KernelDispatcher(function, targetoptions=asked, plain=plain, steps=steps)
    dispatcher._cache = _Cache(dispatcher)  # noqa: SLF001 - as numba's own `enable_caching` does
    return dispatcher


class _Installed(InTreeCacheLocator):
    """Beside the source, though nothing can be written there: an image of containers may have been warmed up."""

    @classmethod
    def from_function(cls, py_func: Function, py_file: str) -> _Installed | None:
        """Return the place of a function's code."""
        return cls(py_func, py_file) if Path(py_file).exists() else None


class _Places(CompileResultCacheImpl):
    """Where numba looks for a folder that it can write to, and where code is read from if there is none."""

    _locator_classes = (*CompileResultCacheImpl._locator_classes, _Installed)  # noqa: SLF001 - numba has no other door


class _Cache(FunctionCache):
    """numba's way to save and load one function, with other files."""

    _impl_class = _Places

    def __init__(self, dispatcher: Any) -> None:
        function = dispatcher.py_func
        super().__init__(function)
        place: Any = self._impl.locator
        installed = Path(InTreeCacheLocator(function, function.__code__.co_filename).get_cache_path())
        others = [installed] if isinstance(place, UserWideCacheLocator) else []
        self._cache_file = Files(Path(self.cache_path), dispatcher, others)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept for a signature; None where it has to be compiled, which is logged, as it takes time."""
        found = super().load_overload(sig, target_context)
        if found is None:
            _say_once()
            _LOG.debug("compiling %s", self._cache_file.stem.name)
        return found

    def keeps(self, sig: Any, target_context: Any) -> bool:
        """Whether there is a file for a signature."""
        return self._cache_file.holds(self._index_key(sig, target_context.codegen()))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled for a signature; numba would give up the call that compiled."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_once(str(error.strerror or error))


@functools.cache
def _say_once() -> None:
    _LOG.info("compiling for this machine, once, which takes seconds to half a minute; auctrack warm-up compiles all")


@functools.cache
def _warn_once(what: str) -> None:
    warnings.warn(
        f"compiled code cannot be written ({what}), so every run compiles again; set NUMBA_CACHE_DIR to a folder that "
        "can be written",
        stacklevel=2,
    )


class Files:
    """What is kept of one function: a file for each signature. numba calls `load`, `save` and `flush`.

    Of an installation that only its administrator can write to, `others` is the folder that a warm-up has filled.
    """

    def __init__(self, folder: Path, dispatcher: Any, others: Sequence[Path] = ()) -> None:
        function = dispatcher.py_func
        name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self.stem, self.dispatcher, self.others = folder / name, dispatcher, others

    def load(self, key: Any) -> Any:
        """Return what was saved under `key` from the same sources, or None.

        None, too, where a type in it has moved since, or a crash of the machine has left a part of the file.
        """
        for path in self._paths(key):
            try:
                return pickle.loads(path.read_bytes())
            except (OSError, AttributeError, ImportError, EOFError, pickle.UnpicklingError):
                continue
        return None

    def holds(self, key: Any) -> bool:
        """Whether something was saved under `key` from the same sources."""
        return any(path.exists() for path in self._paths(key))

    def save(self, key: Any, data: Any) -> None:
        """Save `data` in one step, and remove what other sources made of the function for this signature."""
        path = self._path(key)
        draft = path.with_suffix(f".{uuid.uuid4().hex[:16]}")
        try:
            draft.write_bytes(dumps(data))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        for other in path.parent.glob(f"{path.stem.rpartition('-')[0]}-*{path.suffix}"):
            if other != path:
                other.unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all that is kept of the function."""
        for path in self.stem.parent.glob(f"{self.stem.name}.*"):
            path.unlink(missing_ok=True)

    def _paths(self, key: Any) -> list[Path]:
        path = self._path(key)
        return [path, *(folder / path.name for folder in self.others)]

    def _path(self, key: Any) -> Path:
        signature, machine, _ = key
        asked = digest([str(signature), str(machine), numba.__version__, str(sys.implementation.cache_tag), FORMAT])
        return Path(f"{self.stem}.{asked}-{sources(self.dispatcher)}.nbc")

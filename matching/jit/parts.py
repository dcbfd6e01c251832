"""Kernels that call each other, compiled as one piece.

numba makes machine code of every function, with two ways into it from outside, then copies what it made that from into
each caller, to be optimised there once more. A kernel that is called by another one is here a part of it: it has no way
in of its own, and no machine code but that of the kernels that Python calls.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from .plain import Plain

# numba has no other door to any of this.
# ruff: noqa: SLF001

numba_settings: Any = config


class KernelDispatcher(CPUDispatcher):
    """A function that Python calls; other kernels are given it as a part."""

    def __init__(
        self,
        function: Callable[..., Any],
        targetoptions: dict[str, Any],
        plain: int = 0,
        steps: Callable[..., int] | None = None,
    ) -> None:
        super().__init__(function, targetoptions=targetoptions | {"no_cfunc_wrapper": True})
        cast("Any", self)._compiler._customize_flags = _Flags
        self._plain = Plain(self, plain, steps) if plain else None
        self._part = _PartDispatcher(function, targetoptions=targetoptions, pipeline_class=_IntoCaller)

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load what was compiled."""
        with _without_collecting(), _switched_on():
            return super().compile(sig)

    def _compile_for_args(self, *given: Any, **named: Any) -> Any:
        """Return what runs a call for which there is no machine code in this process; numba's C code calls this."""
        if self._plain is not None and self._plain.serves(given):
            return self._plain
        return cast("Any", super())._compile_for_args(*given, **named)

    def compile_for(self, given: tuple[Any, ...]) -> None:
        """Compile for arguments, or load what was compiled."""
        cast("Any", super())._compile_for_args(*given)

    def is_kept(self, given: tuple[Any, ...]) -> bool:
        """Whether machine code for these arguments is on disk."""
        try:
            return cast("Any", self)._cache.keeps(tuple(map(self.typeof_pyval, given)), self.targetctx)
        finally:
            cast("Any", self)._types_active_call.clear()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call by another kernel."""
        return self._part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return the name under which another kernel calls this one."""
        return self._part.get_overload(sig)

    @property
    def is_compiling(self) -> Any:
        """Whether it is being compiled, so that it calls itself."""
        return super().is_compiling or self._part.is_compiling

    def add_overload(self, cres: Any) -> None:
        """Keep what was compiled, and hand its parts the values that they take from Python."""
        super().add_overload(cres)
        for environment in cres._find_referenced_environments():
            cres.library.codegen.set_env(environment.env_name, environment)


@contextmanager
def _without_collecting() -> Generator[None]:
    """Collect no garbage meanwhile: looking for it among all that numba makes is an eighth of a first `link`."""
    if not gc.isenabled():  # as the host program wants it, or another thread that compiles
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _switched_on() -> Generator[None]:
    """Compile in a host program, too, that runs its own kernels as Python (NUMBA_DISABLE_JIT).

    numba's own functions would be Python then, and of no use to the compiler: `np.sort` and the like.
    """
    with global_compiler_lock:
        asked, numba_settings.DISABLE_JIT = numba_settings.DISABLE_JIT, 0
        try:
            yield
        finally:
            numba_settings.DISABLE_JIT = asked


class _PartDispatcher(CPUDispatcher):
    """The same function for other kernels."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        cast("Any", self)._compiler._customize_flags = _as_part

    def add_overload(self, cres: Any) -> None:
        """Keep what was compiled under a name of its own: there is no machine code to be called."""
        name = object()
        self.targetctx.insert_user_function(name, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=name)


class _Flags(Flags):
    """numba's options of a function: alike to its functions, `np.empty` and the like, where these take the same of it.

    So these are compiled once for all kernels. numba compares options 30,000 times in a first `link`.
    """

    __slots__ = ()
    _TAKEN = "nrt", "fastmath", "error_model", "forceinline"

    def __eq__(self, other: object) -> bool:
        """Whether functions that are called take the same."""
        if not isinstance(other, _Flags):
            return False
        return self._values == other._values or all(getattr(self, name) == getattr(other, name) for name in self._TAKEN)

    def __hash__(self) -> int:
        """Return one number for all, as numba does."""
        return hash(_Flags)


def _as_part(given: Any) -> Any:
    flags: Any = _Flags(given)
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
    return flags


class _IntoCaller(Compiler):
    """numba's compiler, but for where the code goes."""

    def define_pipelines(self) -> Any:
        """Return numba's passes, which put the code into a library that is there."""
        self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _Part(JITCodeLibrary):
    """Code that waits for a caller."""

    def finalize(self) -> None:
        """Optimise it alone, then take in what is called from here: as joined, kernels are optimised once, on top.

        Not optimised before that, wide matrices took a tenth longer.
        """
        self._optimize_final_module()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # not in numba 0.60 and 0.62
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

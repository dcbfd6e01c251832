"""numba's cache on disk only saves compiling again: where it cannot be written, the work goes on without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from . import console

if TYPE_CHECKING:
    from collections.abc import Callable


class Computing(TyperCommand):
    """A command that computes: by then it is known that more than help is wanted, and numba may be loaded."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        outlive_a_full_disk()
        return super().invoke(ctx)


def outlive_a_full_disk() -> None:
    """Have numba keep in memory what it cannot write; its own way is to give up the call that compiled.

    This is done to all of the process, so a face that owns it may do it, a library may not.
    """
    from numba.core.caching import Cache

    if not hasattr(Cache.save_overload, "outlives"):
        Cache.save_overload = _outliving(Cache.save_overload)


def _outliving(save: Callable[..., None]) -> Callable[..., None]:
    noted = False

    def save_if_possible(*given: Any) -> None:
        nonlocal noted
        try:
            save(*given)
        except OSError as error:
            if not noted:
                console.note(
                    f"numba's cache cannot be written ({error.strerror or error}), so every run compiles again; "
                    "NUMBA_CACHE_DIR names another folder for it."
                )
            noted = True

    save_if_possible.outlives = save  # pyright: ignore[reportFunctionMemberAccess]
    return save_if_possible

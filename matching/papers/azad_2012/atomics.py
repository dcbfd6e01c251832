"""Atomic memory operations inside numba kernels, which numba itself offers only on GPUs.

The multicore algorithms need exactly what their authors used: an atomic test-and-set to claim a vertex and a
fetch-and-add to reserve a place in a queue (Azad et al. 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.extending import intrinsic


def _claim(typingctx: Any, array: Any, index: Any, mark: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, value = _operands(context, builder, signature, args)
        old = builder.atomic_rmw("xchg", pointer, value, "acq_rel")
        return builder.icmp_signed("!=", old, value)

    return types.boolean(array, index, mark), codegen


def _fetch_add(typingctx: Any, array: Any, index: Any, amount: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, value = _operands(context, builder, signature, args)
        return builder.atomic_rmw("add", pointer, value, "acq_rel")

    return array.dtype(array, index, amount), codegen


def _operands(context: Any, builder: Any, signature: Any, args: Any) -> tuple[Any, Any]:
    array_type, index_type, value_type = signature.args
    view = context.make_array(array_type)(context, builder, args[0])
    position = context.cast(builder, args[1], index_type, types.intp)
    return builder.gep(view.data, [position]), context.cast(builder, args[2], value_type, array_type.dtype)


claim: Callable[[Any, Any, Any], bool] = cast("Any", intrinsic(_claim))
"""``claim(array, index, mark)`` sets ``array[index] = mark`` atomically; True for the one thread that changed it."""

fetch_add: Callable[[Any, Any, Any], int] = cast("Any", intrinsic(_fetch_add))
"""``fetch_add(array, index, amount)`` adds to ``array[index]`` atomically and returns what was there before."""

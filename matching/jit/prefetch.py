"""Ask the cache for an array element that will be read soon.

Searches over a large graph wait for memory: the queue says which vertices come next, so their adjacency can be on
its way while the present one is scanned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type = signature.args
        view = context.make_array(array_type)(context, builder, args[0])
        position = context.cast(builder, args[1], index_type, types.intp)
        pointer = builder.gep(view.data, [position])
        byte_pointer = builder.bitcast(pointer, cgutils.voidptr_t)
        i32 = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32]), "llvm.prefetch.p0"
        )
        # read, keep in all cache levels, data cache
        builder.call(function, [byte_pointer, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, index), codegen


prefetch: Callable[[Any, Any], None] = cast("Any", intrinsic(_prefetch))
"""``prefetch(array, index)`` in a kernel starts loading ``array[index]`` (1-D; no bounds check, it reads nothing)."""

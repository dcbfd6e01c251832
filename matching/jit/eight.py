"""Eight numbers at a time, in kernels: what compilers do not make of a loop for the least value and its place.

They vectorise a minimum of floats only on a promise about NaN that numba does not pass on. Here each operation is one
of LLVM's on a vector, which processors have an instruction for, or take two or four. No number may be NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 8


def _bits_of_vectors() -> int:
    """Return the bits of the processor's vectors, 128 where it is not known for more."""
    features = binding.get_host_cpu_features()
    return 512 if features.get("avx512f") else 256 if features.get("avx2") else 128


BITS = _bits_of_vectors()
"""Eight float64 are 512: processors of fewer bits take two or four instructions for one."""

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_FIRST = ir.Constant(_I32, 0)


class Eight(types.Type):
    """Type of eight numbers, or of eight truths."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Eight({dtype})")


@register_model(Eight)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        of_one = ir.IntType(1) if kind.dtype == types.boolean else manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(of_one, LANES))


def _place(context: Any, builder: Any, array: Any, given: Any) -> Any:
    """Return a pointer to eight elements of an array (1-D, contiguous; no bounds check), `given` it and the first."""
    pointer = builder.gep(context.make_array(array)(context, builder, given[0]).data, [given[1]])
    return builder.bitcast(pointer, ir.VectorType(pointer.type.pointee, LANES).as_pointer())


def _widened(context: Any, builder: Any, array: Any, given: Any, kind: Any) -> Any:
    """Return eight elements of an array as `kind` has them."""
    loaded = builder.load(_place(context, builder, array, given), align=array.dtype.bitwidth // 8)
    if array.dtype == kind.dtype:
        return loaded
    is_float = isinstance(kind.dtype, types.Float)
    widen = builder.fpext if is_float else builder.sext if array.dtype.signed else builder.zext
    return widen(loaded, context.get_value_type(kind))


def _load(typing: Any, array: Any, first: Any, like: Any) -> Any:  # noqa: ARG001
    kind = Eight(like.dtype)

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        return _widened(context, builder, array, given, kind)

    return kind(array, types.intp, like), codegen


def _store(typing: Any, array: Any, first: Any, values: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        if array.dtype == types.boolean:
            truths = builder.zext(given[2], ir.VectorType(ir.IntType(8), LANES))
            builder.store(truths, _place(context, builder, array, given), align=1)
        else:
            builder.store(given[2], _place(context, builder, array, given), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), codegen


def _spread(builder: Any, value: Any) -> Any:
    nothing = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    return _turned(builder, builder.insert_element(nothing, value, _FIRST), [0] * LANES)


def _turned(builder: Any, value: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(value, value, ir.Constant(ir.VectorType(_I32, LANES), lanes))


def _filled(typing: Any, value: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        return _spread(builder, given[0])

    return Eight(value)(value), codegen


def _numbered(typing: Any, first: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.add(_spread(builder, given[0]), ir.Constant(ir.VectorType(_I64, LANES), list(range(LANES))))

    return Eight(types.int64)(types.int64), codegen


def _of_two(build: Callable[..., Any], *, tells: bool = False) -> Any:
    """Return an operation on two vectors that `build` builds, given the builder, whether they are floats, and them."""

    def operation(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
            return build(builder, isinstance(x.dtype, types.Float), *given)

        return (Eight(types.boolean) if tells else x)(x, y), codegen

    return intrinsic(operation)


def _minus(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    return (builder.fsub if is_float else builder.sub)(x, y)


def _plus(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    return (builder.fadd if is_float else builder.add)(x, y)


def _times(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    return (builder.fmul if is_float else builder.mul)(x, y)


def _less(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    return (builder.fcmp_ordered if is_float else builder.icmp_signed)("<", x, y)


def _same(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    return (builder.fcmp_ordered if is_float else builder.icmp_signed)("==", x, y)


def _both(builder: Any, is_float: bool, x: Any, y: Any) -> Any:  # noqa: ARG001
    return builder.and_(x, y)


def _either(builder: Any, is_float: bool, x: Any, y: Any) -> Any:  # noqa: ARG001
    return builder.or_(x, y)


def _called(builder: Any, name: str, *given: Any) -> Any:
    """Return what LLVM's function of eight floats gives; none of them is NaN."""
    kind = ir.FunctionType(given[0].type, [own.type for own in given])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64")
    return builder.call(function, given, fastmath=("nnan", "nsz"))


def _lesser(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    if is_float:
        return _called(builder, "minnum", x, y)
    return builder.select(_less(builder, is_float, x, y), x, y)


def _greater(builder: Any, is_float: bool, x: Any, y: Any) -> Any:
    if is_float:
        return _called(builder, "maxnum", x, y)
    return builder.select(_less(builder, is_float, x, y), y, x)


def _size(typing: Any, x: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        if isinstance(x.dtype, types.Float):
            return _called(builder, "fabs", given[0])
        return _greater(builder, False, given[0], builder.neg(given[0]))

    return x(x), codegen


def _pick(typing: Any, test: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.select(*given)

    return x(test, x, y), codegen


def _how_many(typing: Any, test: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        return builder.zext(builder.ctpop(builder.bitcast(given[0], ir.IntType(LANES))), _I64)

    return types.int64(test), codegen


def _turn(typing: Any, out: Any, first: Any, array: Any, places: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        begins = [builder.extract_element(given[3], ir.Constant(_I32, k)) for k in range(LANES)]
        rows = [_widened(context, builder, array, (given[2], begin), Eight(out.dtype)) for begin in begins]
        for step in (1, 2, 4):  # of two rows each, elements change places with those `step` to the left
            kept = [k if not k & step else LANES + k - step for k in range(LANES)]
            moved = [k + step if not k & step else LANES + k for k in range(LANES)]
            kept, moved = (ir.Constant(ir.VectorType(_I32, LANES), lanes) for lanes in (kept, moved))
            pairs = [(rows[k & ~step], rows[k | step], moved if k & step else kept) for k in range(LANES)]
            rows = [builder.shuffle_vector(*pair) for pair in pairs]
        for j, row in enumerate(rows):
            begin = builder.add(given[1], ir.Constant(given[1].type, j * LANES))
            builder.store(row, _place(context, builder, out, (given[0], begin)), align=out.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(out, types.intp, array, places), codegen


def _least(typing: Any, values: Any) -> Any:  # noqa: ARG001
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        is_float, low = isinstance(values.dtype, types.Float), given[0]
        for step in (4, 2, 1):
            other = _turned(builder, low, [k ^ step for k in range(LANES)])
            low = builder.select(_less(builder, is_float, other, low), other, low)
        return builder.extract_element(low, _FIRST)

    return values.dtype(values), codegen


def _two_least(typing: Any, best: Any, second: Any) -> Any:  # noqa: ARG001
    pair = types.UniTuple(best.dtype, 2)

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        is_float, (low, then) = isinstance(best.dtype, types.Float), given
        for step in (4, 2, 1):
            other, other_then = (_turned(builder, own, [k ^ step for k in range(LANES)]) for own in (low, then))
            larger = builder.select(_less(builder, is_float, low, other), other, low)
            low = builder.select(_less(builder, is_float, other, low), other, low)
            then = builder.select(_less(builder, is_float, other_then, then), other_then, then)
            then = builder.select(_less(builder, is_float, larger, then), larger, then)
        return context.make_tuple(builder, pair, [builder.extract_element(own, _FIRST) for own in (low, then)])

    return pair(best, second), codegen


load: Callable[[Any, Any, Any], Any] = cast("Any", intrinsic(_load))
"""``load(array, first, like)``: ``array[first : first + 8]``, widened to the type of the vector ``like``."""

store: Callable[[Any, Any, Any], None] = cast("Any", intrinsic(_store))
"""``store(array, first, values)``: ``array[first : first + 8] = values``."""

filled: Callable[[Any], Any] = cast("Any", intrinsic(_filled))
"""``filled(value)``: eight times the value."""

numbered: Callable[[Any], Any] = cast("Any", intrinsic(_numbered))
"""``numbered(first)``: ``first`` to ``first + 7``."""

plus, minus, times = _of_two(_plus), _of_two(_minus), _of_two(_times)
both, either = _of_two(_both), _of_two(_either)
less, same = _of_two(_less, tells=True), _of_two(_same, tells=True)

lesser: Callable[[Any, Any], Any] = _of_two(_lesser)
"""``lesser(x, y)``: the lesser of each two; stored where x or y was, all eight are, as reading them soon after needs.

Of a `pick`, compilers store those that change: the processor then waits until they have reached its cache.
"""

greater: Callable[[Any, Any], Any] = _of_two(_greater)
"""``greater(x, y)``: the greater of each two."""

size: Callable[[Any], Any] = cast("Any", intrinsic(_size))
"""``size(x)``: without signs."""

how_many: Callable[[Any], int] = cast("Any", intrinsic(_how_many))
"""``how_many(test)``: in how many of eight it holds."""

turn: Callable[[Any, Any, Any, Any], None] = cast("Any", intrinsic(_turn))
"""``turn(out, first, array, places)``: ``out[first + 8 * j + k] = array[places[k] + j]``, j and k from 0 to 7."""

pick: Callable[[Any, Any, Any], Any] = cast("Any", intrinsic(_pick))
"""``pick(test, x, y)``: x where the test holds, else y."""

least: Callable[[Any], Any] = cast("Any", intrinsic(_least))
"""``least(values)``: the least of eight."""

two_least: Callable[[Any, Any], Any] = cast("Any", intrinsic(_two_least))
"""``two_least(best, second)``: the two least of sixteen numbers; of each lane, ``best`` is no more than ``second``."""

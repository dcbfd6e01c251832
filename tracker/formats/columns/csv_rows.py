"""Rows of numbers as CSV text, in the digits that Arrow writes: of a float the fewest that give it back.

Arrow makes a text of each number first, then lays these side by side. Here a number is written where it belongs. The
digits come by R. Giulietti's algorithm (*The Schubfach way to render doubles*, 2021): the shortest decimals between a
float's own borders are multiples of one power of ten, and three products by that power, to 128 bits, tell which.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ....matching.jit.compiled import BORROWING, compiled
from ....matching.jit.threads import one_ahead

WORTH_COMPILING = 1_000_000
"""Rows from which on this is quicker, though it may have to be compiled, for 2 seconds."""
_ROWS_AT_ONCE = 1 << 14
_WIDEST = 25
"""Characters of a number and what parts it from the next: `-2.2250738585072014e-308,`."""
_COMMA, _END, _MINUS, _PLUS, _POINT, _ZERO, _EXPONENT, _I, _N, _F = (int(sign) for sign in b",\n-+.0einf")
_PAIRS = np.frombuffer("".join(f"{n:02d}" for n in range(100)).encode(), np.uint8)
_LEAST_TEN, _MOST_TEN = -292, 324
"""Powers of ten that floats need."""


def _powers_of_ten() -> np.ndarray:
    """Return the leading 128 bits of each power, rounded up, as uint64 (powers, 2), the higher 64 first."""
    words = np.empty((_MOST_TEN - _LEAST_TEN + 1, 2), np.uint64)
    for row, ten in enumerate(range(_LEAST_TEN, _MOST_TEN + 1)):
        shift = 127 - (ten * 1741647 >> 19)  # by the whole part of its binary logarithm
        over, under = (10**ten, 1) if ten >= 0 else (1, 10**-ten)
        leading = -(-(over << shift) // under) if shift >= 0 else -(-over // (under << -shift))
        words[row] = leading >> 64, leading & (2**64 - 1)
    return words


_POWERS = _powers_of_ten()


def are_plain(table: pd.DataFrame) -> bool:
    """Whether no name comes twice, and all are floats of 64 bits or whole numbers that fit 64 bits with a sign."""
    return table.columns.is_unique and all(
        isinstance(kind, np.dtype) and (kind == np.float64 or _is_whole(kind)) for kind in table.dtypes
    )


def _is_whole(kind: np.dtype) -> bool:
    return np.issubdtype(kind, np.integer) and kind != np.uint64


def csv_rows(table: pd.DataFrame) -> Iterator[memoryview]:
    """Yield the rows of a plain table as text, some thousands at a time; the next ones are made meanwhile."""
    columns = [table.iloc[:, place].to_numpy() for place in range(table.shape[1])]
    is_float = np.array([column.dtype == np.float64 for column in columns])
    firsts = range(0, len(table), _ROWS_AT_ONCE)
    return one_ahead(_text([column[a : a + _ROWS_AT_ONCE] for column in columns], is_float) for a in firsts)


def _text(columns: Sequence[np.ndarray], is_float: np.ndarray) -> memoryview:
    """Return some rows as text."""
    bits = np.empty((len(columns), len(columns[0])), np.int64)
    for own, column, has_point in zip(bits, columns, is_float, strict=True):
        own[:] = column.view(np.int64) if has_point else column
    text = np.empty(bits.size * _WIDEST, np.uint8)
    return text[: _write_rows(bits, is_float, text)].data


@compiled
def _write_rows(bits, is_float, text):
    """Write the rows of some columns, int64 or the bits of floats (columns, rows), and return how long they are."""
    at = 0
    for row in range(bits.shape[1]):
        for column in range(bits.shape[0]):
            if is_float[column]:
                at = _write_float(bits[column, row], text, at)
            else:
                at = _write_whole(bits[column, row], text, at)
            text[at] = _COMMA
            at += 1
        text[at - 1] = _END
    return at


@compiled(forceinline=True, **BORROWING)
def _write_whole(value, text, at):
    """Write a whole number; return where it ends."""
    size = np.uint64(value)
    if value < 0:
        text[at] = _MINUS
        at += 1
        size = np.uint64(0) - size
    count = _digits_of(size)
    _write_digits(size, count, text, at)
    return at + count


@compiled(forceinline=True, **BORROWING)
def _write_float(bits, text, at):
    """Write a float: nothing for NaN, with a power of ten from 1e10 on and below 1e-6; return where it ends."""
    exponent, fraction = (bits >> 52) & 0x7FF, bits & 0xFFFFFFFFFFFFF
    if exponent == 0x7FF and fraction:
        return at
    if bits < 0:
        text[at] = _MINUS
        at += 1
    if exponent == 0x7FF:
        text[at], text[at + 1], text[at + 2] = _I, _N, _F
        return at + 3
    if exponent == 0 and fraction == 0:
        text[at] = _ZERO
        return at + 1
    digits, ten = _shortest(exponent, fraction)
    while digits % np.uint64(10) == 0:
        digits //= np.uint64(10)
        ten += 1
    count = _digits_of(digits)
    before = count + ten  # digits before the point
    if before > 10 or before < -5:
        return _write_power(digits, count, before - 1, text, at)
    if before >= count:
        _write_digits(digits, count, text, at)
        _write_zeros(text, at + count, at + before)
        return at + before
    if before <= 0:
        _write_zeros(text, at, at + 2 - before)
        text[at + 1] = _POINT
        _write_digits(digits, count, text, at + 2 - before)
        return at + 2 - before + count
    _write_digits(digits, count, text, at + 1)
    _put_point(text, at, before)
    return at + count + 1


@compiled(forceinline=True, **BORROWING)
def _write_power(digits, count, ten, text, at):
    """Write digits with a point behind the first and a power of ten; return where they end."""
    if count > 1:
        _write_digits(digits, count, text, at + 1)
        _put_point(text, at, 1)
        at += 1
    else:
        _write_digits(digits, count, text, at)
    at += count
    text[at] = _EXPONENT
    text[at + 1] = _MINUS if ten < 0 else _PLUS
    return _write_whole(abs(ten), text, at + 2)


@compiled(forceinline=True, **BORROWING)
def _put_point(text, at, before):
    """Move digits one place to the front, and write a point behind them."""
    for place in range(at, at + before):
        text[place] = text[place + 1]
    text[at + before] = _POINT


@compiled(forceinline=True, **BORROWING)
def _write_zeros(text, at, end):
    """Write zeros."""
    for place in range(at, end):
        text[place] = _ZERO


@compiled(forceinline=True, **BORROWING)
def _digits_of(value):
    """Return how many digits a number has, uint64."""
    count, power = 1, np.uint64(10)
    while count < 20 and value >= power:
        count += 1
        power *= np.uint64(10)
    return count if count < 20 or value >= np.uint64(10_000_000_000_000_000_000) else 19


@compiled(forceinline=True, **BORROWING)
def _write_digits(value, count, text, at):
    """Write the digits of a number, uint64, from the last ones on."""
    end = at + count
    while value >= np.uint64(100_000_000):
        rest = value // np.uint64(100_000_000)
        eight = value - rest * np.uint64(100_000_000)
        first = eight // np.uint64(10_000)
        end -= 8
        _write_four(first, text, end)
        _write_four(eight - first * np.uint64(10_000), text, end + 4)
        value = rest
    while value >= np.uint64(100):
        rest = value // np.uint64(100)
        end -= 2
        _write_pair(value - rest * np.uint64(100), text, end)
        value = rest
    if value >= np.uint64(10):
        _write_pair(value, text, end - 2)
    else:
        text[end - 1] = np.uint64(_ZERO) + value


@compiled(forceinline=True, **BORROWING)
def _write_four(value, text, at):
    """Write four digits."""
    first = value // np.uint64(100)
    _write_pair(first, text, at)
    _write_pair(value - first * np.uint64(100), text, at + 2)


@compiled(forceinline=True, **BORROWING)
def _write_pair(value, text, at):
    """Write two digits."""
    place = np.uint64(2) * value
    text[at], text[at + 1] = _PAIRS[place], _PAIRS[place + np.uint64(1)]


@compiled(forceinline=True, **BORROWING)
def _shortest(exponent, fraction):
    """Return the fewest digits, uint64, and the power of ten that give a float above 0 back, the nearest of these.

    A number between the float's own borders, half-way to its neighbours, is read as the float; the borders
    themselves where its last bit is even. All are held in quarters of the last digit, their last bit set where more
    follows.
    """
    significand, two = fraction, -1074
    if exponent:
        significand, two = fraction | 0x10000000000000, exponent - 1075
    is_odd = np.uint64(significand & 1)
    is_near_below = fraction == 0 and exponent > 1  # the next float below is half as far away
    ten = (two * 1262611 - (524031 if is_near_below else 0)) >> 22
    power = _POWERS[-ten - _LEAST_TEN]
    shift = np.uint64(two + (-ten * 1741647 >> 19) + 1)
    quarters = np.uint64(4 * significand)
    lower = _times(power, (quarters - np.uint64(1 if is_near_below else 2)) << shift) + is_odd
    value = _times(power, quarters << shift)
    upper = _times(power, (quarters + np.uint64(2)) << shift) - is_odd
    digits = value >> np.uint64(2)
    fewer = digits // np.uint64(10)
    below, above = np.uint64(40) * fewer, np.uint64(40) * fewer + np.uint64(40)
    if fewer and (lower <= below) != (above <= upper):
        return fewer + np.uint64(above <= upper), ten + 1
    below = np.uint64(4) * digits
    if (lower <= below) != (below + np.uint64(4) <= upper):
        return digits + np.uint64(below + np.uint64(4) <= upper), ten
    half = below + np.uint64(2)
    return digits + np.uint64(value > half or (value == half and digits & np.uint64(1))), ten


@compiled(forceinline=True, **BORROWING)
def _times(power, factor):
    """Return the product of 128 and 64 bits without its last 128, the last bit set where these are not 0."""
    _, carry = _product(power[1], factor)
    low, high = _product(power[0], factor)
    low += carry
    high += np.uint64(low < carry)
    return high | np.uint64(low > np.uint64(1))


@compiled(forceinline=True, **BORROWING)
def _product(a, b):
    """Return the lower and the higher 64 bits of a product."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    first, second = a0 * b0, a1 * b0
    middle = second + (first >> half)
    third = a0 * b1 + (middle & low)
    return (third << half) | (first & low), a1 * b1 + (middle >> half) + (third >> half)

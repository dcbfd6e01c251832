"""What a caller may choose, on the CPU and on the GPU: algorithms and starts by name, and the options of a search."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from ..errors import InvalidProblem
from ..named import named


def look_up(table: Mapping[str, Any], name: str, argument: str, where: str) -> Any:
    """Return the entry of that name, or what it names (`named`), or refuse; `where` is "CPU" or "GPU"."""
    if name not in table:
        raise InvalidProblem(
            f"{argument} needs one of {', '.join(map(repr, table))} on the {where}; got {name!r}.", argument=argument
        )
    entry = table[name]
    return named(entry) if isinstance(entry, str) else entry


def check_options(search: Callable[..., Any], algorithm: str, options: Mapping[str, Any], where: str) -> None:
    """Refuse options that the search does not take: it takes its keyword-only parameters."""
    known = [p.name for p in inspect.signature(search).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            offered = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InvalidProblem(
                f"algorithm {algorithm!r} has no option {option!r} on the {where}; {offered}.", argument=option
            )


def is_positive(number: Any) -> bool:
    """Whether this is a number above 0."""
    return isinstance(number, Real) and float(number) > 0


def check_number(argument: str, number: Any, meaning: str, *, zero: bool = False) -> None:
    """Refuse what is not a number above 0; where `zero` is set, 0 passes."""
    if not is_positive(number) and not (zero and number == 0):
        need = "a number of at least 0" if zero else "a positive number"
        raise InvalidProblem(f"{argument} ({meaning}) needs {need}; got {number!r}.", argument=argument)

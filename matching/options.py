"""Validation of the options of solvers."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral

from .errors import InvalidProblem


def need_choice(argument: str, value: object, choices: Collection[str]) -> None:
    """Refuse what is none of the choices."""
    if value not in choices:
        raise InvalidProblem(f"{argument} needs one of {', '.join(choices)}; got {value!r}.", argument=argument)


def need_whole_number(argument: str, value: object, most: int, *, least: int = 1, words: str = "") -> None:
    """Refuse what is no whole number from `least` to `most`; `words` say what else may be given, or what to do."""
    if not (isinstance(value, Integral) and least <= int(value) <= most):
        raise InvalidProblem(
            f"{argument} needs a whole number from {least} to {most}{words}; got {value!r}.", argument=argument
        )

"""The options of the auction, apart from the solver so that its parts can name them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar, Literal

from ..errors import InvalidProblem


@dataclass(frozen=True)
class AuctionOptions:
    """What a caller may choose of the auction; `Auction` says what each means."""

    name: ClassVar[str] = "auction"

    eps: float | None = None
    variant: Literal["default", "paper"] = "default"
    convergence: Literal["counter", "reduction"] = "counter"
    max_bids: int | None = None
    matrix: bool = True

    def __post_init__(self) -> None:
        for option, choices in (
            ("variant", ("default", "paper")),
            ("convergence", ("counter", "reduction")),
        ):
            if getattr(self, option) not in choices:
                raise InvalidProblem(
                    f"{option} needs one of {', '.join(choices)}; got {getattr(self, option)!r}.", argument=option
                )
        if self.eps is not None and not (isinstance(self.eps, Real) and 0 < self.eps < float("inf")):
            raise InvalidProblem(
                f"eps needs a positive number in the unit of the cost, or None for exact; got {self.eps!r}.",
                argument="eps",
            )
        if self.max_bids is not None and not (isinstance(self.max_bids, Integral) and 1 <= self.max_bids <= 2**31):
            raise InvalidProblem(
                "max_bids needs a whole number of bids per row, at least 1 and at most 2**31, or None for no budget; "
                f"got {self.max_bids!r}.",
                argument="max_bids",
            )

        if not isinstance(self.matrix, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidProblem(f"matrix needs True or False; got {self.matrix!r}.", argument="matrix")

    @property
    def is_exact(self) -> bool:
        """Whether an exact finish follows the bids: not in the paper's variant, nor with an increment to stop at."""
        return self.variant == "default" and self.eps is None

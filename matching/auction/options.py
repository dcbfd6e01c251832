"""The options of the auction, apart from the solver so that its parts can name them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

from ..errors import InvalidProblem
from ..options import need_choice, need_whole_number
from ..problem import Problem


@dataclass(frozen=True)
class AuctionOptions:
    """What a caller may choose of the auction; `Auction` says what each means."""

    name: ClassVar[str] = "auction"

    eps: float | None = None
    variant: Literal["default", "paper"] = "default"
    convergence: Literal["counter", "reduction"] = "counter"
    max_bids: int | None = None
    matrix: bool | Literal["only"] = True

    def __post_init__(self) -> None:
        need_choice("variant", self.variant, ("default", "paper"))
        need_choice("convergence", self.convergence, ("counter", "reduction"))
        if self.eps is not None and not (isinstance(self.eps, Real) and 0 < self.eps < float("inf")):
            raise InvalidProblem(
                f"eps needs a positive number in the unit of the cost, or None for exact; got {self.eps!r}.",
                argument="eps",
            )
        if self.max_bids is not None:
            need_whole_number("max_bids", self.max_bids, 2**31, words=" of bids per row, or None for no budget")
        if not isinstance(self.matrix, bool) and self.matrix != "only":
            raise InvalidProblem(f"matrix needs True, False or 'only'; got {self.matrix!r}.", argument="matrix")

    @property
    def is_exact(self) -> bool:
        """Whether an exact finish follows the bids: not in the paper's variant, nor with an increment to stop at."""
        return self.variant == "default" and self.eps is None

    def takes_matrix_of(self, points: Problem) -> bool:
        """Whether these point sets get the matrix of all their costs at once."""
        return self.matrix == "only" and not points.has_unmatched_cost

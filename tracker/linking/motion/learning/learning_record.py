"""What is learned of a movie, in the order in which it is learned, so that parts of it need not learn it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Learned = TypeVar("Learned")


class LearningRecord:
    """A record of what is learned; or, repeated, what stands in place of learning.

    The recipe learns the same things in the same order of whatever movie it is given. Repeated on the movie that it
    is of, it leads to the very same beliefs; repeated on its windows, to windows of one motion model.

    Parameters
    ----------
    learned : sequence, optional
        What to repeat. Without it all is learned, and recorded.
    """

    def __init__(self, learned: Sequence[Any] | None = None) -> None:
        self._learned: list[Any] = []
        self._repeated: Iterator[Any] | None = None if learned is None else iter(learned)

    def learn(self, learn: Callable[[], Learned]) -> Learned:
        """Return what `learn` returns, or what it returned in this place before."""
        if self._repeated is not None:
            return next(self._repeated)
        self._learned.append(learned := learn())
        return learned

    def replay(self) -> LearningRecord:
        """Return a record that repeats what was learned."""
        return LearningRecord(self._learned)

"""What keys and buttons ask for, one after the other: what is asked for faster than it is done waits for its turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


def _always() -> bool:
    return True


class Turns:
    """Acts in the order in which they were asked for; none begins while another is being done. No Qt here."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[], bool], Callable[[], None]]] = deque()
        self._is_held = False

    def take(self, act: Callable[[], None], is_ready: Callable[[], bool] = _always) -> None:
        """Do something at once, or as soon as all before it is done and `is_ready()`, which `go_on` asks again."""
        self._waiting.append((is_ready, act))
        self.go_on()

    def hold(self) -> None:
        """Begin nothing until `release`."""
        self._is_held = True

    def release(self) -> None:
        """Go on: what was being done has ended."""
        self._is_held = False
        self.go_on()

    def go_on(self) -> None:
        """Do what waits, as far as it is ready."""
        while self._waiting and not self._is_held and self._waiting[0][0]():
            _, act = self._waiting.popleft()
            act()

    def forget(self) -> None:
        """Drop what waits: what it was about is gone."""
        self._waiting.clear()

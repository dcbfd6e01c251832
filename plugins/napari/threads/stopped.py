"""How work that the user cancels ends: by an exception that carries what was done."""

from __future__ import annotations

from typing import Any


class Stopped(BaseException):
    """Raised by a report once the work is to stop; no Exception, like KeyboardInterrupt, so that nothing catches it.

    Attributes
    ----------
    partial : object
        What was done until then, put here by the work on the way out; None if nothing.
    """

    def __init__(self) -> None:
        super().__init__("stopped")
        self.partial: Any = None

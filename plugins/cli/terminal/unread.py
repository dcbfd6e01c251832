"""Output that nobody reads any more, as behind `| head`: it goes nowhere, and the work goes on."""

from __future__ import annotations

import io
import os
import sys


def outlive_readers() -> None:
    """Have standard output and error go on where their readers leave; this is done to all of the process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream) is io.TextIOWrapper:  # else it is closed, or what stands in its place has no reader
            setattr(sys, name, _Unread(stream))


class _Unread(io.TextIOWrapper):
    """A stream that leads nowhere once its pipe is broken."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering)

    def write(self, text: str, /) -> int:
        """Write some text, or nothing where nobody reads it."""
        try:
            return super().write(text)
        except BrokenPipeError:
            self._lead_nowhere()
            return len(text)

    def flush(self) -> None:
        """Write what waits, or nothing where nobody reads it."""
        try:
            super().flush()
        except BrokenPipeError:
            self._lead_nowhere()

    def _lead_nowhere(self) -> None:
        """Have what waits, and all that comes, go nowhere, as Python would fail by it at its end."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)

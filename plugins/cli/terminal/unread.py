"""Output that nobody reads any more, as behind `| head` or on a closed terminal: it goes nowhere; the work goes on."""

from __future__ import annotations

import errno
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
    """A stream that leads nowhere once its pipe is broken, or its terminal closed."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=stream.line_buffering)
        self._signs = (errno.EPIPE, errno.EIO) if stream.isatty() else (errno.EPIPE,)

    def write(self, text: str, /) -> int:
        """Write some text, or nothing where nobody reads it."""
        try:
            return super().write(text)
        except OSError as error:
            self._lead_nowhere(error)
            return len(text)

    def flush(self) -> None:
        """Write what waits, or nothing where nobody reads it."""
        try:
            super().flush()
        except OSError as error:
            self._lead_nowhere(error)

    def _lead_nowhere(self, error: OSError) -> None:
        """Have what waits, and all that comes, go nowhere where that is why: Python would fail by it at its end."""
        if error.errno not in self._signs:
            raise error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)

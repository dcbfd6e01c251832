"""What all tests share: Ctrl-C works, however the tests were started."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard() -> Iterator[None]:
    """A job in the background of a shell ignores SIGINT, and so would every process that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

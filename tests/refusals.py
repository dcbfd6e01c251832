"""Refusals are told apart by what they carry, so that their English may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def refused(error: type[Exception], *, match: str | None = None, **carried: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error of exactly this type that carries these attributes; `match` is for names, paths and numbers."""
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert caught.type is error
    found = {name: getattr(caught.value, name) for name in carried}
    assert found == carried, f"{found} in place of {carried}: {caught.value}"

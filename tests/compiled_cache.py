"""Where compiled code is kept between test runs; files in it are named after what they were made from."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".pytest_cache" / "compiled"
NUMBA = CACHE / "numba"

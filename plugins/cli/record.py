"""What is written down beside a result: what was learned, and the settings that `--config` takes to repeat it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...tracker.linking.result import Linking
from ...tracker.settings import Settings
from .standard_input import STANDARD_INPUT


def learned_record(linking: Linking) -> dict[str, Any]:
    """Return what was learned of the motion, in lines with units; nothing where none was."""
    lines = list(linking.report["learned"])
    return {"learned": lines} if lines else {}


def run_record(source: str, asked: Settings, effective: Settings) -> dict[str, Any]:
    """Return the record of a run: its input, from the root on, the settings that were asked for, and those in force."""
    whole = source if Path(source) == STANDARD_INPUT else os.path.abspath(source)  # noqa: PTH100 - it may be a pattern
    return {"source": whole, "asked": asked.to_mapping(), "effective": effective.to_mapping()}

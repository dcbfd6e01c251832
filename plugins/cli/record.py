"""What is written down beside a result: the settings that `--config` takes to repeat it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ...tracker.detect import DetectSettings
from ...tracker.errors import OutputExists
from ...tracker.settings import Settings


def run_record(source: str, settings: Settings, detected: DetectSettings | None = None) -> dict[str, Any]:
    """Return the record of a run: its input, and the settings in force.

    Parameters
    ----------
    source : str
    settings : Settings
    detected : DetectSettings, optional
        Those in force, where something was detected.
    """
    effective = settings if detected is None else replace(settings, detect=detected)
    return {"source": source, "effective": effective.to_mapping()}


def refuse_existing(result: Path, *, overwrite: bool) -> None:
    """Refuse to replace a result before any work is done.

    Raises
    ------
    OutputExists
        If it exists and may not be replaced.
    """
    if result.exists() and not overwrite:
        raise OutputExists(f"{result} exists; give --overwrite to replace it, or another name by --output.")

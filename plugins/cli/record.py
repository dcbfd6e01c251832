"""What is written down beside a result: what was learned, and the settings that `--config` takes to repeat it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...tracker.detecting.settings import DetectSettings
from ...tracker.linking.result import Linking
from ...tracker.settings import Settings


def learned_record(linking: Linking) -> dict[str, Any]:
    """Return what was learned of the motion, in lines with units; nothing where none was."""
    lines = list(linking.report["learned"])
    return {"learned": lines} if lines else {}


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

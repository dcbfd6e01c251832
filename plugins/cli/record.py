"""What is written down beside a result: the settings that `--config` takes to repeat it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...tracker.detecting.settings import DetectSettings
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

"""What the widget did, as a command line and as a settings file; both give identical tracks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ....tracker.calibrating.calibration import FRAME
from ....tracker.detecting.settings import DetectSettings
from ....tracker.linking.settings import LinkSettings
from ....tracker.settings import InputSettings, Settings
from ...words.setting_options import as_options
from ...words.toml import to_toml
from ..layers.layer_input import LayerInput


def run_settings(
    source: LayerInput, found_with: DetectSettings | None, linked_with: LinkSettings, min_length: int
) -> Settings:
    """Return the settings of a run as they took effect."""
    return Settings(
        input=input_settings(source),
        detect=found_with or DetectSettings(),
        link=linked_with,
        min_length=min_length,
    )


def input_settings(source: LayerInput) -> InputSettings:
    """Return how the layer's file is read so that it means what the layer means."""
    calibration, ndim = source.calibration, source.ndim
    kind = {"movie": "auto", "labels": "labels", "points": "auto"}[source.kind]
    scale: Sequence[float] = [float(size) for size in calibration.scale[3 - ndim :]]
    frames, region = source.part.frames, source.part.region
    under = source.intensity
    has_time = calibration.frame_interval is not None and calibration.time_unit != FRAME
    return InputSettings(
        axes=source.axes,
        kind=kind,  # pyright: ignore[reportArgumentType]
        scale=scale,
        unit=calibration.unit,
        frame_interval=calibration.frame_interval if has_time else None,
        time_unit=calibration.time_unit if has_time else None,
        channel=source.channel,
        series=source.series,
        frames=None if frames is None else f"{frames[0]}:{frames[1] + 1}",
        roi=None if region is None else ",".join(f"{part.start}:{part.stop}" for part in region),
        intensity=None if under is None else under.path,
        intensity_channel=None if under is None or under.path is None else under.channel,
        columns=source.columns,
    )


def command_line(path: str, settings: Settings) -> str:
    """Return the `auctrack track` line."""
    return shlex.join(["auctrack", "track", path, *as_options(settings)])


def settings_file(settings: Settings) -> str:
    """Return the settings as TOML, for `auctrack track FILE --config settings.toml`."""
    return to_toml(settings.to_mapping())

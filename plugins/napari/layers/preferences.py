"""What the user set once and for all, in napari's own preferences (File > Preferences > Plugins > auctrack)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....tracker.linking.settings import LinkSettings

PLUGIN = "auctrack"


@dataclass(frozen=True)
class Preferences:
    """The values of `napari.yaml`'s configurations; the defaults hold where napari does not know the plugin."""

    solver: str = LinkSettings.solver
    device: str = LinkSettings.device
    cost: str = LinkSettings.cost
    drawn_vertices: int = 50_000
    tail_frames: int = 30
    tail_depth: float = 1.0


def read_preferences() -> Preferences:
    """Return the preferences as they stand now."""
    kept = _kept()
    if kept is None:
        return Preferences()
    return Preferences(
        solver=kept.tracking.solver,
        device=kept.tracking.device,
        cost=str(getattr(kept.tracking.cost, "value", kept.tracking.cost)),
        drawn_vertices=int(kept.display.drawn_vertices),
        tail_frames=int(kept.display.tail_frames),
        tail_depth=float(kept.display.tail_depth),
    )


def remember(**tracking: str) -> None:
    """Keep choices of solver, device or cost for the next session."""
    kept = _kept()
    if kept is not None:
        for name, value in tracking.items():
            setattr(kept.tracking, name, value)


def _kept() -> Any:
    """Return napari's settings of this plugin; None where the plugin is not registered."""
    from napari.settings import get_plugin_settings

    return get_plugin_settings().get(PLUGIN)

"""auctrack: follow every particle of a 3D movie by solving each pair of frames as an assignment problem.

The whole way: `track` (a movie or point table in, tracks out), `link` (a DataFrame in, the same with `track_id` out).
The solvers on their own: `solve`, `Problem`, `verify` (see `auctrack.matching`). All is imported when first used.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .matching.as_scipy import linear_sum_assignment
    from .matching.certificate.assignment import Assignment
    from .matching.certificate.verification import verify
    from .matching.errors import AuctrackError
    from .matching.problem import Problem
    from .matching.solving import solve
    from .tracker.calibration import Calibration
    from .tracker.detect import DetectSettings, detect
    from .tracker.link import LinkSettings, link, link_points
    from .tracker.measures import mean_squared_displacement, measure_tracks
    from .tracker.movie import Movie, read_movie
    from .tracker.pipeline import TrackingResult, track
    from .tracker.points import Points, Tracks
    from .tracker.reach import reach
    from .tracker.score import score_links
    from .tracker.settings import InputSettings, Settings
    from .tracker.simulate import SimulationSettings, simulate
    from .tracker.tables import read_points, read_tracks
    from .tracker.write import write_points, write_tracks

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # what we log is shown by those who ask for it

_HOMES = {
    "track": "tracker.pipeline",
    "TrackingResult": "tracker.pipeline",
    "Settings": "tracker.settings",
    "InputSettings": "tracker.settings",
    "link": "tracker.link",
    "link_points": "tracker.link",
    "LinkSettings": "tracker.link",
    "detect": "tracker.detect",
    "DetectSettings": "tracker.detect",
    "Points": "tracker.points",
    "Tracks": "tracker.points",
    "Calibration": "tracker.calibration",
    "Movie": "tracker.movie",
    "read_movie": "tracker.movie",
    "read_points": "tracker.tables",
    "read_tracks": "tracker.tables",
    "write_points": "tracker.write",
    "write_tracks": "tracker.write",
    "measure_tracks": "tracker.measures",
    "mean_squared_displacement": "tracker.measures",
    "reach": "tracker.reach",
    "score_links": "tracker.score",
    "simulate": "tracker.simulate",
    "SimulationSettings": "tracker.simulate",
    "solve": "matching.solving",
    "linear_sum_assignment": "matching.as_scipy",
    "Problem": "matching.problem",
    "Assignment": "matching.certificate.assignment",
    "verify": "matching.certificate.verification",
    "AuctrackError": "matching.errors",
}

__all__ = [
    "Assignment",
    "AuctrackError",
    "Calibration",
    "DetectSettings",
    "InputSettings",
    "LinkSettings",
    "Movie",
    "Points",
    "Problem",
    "Settings",
    "SimulationSettings",
    "TrackingResult",
    "Tracks",
    "__version__",
    "detect",
    "linear_sum_assignment",
    "link",
    "link_points",
    "mean_squared_displacement",
    "measure_tracks",
    "reach",
    "read_movie",
    "read_points",
    "read_tracks",
    "score_links",
    "simulate",
    "solve",
    "track",
    "verify",
    "write_points",
    "write_tracks",
]


def __getattr__(name: str) -> Any:
    if name in ("matching", "tracker"):
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'auctrack' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__

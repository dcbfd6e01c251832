"""auctrack: follow every particle of a 3D movie by solving one assignment problem over all of it.

From end to end: `track` (a movie or point table in, tracks out), `link` (a DataFrame in, the same with `track_id` out).
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
    from .tracker.calibrating.calibration import Calibration
    from .tracker.detecting.detect import detect
    from .tracker.detecting.settings import DetectSettings
    from .tracker.editing.session import Session
    from .tracker.editing.session_file import read_session, write_session
    from .tracker.formats.tables import read_points, read_tracks
    from .tracker.formats.write import write_points, write_tracks
    from .tracker.linking.advice.reach import reach
    from .tracker.linking.link import link, link_points
    from .tracker.linking.result import Linking
    from .tracker.linking.settings import LinkSettings
    from .tracker.measuring.displacements import measure_displacements
    from .tracker.measuring.drift import measure_drift, subtract_drift
    from .tracker.measuring.ensemble import measure_ensemble
    from .tracker.measuring.intervals import (
        ensemble_intervals,
        msd_intervals,
        non_gaussian_intervals,
        velocity_correlation_intervals,
    )
    from .tracker.measuring.measures import filter_by_length, measure_tracks
    from .tracker.measuring.msd import mean_squared_displacement
    from .tracker.measuring.pair_correlation import pair_correlation
    from .tracker.measuring.velocity import velocity_correlation
    from .tracker.pipeline import TrackingResult, track
    from .tracker.points import Points, Tracks
    from .tracker.reading.movie import Movie, read_movie
    from .tracker.scoring.isbi import score_isbi
    from .tracker.scoring.lineage_score import score_lineages
    from .tracker.scoring.score import score_links
    from .tracker.scoring.sparse import score_sparse
    from .tracker.settings import InputSettings, Settings
    from .tracker.simulating.simulate import SimulationSettings, simulate

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # what we log is shown by those who ask for it

_HOMES = {
    "track": "tracker.pipeline",
    "TrackingResult": "tracker.pipeline",
    "Settings": "tracker.settings",
    "InputSettings": "tracker.settings",
    "link": "tracker.linking.link",
    "link_points": "tracker.linking.link",
    "Linking": "tracker.linking.result",
    "LinkSettings": "tracker.linking.settings",
    "detect": "tracker.detecting.detect",
    "DetectSettings": "tracker.detecting.settings",
    "Points": "tracker.points",
    "Session": "tracker.editing.session",
    "Tracks": "tracker.points",
    "Calibration": "tracker.calibrating.calibration",
    "Movie": "tracker.reading.movie",
    "read_movie": "tracker.reading.movie",
    "read_points": "tracker.formats.tables",
    "read_session": "tracker.editing.session_file",
    "read_tracks": "tracker.formats.tables",
    "write_points": "tracker.formats.write",
    "write_session": "tracker.editing.session_file",
    "write_tracks": "tracker.formats.write",
    "filter_by_length": "tracker.measuring.measures",
    "measure_tracks": "tracker.measuring.measures",
    "mean_squared_displacement": "tracker.measuring.msd",
    "velocity_correlation": "tracker.measuring.velocity",
    "measure_displacements": "tracker.measuring.displacements",
    "pair_correlation": "tracker.measuring.pair_correlation",
    "measure_drift": "tracker.measuring.drift",
    "subtract_drift": "tracker.measuring.drift",
    "measure_ensemble": "tracker.measuring.ensemble",
    "ensemble_intervals": "tracker.measuring.intervals",
    "msd_intervals": "tracker.measuring.intervals",
    "non_gaussian_intervals": "tracker.measuring.intervals",
    "velocity_correlation_intervals": "tracker.measuring.intervals",
    "reach": "tracker.linking.advice.reach",
    "score_links": "tracker.scoring.score",
    "score_lineages": "tracker.scoring.lineage_score",
    "score_isbi": "tracker.scoring.isbi",
    "score_sparse": "tracker.scoring.sparse",
    "simulate": "tracker.simulating.simulate",
    "SimulationSettings": "tracker.simulating.simulate",
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
    "Linking",
    "Movie",
    "Points",
    "Problem",
    "Session",
    "Settings",
    "SimulationSettings",
    "TrackingResult",
    "Tracks",
    "__version__",
    "detect",
    "ensemble_intervals",
    "filter_by_length",
    "linear_sum_assignment",
    "link",
    "link_points",
    "mean_squared_displacement",
    "measure_displacements",
    "measure_drift",
    "measure_ensemble",
    "measure_tracks",
    "msd_intervals",
    "non_gaussian_intervals",
    "pair_correlation",
    "reach",
    "read_movie",
    "read_points",
    "read_session",
    "read_tracks",
    "score_isbi",
    "score_lineages",
    "score_links",
    "score_sparse",
    "simulate",
    "solve",
    "subtract_drift",
    "track",
    "velocity_correlation",
    "velocity_correlation_intervals",
    "verify",
    "write_points",
    "write_session",
    "write_tracks",
]


_BY_OTHER_NAMES = {
    "measure": "measure_tracks",
    "score": "score_links",
    "locate": "detect",
    "batch": "detect",
    "link_df": "link",
    "filter_stubs": "filter_by_length",
    "compute_drift": "measure_drift",
    "emsd": "mean_squared_displacement",
    "imsd": "mean_squared_displacement",
    "msd": "mean_squared_displacement",
    "vanhove": "measure_displacements",
    "pair_correlation_2d": "pair_correlation",
    "pair_correlation_3d": "pair_correlation",
}
"""Functions by the names of our commands, and of trackpy's."""


if not TYPE_CHECKING:  # which would take any name for one that is there

    def __getattr__(name: str) -> Any:
        if name in ("matching", "tracker"):
            return import_module(f".{name}", __name__)
        if name not in _HOMES:
            ours = f"; it has {_BY_OTHER_NAMES[name]!r}" if name in _BY_OTHER_NAMES else ""
            raise AttributeError(f"module 'auctrack' has no attribute {name!r}{ours}")
        found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = found  # the next look-up does not come here
        return found


def __dir__() -> list[str]:
    return __all__

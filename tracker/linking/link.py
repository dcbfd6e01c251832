"""Linking: the particles of a movie become tracks, by distance alone or by likelihood with learned motion."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Never

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..errors import InvalidInput, InvalidSetting
from ..formats.tables import read_points
from ..kinds import require_whole
from ..links import MARGIN, PROBABILITY
from ..other_tables import what_came
from ..parent_columns import PARENT, parent_columns, without_parents
from ..points import AXES, Points, require
from ..stepwise import Progress, Steps, counted, finished, on_device
from ..unknown_settings import refuse_unknown_arguments, required_settings
from .constraints import constraints_of
from .dropped_frames import as_if_later, dropped_after, in_words
from .frame_pairs.first_order import first_order
from .frame_pairs.gpu_table import copied, is_on_gpu, track_ids_on_gpu, with_columns
from .gate.candidates import Cost
from .given_links import given_links
from .jaqaman import jaqaman
from .motion.detections.ordered import Ordered
from .motion.gpu_ordered import movie_in_order
from .repeated_rows import repeated_rows
from .result import Linking
from .settings import Asked, ExtraCost, Linker, LinkSettings, Motion, Predict
from .solution import KeepSolution
from .whole_movie.learned import learned

_LOOKED_AT = 100_000
"""Rows of a table that are searched for others at the same place, in a few milliseconds."""


def link_points(
    points: Points,
    settings: LinkSettings | None = None,
    *,
    margins: bool = False,
    progress: Progress | None = None,
    edge_budget: int | None = None,
    editable: bool = False,
    samples: int = 0,
    **misplaced: Never,
) -> Linking:
    """Link the particles of a movie into tracks, to proven optimality.

    Parameters
    ----------
    points : Points
    settings : LinkSettings, optional
        Without it, motion is learned and everything else measured.
    margins : bool
        Without learned motion: whether to work out the margin of every link too. Learned motion always does.
    progress : callable, optional
        Called as progress(done, in all): with learned motion the steps of learning, and the trackings sampled;
        otherwise the frames that follow another.
    edge_budget : int, optional
        Without learned motion: how many points and candidate links are solved together at most, to watch progress in
        smaller steps than pay; results do not depend on it.
    editable : bool
        Whether to keep candidates and duals for corrections (`tracker.editing`), about 40 bytes per candidate link. Not
        done if links are pinned or forbidden: a session then links once more without them, and applies them itself.
    samples : int
        Trackings to sample by their likelihood, for intervals that include the errors of tracking
        (`Linking.sampled_tracks`); 30 are enough. Needs learned motion. Pinned links are in all of them.
    **misplaced
        None: settings go into `LinkSettings`, as the message says if one is given directly.

    Returns
    -------
    Linking

    Raises
    ------
    InvalidInput
        If `points` is not `Points`.
    InvalidSetting
        If `settings` is not `LinkSettings`, or a setting is given beside it; if a pinned or forbidden link is
        impossible, or `predict` or `extra_cost` return invalid values; if `editable` is requested where the candidate
        links are too many to write out, together with one of these functions, or with linking "jaqaman", whose two
        steps have no common proof; or `samples` where none can be sampled.
    InvalidProblem, DeviceUnavailable
        If there is no such device, or the solver does not run on it.

    Notes
    -----
    Memory is bounded by `settings.memory_budget_gb`. With learned motion a movie that would take more is processed in
    overlapping windows, with models learned on an excerpt; `report["windows"]` says so, and for how many links two
    windows disagree; where the fewest frames of a window may take more than it, a warning says how much; on a GPU so is
    what would take more than its own memory. If corrections are kept or trackings sampled, the whole movie is held.
    However dense particles are, of the candidate links of a detection only the nearest are looked at.
    """
    steps = link_steps(
        points,
        required_settings(LinkSettings, settings, misplaced, link_points, such_as="search_range"),
        margins=margins,
        edge_budget=edge_budget,
        keeping=KeepSolution.ALWAYS if editable else KeepSolution.NOTHING,
        samples=samples,
    )
    return finished(steps, counted(progress))


def link_steps(
    points: Points,
    settings: LinkSettings,
    *,
    margins: bool = False,
    edge_budget: int | None = None,
    keeping: KeepSolution = KeepSolution.NOTHING,
    samples: int = 0,
) -> Steps[Linking]:
    """Link as `link_points` does, step by step; without learned motion each step has the tracks so far."""
    require(Points, points)
    samples = require_whole(samples, 0, "samples")
    table = _without_links(points.table)
    if table is not points.table:
        points = replace(points, table=table)
    if keeping is KeepSolution.ALWAYS:
        _require_correctable(settings)
    with movie_in_order(points, settings) as movie:
        constraints = constraints_of(points, settings)
        if samples:
            _require_learned(settings)
        if constraints or _is_weighed_by_users(settings):
            keeping = KeepSolution.NOTHING
        if settings.linking == "jaqaman":
            linking = yield from jaqaman(points, settings, margins=margins, edge_budget=edge_budget)
        elif movie is not None:
            known = partial(learned, constraints=constraints, keeping=keeping, samples=samples)
            linking = yield from on_device(_in_time(points, movie, settings, known), _device_of(movie, settings))
        else:
            linking = yield from first_order(
                points,
                settings,
                margins=margins,
                edge_budget=edge_budget,
                constraints=constraints,
                keeping=keeping,
            )
        common = {"frame_step": points.frame_step, "unstated_stride": points.unstated_stride}
        return replace(linking, report={**linking.report, **common})


def _device_of(movie: Ordered, settings: LinkSettings) -> str:
    """Return where motion is learned."""
    if movie.grid is None:
        return "cpu"
    return "cuda" if settings.device == "auto" else settings.device


def _in_time(
    points: Points, movie: Ordered, settings: LinkSettings, learned: Callable[..., Steps[Linking]]
) -> Steps[Linking]:
    """Link by likelihood; again as over missing frames if some seem to be dropped, if more links are right then."""
    linking = yield from learned(points, movie, settings)
    assert linking.motion is not None
    dropped = {} if settings.predict else dropped_after(linking.tracks, linking.motion.persistence or 0.0)
    if not dropped:
        return linking
    with movie_in_order(as_if_later(points, dropped), settings) as later:
        again = yield from learned(points, later, settings)
    if again.expected_right <= linking.expected_right:
        return linking
    notes = [*again.report["notes"], in_words(dropped, points.frame_step)]
    return replace(again, report={**again.report, "notes": notes})


def _is_weighed_by_users(settings: LinkSettings) -> bool:
    """Whether functions of the user's decide what links are worth."""
    return settings.predict is not None or settings.extra_cost is not None


def _require_correctable(settings: LinkSettings) -> None:
    """Refuse what corrections cannot start from."""
    if _is_weighed_by_users(settings):
        raise InvalidSetting(
            "corrections (editable) weigh links by what was learned or by length alone; leave out predict and "
            "extra_cost, or editable."
        )
    if settings.linking == "jaqaman":
        raise InvalidSetting("needs linking 'auctrack' for corrections; got 'jaqaman'.", setting="editable")


def _require_learned(settings: LinkSettings) -> None:
    """Refuse to sample trackings where nothing says how likely each is."""
    if not settings.is_learned:
        raise InvalidSetting(
            "needs learned motion.",
            in_python="Leave that out, or samples.",
            setting="samples",
        )


def link(
    points: pd.DataFrame | Points | Mapping[str, ArrayLike],
    search_range: float | Literal["auto"] = "auto",
    *,
    unmatched_cost: float | Literal["auto"] = "auto",
    cost: Cost = "squared",
    memory: int | Literal["auto"] = "auto",
    motion: Motion = "auto",
    features: Asked = "auto",
    divisions: bool = False,
    merges: bool = False,
    pinned: pd.DataFrame | ArrayLike | None = None,
    forbidden: pd.DataFrame | ArrayLike | None = None,
    linking: Linker = "auctrack",
    predict: Predict | None = None,
    extra_cost: ExtraCost | None = None,
    solver: str = "auto",
    device: str = "auto",
    memory_budget_gb: float = LinkSettings.memory_budget_gb,
    scale: Sequence[float] | None = None,
    track_column: str = "track_id",
    frame_step: int | None = None,
    **unknown: Never,
) -> pd.DataFrame:
    """Link the particles of a table into tracks.

    Parameters
    ----------
    points : DataFrame or Points
        Columns `frame, y, x` (and `z` when 3D), or those of trackpy, laptrack, TrackMate or napari; any further
        column is kept. A mapping of names to arrays is taken as a DataFrame. Or frame, y, x (and z) on a GPU: a mapping
        of names to CuPy arrays, a cuDF DataFrame, or anything else whose columns have `__cuda_array_interface__`. With
        motion "none" they are linked where they are; else a copy of them is linked, and what is found goes there.
    search_range : float or "auto"
        Longest possible link, in the unit of the positions after `scale`.
    unmatched_cost, cost, motion, features, divisions, merges, pinned, forbidden, linking, solver, device
        See `LinkSettings`.
    memory_budget_gb : float
        See `LinkSettings`.
    predict, extra_cost : callable, optional
        Where particles are expected, and what links cost on top of all else; see `LinkSettings`.
    memory : int or "auto"
        Frames a particle may be missing (trackpy's word for our `max_missed_frames`).
    scale : sequence of float, optional
        Size of one coordinate step along z, y, x (or y, x in 2D): give it for positions in voxels that are not cubes.
        Without it distances are in the unit of the table's physical columns (`z_um, y_um, x_um` or another unit of
        length), where it has them, else in its own steps. `Points` carry their scale.
    track_column : str
        Name of the column to add or replace; trackpy users may want "particle".
    frame_step : int, optional
        Difference between the numbers of two consecutive frames of a DataFrame, 1 unless given: 5 for a table of every
        fifth frame. `Points` know theirs.
    **unknown
        None: the message says which of the names above was meant.

    Returns
    -------
    DataFrame, or for columns on a GPU what they came as
        The table with the track's number; row order, index and all other columns kept. With learned motion also
        `link_probability` and `link_margin`: how sure the link that leads to a row is, NaN where a track begins. With
        `divisions` or `merges` also `parent_track_id`: the track that the row's track comes from, missing where there
        is none; a second one is in `parent_track_id_2`. `auctrack.read_tracks` takes them back.

    Raises
    ------
    InvalidInput, InvalidSetting
        If a column or a setting cannot be used.
    InvalidProblem, DeviceUnavailable
        If there is no such device, or the solver does not run on it.

    Examples
    --------
    >>> import pandas as pd, auctrack
    >>> spots = pd.DataFrame({"frame": [0, 0, 1, 1], "y": [0., 9., 9.5, 0.5], "x": [0., 0., 0., 0.]})
    >>> auctrack.link(spots, search_range=3).track_id.tolist()
    [0, 1, 1, 0]
    """
    refuse_unknown_arguments(unknown, link)
    _require_track_column(track_column)
    settings = LinkSettings(
        search_range,
        unmatched_cost=unmatched_cost,
        cost=cost,
        max_missed_frames=memory,
        solver=solver,
        device=device,
        motion=motion,
        features=features,
        divisions=divisions,
        merges=merges,
        pinned=None if pinned is None else given_links(pinned, "pinned"),
        forbidden=None if forbidden is None else given_links(forbidden, "forbidden"),
        linking=linking,
        predict=predict,
        extra_cost=extra_cost,
        memory_budget_gb=memory_budget_gb,
    )
    if is_on_gpu(points):
        ids = track_ids_on_gpu(points, settings, scale, frame_step)
        if ids is not None:
            return with_columns(points, {track_column: ids})
        stated = copied(points, settings, scale, frame_step)
        return with_columns(points, _linked_columns(stated, settings, track_column))
    if isinstance(points, Mapping):
        points = _table_of(points)
    table = points.table if isinstance(points, Points) else points
    stated = _stated(points, scale, frame_step)
    if (again := repeated_rows(stated, _LOOKED_AT)) is not None:
        warnings.warn(
            f"{again}; each is followed separately. Drop them if the table holds its rows twice.", stacklevel=2
        )
    found = _linked_columns(stated, settings, track_column)
    return _without_links(table).assign(**found)


def _require_track_column(name: object) -> None:
    """Refuse what is no name of a column, and names of columns that hold something else afterwards."""
    taken = ("frame", *AXES, PROBABILITY, MARGIN, PARENT)
    if not isinstance(name, str) or not name or name in taken:
        raise InvalidSetting(
            f"needs a name (text) that is not one of {', '.join(taken)}; got {name!r}.", setting="track_column"
        )


def _table_of(columns: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return columns by their names as a table."""
    try:
        return pd.DataFrame(dict(columns))
    except ValueError as error:
        shapes = ", ".join(f"{name} {_shape(column)}" for name, column in columns.items())
        raise InvalidInput(f"points needs columns of one dimension and one length; got {shapes}.") from error


def _shape(column: ArrayLike) -> str:
    try:
        shape = np.shape(column)
    except ValueError:
        return "a list of uneven lists"
    return "a single value" if not shape else f"of {' × '.join(map(str, shape))}"


def _linked_columns(points: Points, settings: LinkSettings, track_column: str) -> dict[str, Any]:
    """Return what linking adds to a table: the tracks' numbers, those of their parents, and how sure links are."""
    made = link_points(points, settings)
    if (stride := points.unstated_stride) is not None and not len(made.links):
        warnings.warn(
            f"no two frames that hold points are {made.tracks.frame_step} apart, so nothing was linked; all are "
            f"multiples of {stride} apart: frame_step={stride} links them.",
            stacklevel=3,
        )
    tracks, ids = made.tracks, made.tracks.table["track_id"].to_numpy()
    of = parent_columns(ids, tracks.parents) if settings.divisions or settings.merges else {}
    sure = {name: tracks.table[name].to_numpy() for name in (PROBABILITY, MARGIN) if name in tracks.table.columns}
    return {track_column: ids, **{name: each.array for name, each in of.items()}, **sure}


def _without_links(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without what an earlier linking said of its links, the table itself where there is nothing."""
    stale = [name for name in (PROBABILITY, MARGIN) if name in table.columns]
    return without_parents(table.drop(columns=stale) if stale else table)


def _stated(points: pd.DataFrame | Points, scale: Sequence[float] | None, frame_step: int | None) -> Points:
    """Return the points of a table in units of `scale`, with frames `frame_step` apart."""
    if isinstance(points, Points):
        if scale is not None:
            raise InvalidSetting("goes with a DataFrame; Points carry theirs in `calibration`.", setting="scale")
        if frame_step is not None:
            raise InvalidSetting("goes with a DataFrame; Points carry theirs in `timeline`.", setting="frame_step")
        return points
    if not isinstance(points, pd.DataFrame):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"points needs a DataFrame of pandas with the columns frame, y, x (and z); {what_came(points)} Files are "
            "read by auctrack.read_points."
        )
    return read_points(points, scale=scale, frame_step=frame_step)

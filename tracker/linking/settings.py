"""How particles are linked: what may be set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from ...matching.solvers import SOLVERS
from ..calibrating.lengths import is_above_zero
from ..errors import InvalidSetting
from ..kinds import LENGTH, TRUTH, declared_as, is_number, one_of, require_kinds, whole_number
from ..points import Points
from ..unknown_settings import KnownByName
from .gate.candidates import Cost
from .given_links import GivenLinks, given_links

Motion = Literal["auto", "none", "diffusion", "velocity", "flow", "flow+velocity"]
MOTIONS: tuple[str, ...] = get_args(Motion)
Asked = Literal["auto", "none"] | tuple[str, ...]
Linker = Literal["auctrack", "jaqaman"]
Predict = Callable[[Points, np.ndarray, np.ndarray], Any]
"""Called as predict(points, rows, frames); see `LinkSettings`."""
ExtraCost = Callable[[Points, np.ndarray, np.ndarray], Any]
"""Called as extra_cost(points, source, target); see `LinkSettings`."""
HOOKS = ("predict", "extra_cost")
"""Functions of the user's, which no file of settings can hold."""
_RECORDED = "the Python function"
"""How what a file of settings says of one begins."""
SEGMENT_RANGES = ("gap_closing_range", "division_range", "merge_range")
PENALTIES = ("link_penalties", "gap_closing_penalties", "division_penalties", "merge_penalties")
"""What goes with linking "jaqaman" only."""


_ALSO_IDLE: Mapping[str, tuple[Any, ...]] = {
    "motion": ("none",),
    "features": ("none",),
    "max_missed_frames": (0,),
}
"""What settings may say, beside their default, where there is no use for them."""


def idle_settings(linking: str, motion: str) -> tuple[str, ...]:
    """Return the settings that linking and motion have no use for."""
    if linking == "jaqaman":
        return ("motion", "features", "unmatched_cost", "cost", "pinned", "forbidden", *HOOKS)
    of_motion = ("features", "max_missed_frames", "divisions", "merges") if motion == "none" else ("cost",)
    return (*SEGMENT_RANGES, *PENALTIES, *of_motion)


def _are_weights(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and is_number(weight) and np.isfinite(weight) and weight >= 0
        for name, weight in given.items()
    )


_GIGABYTES = declared_as("a finite number of GB above 0", is_above_zero)
_WEIGHTS = declared_as("weights of at least 0 by feature, such as {intensity = 1.0}", _are_weights)


@dataclass(frozen=True)
class LinkSettings(KnownByName):
    """How particles are linked from frame to frame; every length is in the calibration's unit, never squared.

    Parameters
    ----------
    search_range : float or "auto"
        Longest possible link from one frame to the next (TrackMate: "linking max distance"; trackpy: `search_range`); a
        link over k frames may be k times as long. "auto": with motion "none" 1.3 times the mean distance of nearest
        neighbours within a frame, beyond which nearly all particles join into one cluster; with learned motion no limit
        except the one that the learned model sets.
    unmatched_cost : float or "auto"
        Cost of leaving a particle unlinked, as a length: two of them cost as much as one link of twice this length, so
        longer links are never made (over k frames: k times that). "auto" with motion "none" measures it from the
        displacements (`linking.unmatched_cost.measured`); with learned motion it follows from the learned shares of
        lost and new particles, and a length given here replaces them: for a link of twice that length, of which nothing
        else is known, linking and leaving are equally good, and it is made.
        The range itself is a poor unmatched cost: on simulated movies (persistence 0.9, 5 % missed, 5 % false) a
        range of 1.8 spacings links at F1 .961 if it is also the unmatched cost, and at .983 with the measured one.
    cost : {"squared", "distance"}
        Cost of a link with motion "none": squared length (Gaussian steps; what trackpy, TrackMate and laptrack
        minimise) or length (the auction-tracking paper). Squared measures better by .0005 to .001 in F1 on simulated
        movies, clean or noisy. Learned motion has its own cost, the likelihood, and refuses "distance".
    max_missed_frames : int or "auto"
        Frames a particle may be missing inside a track (trackpy: `memory`). "auto": one more for as long as the last
        one was worthwhile; with motion "none" 0, the only value it supports.
    solver, device : str
        See `auctrack.matching.solve`. Frame pairs with more links within the range than memory has room for are matched
        by the auction on a CPU, whatever is named here, where the range decides (`matching.within_reach`).
    memory_budget_gb : float
        Memory, in GB (10^9 bytes), that filtering and linking may use besides the frame or table itself. Larger work is
        done in parts: fewer frames at a time, a large frame in tiles, fewer frame pairs, a movie with learned motion in
        windows (`linking.whole_movie.windows`), as `Linking.report` says. Links are the same except at the seams of
        windows and for ties. A window's fewest frames, three times as many as a link may span, are held in any case;
        where they may take more, a warning says how much before anything is learned. It counts the host's memory. A
        GPU's own memory is its limit: a movie that is learned there as a whole needs no budget, and windows that it has
        no room for are cut smaller.
    motion : {"auto", "none", "diffusion", "velocity", "flow", "flow+velocity"}
        What predicts a step. "none" links each frame pair by distance alone. All others link the whole movie at once by
        likelihood, learned from the movie: "diffusion" knows only how long steps are, "velocity" also each particle's
        own steps before and after, "flow" also those of its neighbours; "auto" uses what makes links likelier. If there
        are too few links to learn from, less is used, and `Linking.report` says so. "auto" and those with "velocity"
        also follow particles that keep their direction and speed over steps longer than the spacing.
    divisions, merges : bool
        Whether a particle may be followed by two, and two by one; with learned motion.
    pinned, forbidden : DataFrame or array_like of links, optional
        Links that are made whatever they cost, and links that are never made; all others are the best that go with
        them. A link is a pair of rows of the points table, counted from 0, such as [[0, 7]], or frame, z, y, x of its
        source and of its target in the table's coordinates (without z in 2D), where each end is the detection nearest
        to it. Of a DataFrame the columns `source`, `target`, or `source_frame`, `source_z`, …, `target_x`. Where
        particles divide or merge, a pinned link is the first or the second at its ends as it is in the best links
        without pins, and if it is not among these, or the movie is worked through in windows, the first where that is
        left. They change no model that is learned.
    linking : {"auctrack", "jaqaman"}
        "jaqaman" links as TrackMate's LAP tracker does, for tracks that must be the same as its (`linking.jaqaman` says
        how): each frame pair by squared length, then the tracks so far joined across gaps of up to
        `max_missed_frames` ("auto": 1, TrackMate's max frame gap of 2), at divisions and at merges where these are
        asked for. It learns no motion, and takes its unmatched cost from the lengths.
    gap_closing_range, division_range, merge_range : float or "auto"
        With linking "jaqaman": longest link across a gap (whole, not per frame), to a second daughter, and from a
        second parent (TrackMate: max distances of gap closing, splitting, merging). "auto": the search range.
    link_penalties, gap_closing_penalties, division_penalties, merge_penalties : mapping of str to float, optional
        With linking "jaqaman": weights w by column of the table, such as {"intensity": 1.0} (TrackMate: feature
        penalties of linking, gap closing, splitting, merging). Particles with values f1 and f2 look
        1 + Σ 3·w·|f1 − f2| / (f1 + f2) times as far apart as they are, for the ranges too.
    features : "auto", "none" or names of columns
        Features of the detections, above 0, whose change shows how likely a link is: intensity, size. With learned
        motion, how they change along links, and to others as near, is learned, and used where it makes held-out links
        likelier. "auto": those of `linking.motion.features.KNOWN` that the table has.
    predict : callable, optional
        Called as predict(points, rows, frames), rows int64 (k,) of `points.table`, counted from 0, and frame numbers
        int64 (k,): returns where each is expected in its frame, float64 (k, axes), along z, y, x (or y, x), in
        `points.calibration.unit`. Steps are counted from there, and so is the search range; with learned motion the
        contexts explain what is left. A drift is then yours to predict.
    extra_cost : callable, optional
        Called as extra_cost(points, source, target), rows int64 (k,) of `points.table`: returns what each link costs in
        addition to everything else, float64 (k,); +inf forbids it. It may be below 0. With learned motion in nats
        (minus a log-likelihood ratio), with motion "none" in the unit of the cost: the squared unit of the positions,
        or with cost "distance" that unit.

    Raises
    ------
    InvalidSetting
        If a length is not valid, a name unknown, or two settings contradict each other. The device is looked for when
        links are made.
    """

    search_range: float | Literal["auto"] = field(default="auto", metadata=LENGTH)
    unmatched_cost: float | Literal["auto"] = field(default="auto", metadata=LENGTH)
    cost: Cost = field(default="squared", metadata=one_of(*get_args(Cost)))
    max_missed_frames: int | Literal["auto"] = field(default="auto", metadata=whole_number(0, " (trackpy: memory)"))
    solver: str = field(default="auto", metadata=one_of("auto", *SOLVERS))
    device: str = "auto"
    motion: Motion = field(default="auto", metadata=one_of(*MOTIONS))
    divisions: bool = field(default=False, metadata=TRUTH)
    merges: bool = field(default=False, metadata=TRUTH)
    pinned: GivenLinks | None = None
    forbidden: GivenLinks | None = None
    linking: Linker = field(default="auctrack", metadata=one_of(*get_args(Linker)))
    gap_closing_range: float | Literal["auto"] = field(default="auto", metadata=LENGTH)
    division_range: float | Literal["auto"] = field(default="auto", metadata=LENGTH)
    merge_range: float | Literal["auto"] = field(default="auto", metadata=LENGTH)
    link_penalties: Mapping[str, float] | None = field(default=None, hash=False, metadata=_WEIGHTS)
    gap_closing_penalties: Mapping[str, float] | None = field(default=None, hash=False, metadata=_WEIGHTS)
    division_penalties: Mapping[str, float] | None = field(default=None, hash=False, metadata=_WEIGHTS)
    merge_penalties: Mapping[str, float] | None = field(default=None, hash=False, metadata=_WEIGHTS)
    features: Asked = "auto"
    memory_budget_gb: float = field(default=4.0, metadata=_GIGABYTES)
    predict: Predict | None = None
    extra_cost: ExtraCost | None = None

    def __post_init__(self) -> None:
        require_kinds(self)
        for name in ("pinned", "forbidden"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, given_links(getattr(self, name), name) or None)
        for name in (name for name in HOOKS if getattr(self, name) is not None):
            self._refuse_no_function(name)
        self._take_features()
        for name in idle_settings(self.linking, self.motion):
            self._refuse_idle(name)

    def _refuse_no_function(self, name: str) -> None:
        given: Any = getattr(self, name)
        if isinstance(given, str) and given.startswith(_RECORDED):
            raise InvalidSetting(
                f"was {given}, which no file of settings can hold; give it from Python: link_points(points, "
                f"LinkSettings({name}=...)).",
                setting=name,
            )
        if not callable(given):
            raise InvalidSetting(f"needs a function of Python; got {given!r}.", setting=name)

    def named_hooks(self) -> dict[str, str]:
        """Return what a record says of the functions, by the settings they are."""
        given = ((name, getattr(self, name)) for name in HOOKS)
        return {name: f"{_RECORDED} {_name_of(of)}" for name, of in given if of is not None}

    def _take_features(self) -> None:
        """Keep names as a tuple; refuse what is not a name."""
        given: Any = self.features
        if not (isinstance(given, str) and given in ("auto", "none")):
            named = isinstance(given, Collection) and not isinstance(given, str)
            if not named or not all(isinstance(name, str) for name in given):
                raise InvalidSetting(
                    f"needs 'auto', 'none', or names of columns in a list; got {given!r}.", setting="features"
                )
            object.__setattr__(self, "features", tuple(map(str, given)) or "none")

    def _refuse_idle(self, name: str) -> None:
        """Refuse a setting for which linking and motion have no use, where it says other than that it is not used."""
        default = next(declared.default for declared in fields(self) if declared.name == name)
        if getattr(self, name) in (default, *_ALSO_IDLE.get(name, ())):
            return
        if self.linking == "jaqaman":
            why = "does not go with linking 'jaqaman', which learns no motion and has its own costs."
            wanted = "linking", "auctrack"
        elif name in (*SEGMENT_RANGES, *PENALTIES):
            why, wanted = "goes with linking 'jaqaman' only.", ("linking", "jaqaman")
        elif self.is_learned:
            why = "'distance' goes with motion 'none'; learned motion has its own cost, the likelihood."
            wanted = "motion", "none"
        elif name == "features":
            why, wanted = "needs learned motion: motion 'none' links by distance alone.", ("motion", "auto")
        else:
            why = "needs learned motion: with motion 'none' only consecutive frames are linked, one to one."
            wanted = "motion", "auto"
        in_python = f"Set {wanted[0]} to {wanted[1]!r}, or leave this out."
        raise InvalidSetting(why, in_python=in_python, setting=name, wanted=wanted)

    @property
    def is_learned(self) -> bool:
        """Whether links are weighed by likelihood, learned from the movie."""
        return self.linking == "auctrack" and self.motion != "none"

    @property
    def memory_budget(self) -> float:
        """`memory_budget_gb` in bytes."""
        return 1e9 * self.memory_budget_gb

    @property
    def longest_a_frame(self) -> float:
        """Longest link over one frame that range and unmatched cost allow, inf where neither is given."""
        given = [] if self.search_range == "auto" else [float(self.search_range)]
        return min([*given, np.inf if self.unmatched_cost == "auto" else 2 * float(self.unmatched_cost)])

    def without_motion(self) -> Self:
        """Return the settings of first order: by distance alone, from frame to frame."""
        return replace(self, motion="none", features="auto", max_missed_frames="auto", divisions=False, merges=False)


def _name_of(function: Any) -> str:
    """Return where a function, or the class of what is called as one, is defined."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"

"""What linking gives: tracks, the links they are made of, and how far these can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidSetting
from ..kinds import require_whole
from ..links import tracks_of
from ..points import Tracks
from .motion.motion import Motion
from .settings import LinkSettings
from .solution import LinkSolution
from .unmatched_cost.measured import UnmatchedCost


@dataclass(frozen=True, eq=False)
class Linking:
    """Tracks, the links they are made of, and how sure they are.

    Attributes
    ----------
    tracks : Tracks
        The points' table, row order kept, with `track_id`: numbered from 0 in the order of first appearance. A particle
        without any link is a track of one point. Where a particle divides or two merge, tracks end and others begin;
        `parents` has who descends from whom. With learned motion also `link_probability` and `link_margin` of the link
        that leads to the detection, the less probable of two, NaN where a track begins.
    make_links : callable
        Makes `links` when they are first asked for: of millions of links the table takes longer than linking.
    links : DataFrame
        One row a link, with the columns of `tracker.links.links_of`: `source`, `target`, `frames`, `length`,
        `probability`, `margin` (in nats; without learned motion in the unit of the cost) and `kind`.
    settings : LinkSettings
        As they took effect. Linking the same points with them gives the same tracks.
    unmatched_cost : UnmatchedCost or None
        What was used, and why; None with learned motion, where the learned shares say it, and with linking "jaqaman",
        where each frame pair has its own.
    motion : Motion or None
        What was learned; None without learned motion.
    report : mapping
        `frame_pairs`, `candidate_links`, `more_candidates` (without learned motion: whether these are so many at least,
        as links that are too many to hold are not counted), `links`, `solves`, `gap` (sum over all problems),
        `is_optimal`, `solver`, `device`, `median_step` (physical, over one frame, of millions by a million of them;
        None without such a link), `frame_step`, `unstated_stride` (the step that all frames with points keep to, where
        no two of them are `frame_step` apart and so none is linked; else None), `motion` (what "auto" stood for:
        "diffusion", "velocity", "flow" or "flow+velocity", or "none" without learned motion), `expected_wrong` (links
        expected to be wrong; None without learned motion), `more_are_wrong` (with learned motion: whether more are, as
        `Motion.is_chance` and `Motion.is_unclear` say),
        `learned` (lines, with units, and what could not be learned; with linking "jaqaman" how segments were joined),
        `notes` (what was not done as asked, and why). With learned motion also
        `windows` (1: the movie was held as a whole), and for several `seam_links` and `seam_differences`: links out of
        the frames just after the seams that either window made, and those that one made and the other did not. The
        later window's count; with its weights the links are one proven assignment across all seams.
    samples : int64 (samples, detections) or None
        Where they were asked for: trackings sampled by their likelihood, by the row that follows each row, −1 where
        none does. `sampled_tracks` makes tracks of them.
    second_samples : tuple of int64 (links, 2), or None
        Beside them, of each tracking the second links out of a source, or into a target, by their rows.
    solution : LinkSolution or None
        The candidate links and duals that corrections start from, where they were asked for.
    lacked : tuple of (source, target)
        Which of `settings.forbidden` nobody has asked for: links that linking would make, and tracks that were taken up
        (`editing.reopened`) lack.
    """

    tracks: Tracks
    make_links: Callable[[], pd.DataFrame] = field(repr=False)
    settings: LinkSettings
    unmatched_cost: UnmatchedCost | None
    motion: Motion | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    solution: LinkSolution | None = field(default=None, repr=False)
    samples: np.ndarray | None = field(default=None, repr=False)
    second_samples: tuple[np.ndarray, ...] | None = field(default=None, repr=False)
    lacked: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        """Return the counts, and where the rest is: the tables themselves would fill the screen."""
        tracks, made = self.tracks.table["track_id"].nunique(), self.report.get("links", 0)
        return (
            f"<Linking with tracks: {tracks}, points: {len(self.tracks)}, links: {made}; "
            "see .tracks.table, .links, .report, .settings>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the table of links itself, as what makes it is of this process alone."""
        return {**vars(self), "make_links": partial(pd.DataFrame, self.links)}

    @property
    def expected_right(self) -> float:
        """Links less those that are expected to be wrong, of learned motion."""
        return self.report["links"] - self.report["expected_wrong"]

    @cached_property
    def links(self) -> pd.DataFrame:
        """The links, one row each; see above."""
        return self.make_links()

    @property
    def is_frame_by_frame(self) -> bool:
        """Whether links lead to the next frame, no two from one particle, with no probability: no table need say so."""
        return self.motion is None and self.settings.linking == "auctrack"

    def doubtful(self, count: int = 100) -> pd.DataFrame:
        """Return the rows of the least sure links, the least sure first."""
        count = require_whole(count, 0, "count")
        return self.links.sort_values(["probability", "margin"], kind="stable").head(count)

    def sampled_tracks(self) -> Iterator[Tracks]:
        """Yield the sampled trackings; of what is measured on each, `tracker.measuring.intervals` makes intervals.

        Raises
        ------
        InvalidSetting
            If none were asked for.
        """
        if self.samples is None or self.second_samples is None:
            raise InvalidSetting("sampled_tracks needs trackings: link_points(..., samples=30) samples them.")
        points = replace(self.tracks, parents={})
        for following, seconds in zip(self.samples, self.second_samples, strict=True):
            source = np.flatnonzero(following >= 0)
            yield tracks_of(points, np.append(source, seconds[:, 0]), np.append(following[source], seconds[:, 1]))

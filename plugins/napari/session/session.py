"""What the widget has in hand: the input, what was found in it, and the work that the buttons stand for. No Qt here."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ....tracker.calibrating.digits import counted, expected, in_unit
from ....tracker.detecting.settings import DetectSettings
from ....tracker.editing.change import Link
from ....tracker.editing.looked_at import are_among
from ....tracker.editing.session_file import read_session
from ....tracker.errors import InvalidInput
from ....tracker.formats.losses import loss_note
from ....tracker.formats.registry import to_write
from ....tracker.formats.sidecar import SUFFIX as SIDECAR
from ....tracker.formats.write import write_tracks
from ....tracker.linking.constraints import with_places
from ....tracker.linking.result import Linking
from ....tracker.linking.settings import LinkSettings
from ....tracker.links import MARGIN, PROBABILITY
from ....tracker.measuring.measures_file import write_measures
from ....tracker.points import Points, Tracks
from ...words.given_limits import given_limits
from ...words.notes import on_doubt, on_frozen_frames, on_linking
from ...words.setting_options import in_words
from ..layers.edits import Edits
from ..layers.layer_input import LayerInput
from ..layers.layer_movie import LayerMovie
from .advice import LinkAdvice, advise_detection, advise_linking
from .command import command_line, run_settings, settings_file
from .corrections import Act, CorrectedTracks, Corrections
from .curves import Plot, plots_of
from .filters import MeasuredTracks, measured_links
from .placing import Ground, Place
from .steps import Linked, Particles, ProgressUpdate, TakenUp, Tracked, chain, find, find_and_chain, take_up
from .suspicious import margin_unit

SESSION = ".auctrack"
"""How names of sessions of corrections end."""
Report = Callable[[Any], None]
Work = Callable[[Report], Any]


class WidgetSession:
    """One input and what came of it.

    Attributes
    ----------
    source : LayerInput or None
    detected : Particles or None
        Particles, complete or up to where it was cancelled.
    linked : Linked or None
        Tracks of a run that came to its end.
    data : MeasuredTracks or None
        Tracks that are shown, complete or not.
    chosen : int or None
        The track whose plots are shown.
    link : (source, target) or None
        The link that is looked at, as rows of the tracks' table.
    """

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, source: LayerInput | None) -> None:
        """Forget everything for a new input."""
        self.source = source
        self.detected: Particles | None = None
        self.linked: Linked | None = None
        self.data: MeasuredTracks | None = None
        self.chosen: int | None = None
        self.link: Link | None = None
        self.corrections: Corrections | None = None
        self._found_with: DetectSettings | None = None
        self._series: int | str | None = None
        self._exported: dict[str, str] = {}  # settings as TOML, and the file beside the export that holds them

    # --- work ----------------------------------------------------------------------------------------------------

    def detecting(self, detect: DetectSettings, link: LinkSettings) -> Work:
        """Return the work of finding the particles."""
        return partial(find, self._required(), detect, link)

    def take_edits(self, edits: Edits) -> None:
        """Let the next link take particles as corrections have left them, and as they were edited."""
        points = self._required().source if self.detected is None else self.detected.points
        if self.has_corrected_particles:
            assert self.linked is not None  # it was corrected
            tracks = self.linked.linking.tracks
            table = tracks.table.drop(columns=["track_id", PROBABILITY, MARGIN], errors="ignore")
            points = Points(table, tracks.calibration, timeline=tracks.timeline)
        if isinstance(points, Points):
            settings = None if self.detected is None else self.detected.settings
            self.detected = Particles(edits.of_points(points), settings, is_edited=True)

    def linking(self, detect: DetectSettings, link: LinkSettings) -> Work:
        """Return the work of linking the particles found, or of finding them first."""
        if self.detected is None:
            return self.tracking(detect, link)
        return partial(chain, self.detected.points, link)

    def tracking(self, detect: DetectSettings, link: LinkSettings) -> Work:
        """Return the work of both steps."""
        return partial(find_and_chain, self._required(), detect, link)

    def taking_up(self, detect: DetectSettings, link: LinkSettings) -> Work:
        """Return the work of showing the links that the input has.

        Raises
        ------
        InvalidInput
            If it has none.
        """
        del detect
        source = self._required().source
        if not isinstance(source, Tracks):
            raise InvalidInput("These particles have no track_id, so there are no links to take up: link them.")
        path = self._required().path
        if path is not None and path.lower().endswith(SESSION):
            return partial(_take_up_session, path)
        return partial(take_up, source, link)

    def preparing(self) -> Work | None:
        """Return the work of making ready for corrections; None where there is nothing to correct, or all is ready."""
        return None if self.linked is None or self._corrections().is_ready else self._corrections().prepare

    def correcting(self, act: Act, *rows: int) -> Work:
        """Return the work of an act on the detections in some rows of the table shown, which gives `Acted`.

        Raises
        ------
        InvalidInput
            If there are no links, or not all.
        """
        corrections = self._corrections()
        return partial(corrections.make, act, corrections.ids_of(rows))

    def following(self) -> Work:
        """Return the work of making tracks and links as corrections have left them; raises as `correcting`."""
        return self._corrections().follow

    def looking_at(self, link: Link) -> Work:
        """Return the work of looking at a link between two rows, which gives `LookedAt`; raises as `correcting`.

        If it is one of the doubtful ones it is ticked off: a click on any other one is no progress with these.
        """
        corrections = self._corrections()
        source, target = corrections.ids_of(link)
        return partial(corrections.look_at, (source, target), ticks_off=self._is_doubtful(link))

    def replaying(self, path: str, *, is_saved: bool) -> Work:
        """Return the work of making the corrections of a file, which holds them for good or not; as `correcting`."""
        return partial(self._corrections().replay, path, is_saved=is_saved)

    def keeping(self, folder: Path) -> Work | None:
        """Return the work of keeping corrections that no file holds where a crash leaves them; None without any."""
        return None if self.corrections is None else partial(self.corrections.keep, folder)

    def finding_kept(self, folder: Path) -> Work:
        """Return the work of finding what `keeping` has left, which gives `Left`; raises as `correcting`."""
        return partial(self._corrections().find_kept, folder)

    def discard(self) -> None:
        """Take away what `keeping` has left: the user wants it no more."""
        if self.corrections is not None:
            self.corrections.keep_no_longer()

    def _corrections(self) -> Corrections:
        if self.linked is None:
            raise InvalidInput("There are no links to correct yet: run linking to its end first.")
        if self.corrections is None:
            self.corrections = Corrections(self.linked)
        return self.corrections

    def row_of(self, track_id: int, frame: int) -> int | None:
        """Return the row of a track's particle in a frame; None where it has none."""
        if self.linked is None:
            return None
        table = self.linked.linking.tracks.table
        rows = np.flatnonzero((table["track_id"] == track_id).to_numpy() & (table["frame"] == frame).to_numpy())
        return int(rows[0]) if len(rows) else None

    def sources_of(self, row: int) -> list[int]:
        """Return the rows of the particles that are linked to the one in a row, from earlier frames."""
        assert self.linked is not None  # its table has the row
        links = self.linked.linking.links
        return links["source"].to_numpy()[links["target"].to_numpy() == row].tolist()

    def rows_at(self, places: Sequence[Place]) -> list[int] | None:
        """Return the rows of the particles at some places, exactly; None where one is of no particle."""
        assert self.linked is not None  # its particles are meant
        tracks = self.linked.linking.tracks
        rows: list[int] = []
        for frame, position in places:
            near = np.flatnonzero(tracks.frames == frame)
            are_here = (tracks.table.iloc[near][list(tracks.axes)].to_numpy() == position).all(axis=1)
            here = [row for row in near[are_here].tolist() if row not in rows]
            if not here:
                return None
            rows.append(here[0])
        return rows

    def place_of(self, row: int) -> Place:
        """Return frame and place (z, y, x or y, x, in steps) of the particle in a row of the table of tracks."""
        assert self.linked is not None  # its table has the row
        tracks = self.linked.linking.tracks
        particle = tracks.table.iloc[row]
        return int(particle["frame"]), [float(particle[axis]) for axis in tracks.axes]

    @property
    def n_corrections(self) -> int:
        """How many corrections the tracks shown hold."""
        return 0 if self.corrections is None else self.corrections.count

    @property
    def n_unsaved(self) -> int:
        """How many corrections were made, or taken back, that no file holds."""
        return 0 if self.corrections is None else self.corrections.n_unsaved

    @property
    def progress(self) -> str:
        """How far the look through the doubtful links has come; empty before a run came to its end."""
        return "" if self.linked is None else self._corrections().progress

    def detection_advice(self, settings: DetectSettings) -> Work | None:
        """Return the work of suggesting a threshold, and a diameter if it is auto; None where nothing is detected."""
        if self.source is None or not isinstance(self.source.source, LayerMovie) or self.source.kind != "movie":
            return None
        return partial(_advise_detection, self.source.source, settings)

    def linking_advice(self, *, take: bool) -> Work | None:
        """Return the work of suggesting a search range; None while there are no particles."""
        if self.detected is not None:
            return partial(_advise_linking, self.detected.points, take)
        if self.source is not None and isinstance(self.source.source, Points):
            return partial(_advise_linking, self.source.source, take)
        return None

    # --- results -------------------------------------------------------------------------------------------------

    def keep(self, result: Particles | Linked | TakenUp | Tracked) -> None:
        """Keep what a run gave; new particles make tracks of older ones void, and all corrections with them."""
        self.corrections = self.link = None
        if isinstance(result, TakenUp):
            self.linked, self.corrections = result.linked, result.corrections
            self.detected, self._found_with, self._series = None, result.found_with, result.series
        elif isinstance(result, Linked):
            self.linked = result
        else:
            self.detected = result if isinstance(result, Particles) else result.detected
            self.linked = result.linked if isinstance(result, Tracked) else None
        self.data = None if self.linked is None else self.linked.data

    def keep_corrected(self, corrected: CorrectedTracks) -> None:
        """Keep tracks and links as corrections have left them.

        The track chosen stays that of its number, or else becomes that of the first of its particles.
        """
        corrections = self._corrections()
        link = None if self.link is None else corrections.ids_of(self.link)
        chosen = self._particles_of_chosen()
        self.linked = corrected.linked
        self.data = corrected.linked.data
        corrections.show(corrected)
        if not (corrected.linked.linking.tracks.table["track_id"] == self.chosen).any():
            self.chosen = self._track_of_first(chosen)
        rows = None if link is None else corrections.rows_of(link)
        self.link = None
        if rows is not None and are_among(corrected.linked.linking.links, {(rows[0], rows[1])}).any():
            self.link = rows[0], rows[1]

    def is_judged(self, link: Link) -> bool:
        """Whether the user has confirmed or made a link between two rows, and no correction since took that back."""
        return self.corrections is not None and self.corrections.is_judged(link)

    def choose_link(self, link: Link | None) -> None:
        """Choose a link between two detections, or none."""
        rows = None if link is None else self._corrections().rows_of(link)
        self.link = None if rows is None else (rows[0], rows[1])

    def seen(self, detections: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return track and frame of some detections by their rows in the table shown; none where one is away."""
        assert self.linked is not None  # they are of its corrections
        rows = self._corrections().rows_of(detections) or ()
        table = self.linked.linking.tracks.table[["track_id", "frame"]].iloc[[*rows]]
        return dict(zip(rows, table.itertuples(index=False, name=None), strict=True))

    def ids_of(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the detections in some rows of the table shown, which keep their names when rows change."""
        return self._corrections().ids_of(rows)

    def _is_doubtful(self, link: Link) -> bool:
        return self.suspicious is not None and bool(are_among(self.suspicious, {link}).any())

    def choose_track_of(self, detections: Sequence[int]) -> None:
        """Choose the track of the last of some detections, where that of none of them is chosen."""
        tracks = [track for track, _ in self.seen(detections).values()]
        if tracks and self.chosen not in tracks:
            self.chosen = tracks[-1]

    def _particles_of_chosen(self) -> tuple[int, ...]:
        """Return the detections of the track chosen, in the order of time; none where none is chosen."""
        assert self.linked is not None  # it is corrected
        table = self.linked.linking.tracks.table
        rows = np.flatnonzero(table["track_id"] == self.chosen)
        rows = rows[np.argsort(table["frame"].to_numpy()[rows], kind="stable")]
        return self._corrections().ids_of(rows.tolist())

    def _track_of_first(self, detections: tuple[int, ...]) -> int | None:
        """Return the track that the first of some detections is in that is still there; None where none is."""
        assert self.linked is not None  # it was corrected
        found = (self._corrections().rows_of([detection]) for detection in detections)
        row = next((rows[0] for rows in found if rows is not None), None)
        return None if row is None else int(self.linked.linking.tracks.table["track_id"].iloc[row])

    def keep_partial(self, done: Particles | MeasuredTracks) -> None:
        """Keep what a run gave so far."""
        self.linked = self.corrections = self.link = None
        if isinstance(done, MeasuredTracks):
            self.data = done
        else:
            self.detected, self.data = done, None

    @property
    def is_complete(self) -> bool:
        """Whether the tracks shown are those of a run that came to its end."""
        return self.linked is not None

    @property
    def is_behind(self) -> bool:
        """Whether a correction is not part yet of the tracks shown."""
        return self.corrections is not None and self.corrections.is_behind

    @property
    def can_keep_others(self) -> bool:
        """Whether the last correction changed other links that can be put back."""
        return self.corrections is not None and self.corrections.can_keep_others

    @property
    def has_corrected_particles(self) -> bool:
        """Whether corrections have added, moved or taken away particles."""
        return self.corrections is not None and self.corrections.edit_detections

    @property
    def found_with(self) -> DetectSettings | None:
        """The settings that particles were found with, those of the session that was taken up too; None if unknown."""
        return self._found_with if self.detected is None else self.detected.settings

    @property
    def series(self) -> int | str | None:
        """Which of several series of a file the particles were found in, as the session that was taken up says too."""
        return self._series if self.source is None or self.source.series is None else self.source.series

    @property
    def why_no_command(self) -> str:
        """Why no command line gives the tracks shown, confirmed and broken links aside; empty where one does."""
        if self.linked is None:
            return "There are no complete tracks yet: run linking to its end first."
        if self.linked.is_given:
            return "These tracks keep the links that they came with, which no command can make."
        if self.has_corrected_particles or (self.detected is not None and self.detected.is_edited):
            return "Particles were added, moved or deleted by hand, which no command can repeat."
        return ""

    def ground(self, movie: LayerMovie | None, series: Collection[int | str] = ()) -> Ground:
        """Return what particles are placed on, over a movie; `series`: what it is called among several of its file."""
        found_with, ndim = self.found_with, None if self.linked is None else self.linked.linking.tracks.ndim
        is_known = found_with is not None and found_with.diameter != "auto"
        is_other = is_known and bool(series) and self.series not in (None, *series)
        taken = movie if movie is None or movie.ndim == ndim else None
        return Ground(taken, found_with if is_known else None, lacks=self.series if is_other else None)

    @property
    def suspicious(self) -> pd.DataFrame | None:
        """Links worth a look; None before a run came to its end."""
        return None if self.linked is None else self.linked.suspicious

    @property
    def margin_unit(self) -> str:
        """Unit of the margins."""
        return "" if self.linked is None else margin_unit(self.linked.linking)

    def report(self) -> str:
        """Return what linking gave, that it is proven where a link was possible, and how sure it is, in a line."""
        assert self.linked is not None  # asked for after a run
        report = self.linked.linking.report
        proof = "proven optimal" if report["is_optimal"] else f"within {report['gap']:.3g} of optimal"
        wrong = report.get("expected_wrong")
        about = "more than" if report.get("more_are_wrong") else "about"
        sure = "" if wrong is None else f"; {about} {expected(wrong)} wrong"
        tracks, links = counted(len(self.linked.data.measures), "track", ","), counted(report["links"], "link", ",")
        if not report["candidate_links"]:
            return f"{tracks}, {links}."
        return f"{tracks}, {links}, {proof}{sure}."

    def report_details(self) -> str:
        """Return how it was solved, and what the numbers of `report` mean."""
        assert self.linked is not None  # asked for after a run
        linking = self.linked.linking
        report, unit, step = linking.report, linking.tracks.calibration.unit, linking.report["median_step"]
        moved = "" if step is None else f"The median step is {in_unit(unit, step)}. "
        sure = (
            ""
            if report.get("expected_wrong") is None
            else " The number of wrong links is expected from how sure each one is; missing ones are not counted."
        )
        return f"{moved}Solved by {report['solver']} on {report['device']}.{sure}"

    def reason(self) -> str:
        """Return what decided between linking and not linking."""
        assert self.linked is not None  # asked for after a run
        return _how(self.linked.linking)

    def doubts(self) -> list[str]:
        """Return what the command line would warn of: optimal links can be wrong, or none."""
        assert self.linked is not None  # asked for after a run
        linking = self.linked.linking
        found = () if self.detected is None else self.detected.notes
        of_table = self.source is not None and self.source.kind == "points"
        detected = not of_table and "quality" in linking.tracks.table
        said = on_linking(linking, detected=detected, of_table=of_table, named=in_words)
        return [*found, *said, *on_frozen_frames(linking.tracks), *on_doubt(linking)]

    def plots(self, track_id: int, report: Report) -> tuple[str, tuple[Plot, ...]]:
        """Return title and plots of one track (work)."""
        del report
        assert self.data is not None  # a track was chosen
        row = self.data.measures[self.data.measures["track_id"] == track_id].iloc[0]
        length = counted(int(row["length"]), "detection")
        span = f"frames {int(row['first_frame'])} to {int(row['last_frame'])}, {length}"
        return f"Track {track_id}: {span}", plots_of(self.data.tracks, track_id)

    # --- taking it away ------------------------------------------------------------------------------------------

    def command(self, min_length: int) -> str:
        """Return the command line that gives the same tracks.

        Links that were confirmed or forbidden have no room in a line: it then names the settings beside the export.

        Raises
        ------
        InvalidInput
            If the layer did not come from a file, or was changed since, or such links were not exported.
        """
        source = self._required()
        if source.path is None or (source.intensity is not None and source.intensity.path is None):
            raise InvalidInput(
                "This layer is not the same as a file: save it (File > Save), open that file, and run it."
            )
        settings = self._settings(min_length)
        if not settings.link.pinned and not settings.link.forbidden:
            return command_line(source.path, settings)
        beside = self._exported.get(settings_file(settings))
        if beside is None:
            raise InvalidInput(
                "A command line cannot hold the links that you confirmed or broke: export the tracks first, then copy "
                "the command, which names the settings file beside them. Copy as TOML includes these links too."
            )
        return shlex.join(["auctrack", "track", source.path, "--config", beside])

    def toml(self, min_length: int) -> str:
        """Return the settings file that gives the same tracks; links that are confirmed or forbidden stand in it."""
        return settings_file(self._settings(min_length))

    def write(
        self,
        data: MeasuredTracks,
        kept: pd.DataFrame,
        path: str,
        min_length: int,
        place: Sequence[float] | None,
        report: Report,
    ) -> str:
        """Write some of the tracks, and their corrections beside them, or the session as a whole; say what is written.

        A session keeps `place`, the frame and position that are shown. After corrections the margins of all links are
        measured for the file; those shown are, near the corrections only.
        """
        del report
        if path.lower().endswith(SESSION):
            settings = self._settings(min_length)
            settings = replace(settings, input=replace(settings.input, series=self.series))
            return self._corrections().save_session(path, settings, place)
        settings = self._settings(min_length) if self.linked is not None else None
        made_with: dict[str, object] = {} if settings is None else {"effective": settings.to_mapping()}
        movie = self._required().source
        if isinstance(movie, LayerMovie):
            made_with["image_shape"] = movie.whole_shape

        def write(tracks: Tracks) -> None:
            write_tracks(replace(data, tracks=tracks).only(kept), path, settings=made_with, overwrite=True)

        if self.corrections is None:
            write(data.tracks)
        else:
            self.corrections.write(path, write)
        if settings is not None:
            self._exported[settings_file(settings)] = f"{path}{SIDECAR}"
        beside = f", and the corrections ({self.n_corrections}) to a file beside it" if self.n_corrections else ""
        lost = loss_note(data.only(kept), Path(path), to_write(Path(path), None))
        return f"Wrote {counted(len(kept), 'track', ',')} to {path}{beside}. {lost}".rstrip()

    def write_measures(self, data: MeasuredTracks, kept: pd.DataFrame, path: str, report: Report) -> str:
        """Write what some of the tracks measure, after corrections with all margins measured, and say so."""
        del report
        if data.margins_are_near:
            data = measured_links(self._corrections().measured())
            kept = data.measures.set_index("track_id", drop=False).loc[kept["track_id"], kept.columns]
        write_measures(kept, data.tracks, Path(path), "csv", {}, overwrite=True)
        return f"Wrote the measures of {counted(len(kept), 'track', ',')} to {path}."

    def _settings(self, min_length: int) -> Any:
        if self.linked is None:
            raise InvalidInput("There are no complete tracks yet: run linking to its end first.")
        linking = self.linked.linking
        linked_with = with_places(linking.tracks, linking.settings)
        return run_settings(self._required(), self.found_with, linked_with, min_length)

    def _required(self) -> LayerInput:
        if self.source is None:
            raise InvalidInput("Choose a layer to track first.")
        return self.source


def _take_up_session(path: str, report: Report) -> TakenUp:
    report(ProgressUpdate("link", 0, 1))
    saved = read_session(path)
    corrections, linked = Corrections.of(saved)
    return TakenUp(linked, corrections, saved.settings.detect, saved.settings.input.series, saved.place)


def _advise_detection(movie: LayerMovie, settings: DetectSettings, report: Report) -> tuple[str, Any, bool]:
    del report
    return "detect", advise_detection(movie, settings), settings.diameter == "auto"


def _advise_linking(points: Points, take: bool, report: Report) -> tuple[str, LinkAdvice | None, bool]:
    del report
    return "link", advise_linking(points), take


def _how(linking: Linking) -> str:
    """Return what decided between linking and not linking."""
    if linking.unmatched_cost is not None:
        return " ".join([f"Unmatched cost: {linking.unmatched_cost.reason}.", *linking.report["notes"]])
    return f"Learned: {'; '.join([*linking.report['learned'], *given_limits(linking)])}."

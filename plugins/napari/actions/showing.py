"""What of the session is drawn in the viewer, and what the panels say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qtpy.QtCore import QObject

from ....tracker.points import Points
from ..draw.colours import colormap_for
from ..draw.drawing import BRIGHT, Drawing
from ..session.filters import MeasuredTracks
from ..session.steps import Particles
from ..threads.job import Desk
from .parts import Parts

if TYPE_CHECKING:
    from napari.layers import Layer

_WHILE_WORKING = 5_000
"""Vertices that napari takes up in about 50 ms, drawing included."""


class Showing(QObject):
    """Draws points and tracks over the layer that they were found in; fewer of them while `work` goes on."""

    def __init__(self, parts: Parts, work: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._work = work
        self.shown_on: Layer | None = None
        parts.overlay.announced.connect(parts.bar.announce)
        parts.overlay.drawn.connect(self._drawn)
        parts.overlay.failed.connect(parts.bar.fail)
        parts.overlay.frame_shown.connect(parts.results.lineage.show_frame)
        parts.results.filtered.connect(self._draw_soon)
        parts.results.coloured.connect(self._draw_soon)

    def show_partial(self, done: Particles | MeasuredTracks) -> None:
        """Keep and show what a run gave so far."""
        self._parts.session.keep_partial(done)
        if isinstance(done, MeasuredTracks):
            self.show_tracks()
        else:
            self.show_points(done.points)

    def show_points(self, points: Points) -> None:
        """Draw particles that are not linked yet."""
        self.shown_on = layer = self._parts.input.layer
        if layer is not None:
            self._parts.overlay.draw_over(layer)
            self._parts.overlay.show_particles(points, layer.ndim, layer.name, self._particle_size(), self._most())

    def show_tracks(self) -> None:
        """Show the session's tracks in the results and in the viewer."""
        session, results = self._parts.session, self._parts.results
        if session.data is not None:
            self.shown_on = layer = self._parts.input.layer
            if layer is not None:
                self._parts.overlay.draw_over(layer)
            if layer is not None and type(layer).__name__ == "Tracks":
                layer.visible = False  # what is drawn over it are the same tracks, filtered and corrected
            results.show_tracks(session.data)
            results.set_result(is_complete=session.is_complete, why_no_command=session.why_no_command)
            results.show_suspicious(session.suspicious, session.margin_unit, session.progress)
            self._draw()

    def show_again(self) -> None:
        """Draw the tracks as they were, over what the user has changed in the layers."""
        self._draw()

    def _draw_soon(self) -> None:
        self._draw(soon=True)

    def _draw(self, *, soon: bool = False) -> None:
        results, overlay, layer = self._parts.results, self._parts.overlay, self.shown_on
        if results.data is None or results.kept is None or layer is None:
            return
        feature, percentiles = results.colour.value
        drawing = Drawing(
            data=results.data,
            kept=results.kept,
            feature=feature,
            percentiles=percentiles,
            n_axes=layer.ndim,
            name=layer.name,
            frame=overlay.frame_of(layer),
            most=self._most(),
            size=self._particle_size(),
            tail=self._parts.preferences.tail_frames,
            tail_depth=self._parts.preferences.tail_depth,
        )
        results.show_drawing()
        overlay.show(drawing, soon=soon)

    def _drawn(self, drawn: Any) -> None:
        if self._parts.results.data is None:
            return  # the input has become another one meanwhile
        self._parts.results.colour.show_legend(drawn.drawing.feature, drawn.colouring)
        colormap = colormap_for(drawn.drawing.feature)
        self._parts.results.lineage.show_colours(lambda ids: colormap.map(drawn.of_tracks.reindex(ids).to_numpy()))
        self._parts.results.show_window(drawn.window.describe(len(drawn.tracks)))
        self._parts.overlay.choose(self._parts.results.chosen[:BRIGHT])
        if self._parts.results.follow_box.isChecked():
            self._parts.overlay.follow(self._parts.session.chosen)

    def _most(self) -> int:
        """Return how many vertices are drawn: fewer while it works, so that the window does not wait for napari."""
        most = self._parts.preferences.drawn_vertices
        return min(most, _WHILE_WORKING) if self._work.is_busy else most

    def _particle_size(self) -> float | None:
        """Return the diameter at which a particle is drawn, in steps of x; None where no diameter is known."""
        source, found_with = self._parts.session.source, self._parts.session.found_with
        if source is None or found_with is None or found_with.diameter == "auto":
            return None
        return found_with.diameter / source.calibration.scale[2]

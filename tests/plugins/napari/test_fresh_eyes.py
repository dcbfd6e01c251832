"""The sample movie corrected to perfection by what the help text says, with the mouse and the keys alone.

The user sees the truth, which the sample brings as a hidden layer, and does what a newcomer would: goes through the
list of doubtful links, adds the particles that were missed, deletes those that are none, links what belongs together
and breaks what does not. Once in 2D, plane by plane, and once in 3D alone, where the view is turned until a particle
stands apart from all others.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from .conftest import finish, process_events
from .test_by_mouse import mouse, on_canvas, track_the_sample_movie  # noqa: F401 - a fixture
from .test_correcting import chosen, links, press
from .test_on_the_canvas import point_at

NEAR = 1.0  # µm between a particle and where it truly is
STEPS = np.array([1.0, 0.5, 0.5])  # µm of a voxel
ZOOM = 25.0  # pixels a µm: neighbours are told apart
LOOKED_AT = 5  # doubtful links
SAME = 0.05  # µm
DIRECTIONS = np.random.default_rng(5).normal(size=(300, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]
STEEP = 0.7  # cosine to another line of sight, so that its depth is seen


class User:
    """Looks at the truth and at what is shown, and has a mouse and a keyboard."""

    def __init__(self, viewer, widget, mouse, truth: np.ndarray) -> None:  # noqa: F811
        self.viewer, self.widget, self._mouse = viewer, widget, mouse
        self.truth = truth
        order = np.lexsort((truth[:, 1], truth[:, 0]))
        follows = truth[order][:-1, 0] == truth[order][1:, 0]
        self.true_links = set(zip(order[:-1][follows].tolist(), order[1:][follows].tolist(), strict=True))

    @property
    def table(self) -> np.ndarray:
        """Frame, z, y, x of the particles that are shown."""
        return self.widget.parts.session.linked.linking.tracks.table[["frame", "z", "y", "x"]].to_numpy(float)

    def truly(self) -> np.ndarray:
        """The row of the truth that each particle shown is, -1 for none."""
        shown, found = self.table, np.full(len(self.table), -1)
        for frame in np.unique(self.truth[:, 1]):
            mine, theirs = np.flatnonzero(shown[:, 0] == frame), np.flatnonzero(self.truth[:, 1] == frame)
            apart = np.linalg.norm((shown[mine, None, 1:] - self.truth[None, theirs, 2:]) * STEPS, axis=2)
            rows, cols = linear_sum_assignment(np.minimum(apart, NEAR))
            near = apart[rows, cols] < NEAR
            found[mine[rows[near]]] = theirs[cols[near]]
        return found

    def made(self) -> set[tuple[int, int]]:
        """The links that are shown, as rows of the table."""
        return links(self.widget)

    def look_at(self, place: np.ndarray) -> None:
        """Move the sliders to a place (frame, z, y, x), and zoom in on it."""
        layer = self.viewer.layers["particles of movie"]
        world = np.asarray(layer.data_to_world(place))
        self.viewer.dims.set_point(range(4), world.tolist())
        self.viewer.scene.camera.center, self.viewer.scene.camera.zoom = tuple(world[1:]), ZOOM
        process_events()

    def click(self, place: np.ndarray) -> None:
        layer = self.viewer.layers["particles of movie"]
        self._mouse.click(self.viewer.window._qt_viewer.canvas.native, on_canvas(self.viewer, layer, place))
        finish(self.widget)

    def click_particle(self, row: int) -> None:
        """Click the middle of a particle, in its own plane: where rings overlap, that is what tells them apart."""
        place = self.table[row]
        track = self.widget.parts.session.linked.linking.tracks.table["track_id"].iloc[row]
        self.look_at(place)
        self.click(place)
        assert self.widget.parts.results.clicked.text().endswith(f"track {track} in frame {place[0]:.0f}.")

    def press(self, key: str) -> None:
        press(self.viewer, key)
        finish(self.widget)
        assert self.widget.parts.bar.error.text() == ""

    # --- what the help text says ---------------------------------------------------------------------------------

    def check_the_list(self) -> None:
        """N: next link; B: break it; C: confirm it."""
        for _ in range(LOOKED_AT):
            self.press("n")
            link, truly = chosen(self.widget), self.truly()
            if link in self.made():
                self.press("c" if (truly[link[0]], truly[link[1]]) in self.true_links else "b")

    def add_what_was_missed(self) -> None:
        while missed := set(range(len(self.truth))) - set(self.truly().tolist()):
            self.add(self.truth[min(missed), 1:])

    def add(self, place: np.ndarray) -> None:
        """I: add a particle under the mouse."""
        self.look_at(place)
        point_at(self.viewer, place)
        self.press("i")

    def delete_what_is_none(self) -> None:
        """X: delete the particle that was clicked."""
        while len(false := np.flatnonzero(self.truly() < 0)):
            self.click_particle(false[0])
            self.press("x")

    def link_what_belongs_together(self) -> None:
        """J: link the two particles that were clicked."""
        while True:
            truly = self.truly()
            row_of = {true: row for row, true in enumerate(truly.tolist())}
            made = {(truly[source], truly[target]) for source, target in self.made()}
            missing = sorted(self.true_links - made)
            if not missing:
                return
            for end in missing[0]:
                self.click_particle(row_of[end])
            self.press("j")

    def break_what_does_not(self) -> None:
        """Click a link, B: break it."""
        while True:
            truly = self.truly()
            wrong = [link for link in self.made() if (truly[link[0]], truly[link[1]]) not in self.true_links]
            if not wrong:
                return
            source, target = self.table[list(wrong[0])]
            middle = np.array([target[0], *((source + target) / 2)[1:]])
            self.look_at(target)
            self.click(middle)
            assert self.widget.parts.session.link == wrong[0]
            self.press("b")


class UserIn3D(User):
    """Never sees a plane: what lies along the line of sight is told by a second view."""

    def look_at(self, place: np.ndarray) -> None:
        """Turn the view until no other particle of the frame, shown or true, is seen near the place."""
        super().look_at(place)
        self.turn(place, DIRECTIONS)

    def turn(self, place: np.ndarray, directions: np.ndarray) -> None:
        places = np.concatenate([self.table, self.truth[:, 1:]])
        away = (places[places[:, 0] == place[0]] - place)[:, 1:] * STEPS
        away = away[np.linalg.norm(away, axis=1) > SAME]
        across = away - (directions @ away.T)[..., None] * directions[:, None]
        apart = np.linalg.norm(across, axis=2).min(axis=1)
        self.viewer.scene.camera.set_view_direction(tuple(directions[np.argmax(apart)]))
        process_events()

    def add(self, place: np.ndarray) -> None:
        """I: add the particle under the mouse, in 3D at the brightest voxel in line; P: move it to the mouse."""
        super().add(place)
        added = len(self.table) - 1
        if np.linalg.norm((self.table[added] - place)[1:] * STEPS) > NEAR / 2:
            sight = np.asarray(self.viewer.scene.camera.view_direction)
            self.click_particle(added)
            self.turn(place, DIRECTIONS[np.abs(DIRECTIONS @ sight) < STEEP])
            point_at(self.viewer, place)
            self.press("p")


@pytest.fixture(params=[2, 3], ids=["2D", "3D"])
def user(request, viewer, mouse):  # noqa: F811
    """In front of the sample movie, tracked by one press of a button, on the tab of the corrections."""
    viewer.window.resize(1280, 860)
    widget = track_the_sample_movie(viewer, mouse)
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.doubtful)
    viewer.window._qt_window.activateWindow()
    viewer.dims.ndisplay = request.param
    process_events()
    eyes = UserIn3D if request.param == 3 else User
    return eyes(viewer, widget, mouse, np.asarray(viewer.layers["true tracks"].data, dtype=float))


@pytest.mark.timeout(2400)  # some forty corrections, each shown; in 3D 20 minutes on a busy machine
def test_the_sample_movie_is_corrected_to_perfection(user):
    assert len(user.true_links) > 1000
    truly = user.truly()
    assert {(truly[a], truly[b]) for a, b in user.made()} != user.true_links  # there is something to do
    user.check_the_list()
    user.delete_what_is_none()
    user.add_what_was_missed()
    user.link_what_belongs_together()
    user.break_what_does_not()
    truly = user.truly()
    assert sorted(truly[truly >= 0].tolist()) == list(range(len(user.truth)))
    assert (truly >= 0).all()
    assert {(truly[source], truly[target]) for source, target in user.made()} == user.true_links
    assert user.viewer.dims.ndisplay == (3 if isinstance(user, UserIn3D) else 2)
    assert user.widget.parts.session.linked.linking.report["is_optimal"]

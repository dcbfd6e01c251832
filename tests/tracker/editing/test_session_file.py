"""A session is one file: taken up where it was left, and read by whatever reads tracks."""

import json
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from auctrack import read_session, read_tracks, write_session
from auctrack.tracker.editing.reopened import reopened
from auctrack.tracker.editing.session import Session
from auctrack.tracker.errors import InvalidInput, InvalidSetting, OutputExists
from auctrack.tracker.formats.graph import edges_of
from auctrack.tracker.linking.constraints import constraints_of, with_places
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.settings import Settings

from ...refusals import refused
from ..linking.movies import walks

POINTS = walks(60, 6, step=0.5, false=0.1)[0]
SETTINGS = {
    "learned": LinkSettings(),
    "none": LinkSettings(motion="none"),
    "divisions": LinkSettings(divisions=True),
    "pinned": LinkSettings(pinned=[[0, 90]], forbidden=[[1, 80]]),
    "jaqaman": LinkSettings(linking="jaqaman"),
}


def begun(settings) -> Session:
    linking = link_points(POINTS, settings)
    return Session(linking if settings.linking == "auctrack" else reopened(linking.tracks))


def corrected(settings) -> Session:
    """A link confirmed, one broken, a detection moved, one added, one taken away; one more act undone."""
    session = begun(settings)
    links = session.linking().links[["source", "target"]].to_numpy().tolist()
    pins = {tuple(link) for link in session.pinned.tolist()}
    free = [link for link in links if tuple(link) not in pins]
    session.confirm_link(*free[0])
    session.break_link(*free[5])
    session.move_detection(free[9][0], [1.0, 2.0, 3.25])
    session.add_detection(2, [0.5, 0.5, 0.5])
    session.delete_detection(free[12][1])
    session.break_link(*free[20])
    session.undo()
    return session


def links(session) -> set[tuple[int, int]]:
    return {tuple(link) for link in session.ids()[session.linking().links[["source", "target"]].to_numpy()].tolist()}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_it_is_taken_up_where_it_was_left(settings, tmp_path):
    session = corrected(settings)
    work = {"looked_at": [(0, 70), (3, 65)], "place": (4, *np.arange(session.begun.tracks.ndim) / 2)}
    write_session(session, tmp_path / "s.auctrack", settings=Settings(min_length=3), **work)
    saved = read_session(tmp_path / "s.auctrack")
    assert links(saved.session) == links(session)
    assert saved.session.acts == session.acts
    np.testing.assert_array_equal(saved.session.pinned, session.pinned)
    np.testing.assert_array_equal(saved.session.linking().tracks.positions, session.linking().tracks.positions)
    np.testing.assert_allclose(
        saved.session.linking().links["probability"], session.linking().links["probability"], rtol=1e-9
    )
    assert saved.looked_at == {(0, 70), (3, 65)}
    assert saved.place == work["place"]
    assert saved.settings.min_length == 3
    write_session(saved.session, tmp_path / "again.auctrack")
    again = read_session(tmp_path / "again.auctrack")
    assert links(again.session) == links(session)
    assert again.place is None
    saved.session.undo()
    session.undo()
    assert links(saved.session) == links(session)


@pytest.mark.parametrize("settings", [LinkSettings(), LinkSettings(max_missed_frames=0), LinkSettings(motion="none")])
def test_settings_of_what_was_corrected_can_be_linked_with_again(settings, tmp_path):
    """A division marked, and a link over a gap: the settings that stand beside the tracks take both."""
    session = begun(settings)
    frames = session.begun.tracks.frames
    mother, daughter = next(
        (int(a), int(b)) for a, b in session.linking().links[["source", "target"]].to_numpy() if frames[a] == 1
    )
    other = next(
        int(row) for row in np.flatnonzero(frames == 2) if row != daughter and not session.successors(int(row))
    )
    session.mark_division(mother, (daughter, other))
    ends = [int(row) for row in np.flatnonzero(frames == 0) if not session.successors(int(row))]
    session.add_link(
        ends[0], next(int(row) for row in np.flatnonzero(frames == 3) if not session.predecessors(int(row)))
    )
    linking = session.linking()
    settings = with_places(linking.tracks, linking.settings)
    again = link_points(linking.tracks, settings)
    pinned = {tuple(link) for link in constraints_of(linking.tracks, settings).pinned.tolist()}
    assert len(pinned) == (3 if settings.is_learned else 1)
    assert pinned <= {tuple(link) for link in again.links[["source", "target"]].to_numpy().tolist()}
    write_session(session, tmp_path / "s.auctrack")
    assert links(read_session(tmp_path / "s.auctrack").session) == links(session)


def test_links_that_would_not_be_made_today_are_held(tmp_path, monkeypatch):
    """As after an upgrade that links better."""
    session = corrected(SETTINGS["learned"])
    write_session(session, tmp_path / "s.auctrack")

    def other(points, settings, **given):
        return link_points(points, replace(settings, motion="none"), **given)

    monkeypatch.setattr("auctrack.tracker.editing.session_file.link_points", other)
    assert links(read_session(tmp_path / "s.auctrack").session) == links(session)


def test_its_tracks_are_read_like_any_others(tmp_path):
    session = corrected(SETTINGS["learned"])
    write_session(session, tmp_path / "s.auctrack")
    tracks, now = read_tracks(tmp_path / "s.auctrack"), session.linking().tracks
    np.testing.assert_array_equal(tracks.positions, now.positions)
    np.testing.assert_array_equal(edges_of(tracks), edges_of(now))
    assert tracks.calibration == now.calibration


def test_a_file_that_stands_there_is_not_replaced_unasked(tmp_path):
    session = begun(SETTINGS["none"])
    write_session(session, tmp_path / "s.auctrack")
    before = (tmp_path / "s.auctrack").read_bytes()
    with pytest.raises(OutputExists):
        write_session(session, tmp_path / "s.auctrack")
    assert (tmp_path / "s.auctrack").read_bytes() == before
    write_session(session, tmp_path / "s.auctrack", overwrite=True)


@pytest.mark.parametrize("name", ["s.foo", "s", "s.auctrack.csv"])
def test_a_name_by_which_nothing_would_know_it_is_refused(name, tmp_path):
    with refused(InvalidSetting, match=r"ends in \.auctrack; got .*" + re.escape(name), setting="path"):
        write_session(begun(SETTINGS["none"]), tmp_path / name)
    assert not (tmp_path / name).exists()


def test_what_is_no_session_and_what_names_no_file_are_refused(tmp_path):
    session = begun(SETTINGS["none"])
    for wrong in (None, session.linking()):
        with refused(InvalidInput, match=type(wrong).__name__):
            write_session(wrong, tmp_path / "s.auctrack")
    for use in (session.save, lambda path: Session.load(path, session.linking())):
        with refused(InvalidSetting, match="None", setting="path"):
            use(None)


def damaged(path, name, content):
    """The session with another content of a file in it; without it where that is None."""
    with zipfile.ZipFile(path) as packed:
        files = {member: packed.read(member) for member in packed.namelist()}
    files[name] = content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, data in files.items():
            if data is not None:
                packed.writestr(member, data)


DAMAGE = {
    "a file is missing": ("corrections.json", None),
    "acts": ("corrections.json", b"[]"),
    "another format": ("session.json", json.dumps({"auctrack_session": 99, "looked_at": []}).encode()),
    "looked at": ("session.json", json.dumps({"auctrack_session": 1, "looked_at": [1]}).encode()),
    "place": ("session.json", json.dumps({"auctrack_session": 1, "looked_at": [], "place": [1, 2]}).encode()),
    "no settings": ("begun.csv.settings.json", None),
    "a table without rows": ("begun.csv", b""),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_one_ends_in_a_sentence(damage, tmp_path):
    path = tmp_path / "s.auctrack"
    write_session(corrected(SETTINGS["none"]), path)
    damaged(path, *damage)
    with pytest.raises(InvalidInput, match=rf"^{re.escape(str(path))}: ") as raised:
        read_session(path)
    assert "Error(" not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"frame,z,y,x\n"])
def test_what_is_no_session_ends_in_a_sentence(content, tmp_path):
    path = tmp_path / "s.auctrack"
    path.write_bytes(content)
    for read in (read_session, read_tracks):
        with pytest.raises(InvalidInput, match="auctrack"):
            read(path)
    with pytest.raises(InvalidInput, match="auctrack"):
        read_session(tmp_path / "missing.auctrack")

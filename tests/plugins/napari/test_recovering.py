"""Corrections that no file holds outlive a crash, and are offered over the same tracks, and no others."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from .conftest import PHYSICAL, finish, spots
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_correcting import links, press, tracked  # noqa: F401 - a fixture among them
from .test_unsaved import answering


@pytest.fixture
def corrected(viewer, tracked):  # noqa: F811
    """The widget after two corrections that no file holds."""
    for key in ("n", "c", "b"):
        press(viewer, key)
        finish(tracked)
    assert tracked.parts.session.n_unsaved == 2
    return tracked


@pytest.fixture
def crashed(viewer, corrected, kept_folder):
    """What is left, by name and content, where the process has died; the links that there were."""
    (left,) = kept_folder.iterdir()
    content, made = left.read_bytes(), links(corrected)
    viewer.window.remove_dock_widget("all")
    assert not [*kept_folder.iterdir()]  # closing the dock is no crash
    kept_by(left, content, psutil.Process().pid, 1000)  # one that had our number long before
    return made


def kept_by(path, content: bytes, pid: int, began: float) -> None:
    """Write what a process keeps, which is told by its number and when it began."""
    detections = path.name.partition("-")[0]
    path.with_name(f"{detections}-{pid}-{began:.0f}.corrections.json").write_bytes(content)


def test_they_are_made_again_at_the_press_of_a_button(viewer, crashed, open_widget, mouse, kept_folder):  # noqa: F811
    viewer.window.resize(1300, 1000)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert links(widget) != crashed
    assert "2 unsaved corrections" in widget.parts.bar.recover_button.text()
    mouse.click(widget.parts.bar.recover_button)
    finish(widget)
    assert links(widget) == crashed
    assert "Recovered 2 corrections, which you have not saved yet." in widget.parts.bar.status.text()
    assert (widget.parts.session.n_corrections, widget.parts.session.n_unsaved) == (2, 2)
    assert widget.parts.bar.recover_button.isHidden()
    assert len([*kept_folder.iterdir()]) == 1  # they still would be lost


def test_those_of_another_napari_are_offered_once_it_has_ended(viewer, crashed, open_widget, kept_folder):  # noqa: ARG001
    (left,) = kept_folder.iterdir()
    content = left.read_bytes()
    left.unlink()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        kept_by(left, content, other.pid, psutil.Process(other.pid).create_time())
        widget = open_widget()
        widget.running.run_all()
        finish(widget)
        assert widget.parts.bar.recover_button.isHidden()
        other.terminate()
    widget.running.run_all()
    finish(widget)
    assert "2 unsaved corrections" in widget.parts.bar.recover_button.text()


def test_those_that_were_recovered_are_left_to_no_other(viewer, crashed, open_widget, mouse, kept_folder):  # noqa: ARG001, F811
    viewer.window.resize(1300, 1000)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    mouse.click(widget.parts.bar.recover_button)
    finish(widget)
    (kept,) = kept_folder.iterdir()
    _, pid, began = kept.name.removesuffix(".corrections.json").split("-")
    assert int(pid) == psutil.Process().pid
    assert abs(int(began) - psutil.Process().create_time()) < 2


def test_over_other_tracks_they_are_not_offered(viewer, crashed, open_widget):  # noqa: ARG001
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert not widget.parts.bar.recover_button.isHidden()
    viewer.add_image(spots(seed=1), name="other", **PHYSICAL)
    widget.parts.input.choose_layer("other")
    finish(widget)
    assert widget.parts.bar.recover_button.isHidden()
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.recover_button.isHidden()


@pytest.mark.parametrize("name", ["mine.csv", "mine.auctrack"])
def test_nothing_is_kept_beside_a_file_that_holds_them(corrected, kept_folder, tmp_path, name):
    corrected.taking_away.export(str(tmp_path / name))
    finish(corrected)
    assert not [*kept_folder.iterdir()]


def test_nothing_is_kept_once_all_is_undone(viewer, corrected, kept_folder):
    for _ in range(2):
        press(viewer, "u")
        finish(corrected)
    assert not [*kept_folder.iterdir()]


def test_what_the_user_discards_is_not_kept(corrected, kept_folder, monkeypatch):
    from qtpy.QtWidgets import QMessageBox

    monkeypatch.setattr(QMessageBox, "exec", lambda _: QMessageBox.StandardButton.Discard)
    corrected.parts.bar.run_button.click()
    finish(corrected)
    assert corrected.parts.session.n_corrections == 0
    assert not [*kept_folder.iterdir()]
    assert corrected.parts.bar.recover_button.isHidden()


@pytest.fixture
def run_again(viewer, crashed, open_widget):  # noqa: ARG001 - the crash was before
    """The widget after a run over the same tracks, and a correction of its own."""
    viewer.window.resize(1300, 1000)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    for key in ("n", "b"):
        press(viewer, key)
        finish(widget)
    return widget


def test_a_new_correction_leaves_those_of_the_crash_on_offer(crashed, run_again, mouse, kept_folder):  # noqa: F811
    made_since = links(run_again)
    button = run_again.parts.bar.recover_button
    assert "2 unsaved corrections" in button.text()
    assert len([*kept_folder.iterdir()]) == 2
    with answering(mouse, "Cancel") as asked:
        mouse.click(button)
        finish(run_again)
    assert "1 correction that is not saved" in asked[0]
    assert links(run_again) == made_since
    with answering(mouse, "Discard"):
        mouse.click(button)
        finish(run_again)
    assert links(run_again) == crashed
    assert len([*kept_folder.iterdir()]) == 1


@pytest.mark.parametrize(
    "content", ["", '{"auctrack_corrections": 1, "detections": 5, "acts": [], "places": {"0": 3}}']
)
def test_a_file_that_cannot_be_read_is_named_and_left(viewer, crashed, open_widget, kept_folder, content):  # noqa: ARG001
    (file,) = kept_folder.iterdir()
    file.write_text(content)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert str(file) in widget.parts.bar.error.text()
    assert widget.parts.bar.recover_button.isHidden()
    for key in ("n", "c"):
        press(viewer, key)
        finish(widget)
    assert file.read_text() == content
    assert len([*kept_folder.iterdir()]) == 2

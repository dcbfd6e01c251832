"""A real viewer for every test that wants one: on a virtual display where there is no other, and never skipped."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

HERE = Path(__file__).parent
if importlib.util.find_spec("qtpy") is None:  # a machine for the GPU tests, without napari
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let napari and what it imports warn, but not auctrack itself; mark what opens a real viewer."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("error:::auctrack"))
            item.add_marker(pytest.mark.filterwarnings("ignore"))
            if "display" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.window)


@pytest.fixture(scope="session")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A display, and napari's settings in a folder of their own."""
    os.environ["NAPARI_CONFIG"] = str(tmp_path_factory.mktemp("napari") / "settings.yaml")
    os.environ.setdefault("QT_API", "pyqt6")
    if os.environ.get("DISPLAY") or sys.platform != "linux":
        yield
        return
    server = shutil.which("Xvfb")
    if server is None:
        pytest.fail("The plugin's tests need a display or Xvfb; .ci/display installs or names what is missing.")
    read, write = os.pipe()
    command = [server, "-displayfd", str(write), "-screen", "0", "1600x1100x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as process:
        os.close(write)
        with os.fdopen(read) as number:
            os.environ["DISPLAY"] = f":{number.readline().strip()}"
        yield
        del os.environ["DISPLAY"]
        process.terminate()


@pytest.fixture(scope="module")
def window(display):  # noqa: ARG001 - a viewer wants a display
    """A real viewer in a window; making and closing one takes longer than most tests."""
    import napari

    viewer = napari.Viewer(show=True)
    yield viewer
    viewer.close()
    process_events()
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture
def kept_folder(tmp_path_factory, monkeypatch):
    """Where corrections are kept that a crash would lose."""
    folder = tmp_path_factory.mktemp("kept")
    monkeypatch.setattr("auctrack.plugins.napari.actions.recovering._folder", lambda: folder)
    return folder


@pytest.fixture(scope="module")
def module_kept_folder(tmp_path_factory):
    """The same for a widget that a module opens once."""
    folder = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("auctrack.plugins.napari.actions.recovering._folder", lambda: folder)
        yield folder


@pytest.fixture
def viewer(window, kept_folder):  # noqa: ARG001 - and not where the user's are
    """Give the window's viewer, empty, and as it was when it was new."""
    with emptied_afterwards(window):
        yield window


@contextlib.contextmanager
def emptied_afterwards(window) -> Iterator[None]:
    """Let a window be used, and leave it as it was when it was new."""
    gc.collect()
    gc.freeze()  # napari collects garbage at every change of its layers: of this test's alone
    window.window.resize(900, 600)
    window.window._qt_viewer.canvas.native.setFocus()  # not on a slider's number, which moves the slider as it loses it
    listeners, keys = list(window.mouse_drag_callbacks), set(window.keymap)
    yield
    window.window.remove_dock_widget("all")
    window.dims.ndisplay = 2
    process_events()  # painted in between: Mesa's software GL crashes where all layers go at once in 3D
    window.layers.clear()
    window.dims.margin_left = window.dims.margin_right = (0.0,) * window.dims.ndim
    window.scene.camera.angles = (0, 0, 90)
    window.reset_view()
    process_events()
    delete_what_was_closed()
    assert window.mouse_drag_callbacks == listeners  # closing the dock has let go of the viewer
    assert set(window.keymap) == keys


def process_events() -> None:
    from qtpy.QtWidgets import QApplication

    QApplication.processEvents()


def delete_what_was_closed() -> None:
    """Do what Qt puts off until its event loop goes on, which in tests it never does."""
    from qtpy.QtCore import QCoreApplication, QEvent

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def wait(until: Callable[[], bool], seconds: float = 60) -> None:
    """Run the event loop until something holds."""
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, f"still waiting for {until} after {seconds} s"
        process_events()
        time.sleep(0.002)


def open_dock(viewer):
    """Open the plugin's widget as the menu does."""
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    return widget


@pytest.fixture
def open_widget(viewer):
    return lambda: open_dock(viewer)


@pytest.fixture
def widget(viewer, open_widget):
    """The widget over a movie of spots."""
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_widget()
    finish(widget)
    return widget


def finish(widget) -> None:
    """Wait until the widget has done everything that it was asked for."""
    wait(lambda: not widget.is_busy)
    process_events()
    wait(lambda: not widget.is_busy)


def spots(frames: int = 6, particles: int = 12, shape: tuple[int, ...] = (8, 64, 64), seed: int = 0) -> np.ndarray:
    """A movie (t, z, y, x) or (t, y, x) of bright Gaussian spots that drift, over noise."""
    random = np.random.default_rng(seed)
    low, high = np.minimum(5, np.array(shape) // 3), np.array(shape)
    places = random.uniform(low, high - low, (particles, len(shape)))
    step = random.normal(0, 0.6, (particles, len(shape)))
    movie = random.normal(10, 1, (frames, *shape))
    grid = np.meshgrid(*(np.arange(size) for size in shape), indexing="ij")
    for frame in range(frames):
        for place in places + frame * step:
            square = sum((axis - at) ** 2 for axis, at in zip(grid, place, strict=True))
            movie[frame] += 60 * np.exp(-square / 4.5)
    return movie.clip(0, 255).astype(np.uint8)


PHYSICAL = {"scale": (10, 1, 0.5, 0.5), "units": ("s", "µm", "µm", "µm"), "axis_labels": ("t", "z", "y", "x")}


def same_tracks(one: pd.DataFrame, other: pd.DataFrame, *, renumbered: bool = False) -> None:
    """Tracks of the same particles and, unless these are `renumbered`, of the same numbers."""
    columns = ["frame", *(axis for axis in "zyx" if axis in one), "track_id"]
    if renumbered:
        one, other = (table.sort_values(columns[:-1]) for table in (one, other))
        one, other = (table.assign(track_id=pd.factorize(table["track_id"])[0]) for table in (one, other))
    keys = ["track_id", "frame"]
    pd.testing.assert_frame_equal(
        one[columns].sort_values(keys, ignore_index=True), other[columns].sort_values(keys, ignore_index=True)
    )


def assert_copies_give_these_tracks(widget, source: Path, folder: Path, *, renumbered: bool = False) -> list[str]:
    """Run the settings and the command line that the widget copies; return the words of the line."""
    from auctrack.plugins.cli.app import app
    from auctrack.tracker.formats.tables import read_tracks
    from auctrack.tracker.pipeline import track
    from auctrack.tracker.settings import Settings

    widget.taking_away.export(str(folder / "exported.csv"))
    finish(widget)
    exported = read_tracks(folder / "exported.csv").table
    assert len(exported) > 0
    widget.taking_away.copy_toml()
    settings = Settings.from_mapping(tomllib.loads(clipboard()))
    same_tracks(exported, track(source, settings).tracks.table, renumbered=renumbered)
    widget.taking_away.copy_command()
    words = shlex.split(clipboard())
    ran = CliRunner().invoke(app, [*words[1:], "--output", str(folder / "out")])
    assert ran.exit_code == 0, ran.output
    (result,) = (folder / "out").glob("*.tracks.csv")
    same_tracks(exported, read_tracks(result).table, renumbered=renumbered)
    return words


def clipboard() -> str:
    from qtpy.QtGui import QGuiApplication

    return QGuiApplication.clipboard().text()

"""PyQt6 and PySide6 both work. One process takes one binding: the other one gets a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLOSING = "closing_the_viewer or closing_the_window"
TOUR = f"detect_then_link or on_the_canvas or cancel_keeps or {CLOSING} or in_3d or as_a_window or dropped"
CORRECTING = "a_broken_link_goes or keys_work_while_the_list or drawn_stays_on_its_particles"
FILES = ("widget", "by_mouse", "opening", "pictures", "unsaved", "correcting", "input_stays_true", "both_bindings")


@pytest.mark.usefixtures("display")
def test_the_binding_is_the_one_asked_for():
    import qtpy

    assert qtpy.API_NAME.lower() == os.environ["QT_API"]


@pytest.mark.timeout(660)  # beside the 600 that its process is given: on a busy machine it took more than the usual 300
@pytest.mark.usefixtures("display")
def test_the_other_binding_tracks_corrects_cancels_and_closes_as_well():
    other = {"pyqt6": "pyside6", "pyside6": "pyqt6"}[os.environ["QT_API"]]
    files = [f"test_{name}.py" for name in FILES]
    chosen = f"{TOUR} or {CORRECTING} or asked_for"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen]
    result = subprocess.run(
        [*command, *(str(HERE / file) for file in files)],
        env=os.environ | {"QT_API": other},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "skipped" not in result.stdout

"""Every reader of another program's files: whatever is cut or changed in one, there are tracks or a sentence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.editing.session import Session
from auctrack.tracker.editing.session_file import write_session
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.registry import FORMATS
from auctrack.tracker.formats.sidecar import sidecar_path
from auctrack.tracker.formats.tables import read_either
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

from .programs import test_mastodon, test_utrack
from .programs.test_ctc import far_apart

READ = [name for name, known in FORMATS.items() if known.reads]
TRIALS = 60


def sound(folder: Path, name: str) -> Path:
    """Return a file or folder of a format, whole."""
    makers: dict[str, Callable[[Path], Path]] = {
        "mastodon": test_mastodon.project,
        "session": session_of_corrections,
        "utrack": lambda into: test_utrack.saved(into, test_utrack.SPLIT, test_utrack.WITH_A_GAP),
    }
    if name in makers:
        return makers[name](folder)
    path = folder / f"t{FORMATS[name].endings[0]}"
    write_tracks(far_apart(), path, settings={"diameter": 3.0})
    sidecar_path(path).unlink()
    return path


def session_of_corrections(folder: Path) -> Path:
    """Return a session that begins with three still particles."""
    positions = np.tile(np.arange(3) * 9.0, 4)
    points = Points(pd.DataFrame({"frame": np.repeat(np.arange(4), 3), "y": positions, "x": positions}))
    session = Session(link_points(points, LinkSettings(motion="none"), editable=True))
    session.confirm_link(0, 3)
    write_session(session, folder / "t.auctrack")
    return folder / "t.auctrack"


def damaged(path: Path, random: np.random.Generator) -> Path:
    """Return a copy of which one file is cut, or has one or four bytes changed."""
    copy = path.with_name(f"damaged_{path.name}")
    if path.is_file():
        shutil.copy(path, copy)
        chosen = copy
    else:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
        files = sorted(file for file in copy.rglob("*") if file.is_file() and file.stat().st_size)
        chosen = files[random.integers(len(files))]
    content = bytearray(chosen.read_bytes())
    kind = random.integers(3)
    if kind == 0:
        del content[random.integers(len(content)) :]
    for place in random.integers(0, len(content), [0, 1, 4][kind]) if content else ():
        content[place] = random.integers(256)
    chosen.write_bytes(content)
    return copy


@pytest.mark.parametrize("name", READ)
def test_damage_anywhere_gives_points_or_a_sentence_that_names_the_file(tmp_path: Path, name: str) -> None:
    if name == "geff":
        pytest.importorskip("geff")
    whole, random, refused = sound(tmp_path, name), np.random.default_rng(0), 0
    assert len(read_either(whole))
    for _ in range(TRIALS):
        path = damaged(whole, random)
        try:
            read_either(path)
        except InvalidInput as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
    assert refused > TRIALS / 4


@pytest.mark.parametrize("name", [name for name in READ if not FORMATS[name].is_folder])
def test_a_file_of_another_kind_ends_in_a_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"t{FORMATS[name].endings[0]}"
    for content in (b"", b"\0" * 5000, b"frame,y,x\n0,1,2\n", b"PK\x03\x04" + bytes(100), "日本語 🧬".encode()):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match=str(path)):
            read_either(path)

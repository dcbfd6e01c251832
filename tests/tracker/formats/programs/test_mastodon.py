"""Mastodon's projects: spots, links and labels out of its zip, and nothing but a sentence out of a bomb."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from auctrack import read_points, read_tracks
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.tables import read_either

PROJECT = '<?xml version="1.0" encoding="UTF-8"?><MamutProject version="0.3"><SpaceUnits>{}</SpaceUnits></MamutProject>'
SPOTS = np.array([(-1.5, 2.25, 0.1, 0), (3e5, -1e-9, 7, 1), (1, 5, 7, 1), (1, 5, 8, 2), (1, 6, 8, 4)])
"""x, y, z and frame: the first divides, and the last of its line missed a frame."""
LINKS = [(0, 1), (0, 2), (2, 3), (3, 4)]
LABELS = {4: "nucléus 細胞", 0: "🧬 a7.1", 2: ""}


def java(data: bytes, block: int = 1024) -> bytes:
    """Return plain data as Java's ObjectOutputStream writes it, in blocks."""
    parts = [data[begin : begin + block] for begin in range(0, len(data), block)]
    heads = (struct.pack(*((">BB", 0x77) if len(part) < 256 else (">BI", 0x7A)), len(part)) for part in parts)
    return b"\xac\xed\0\5" + b"".join(head + part for head, part in zip(heads, parts, strict=True))


def java_text(text: str) -> bytes:
    wide = text.encode("utf-16-be")
    units = (wide[place : place + 2].decode("utf-16-be", "surrogatepass") for place in range(0, len(wide), 2))
    content = b"".join(unit.encode("utf-8", "surrogatepass") for unit in units)
    return struct.pack(">H", len(content)) + content


def labelled(labels: dict[int, str]) -> bytes:
    texts = b"".join(map(java_text, labels.values()))
    return (
        b"ur\0\x13[Ljava.lang.String;\xad\xd2V\xe7\xe9\x1d{G\2\0\0xp\0\0\0\1t\0\5label"
        + (b"ur\0\2[IM\xba`&v\xea\xb2\xa5\2\0\0xp" + struct.pack(f">I{len(labels)}i", len(labels), *labels))
        + (b"ur\0\2[B\xac\xf3\x17\xf8\x06\x08T\xe0\2\0\0xp" + struct.pack(">I", len(texts)) + texts)
    )


def model(spots: np.ndarray, links: Sequence[tuple[int, int]], labels: dict[int, str]) -> bytes:
    rows = [struct.pack("<3di7d", *spot[:3], int(spot[3]), 1, 2, 3, 4, 5, 6, 9) for spot in spots]
    edges = [struct.pack(">4i", *link, 0, 0) for link in links]
    data = struct.pack(">I", len(rows)) + b"".join(rows) + struct.pack(">I", len(edges)) + b"".join(edges)
    return java(data) + labelled(labels)


def project(folder: Path, content: bytes | None = None, xml: str = PROJECT.format("micron"), packed: int = 8) -> Path:
    path = folder / "embryo.mastodon"
    with zipfile.ZipFile(path, "w", packed) as into:
        into.writestr("project.xml", xml)
        into.writestr("model.raw", model(SPOTS, LINKS, LABELS) if content is None else content)
    return path


def test_positions_frames_and_lineage_are_exact(tmp_path: Path) -> None:
    tracks = read_tracks(project(tmp_path))
    np.testing.assert_array_equal(tracks.table[["x", "y", "z", "frame"]], SPOTS)
    assert tracks.table["track_id"].tolist() == [0, 1, 2, 2, 2]
    assert tracks.parents == {1: [0], 2: [0]}
    assert (tracks.calibration.unit, tracks.calibration.scale) == ("µm", (1.0, 1.0, 1.0))


def test_labels_and_ellipsoids_are_columns(tmp_path: Path) -> None:
    table = read_tracks(project(tmp_path)).table
    assert table["label"].fillna("none").tolist() == ["🧬 a7.1", "none", "", "none", "nucléus 細胞"]
    ellipsoid = table.filter(like="covariance_").iloc[0].to_dict()
    assert ellipsoid == {
        f"covariance_{pair}": value for value, pair in enumerate(("xx", "yx", "zx", "yy", "zy", "zz"), 1)
    }


def test_many_spots_cross_the_borders_of_javas_blocks(tmp_path: Path) -> None:
    spots = np.column_stack([np.random.default_rng(0).normal(size=(500, 3)), np.arange(500)])
    path = project(tmp_path, model(spots, [(row, row + 1) for row in range(499)], {}))
    tracks = read_tracks(path)
    np.testing.assert_array_equal(tracks.table[["x", "y", "z", "frame"]], spots)
    assert set(tracks.table["track_id"]) == {0}


def test_a_flat_movie_has_no_z_and_spots_alone_are_points(tmp_path: Path) -> None:
    path = project(tmp_path, model(SPOTS * [1, 1, 0, 1], [], {}), PROJECT.format(""))
    points = read_either(path)
    assert list(points.table.columns) == ["frame", "y", "x", "covariance_yy", "covariance_yx", "covariance_xx"]
    assert points.calibration.unit == "pixel"
    assert len(read_points(path)) == len(SPOTS)


GOOD = model(SPOTS, LINKS, LABELS)
BILLION = '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><MamutProject><SpaceUnits>&b;</SpaceUnits></MamutProject>'
HOSTILE = {
    "empty": b"",
    "no stream of Java's": b"PK" + GOOD,
    "cut in a block": GOOD[:200],
    "cut in the labels": GOOD[:-30],
    "more spots than there are": java(struct.pack(">I", 2**32 - 1) + bytes(84)),
    "no spots": model(SPOTS[:0], [], {}),
    "a link to nowhere": model(SPOTS, [(0, 7)], {}),
    "a link from before the first": model(SPOTS, [(-1, 1)], {}),
    "a link within a frame": model(SPOTS, [(1, 2)], {}),
    "a label of nobody": model(SPOTS, LINKS, {99: "?"}),
    "no number": model(SPOTS * [np.nan, 1, 1, 1], LINKS, {}),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_models_end_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = project(tmp_path, content)
    with pytest.raises(InvalidInput, match=str(path)):
        read_tracks(path)


@pytest.mark.parametrize("xml", ["", "<MamutProject>", BILLION], ids=["empty", "cut", "entities"])
def test_hostile_xml_ends_in_a_sentence(tmp_path: Path, xml: str) -> None:
    with pytest.raises(InvalidInput, match="embryo"):
        read_tracks(project(tmp_path, xml=xml))


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project(tmp_path, bytes(10**7))
    unpacked, read = [], zipfile.ZipFile.read
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *given: unpacked.append(given[1].filename) or read(*given))
    with pytest.raises(InvalidInput, match="unpack"):
        read_tracks(path)
    assert unpacked == ["project.xml"]


@pytest.mark.parametrize("kept", [0, 20, 300, -10])
def test_a_cut_zip_and_one_without_a_model_end_in_a_sentence(tmp_path: Path, kept: int) -> None:
    path = project(tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InvalidInput, match="embryo"):
        read_tracks(path)
    with zipfile.ZipFile(path, "w") as into:
        into.writestr("project.xml", PROJECT)
    with pytest.raises(InvalidInput, match="embryo"):
        read_tracks(path)

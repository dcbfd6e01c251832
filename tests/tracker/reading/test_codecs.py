"""Compressed TIFF pages come as they were written, by several threads; without imagecodecs it says what to install."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.matching.jit import threads
from auctrack.tracker.reading.movie import Movie, read_movie
from auctrack.tracker.reading.tiff import TiffStack

IMAGES = np.random.default_rng(0).integers(0, 4096, (6, 3, 64, 48)).astype(np.uint16)
PACKED = {
    "LZW": {"compression": "lzw"},
    "LZW of differences": {"compression": "lzw", "predictor": True},
    "LZW in tiles": {"compression": "lzw", "tile": (32, 32)},
    "deflate of differences": {"compression": "zlib", "predictor": True},
    "Zstandard": {"compression": "zstd"},
    "Zstandard in strips": {"compression": "zstd", "rowsperstrip": 16},
    "JPEG 2000": {"compression": "jpeg2000"},
    "12 bits": {"bitspersample": 12},
}


def movie_of(path: Path, images: np.ndarray, **packed: object) -> Movie:
    pytest.importorskip("imagecodecs", reason="the extra codecs is not installed")
    tifffile.imwrite(path, images, photometric="minisblack", metadata={"axes": "TZYX"}, **packed)
    return read_movie(path, scale=(1, 1, 1))


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_frames_are_what_was_packed_whichever_thread_asks_for_them(tmp_path: Path, packed: dict[str, object]) -> None:
    with movie_of(tmp_path / "m.tif", IMAGES, **packed) as movie, ThreadPoolExecutor(4) as asking:
        for frames in (movie.frame_numbers, movie.frame_numbers[::-1]):
            np.testing.assert_array_equal(np.stack(list(asking.map(movie.frame, frames))), IMAGES[list(frames)])


@pytest.mark.parametrize("compression", ["lzw", "zlib"])
def test_real_numbers_are_what_was_packed(tmp_path: Path, compression: str) -> None:
    images = np.random.default_rng(1).normal(size=(2, 3, 16, 16)).astype(np.float32)
    with movie_of(tmp_path / "m.tif", images, compression=compression, predictor=True) as movie:
        np.testing.assert_array_equal(np.stack([movie.frame(0), movie.frame(1)]), images)


@pytest.mark.parametrize("compression", ["lzw", "zstd", "jpeg2000"])
def test_pages_of_a_frame_are_unpacked_two_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    two_at_once, alone = threading.Barrier(2, timeout=30), TiffStack._plane
    monkeypatch.setattr(threads, "processors", lambda: 2)
    monkeypatch.setattr(TiffStack, "_plane", lambda *given: (two_at_once.wait() and None) or alone(*given))
    with movie_of(tmp_path / "m.tif", IMAGES[:, :2], compression=compression) as movie:
        np.testing.assert_array_equal(movie.frame(3), IMAGES[3, :2])


def test_without_imagecodecs_a_packed_file_says_what_to_install_as_it_is_opened(tmp_path: Path) -> None:
    lacking = {"Compression": (5, "LZW"), "Predictor": (3, "FLOATINGPOINT"), "BitsPerSample": (12, "12 bits")}
    for tag, (value, _) in lacking.items():
        path = tmp_path / f"{tag}.tif"
        tifffile.imwrite(path, IMAGES[:, 0], compression="zlib", predictor=True, metadata={"axes": "TYX"})
        with tifffile.TiffFile(path, mode="r+b") as tif:
            tif.pages.first.tags[tag].overwrite(value)
    opening = (
        "import sys; sys.modules['imagecodecs'] = None\n"
        "from auctrack import read_movie; from auctrack.tracker.errors import InvalidInput\n"
        "for path in sys.argv[1:]:\n"
        "    try: read_movie(path, scale=(1, 1))\n"
        "    except InvalidInput as error: print(error)\n"
    )
    files = [str(tmp_path / f"{tag}.tif") for tag in lacking]
    said = subprocess.run([sys.executable, "-c", opening, *files], capture_output=True, text=True, check=True).stdout
    for line, (_, what) in zip(said.splitlines(), lacking.values(), strict=True):
        assert what in line
        assert "pip install imagecodecs" in line

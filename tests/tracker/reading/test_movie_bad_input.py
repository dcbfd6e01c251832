"""A movie that cannot be read is refused in one clear sentence, as early as possible."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.matching.errors import AuctrackError
from auctrack.tracker.errors import InvalidInput, SeveralMovies, UnknownAxes
from auctrack.tracker.reading.movie import read_movie

from ...refusals import refused

STACK = np.random.default_rng(0).integers(0, 4000, (5, 4, 64, 64)).astype(np.uint16)
SIZES = {"PhysicalSizeX": 0.2, "PhysicalSizeY": 0.3, "PhysicalSizeZ": 1.5}


def ome(path: Path, image: np.ndarray = STACK, axes: str = "TZYX", **options: object) -> Path:
    tifffile.imwrite(path, image, ome=True, metadata={"axes": axes, **SIZES}, **options)
    return path


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gone\.tif"):
        read_movie(tmp_path / "gone.tif")
    with pytest.raises(InvalidInput, match=r"gone\*\.tif"):
        read_movie(tmp_path / "gone*.tif")


def test_an_empty_file_and_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "empty.tif").touch()
    with pytest.raises(InvalidInput, match=r"empty\.tif"):
        read_movie(tmp_path / "empty.tif")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="folder"):
        read_movie(tmp_path / "folder")


@pytest.mark.parametrize(
    "content", [b"frame,x,y\n1,2,3\n", b"II*\x00", b"II*\x00\xff\xff\xff\x7f", b"MM\x00*" + b"\0" * 60]
)
def test_a_tiff_that_is_not_a_tiff(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fake.tif").write_bytes(content)
    with pytest.raises(InvalidInput, match="TIFF"):
        read_movie(tmp_path / "fake.tif")


@pytest.mark.parametrize("name", ["m.xlsx", "m.XLS", "m.ods"])
def test_a_spreadsheet_is_to_be_saved_as_csv(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidInput, match=f"{name}.*CSV") as error:
        read_movie(tmp_path / name)
    assert "TIFF" not in str(error.value)


@pytest.mark.parametrize("name", ["m.czi", "m.avi", "m.npy"])
def test_another_format_is_told_how_to_become_tiff(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"RIFF and what follows")
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(InvalidInput, match="Bio-Formats"):
            read_movie(path)


def test_arrays_in_a_file_are_told_what_takes_them(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", STACK)
    with pytest.raises(InvalidInput, match=r"tracked from Python \(auctrack\.track\)"):
        read_movie(tmp_path / "m.npy")


@pytest.mark.parametrize("kind", ["ome", "zlib", "imagej", "plain"])
@pytest.mark.parametrize("kept", [0.3, 0.7, 0.98])
def test_a_truncated_tiff_never_gives_pixels(tmp_path: Path, kind: str, kept: float) -> None:
    path = tmp_path / "m.tif"
    if kind == "imagej":
        tifffile.imwrite(path, STACK, imagej=True, metadata={"axes": "TZYX"})
    elif kind == "plain":
        tifffile.imwrite(path, STACK, photometric="minisblack", metadata=None)
    else:
        ome(path, compression="zlib" if kind == "zlib" else None)
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(InvalidInput):
        read_movie(path, axes=None if kind != "plain" else "TZYX", scale=(1, 1, 1))


@pytest.mark.parametrize(("axes", "frame", "scale"), [("TYX", 19, (1, 1)), ("TZ4YX", 4, (1, 1, 1))])
def test_the_whole_frames_of_a_truncated_tiff_can_be_had(tmp_path: Path, axes: str, frame: int, scale) -> None:
    path = tmp_path / "m.tif"
    with tifffile.TiffWriter(path) as tif:
        for plane in STACK.reshape(-1, 64, 64):
            tif.write(plane, photometric="minisblack", contiguous=False, metadata=None)
    with tifffile.TiffFile(path) as tif:
        last = tif.pages[19]
        end = last.dataoffsets[0]
    kept = path.read_bytes()
    if last.offset > end:
        pytest.skip("this tifffile writes the pages' headers behind their pixels")
    path.write_bytes(kept[: end + 100])
    with refused(InvalidInput, match=f"frame {frame} ", setting="frames", examples={f"0:{frame}": "they are enough"}):
        read_movie(path, axes=axes, scale=scale)
    with read_movie(path, axes=axes, scale=scale, frames=slice(0, frame)) as movie:
        assert np.array_equal(movie.frame(frame - 1).ravel(), STACK.reshape(frame + 1, -1)[frame - 1])


def test_pixels_behind_one_header_end_with_the_first_plane_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "m.tif"
    tifffile.imwrite(path, STACK, photometric="minisblack", truncate=True, metadata={"axes": "TZYX"})
    with tifffile.TiffFile(path) as tif:
        end = tif.pages[0].dataoffsets[0] + STACK[:3].nbytes
    whole = path.read_bytes()
    path.write_bytes(whole[:end])
    with read_movie(path, scale=(1, 1, 1), frames=slice(0, 3)) as movie:
        np.testing.assert_array_equal(movie.frame(2), STACK[2])
    path.write_bytes(whole[: end - 1])
    with refused(InvalidInput, match="frame 2 ", setting="frames", examples={"0:2": "they are enough"}):
        read_movie(path, scale=(1, 1, 1))


def test_damage_inside_is_found_when_the_frame_is_read(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", compression="zlib")
    with tifffile.TiffFile(path) as tif:
        page = tif.pages[9]
        start, count = page.dataoffsets[0], page.databytecounts[0]
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * count)
    with read_movie(path) as movie:
        np.testing.assert_array_equal(movie.frame(1), STACK[1])
        with pytest.raises(InvalidInput, match="frame 2, plane 1 "):
            movie.frame(2)


@pytest.mark.parametrize("kind", ["ome", "zlib", "imagej", "shaped", "bigtiff"])
def test_damage_anywhere_gives_pixels_or_a_sentence(tmp_path: Path, kind: str) -> None:
    options = {
        "ome": {"ome": True},
        "zlib": {"ome": True, "compression": "zlib", "predictor": True},
        "imagej": {"imagej": True},
        "shaped": {"photometric": "minisblack"},
        "bigtiff": {"bigtiff": True, "photometric": "minisblack"},
    }
    path = tmp_path / "m.tif"
    tifffile.imwrite(path, STACK[:3, :2, :16, :16], metadata={"axes": "TZYX"}, **options[kind])
    whole = path.read_bytes()
    random = np.random.default_rng(7)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for place in random.integers(0, random.choice([len(whole), 600]), 3):
            damaged[place] = random.integers(0, 256)
        path.write_bytes(damaged)
        try:
            with read_movie(path, scale=(1, 1, 1)) as movie:
                assert movie.bytes_per_frame < 1e9
                assert movie.frame(movie.frame_numbers[0]).shape == movie.shape
        except AuctrackError as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
    assert 0 < refused < 60


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ("TYX", " 3 "),
        ("CTZYX", " 5 "),
        ("TQYX", r"\bQ\b"),
        ("4TZYX", r"\b4\b"),
        ("TZYX64", "4, 6"),
        ("TTYX", "TTYX"),
        ("YXTZ", "YX"),
        ("", " 0 "),
    ],
)
def test_wrong_axes(tmp_path: Path, axes: str, said: str) -> None:
    with pytest.raises(UnknownAxes, match=said):
        read_movie(ome(tmp_path / "m.ome.tif"), axes=axes)


def test_planes_that_tifffile_took_for_colours_are_read_when_their_axes_are_given(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 1000, (3, 4, 64, 64), dtype=np.uint16)
    with pytest.warns(DeprecationWarning, match="photometric"):
        tifffile.imwrite(tmp_path / "planes.tif", image)
    with pytest.raises(InvalidInput, match=r"RGB.* 4 .*axes=\"TZYX\""):
        read_movie(tmp_path / "planes.tif", scale=(2, 1, 1))
    with read_movie(tmp_path / "planes.tif", axes="TZYX", scale=(2, 1, 1)) as movie:
        np.testing.assert_array_equal([movie.frame(number) for number in movie.frame_numbers], image)


def test_complex_pixels_are_refused(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "c.tif", np.zeros((5, 16, 16), np.complex64), photometric="minisblack")
    with pytest.raises(InvalidInput, match="complex64"):
        read_movie(tmp_path / "c.tif", axes="TYX", scale=(1, 1))


def test_several_images_in_one_file_are_not_chosen_from(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "two.ome.tif", ome=True) as tif:
        tif.write(STACK, metadata={"axes": "TZYX"})
        tif.write(STACK[:, :, :8, :8], metadata={"axes": "TZYX"})
    with pytest.raises(InvalidInput, match="holds 2 images"):
        read_movie(tmp_path / "two.ome.tif")


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}], ids=["in one piece", "packed"])
def test_frames_of_a_closed_movie_are_refused(tmp_path: Path, options: dict[str, str]) -> None:
    with read_movie(ome(tmp_path / "m.ome.tif", **options)) as movie:
        movie.frame(0)
    with pytest.raises(InvalidInput, match=r"m\.ome\.tif: was closed"):
        movie.frame(0)


def test_a_codec_that_is_named_but_not_installed_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def before_python_3_14(_: bytes) -> bytes:
        raise ModuleNotFoundError("No module named 'compression'")

    zstd = tifffile.COMPRESSION.ZSTD
    path = ome(tmp_path / "m.ome.tif", STACK[0, 0], "YX")
    with tifffile.TiffFile(path, mode="r+b") as tif:
        tif.pages.first.tags["Compression"].overwrite(int(zstd))
    monkeypatch.setattr(tifffile.TIFF, "DECOMPRESSORS", {zstd: before_python_3_14})
    with pytest.raises(InvalidInput, match=r"ZSTD.*pip install imagecodecs"):
        read_movie(path)


def test_a_folder_whose_files_differ_names_the_stranger(tmp_path: Path) -> None:
    for frame in range(3):
        ome(tmp_path / f"t{frame}.tif", STACK[frame], "ZYX")
    ome(tmp_path / "t3.tif", STACK[0, :3], "ZYX")
    with pytest.raises(InvalidInput, match=r"t3\.tif: .*ZYX 3 × 64 × 64 uint16.*t0\.tif .*ZYX 4 × 64 × 64"):
        read_movie(tmp_path)


def test_a_truncated_file_in_a_folder_is_named(tmp_path: Path) -> None:
    for frame in range(3):
        tifffile.imwrite(tmp_path / f"t{frame}.tif", STACK[frame], imagej=True, metadata={"axes": "ZYX"})
    stub = tmp_path / "t2.tif"
    stub.write_bytes(stub.read_bytes()[:-100])
    with pytest.raises(InvalidInput, match=r"t2\.tif: .*truncated"):
        read_movie(tmp_path, scale=(2, 1, 1))


def test_a_folder_of_movies_is_not_a_movie(tmp_path: Path) -> None:
    for number in range(2):
        ome(tmp_path / f"movie{number}.ome.tif")
    with pytest.raises(InvalidInput, match=r"movie0\.ome\.tif"):
        read_movie(tmp_path)


def in_parts(folder: Path) -> list[str]:
    """Write an OME dataset of a file a frame, the header of all in each; return the names of the files."""
    parts = [f"part{t}.ome.tif" for t in range(3)]
    uuids = [f"urn:uuid:0000000{t}-0000-0000-0000-000000000000" for t in range(3)]
    data = "".join(
        f'<TiffData FirstT="{t}" FirstZ="0" FirstC="0" IFD="0" PlaneCount="4"><UUID FileName="{part}">{uuid}</UUID>'
        "</TiffData>"
        for t, (part, uuid) in enumerate(zip(parts, uuids, strict=True))
    )
    for t, part in enumerate(parts):
        xml = (
            '<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" '
            f'UUID="{uuids[t]}"><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint16" '
            'SizeX="64" SizeY="64" SizeZ="4" SizeC="1" SizeT="3" PhysicalSizeX="1" PhysicalSizeY="1" PhysicalSizeZ="2">'
            f'<Channel ID="Channel:0:0" SamplesPerPixel="1"/>{data}</Pixels></Image></OME>'
        )
        tifffile.imwrite(folder / part, STACK[t], photometric="minisblack", metadata=None, description=xml)
    return parts


def test_a_multi_file_ome_dataset_with_and_without_all_its_files(tmp_path: Path) -> None:
    parts = in_parts(tmp_path)
    with read_movie(tmp_path / parts[0]) as movie:
        for t in range(3):
            np.testing.assert_array_equal(movie.frame(t), STACK[t])
    (tmp_path / parts[2]).unlink()
    with refused(InvalidInput, match="frame 2 .*file of its dataset", setting="frames"):
        read_movie(tmp_path / parts[0])
    with read_movie(tmp_path / parts[0], frames=slice(0, 2)) as movie:
        np.testing.assert_array_equal(movie.frame(1), STACK[1])


@pytest.mark.parametrize("pattern", ["", "*.ome.tif"])
def test_a_folder_of_the_files_of_one_dataset_is_that_movie(tmp_path: Path, pattern: str) -> None:
    """Its first file holds all time points, and was taken for one of several movies."""
    in_parts(tmp_path)
    with read_movie(tmp_path / pattern) as movie:
        assert len(movie) == 3
        np.testing.assert_array_equal(movie.frame(2), STACK[2])
    tifffile.imwrite(tmp_path / "z.ome.tif", STACK[0])
    with refused(SeveralMovies, match="3 time points"):
        read_movie(tmp_path / pattern)


def test_a_part_without_the_metadata_points_to_the_main_file(tmp_path: Path) -> None:
    xml = (
        '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
        '<BinaryOnly MetadataFile="a.companion.ome" UUID="urn:uuid:1"/></OME>'
    )
    tifffile.imwrite(tmp_path / "p.ome.tif", STACK[0], photometric="minisblack", metadata=None, description=xml)
    with pytest.raises(InvalidInput, match=r"p\.ome\.tif"):
        read_movie(tmp_path / "p.ome.tif")


def test_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ome(tmp_path / "m.ome.tif")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(tifffile, "TiffFile", denied)
        with pytest.raises(InvalidInput, match=rf"m\.ome\.tif: .*{os.strerror(errno.EACCES)}"):
            read_movie(tmp_path / "m.ome.tif")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", denied)
        with pytest.raises(InvalidInput, match=os.strerror(errno.EACCES)):
            read_movie(tmp_path)

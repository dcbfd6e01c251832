"""Movies are read frame by frame, as their metadata says or as the user says, and never by a guess."""

from __future__ import annotations

import gc
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.matching.jit import threads
from auctrack.tracker.errors import InvalidInput, InvalidSetting, UnknownAxes, UnknownChannel, UnknownScale
from auctrack.tracker.ranges import roi_of
from auctrack.tracker.reading import contiguous, tiff
from auctrack.tracker.reading.file_stack import FileStack
from auctrack.tracker.reading.movie import Movie, read_movie
from auctrack.tracker.reading.tiff import TiffStack

from ..traced import with_peak

PIXELS = np.random.default_rng(0).integers(0, 4000, (5, 2, 4, 16, 12)).astype(np.uint16)  # T C Z Y X
STACK = PIXELS[:, 0]


def ome(path: Path, image: np.ndarray, axes: str, **metadata: object) -> Path:
    tifffile.imwrite(path, image, ome=True, photometric="minisblack", metadata={"axes": axes, **metadata})
    return path


def imagej(path: Path, image: np.ndarray, axes: str, resolution: tuple[float, float] | None = None, **metadata: object):
    tifffile.imwrite(path, image, imagej=True, resolution=resolution, metadata={"axes": axes, **metadata})
    return path


def plain(path: Path, image: np.ndarray, **options: object) -> Path:
    tifffile.imwrite(path, image, photometric="minisblack", metadata=None, **options)
    return path


SIZES = {"PhysicalSizeX": 0.2, "PhysicalSizeY": 0.3, "PhysicalSizeZ": 1.5}


def assert_reads(movie: Movie, frames: np.ndarray) -> None:
    assert movie.frame_numbers == tuple(range(len(frames)))
    for number in movie.frame_numbers:
        np.testing.assert_array_equal(movie.frame(number), frames[number])
        assert movie.frame(number).shape == movie.shape
        assert movie.frame(number).dtype == movie.dtype


# --- formats -----------------------------------------------------------------------------------------------------


def test_ome_tiff_states_everything(tmp_path: Path) -> None:
    path = ome(
        tmp_path / "m.ome.tif", PIXELS, "TCZYX", TimeIncrement=12.5, Channel={"Name": ["nuclei", "membrane"]}, **SIZES
    )
    with read_movie(path, channel="membrane") as movie:
        assert movie.ndim == 3
        assert movie.shape == (4, 16, 12)
        assert movie.calibration.scale == (1.5, 0.3, 0.2)
        assert movie.calibration.unit == "µm"
        assert (movie.calibration.frame_interval, movie.calibration.time_unit) == (12.5, "s")
        assert movie.channels == ("nuclei", "membrane")
        assert movie.source == "OME-XML"
        assert_reads(movie, PIXELS[:, 1])


def test_ome_units_are_brought_to_micrometres_and_seconds(tmp_path: Path) -> None:
    units = {
        "PhysicalSizeXUnit": "nm",
        "PhysicalSizeYUnit": "nm",
        "PhysicalSizeZUnit": "mm",
        "TimeIncrementUnit": "min",
    }
    sizes = {"PhysicalSizeX": 200, "PhysicalSizeY": 300, "PhysicalSizeZ": 0.0015, "TimeIncrement": 2}
    with read_movie(ome(tmp_path / "m.ome.tif", STACK, "TZYX", **sizes, **units)) as movie:
        assert movie.calibration.scale == pytest.approx((1.5, 0.3, 0.2))
        assert movie.calibration.unit == "µm"
        assert movie.calibration.frame_interval == pytest.approx(120)


@pytest.mark.parametrize("unit", ["um", "micron", "\\u00B5m", "microns"])
def test_imagej_hyperstack_in_every_spelling_of_the_micrometre(tmp_path: Path, unit: str) -> None:
    path = imagej(
        tmp_path / "m.tif", PIXELS.transpose(0, 2, 1, 3, 4), "TZCYX", (5, 4), spacing=1.5, unit=unit, finterval=0.5
    )
    with read_movie(path, channel=1) as movie:
        assert movie.calibration.scale == pytest.approx((1.5, 0.25, 0.2))
        assert movie.calibration.unit == "µm"
        assert movie.calibration.frame_interval == 0.5
        assert movie.channels == ("channel 0", "channel 1")
        assert_reads(movie, PIXELS[:, 1])


def test_imagej_in_nanometres_and_minutes(tmp_path: Path) -> None:
    path = imagej(tmp_path / "m.tif", STACK, "TZYX", (0.01, 0.01), spacing=-300, unit="nm", finterval=2, tunit="min")
    with read_movie(path) as movie:
        assert movie.calibration.scale == pytest.approx((0.3, 0.1, 0.1))
        assert movie.calibration.frame_interval == 120


@pytest.mark.parametrize(
    ("unit", "odd"), [("fortnight", "2 fortnight"), ("frame", ""), ("Frames", ""), ("min", ""), ("", "")]
)
def test_an_interval_in_a_unit_that_is_not_known_is_said_and_not_taken(tmp_path: Path, unit: str, odd: str) -> None:
    header = imagej(tmp_path / "m.tif", STACK, "TZYX", (5, 5), spacing=1, unit="um", finterval=2, tunit=unit)
    sizes = SIZES | {"TimeIncrement": 2} | ({"TimeIncrementUnit": unit} if unit else {})
    for path in (header, ome(tmp_path / "m.ome.tif", STACK, "TZYX", **sizes)):
        with read_movie(path) as movie:
            assert movie.odd_interval == odd
            known = {"min": 120, "": 2}.get(unit)
            assert movie.calibration.frame_interval == known
            assert (f"the file says {odd}" in movie.describe()) == bool(odd)
        with read_movie(path, frame_interval=3) as movie:
            assert movie.odd_interval == ""


@pytest.mark.parametrize(
    ("resolution", "metadata", "said"),
    [
        ((5, 5), {"unit": "um"}, r"\bz\b"),
        ((72, 72), {"unit": "inch", "spacing": 1.0}, "inch.*scale="),
        ((5, 5), {"spacing": 1.5}, "unit"),
        ((5, 5), {"unit": "pixel", "spacing": 1.5}, "pixel.*scale="),
        (None, {"unit": "um", "spacing": 1.5}, "y, x"),
    ],
)
def test_an_imagej_header_that_says_too_little_is_not_completed(tmp_path, resolution, metadata, said) -> None:
    path = imagej(tmp_path / "m.tif", STACK, "TZYX", resolution, **metadata)
    with pytest.raises(UnknownScale, match=said):
        read_movie(path)


def test_two_planes_need_their_distance_and_one_needs_none(tmp_path: Path) -> None:
    two = imagej(tmp_path / "two.tif", STACK[:, :2], "TZYX", (5, 5), unit="um")
    with pytest.raises(UnknownScale, match=r"\bz\b"):
        read_movie(two)
    with read_movie(imagej(tmp_path / "one.tif", STACK[:, :1], "TZYX", (5, 5), unit="um")) as movie:
        assert movie.calibration.scale[1:] == pytest.approx((0.2, 0.2))


def test_a_unit_gives_meaning_to_imagej_sizes_without_one(tmp_path: Path) -> None:
    path = imagej(tmp_path / "m.tif", STACK, "TZYX", (5, 5), spacing=1.5)
    with read_movie(path, unit="micron") as movie:
        assert movie.calibration.scale == pytest.approx((1.5, 0.2, 0.2))
        assert movie.calibration.unit == "µm"


def test_a_wanted_unit_converts_what_the_file_states(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", STACK, "TZYX", TimeIncrement=30, **SIZES)
    with read_movie(path, unit="nm", time_unit="min") as movie:
        assert movie.calibration.scale == pytest.approx((1500, 300, 200))
        assert (movie.calibration.unit, movie.calibration.time_unit) == ("nm", "min")
        assert movie.calibration.frame_interval == pytest.approx(0.5)
    with pytest.raises(InvalidSetting, match="furlong"):
        read_movie(path, unit="furlong")


def test_a_plain_tiff_asks_for_axes_and_then_for_the_voxel_size(tmp_path: Path) -> None:
    path = tmp_path / "m.tif"
    tifffile.imwrite(path, STACK, photometric="minisblack")
    with pytest.raises(UnknownAxes, match=r"5 × 4 × 16 × 12.*QQYX.*axes=\"TZYX\""):
        read_movie(path, scale=(2, 1, 1))
    with pytest.raises(UnknownScale, match=r"scale=\(z, y, x\) .*µm.*scale=\(2, 0\.5, 0\.5\).*unit=\"pixel\""):
        read_movie(path, axes="TZYX")
    with read_movie(path, axes="tzyx", scale=(2, 1, 1)) as movie:
        assert movie.axes == "TZYX"
        assert movie.source == "given"
        assert_reads(movie, STACK)
    with read_movie(path, axes="ZTYX", scale=(2, 1, 1)) as movie:
        assert_reads(movie, STACK.swapaxes(0, 1))


@pytest.mark.parametrize(("pages", "number"), [(6, 2), (35, 5), (7, 7)])
def test_a_number_that_divides_the_pages_is_named_where_one_does_not(tmp_path: Path, pages: int, number: int) -> None:
    tifffile.imwrite(tmp_path / "row.tif", np.zeros((pages, 8, 8), np.uint8), metadata=None)
    with pytest.raises(UnknownAxes, match=f"TZ{number}YX"):
        read_movie(tmp_path / "row.tif", axes="TZ12YX", scale=(1, 1, 1))
    assert len(read_movie(tmp_path / "row.tif", axes=f"TZ{number}YX", scale=(1, 1, 1))) == pages // number


@pytest.mark.parametrize("axes", [None, "TZYX"])
def test_more_dimensions_than_there_are_letters_for_are_refused(tmp_path: Path, axes: str | None) -> None:
    tifffile.imwrite(tmp_path / "six.tif", np.zeros((2, 2, 2, 2, 8, 8), np.uint8))
    with pytest.raises(InvalidInput, match=r"6 dimensions, of 2 × 2 × 2 × 2 × 8 × 8") as caught:
        read_movie(tmp_path / "six.tif", axes=axes, scale=(1, 1, 1))
    assert not isinstance(caught.value, UnknownAxes)


@pytest.mark.parametrize("compression", [None, "zlib"])
def test_a_plain_row_of_pages_is_divided_by_a_number(tmp_path: Path, compression: str | None) -> None:
    path = tmp_path / "m.tif"
    with tifffile.TiffWriter(path) as tif:
        for plane in PIXELS.reshape(-1, 16, 12):
            tif.write(plane, photometric="minisblack", contiguous=False, metadata=None, compression=compression)
    with pytest.raises(UnknownAxes, match=r"3, of 40 × 16 × 12.*TZ12YX"):
        read_movie(path, axes="TCZYX", scale=(2, 1, 1))
    for axes in ("TC2Z4YX", "T5CZ4YX", "T5C2Z4YX"):
        with read_movie(path, axes=axes, scale=(2, 1, 1), channel=1) as movie:
            assert_reads(movie, PIXELS[:, 1])
    for axes in ("TZ7YX", "TCZ4YX", "T3Z4YX", "TZ0YX"):
        with pytest.raises(UnknownAxes, match=" 40 "):
            read_movie(path, axes=axes, scale=(2, 1, 1))


def test_given_axes_override_what_the_file_says_which_is_told(tmp_path: Path) -> None:
    path = imagej(tmp_path / "m.tif", STACK[0], "ZYX")
    with read_movie(path, axes="TYX", scale=(1, 1)) as movie:
        assert movie.ndim == 2
        assert "ZYX" in movie.describe()
        assert_reads(movie, STACK[0])
    with read_movie(path, axes="ZYX", scale=(1, 1, 1)) as movie:
        assert "file says" not in movie.describe()


@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("tile", [None, (16, 16)])
def test_storage_changes_nothing(tmp_path: Path, compression, byteorder, tile) -> None:
    path = plain(tmp_path / "m.tif", STACK.reshape(20, 16, 12), compression=compression, byteorder=byteorder, tile=tile)
    with read_movie(path, axes="TYX", scale=(1, 1)) as movie:
        assert movie.dtype == np.dtype(np.uint16)
        assert movie.dtype.isnative
        assert_reads(movie, STACK.reshape(20, 16, 12))


def test_volumetric_pages(tmp_path: Path) -> None:
    path = tmp_path / "m.tif"
    tifffile.imwrite(
        path, STACK, volumetric=True, tile=(4, 16, 16), photometric="minisblack", metadata={"axes": "TZYX"}
    )
    with read_movie(path, scale=(1, 1, 1), roi=(slice(1, 3), slice(2, 9), slice(0, 5))) as movie:
        np.testing.assert_array_equal(movie.frame(3), STACK[3, 1:3, 2:9, :5])


def test_a_folder_and_a_glob_of_frames_in_natural_order(tmp_path: Path) -> None:
    for frame in range(5):
        imagej(tmp_path / f"t{2 * frame + 1}.tif", STACK[frame], "ZYX", (5, 5), spacing=1.5, unit="um")
    (tmp_path / "notes.txt").write_text("not an image")
    (tmp_path / "._t1.tif").write_text("a ghost of macOS")
    for path in (tmp_path, tmp_path / "t*.tif", str(tmp_path / "t?.TIF").replace("TIF", "tif")):
        with read_movie(path) as movie:
            assert movie.axes == "TZYX"
            assert movie.calibration.scale == pytest.approx((1.5, 0.2, 0.2))
            assert movie.timeline.step == 2
            np.testing.assert_array_equal([movie.frame(n) for n in movie.frame_numbers], STACK[: len(movie)])
    with read_movie(tmp_path, frames=slice(2, None, 4)) as movie:
        assert (movie.frame_numbers, movie.timeline.step) == ((2, 6), 4)
        np.testing.assert_array_equal(movie.frame(6), STACK[3])


def test_numbers_in_file_names_are_time(tmp_path: Path) -> None:
    numbers = [*range(5), *range(8, 12)]
    for number in numbers:
        imagej(tmp_path / f"t{number}.tif", STACK[number % 5], "ZYX", (5, 5), spacing=1.5, unit="um")
    with read_movie(tmp_path) as movie:
        assert movie.frame_numbers == tuple(numbers)
        assert movie.timeline.files[8] == "t8.tif"
        np.testing.assert_array_equal(movie.frame(11), STACK[1])
        with pytest.raises(InvalidSetting, match="0 to 4, 8 to 11"):
            movie.frame(5)
        assert "no file for 3 frames" in movie.describe()
        assert "no file" not in movie.describe().replace(movie.timeline_note, "")
    with read_movie(tmp_path, frames=slice(None, None, 5)) as movie:
        assert (movie.frame_numbers, movie.timeline.step) == ((0, 10), 5)


@pytest.mark.parametrize(
    ("names", "pattern", "kept"),
    [
        (("t0.tif", "t0_cp_masks.tif", "t1.tif", "t1_cp_masks.tif"), "t*_cp_masks.tif", 2),
        (("MAX.tif", "t0.tif", "t1.tif", "t2.tif"), "t*.tif", 3),
        (("after/t0.tif", "after/t1.tif", "before/t0.tif", "before/t1.tif"), "before/t*.tif", 2),
    ],
    ids=["masks beside images", "a projection", "folders"],
)
def test_files_of_several_kinds_by_their_names_are_no_movie(
    tmp_path: Path, names: tuple[str, ...], pattern: str, kept: int
) -> None:
    """All had been frames, in the order of their names: each mask one beside its image."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        tifffile.imwrite(tmp_path / name, np.zeros((4, 16, 12), np.uint16), photometric="minisblack")
    said = {"axes": "ZYX", "scale": (1, 1, 1)}
    with pytest.raises(InvalidInput, match="2 kinds") as caught:
        read_movie(str(tmp_path / "*/*.tif" if "/" in names[0] else tmp_path), **said)
    assert f"'{tmp_path / pattern}'" in str(caught.value)
    assert len(read_movie(str(tmp_path / pattern), **said)) == kept


def test_folders_with_files_of_the_same_names_are_a_movie_each(tmp_path: Path) -> None:
    """The wells of a plate had been one movie, a well after the other; frames that are numbered on still are."""
    said = {"axes": "ZYX", "scale": (1, 1, 1)}
    for name in ("A1/t0", "A1/t1", "A2/t0", "A2/t1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        tifffile.imwrite(tmp_path / f"{name}.tif", np.zeros((4, 16, 12), np.uint16), photometric="minisblack")
    with pytest.raises(InvalidInput, match=re.escape(f"'{tmp_path / '*'}'")):
        read_movie(str(tmp_path / "*/t*.tif"), **said)
    for number in (0, 1):
        (tmp_path / f"A2/t{number}.tif").rename(tmp_path / f"A2/t{number + 2}.tif")
    assert read_movie(str(tmp_path / "*/t*.tif"), **said).frame_numbers == (0, 1, 2, 3)


def test_axes_of_a_folder_are_those_of_one_file(tmp_path: Path) -> None:
    for frame in range(3):
        plain(tmp_path / f"t{frame}.tif", STACK[frame])
    with pytest.raises(UnknownAxes):
        read_movie(tmp_path, scale=(2, 1, 1))
    for axes in ("ZYX", "TZYX"):
        with read_movie(tmp_path, axes=axes, scale=(2, 1, 1)) as movie:
            assert_reads(movie, STACK[:3])


def test_2d_movies(tmp_path: Path) -> None:
    flat = STACK[:, 0]
    one_plane = ome(tmp_path / "z1.ome.tif", flat[:, None], "TZYX", PhysicalSizeX=0.2, PhysicalSizeY=0.3)
    with read_movie(one_plane) as movie:
        assert movie.ndim == 2
        assert movie.calibration.scale == (1.0, 0.3, 0.2)
        assert_reads(movie, flat)
    for scale in ((0.5, 0.25), (1, 0.5, 0.25)):
        with read_movie(plain(tmp_path / "p.tif", flat), axes="TYX", scale=scale) as movie:
            assert movie.calibration.scale == (1.0, 0.5, 0.25)


def test_one_time_point_is_a_movie_of_one_frame(tmp_path: Path) -> None:
    with read_movie(ome(tmp_path / "m.ome.tif", STACK[0], "ZYX", **SIZES)) as movie:
        assert_reads(movie, STACK[:1])


def test_a_virtual_imagej_stack_whose_planes_have_no_pages(tmp_path: Path) -> None:
    path = tmp_path / "m.tif"
    header = b"ImageJ=1.53\nimages=20\nslices=4\nframes=5\nhyperstack=true\nunit=um\nspacing=1.5\n"
    tifffile.imwrite(path, STACK[0, 0], byteorder=">", description=header, resolution=(5, 5), metadata=None)
    with tifffile.TiffFile(path) as tif:
        offset = tif.pages.first.dataoffsets[0]
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(STACK.astype(">u2").tobytes())
    with read_movie(path) as movie:
        assert_reads(movie, STACK)


# --- pieces ------------------------------------------------------------------------------------------------------


def test_frames_keep_their_numbers_and_the_region_its_origin(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", STACK, "TZYX", **SIZES)
    roi = (slice(1, 3), slice(4, None), slice(None, 7))
    with read_movie(path, frames=slice(1, None, 2), roi=roi) as movie:
        assert movie.frame_numbers == (1, 3)
        assert movie.origin == (1, 4, 0)
        assert movie.shape == (2, 12, 7)
        np.testing.assert_array_equal(movie.frame(3), STACK[3][roi])
        with pytest.raises(InvalidSetting, match="frame 2 "):
            movie.frame(2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"frames": slice(7, 9)},
        {"roi": (slice(0, 2), slice(0, 2))},
        {"roi": (slice(0, 5), slice(None), slice(None))},
        {"roi": (slice(2, 2), slice(None), slice(None))},
        {"roi": (slice(0, 4, 2), slice(None), slice(None))},
        {"roi": (slice(-1, None), slice(None), slice(None))},
        {"scale": (1, 1)},
        {"scale": (0, 1, 1)},
        {"scale": (1, float("nan"), 1)},
        {"frame_interval": -1},
        {"channel": 1},
        {"channel": "nuclei"},
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    path = ome(tmp_path / "m.ome.tif", STACK, "TZYX", **SIZES)
    with pytest.raises(InvalidSetting):
        read_movie(path, **wrong)


def test_the_voxel_size_goes_z_y_x_and_wins_over_the_file(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", STACK, "TZYX", TimeIncrement=3, **SIZES)
    with read_movie(path, scale=(3, 2, 1), frame_interval=7, time_unit="min") as movie:
        assert movie.calibration.scale == (3, 2, 1)
        assert (movie.calibration.frame_interval, movie.calibration.time_unit) == (7, "min")
    with read_movie(path, unit="pixel") as movie:
        assert movie.calibration.scale == (1, 1, 1)
        assert not movie.calibration.is_physical
        assert "distances are in pixels" in movie.describe()


def test_several_channels_are_never_chosen_from_by_default(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", PIXELS, "TCZYX", Channel={"Name": ["1", "red"]}, **SIZES)
    with pytest.raises(UnknownChannel, match=r"2 channels \(0: 1, 1: red\).*channel='red'"):
        read_movie(path)
    for channel, number in (("red", 1), (1, 1), ("1", 0), ("0", 0)):
        with read_movie(path, channel=channel) as movie:
            assert movie.channel == number


def test_small_and_large_letters_of_a_channel_matter_only_where_they_tell_channels_apart(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", PIXELS, "TCZYX", Channel={"Name": ["GFP", "mCherry"]}, **SIZES)
    with read_movie(path, channel="mcherry") as movie:
        assert movie.channel == 1
    alike = ome(tmp_path / "alike.ome.tif", PIXELS, "TCZYX", Channel={"Name": ["red", "Red"]}, **SIZES)
    with read_movie(alike, channel="Red") as movie:
        assert movie.channel == 1
    with pytest.raises(InvalidSetting, match="RED"):
        read_movie(alike, channel="RED")


# --- laziness ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [None, "zlib"])
def test_memory_is_a_few_frames_whatever_the_length(tmp_path: Path, compression: str | None) -> None:
    frame = np.random.default_rng(1).integers(0, 255, (4, 192, 192)).astype(np.uint8)
    path = tmp_path / "long.ome.tif"
    tifffile.imwrite(path, np.tile(frame, (100, 1, 1, 1)), compression=compression, metadata={"axes": "TZYX", **SIZES})
    with read_movie(path) as movie:
        _, peak = with_peak(lambda: sum(movie.frame(number).size for number in movie.frame_numbers))
    assert peak < 4 * movie.bytes_per_frame


def test_only_the_planes_of_the_region_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ome(tmp_path / "m.ome.tif", STACK, "TZYX", **SIZES)
    read = []
    at_once, plane = tiff.read_into, STACK[0, 0].size
    monkeypatch.setattr(tiff, "read_into", lambda out, *a: read.append(out.size // plane) or at_once(out, *a))
    for columns, wanted in ((slice(None), [2]), (slice(3, 9), [1, 1])):
        with read_movie(path, roi=(slice(1, 3), slice(None), columns)) as movie:
            assert not read
            np.testing.assert_array_equal(movie.frame(2), STACK[2, 1:3, :, columns])
        assert read == wanted
        read.clear()


@pytest.mark.parametrize("axes", ["TZCYX", "TCZYX", "ZTCYX"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_frames_in_one_piece_or_not_are_read_alike_in_parts_of_any_size(tmp_path, monkeypatch, axes, order):
    monkeypatch.setattr(contiguous, "_PART", 100)
    monkeypatch.setattr(contiguous, "processors", lambda: 1000)
    pixels = PIXELS.transpose(["TCZYX".index(axis) for axis in axes])
    path = tmp_path / "m.tif"
    tifffile.imwrite(path, pixels, photometric="minisblack", byteorder=order, metadata={"axes": axes})
    with read_movie(path, scale=(1, 1, 1), channel=1) as movie:
        assert_reads(movie, PIXELS[:, 1])


def test_pixels_that_a_file_does_not_have_are_an_error(tmp_path):
    path = tmp_path / "pixels"
    path.write_bytes(bytes(30))
    with path.open("rb") as file, pytest.raises(OSError, match="2 bytes"):
        contiguous.read_into(np.empty((2, 4), np.uint32), file.fileno(), 0)


@pytest.mark.parametrize(("reader", "one_plane"), [(TiffStack, "_plane"), (FileStack, "_read")])
def test_compressed_planes_and_files_of_one_plane_are_read_two_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: type, one_plane: str
) -> None:
    if reader is FileStack:
        for (t, z), plane in ((at, STACK[at]) for at in np.ndindex(5, 4)):
            plain(tmp_path / f"m_t{t}_z{z}.tif", plane)
        source, axes = tmp_path, "TZYX"
    else:
        source, axes = plain(tmp_path / "m.tif", STACK.reshape(20, 16, 12), compression="zlib"), "TZ4YX"
    two_at_once, alone = threading.Barrier(2, timeout=30), getattr(reader, one_plane)
    monkeypatch.setattr(threads, "processors", lambda: 2)
    monkeypatch.setattr(reader, one_plane, lambda *given: (two_at_once.wait() and None) or alone(*given))
    with read_movie(source, axes=axes, scale=(2, 1, 1)) as movie:
        assert_reads(movie, STACK)


@pytest.mark.parametrize(("reader", "one_plane"), [(TiffStack, "_plane"), (FileStack, "_read")])
def test_frames_of_compressed_planes_and_files_are_read_two_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: type, one_plane: str
) -> None:
    images = STACK[:, 0]
    if reader is FileStack:
        source, axes = tmp_path, "TYX"
        for number, image in enumerate(images):
            tifffile.imwrite(tmp_path / f"t{number}.tif", image)
    else:
        source, axes = plain(tmp_path / "m.tif", images, compression="zlib"), "TYX"
    two_at_once, alone = threading.Barrier(2, timeout=30), getattr(reader, one_plane)
    monkeypatch.setattr(reader, one_plane, lambda *given: (two_at_once.wait() and None) or alone(*given))
    with read_movie(source, axes=axes, scale=(1, 1)) as movie, ThreadPoolExecutor(2) as asking:
        first, second = asking.map(movie.frame, movie.frame_numbers[:2])
        np.testing.assert_array_equal(np.stack([first, second]), images[:2])


UNCOMPRESSED = {
    "in one piece": ("TZYX", "<", True, None),
    "in the other byte order, as Fiji writes": ("TZYX", ">", True, None),
    "planes of channels between": ("TZCYX", ">", True, None),
    "a region of each plane": ("TZYX", "<", True, "0:4,3:9,2:5"),
    "pages with headers between": ("TZYX", ">", False, None),
}


@pytest.mark.skipif(not contiguous.can_be_read_side_by_side(), reason="this system moves a file's place as it reads")
@pytest.mark.parametrize("how", UNCOMPRESSED)
def test_uncompressed_frames_are_read_two_at_a_time_however_they_lie_in_the_file(tmp_path, monkeypatch, how):
    axes, order, in_one_piece, roi = UNCOMPRESSED[how]
    pixels = PIXELS.transpose(0, 2, 1, 3, 4) if "C" in axes else STACK
    with tifffile.TiffWriter(tmp_path / "m.tif", byteorder=order) as file:
        for plane in pixels.reshape(-1, 16, 12):
            file.write(plane, contiguous=in_one_piece, photometric="minisblack", metadata=None)
    two_at_once, alone = threading.Barrier(2, timeout=30), TiffStack.volume
    monkeypatch.setattr(TiffStack, "volume", lambda *given: (two_at_once.wait() and None) or alone(*given))
    divided = "TZ4C2YX" if "C" in axes else "TZ4YX"
    channel = 1 if "C" in axes else 0
    with (
        read_movie(tmp_path / "m.tif", axes=divided, scale=(1, 1, 1), channel=channel, roi=roi) as movie,
        ThreadPoolExecutor(2) as asking,
    ):
        read = list(asking.map(movie.frame, movie.frame_numbers[:2]))
    np.testing.assert_array_equal(np.stack(read), PIXELS[:2, channel][(..., *roi_of(roi)) if roi else ...])


def test_a_volumetric_page_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.tif"
    options = {"volumetric": True, "tile": (4, 16, 16), "photometric": "minisblack", "compression": "zlib"}
    tifffile.imwrite(path, STACK, metadata={"axes": "TZYX"}, **options)
    decoded = []
    original = tifffile.TiffPage.asarray
    monkeypatch.setattr(tifffile.TiffPage, "asarray", lambda *a, **k: decoded.append(1) or original(*a, **k))
    with read_movie(path, scale=(1, 1, 1)) as movie:
        np.testing.assert_array_equal(movie.frame(0), STACK[0])
    assert len(decoded) == 1


def test_a_forgotten_movie_closes_its_file(tmp_path: Path) -> None:
    movie = read_movie(ome(tmp_path / "m.ome.tif", STACK, "TZYX", **SIZES))
    stack = movie._stack
    del movie
    gc.collect()
    assert stack._tif.filehandle.closed


@pytest.mark.parametrize(("frames", "middle"), [(1, (2,)), (2, (1, 2)), (3, (1, 2, 3)), (9, (0, 1, 2, 3, 4))])
def test_the_middle_of_a_movie_is_one_and_leaves_the_whole_open(tmp_path: Path, frames: int, middle: tuple) -> None:
    with read_movie(ome(tmp_path / "m.ome.tif", STACK, "TZYX", **SIZES)) as movie:
        part = movie.middle(frames)
        assert part.frame_numbers == middle
        np.testing.assert_array_equal(part.frame(middle[0]), STACK[middle[0]])
        del part
        gc.collect()
        np.testing.assert_array_equal(movie.frame(4), STACK[4])


def test_describe_shows_what_was_understood(tmp_path: Path) -> None:
    path = ome(tmp_path / "m.ome.tif", PIXELS, "TCZYX", TimeIncrement=3, Channel={"Name": ["a", "b"]}, **SIZES)
    with read_movie(path, channel="b", frames=slice(0, 4, 2)) as movie:
        text = movie.describe()
    for part in ("TCZYX", "1.5 × 0.3 × 0.2 µm", "OME-XML", "3 s", "0 to 2 in steps of 2", "1: b  (read)", "uint16"):
        assert part in text


def test_describe_shows_the_voxel_size_of_the_file_where_another_is_given(tmp_path: Path) -> None:
    stating = ome(tmp_path / "m.ome.tif", PIXELS, "TCZYX", **SIZES)
    for path, scale, is_said in ((stating, (2, 0.3, 0.2), True), (stating, (1.5, 0.3, 0.2), False)):
        with read_movie(path, channel=0, scale=scale) as movie:
            assert ("1.5 × 0.3 × 0.2 µm" in movie.describe().split("given")[1]) == is_said


# --- real files --------------------------------------------------------------------------------------------------

REAL = {
    "ome_tiff/CZT_peaks.ome.tif": ((4, 48, 56), 4, (1.0, 0.065, 0.065), 10),
    "ome_tiff/TC_BF_cells.ome.tif": ((7, 193, 174), 3, (0.3, 0.065, 0.065), 10),
    "ome_tiff/TZ_nucleus.ome.tif": ((5, 51, 73), 4, (1.5, 0.41513, 0.41513), 180),
    "beads_confocal/beads.tif": ((48, 256, 256), 2, (0.795, 0.2929, 0.2929), None),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_with_a_voxel_size(real_data, name: str) -> None:
    path = real_data(name)
    shape, frames, scale, interval = REAL[name]
    with read_movie(path) as movie:
        assert movie.shape == shape
        assert movie.calibration.scale == pytest.approx(scale, rel=1e-4)
        assert movie.calibration.frame_interval == interval
        assert_reads(movie, tifffile.imread(path))
        assert len(movie) == frames


@pytest.mark.parametrize(
    ("name", "scale", "shape"),
    [
        ("hl60_3d/movie.ome.tif", (2, 1, 1), (12, 44, 80)),
        ("hl60_3d/labels.tif", (2, 1, 1), (12, 44, 80)),
        ("faketracks/FakeTracks.tif", (1, 1), (128, 128)),
    ],
)
def test_real_files_without_one(real_data, name: str, scale: tuple[float, ...], shape: tuple[int, ...]) -> None:
    path = real_data(name)
    with pytest.raises(UnknownScale):
        read_movie(path)
    with read_movie(path, scale=scale) as movie:
        assert movie.shape == shape
        assert_reads(movie, tifffile.imread(path))

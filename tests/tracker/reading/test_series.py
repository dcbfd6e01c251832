"""Several images in a file, such as the positions of a stage: one is chosen by name or number, never by default."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.tests.refusals import refused
from auctrack.tracker.errors import InvalidInput, InvalidSetting, UnknownSeries
from auctrack.tracker.reading.movie import Movie, read_movie
from auctrack.tracker.reading.tiff import files_of_series

DATA = np.random.default_rng(0).integers(0, 999, (2, 3, 4, 16, 12)).astype(np.uint16)
"""Two positions of three frames."""
SIZES = {"axes": "TZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2, "TimeIncrement": 10}


def two_in_one(path: Path, **options: object) -> Path:
    with tifffile.TiffWriter(path, ome=True) as tif:
        tif.write(DATA[0], metadata={**SIZES, "Name": "Pos0"}, **options)
        tif.write(DATA[1], metadata={**SIZES, "Name": "Pos1", "PhysicalSizeZ": 3}, **options)
    return path


def dataset(folder: Path, held: Mapping[str, Sequence[tuple[int, int]]], data: np.ndarray = DATA) -> list[Path]:
    """Write files that hold some positions and times of a dataset each, the header of all images in each."""
    uuids = {name: f"urn:uuid:0000000{number}-0000-0000-0000-000000000000" for number, name in enumerate(held)}
    times, planes, height, width = data.shape[1:]
    where = {held_by: (name, at) for name, volumes in held.items() for at, held_by in enumerate(volumes)}
    images = "".join(
        f'<Image ID="Image:{number}" Name="Pos{number}"><Pixels ID="Pixels:{number}" DimensionOrder="XYZCT" '
        f'Type="uint16" SizeX="{width}" SizeY="{height}" SizeZ="{planes}" SizeC="1" SizeT="{times}" '
        'PhysicalSizeX="1" PhysicalSizeY="1" PhysicalSizeZ="2">'
        f'<Channel ID="Channel:{number}:0" SamplesPerPixel="1"/>'
        + "".join(
            f'<TiffData FirstT="{time}" FirstZ="0" FirstC="0" IFD="{at * planes}" PlaneCount="{planes}">'
            f'<UUID FileName="{name}">{uuids[name]}</UUID></TiffData>'
            for time in range(times)
            for name, at in [where[number, time]]
        )
        + "</Pixels></Image>"
        for number in range(len(data))
    )
    for name, volumes in held.items():
        xml = (
            '<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" '
            f'UUID="{uuids[name]}">{images}</OME>'
        )
        pages = np.concatenate([data[volume] for volume in volumes])
        tifffile.imwrite(folder / name, pages, photometric="minisblack", metadata=None, description=xml)
    return [folder / name for name in held]


def one_each(folder: Path, data: np.ndarray = DATA) -> list[Path]:
    """Write a dataset of one file a position, the header of all images in each."""
    times = range(data.shape[1])
    return dataset(folder, {f"Pos{n}.ome.tif": [(n, time) for time in times] for n in range(len(data))}, data)


def micro_manager(
    path: Path, positions: Sequence[int], labels: Sequence[str] = ("A1", "B2"), frames: Sequence[int] = range(3)
) -> Path:
    """Write a stack as Micro-Manager does: positions in turn at each time, an index of planes, no OME-XML."""
    count, times, planes, height, width = DATA.shape
    summary = {
        "MicroManagerVersion": "2.0",
        "Positions": count,
        "Frames": times,
        "Slices": planes,
        "Channels": 1,
        "TimeFirst": False,
        "SlicesFirst": True,
        "StagePositions": [{"Label": label} for label in labels],
        "Prefix": "run_1",
        "PixelSize_um": 0.5,
        "z-step_um": -2.0,
        "Interval_ms": 10_000,
        "ChNames": ["GFP"],
    }
    said = json.dumps(summary).encode()
    planes_of = [(p, t, z) for p in positions for t in frames for z in range(planes)]
    pixels, of_plane = height * width * 2, b'{"Frame": 0}\0\0'
    first = 40 + len(said) + len(said) % 2
    size = 162 + pixels + len(of_plane)
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, 1, 162), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, pixels)]
    tags += [(282, 3, 1, 1), (283, 3, 1, 1), (296, 3, 1, 1), (51123, 2, len(of_plane), 162 + pixels)]
    offsets = [first + number * size for number in range(len(planes_of))]
    ends = offsets[-1] + size
    blocks: list[bytes] = []
    for number, ((p, t, z), offset) in enumerate(zip(planes_of, offsets, strict=True)):
        placed = [(*tag[:3], tag[3] + offset * (tag[0] in (273, 51123))) for tag in tags]
        entries = [struct.pack("<HHII", *tag) for tag in placed]
        following = 0 if number == len(offsets) - 1 else offsets[number + 1]
        header = struct.pack("<H", len(tags)) + b"".join(entries) + struct.pack("<I", following)
        assert len(header) == 162, "as tifffile takes it to be"
        blocks.append(header + DATA[p, t, z].tobytes() + of_plane)
    index = [value for (p, t, z), at in zip(planes_of, offsets, strict=True) for value in (0, z, t, p, at)]
    table = struct.pack(f"<II{len(index)}I", 3453623, len(planes_of), *index)
    start = struct.pack("<2sHIIIIIIIII", b"II", 42, first, 54773648, ends, 483765892, 0, 0, 0, 2355492, len(said))
    path.write_bytes((start + said).ljust(first, b"\0") + b"".join(blocks) + table)
    return path


def frames(movie: Movie) -> np.ndarray:
    return np.array([movie.frame(number) for number in movie.frame_numbers])


def test_of_several_series_none_is_chosen_by_default(tmp_path: Path) -> None:
    with refused(UnknownSeries, match="0: Pos0, 1: Pos1.*series='Pos1'", setting="series") as refusal:
        read_movie(two_in_one(tmp_path / "two.ome.tif"))
    assert refusal.value.names == ("Pos0", "Pos1")


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}], ids=["in one piece", "packed"])
@pytest.mark.parametrize(("series", "number"), [(0, 0), (1, 1), ("Pos0", 0), ("pos1", 1), ("1", 1)])
def test_a_series_is_chosen_by_number_or_name(
    tmp_path: Path, series: int | str, number: int, options: dict[str, object]
) -> None:
    with read_movie(two_in_one(tmp_path / "two.ome.tif", **options), series=series) as movie:
        assert (movie.series, movie.series_names) == (number, ("Pos0", "Pos1"))
        np.testing.assert_array_equal(frames(movie), DATA[number])
        assert movie.calibration.scale[0] == (2, 3)[number]


@pytest.mark.parametrize("series", [2, -1, "Pos2", "2"])
def test_a_series_that_is_not_there_is_refused(tmp_path: Path, series: int | str) -> None:
    with refused(InvalidSetting, match="0: Pos0, 1: Pos1", setting="series"):
        read_movie(two_in_one(tmp_path / "two.ome.tif"), series=series)


def test_what_holds_one_image_has_series_0_alone(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "one.ome.tif", DATA[0], ome=True, metadata=SIZES)
    for source, said in ((tmp_path / "one.ome.tif", {}), (DATA[0], {"axes": "TZYX", "unit": "pixel"})):
        with read_movie(source, series=0, **said) as movie:
            assert (movie.series, len(movie.series_names)) == (0, 1)
            assert "series" not in movie.describe()
        with refused(InvalidSetting, setting="series"):
            read_movie(source, series=1, **said)


def test_images_of_a_plain_tiff_are_told_apart_by_their_sizes(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "two.tif") as tif:
        tif.write(DATA[0, :, 0], photometric="minisblack")
        tif.write(DATA[1, :2, 0, :8], photometric="minisblack")
    with pytest.raises(UnknownSeries, match=r"0: .*\(3 × 16 × 12\), 1: .*\(2 × 8 × 12\)"):
        read_movie(tmp_path / "two.tif", axes="TYX", scale=(1, 1))
    with read_movie(tmp_path / "two.tif", axes="TYX", scale=(1, 1), series=1) as movie:
        np.testing.assert_array_equal(frames(movie), DATA[1, :2, 0, :8])


def test_a_file_of_one_position_is_read_as_that_one_and_the_others_are_named(tmp_path: Path) -> None:
    for number, file in enumerate(one_each(tmp_path)):
        with read_movie(file) as movie:
            assert movie.series == number
            assert all(name in movie.describe() for name in ("Pos0", "Pos1"))
            np.testing.assert_array_equal(frames(movie), DATA[number])


def test_positions_of_a_dataset_are_read_from_any_of_its_files(tmp_path: Path) -> None:
    for file in one_each(tmp_path):
        for number in (0, 1):
            with read_movie(file, series=number) as movie:
                np.testing.assert_array_equal(frames(movie), DATA[number])


def test_of_a_dataset_without_its_other_files_these_are_named_and_not_read(tmp_path: Path) -> None:
    files = one_each(tmp_path)
    files[0].unlink()
    with read_movie(files[1]) as movie:
        assert (movie.series, movie.series_names) == (1, ("Pos0", "Pos1"))
        np.testing.assert_array_equal(frames(movie), DATA[1])
    with pytest.raises(InvalidInput, match=r"Pos0.*missing"):
        read_movie(files[1], series="Pos0")


def test_a_folder_of_positions_is_not_taken_for_a_movie(tmp_path: Path) -> None:
    one_each(tmp_path, DATA[:, :1])
    with pytest.raises(InvalidInput, match=r"Pos 0 and 1.*\*Pos0\.\*"):
        read_movie(tmp_path)
    with read_movie(tmp_path / "*Pos1*.tif") as movie:
        np.testing.assert_array_equal(frames(movie), DATA[1, :1])


@pytest.mark.parametrize(
    "name", ["Pos{p:03}_t{t}.tif", "t{t}_xy{p}.tif", "m_t{t}_position-{p}_.tif", "site{p}t{t}.tif"]
)
def test_files_of_several_positions_are_answered_with_the_pattern_of_one(tmp_path: Path, name: str) -> None:
    for p in (1, 10, 11):
        for t in range(3):
            tifffile.imwrite(tmp_path / name.format(p=p, t=t), DATA[0, t, 0])
    with pytest.raises(InvalidInput) as caught:
        read_movie(tmp_path, scale=(1, 1))
    with read_movie(str(caught.value).split("'")[1], scale=(1, 1)) as movie:
        np.testing.assert_array_equal(frames(movie), DATA[0, :, 0])


@pytest.mark.parametrize("series", [0, 1, "A1", "B2"])
def test_positions_of_a_micro_manager_stack_are_series(tmp_path: Path, series: int | str) -> None:
    path = micro_manager(tmp_path / "run_1_MMStack.ome.tif", (0, 1))
    with pytest.raises(UnknownSeries, match="0: A1, 1: B2"):
        read_movie(path)
    number = series if isinstance(series, int) else ("A1", "B2").index(series)
    with read_movie(path, series=series) as movie:
        assert (movie.axes, movie.series, movie.source) == ("TZYX", number, "Micro-Manager header")
        assert (movie.calibration.scale, movie.calibration.frame_interval) == ((2, 0.5, 0.5), 10)
        np.testing.assert_array_equal(frames(movie), DATA[number])
        with read_movie(path, series=series, roi="1:3,2:9,:") as part:
            np.testing.assert_array_equal(frames(part), DATA[number, :, 1:3, 2:9])


def test_a_micro_manager_stack_in_two_files_is_read_whole_from_either(tmp_path: Path) -> None:
    files = tuple(
        micro_manager(tmp_path / f"run_1_MMStack{end}.ome.tif", (0, 1), frames=of)
        for end, of in (("", (0, 1)), ("_1", (2,)))
    )
    for file in files:
        assert files_of_series(file) == (files, files)
        with read_movie(file, series=1) as movie:
            np.testing.assert_array_equal(frames(movie), DATA[1])
    files[0].unlink()
    with pytest.raises(InvalidInput, match=r"_1\.ome\.tif: begins with frame 2 .*missing"):
        read_movie(files[1], series=1)


def test_a_micro_manager_file_of_one_position_is_read_as_that_one(tmp_path: Path) -> None:
    files = [micro_manager(tmp_path / f"run_1_MMStack_Pos{number}.ome.tif", (number,)) for number in (0, 1)]
    for number, file in enumerate(files):
        with read_movie(file) as movie:
            assert (movie.series, movie.series_names) == (number, ("A1", "B2"))
            np.testing.assert_array_equal(frames(movie), DATA[number])
        with read_movie(file, series=1 - number) as movie:
            np.testing.assert_array_equal(frames(movie), DATA[1 - number])
    files[0].unlink()
    with read_movie(files[1]) as movie:
        assert (movie.series, movie.series_names) == (1, ("A1", "B2"))
        np.testing.assert_array_equal(frames(movie), DATA[1])
    with pytest.raises(InvalidInput, match=r"A1.*missing"):
        read_movie(files[1], series=0)

"""OME-Zarr images: read as the same movie in a TIFF would be, with what they state."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auctrack import read_movie, track
from auctrack.tracker.errors import (
    InvalidInput,
    InvalidSetting,
    UnknownAxes,
    UnknownChannel,
    UnknownScale,
    UnknownSeries,
)
from auctrack.tracker.formats.registry import holds_points
from auctrack.tracker.zarr_attributes import is_image

zarr = pytest.importorskip("zarr")

ARRAY = np.random.default_rng(0).integers(0, 4000, (3, 2, 4, 16, 12)).astype(np.uint16)  # t, c, z, y, x
UNITS = {"t": "second", "z": "micrometer", "y": "micrometer", "x": "micrometer"}
SCALE = {"t": 10.0, "c": 1.0, "z": 2.0, "y": 0.5, "x": 0.5}
TYPES = {"t": "time", "c": "channel"}


def _axes(letters: str, units: dict[str, str] = UNITS) -> list[dict[str, str]]:
    known = {letter: {"unit": units[letter]} if letter in units else {} for letter in letters}
    return [{"name": letter, "type": TYPES.get(letter, "space"), **known[letter]} for letter in letters]


def _image(letters: str = "tczyx", scale: dict[str, float] | None = SCALE, **said: Any) -> dict[str, Any]:
    levels = [{"path": str(k)} for k in range(2)]
    for k, level in enumerate(levels) if scale is not None else ():
        steps = [scale[axis] * (2**k if axis in "zyx" else 1) for axis in letters]
        level["coordinateTransformations"] = [{"type": "scale", "scale": steps}]
    return {"multiscales": [{"version": "0.4", "axes": _axes(letters), "datasets": levels, **said}]}


def _write(folder: Path, array: np.ndarray, said: dict[str, Any], version: int = 2) -> Path:
    """Write a full resolution and one of half of it, as version 2 (OME-NGFF 0.4) or 3 (0.5) of Zarr."""
    group = zarr.open_group(str(folder), mode="w", zarr_format=version)
    for name, pixels in (("0", array), ("1", array[..., ::2, ::2])):
        made = group.create_array(name, shape=pixels.shape, chunks=(1,) * (array.ndim - 2) + (8, 8), dtype=pixels.dtype)
        made[...] = pixels
    group.attrs.update(said if version == 2 else {"ome": {"version": "0.5", **said}})
    return folder


@pytest.mark.parametrize("version", [2, 3])
def test_what_an_image_states_is_taken_and_its_full_resolution_read(tmp_path: Path, version: int) -> None:
    said = {**_image(), "omero": {"channels": [{"label": "membranes"}, {"label": "nuclei"}]}}
    path = _write(tmp_path / "embryo.ome.zarr", ARRAY, said, version)
    with read_movie(path, channel="nuclei") as movie:
        assert movie.axes == "TCZYX"
        assert movie.calibration.scale == (2.0, 0.5, 0.5)
        assert (movie.calibration.unit, movie.calibration.frame_interval) == ("µm", 10.0)
        assert movie.source == "OME-Zarr"
        np.testing.assert_array_equal([movie.frame(n) for n in movie.frame_numbers], ARRAY[:, 1])
    with read_movie(path, channel=0, frames=slice(1, 2), roi="1:3,4:12,0:7") as part:
        np.testing.assert_array_equal(part.frame(1), ARRAY[1, 0, 1:3, 4:12, 0:7])
    with pytest.raises(UnknownChannel, match="membranes"):
        read_movie(path)


@pytest.mark.parametrize(
    ("letters", "array"),
    [("tzyx", ARRAY[:, 0]), ("tyx", ARRAY[:, 0, 0]), ("zyx", ARRAY[0, 0]), ("yx", ARRAY[0, 0, 0])],
)
def test_axes_that_an_image_does_not_have_are_of_one_step(tmp_path: Path, letters: str, array: np.ndarray) -> None:
    with read_movie(_write(tmp_path / "a.zarr", array, _image(letters))) as movie:
        frames = [movie.frame(number) for number in movie.frame_numbers]
        assert movie.axes == letters.upper()
    np.testing.assert_array_equal(np.reshape(frames, array.shape), array)


def test_units_are_converted_and_both_levels_of_transformations_count(tmp_path: Path) -> None:
    image = _image()
    (multiscale,) = image["multiscales"]
    multiscale["axes"] = _axes("tczyx", {"t": "minute", "z": "nanometer", "y": "nanometer", "x": "nanometer"})
    multiscale["coordinateTransformations"] = [{"type": "scale", "scale": [0.5, 1, 100, 100, 100]}]
    with read_movie(_write(tmp_path / "a.zarr", ARRAY, image), channel=0) as movie:
        assert movie.calibration.scale == pytest.approx((0.2, 0.05, 0.05))
        assert movie.calibration.frame_interval == 300.0


def test_sizes_without_a_unit_are_not_taken_for_micrometres(tmp_path: Path) -> None:
    image = _image()
    image["multiscales"][0]["axes"] = _axes("tczyx", {})
    path = _write(tmp_path / "a.zarr", ARRAY, image)
    with pytest.raises(UnknownScale):
        read_movie(path, channel=0)
    with read_movie(path, channel=0, unit="µm") as movie:
        assert movie.calibration.scale == (2.0, 0.5, 0.5)
        assert movie.calibration.frame_interval is None


@pytest.mark.parametrize("axes", [None, ["t", "c", "z", "y", "x"]])
def test_older_versions_state_axes_as_letters_or_not_at_all(tmp_path: Path, axes: list[str] | None) -> None:
    image = _image(scale=None)
    (multiscale,) = image["multiscales"]
    multiscale["version"] = "0.3"
    multiscale.pop("axes")
    if axes is not None:
        multiscale["axes"] = axes
    with read_movie(_write(tmp_path / "a.zarr", ARRAY, image), channel=1, scale=(2, 1, 1)) as movie:
        np.testing.assert_array_equal(movie.frame(2), ARRAY[2, 1])


def test_axes_that_are_given_go_before_those_stated(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.zarr", ARRAY[:, 0], _image("tzyx"))
    with read_movie(path, axes="ZTYX") as movie:
        np.testing.assert_array_equal(movie.frame(1), ARRAY[:, 0, 1])
    with pytest.raises(UnknownAxes):
        read_movie(path, axes="TZCYX")


def test_axes_without_a_letter_are_refused(tmp_path: Path) -> None:
    image = _image("tzyx")
    image["multiscales"][0]["axes"][1] = {"name": "lifetime", "type": "other"}
    with pytest.raises(UnknownAxes, match="L"):
        read_movie(_write(tmp_path / "a.zarr", ARRAY[:, 0], image))


def test_of_several_images_one_is_to_be_named(tmp_path: Path) -> None:
    """As Bio-Formats lays them out; of one alone the folder is the image."""
    folder = tmp_path / "slide.zarr"
    zarr.open_group(str(folder), mode="w", zarr_format=2).attrs["bioformats2raw.layout"] = 3
    _write(folder / "0", ARRAY[:, 0], _image("tzyx"))
    with read_movie(folder) as movie:
        np.testing.assert_array_equal(movie.frame(0), ARRAY[0, 0])
    _write(folder / "1", ARRAY[:, 1], _image("tzyx"))
    with pytest.raises(InvalidInput, match="2 images"):
        read_movie(folder)
    with read_movie(folder / "1") as movie:
        np.testing.assert_array_equal(movie.frame(0), ARRAY[0, 1])
    for series in (1, "1"):
        with read_movie(folder, series=series) as movie:
            np.testing.assert_array_equal(movie.frame(0), ARRAY[0, 1])


@pytest.mark.parametrize("version", [2, 3])
def test_the_fields_of_a_plate_are_its_series(tmp_path: Path, version: int) -> None:
    def said(folder: Path, what: dict[str, Any]) -> Path:
        group = zarr.open_group(str(folder), mode="a", zarr_format=version)
        group.attrs.update(what if version == 2 else {"ome": {"version": "0.5", **what}})
        return folder

    plate = said(tmp_path / "p.zarr", {"plate": {"wells": [{"path": "A/1"}, {"path": "B/1"}]}})
    for well in ("A/1", "B/1"):
        said(plate / well, {"well": {"images": [{"path": "0"}, {"path": "f"}]}})
    _write(plate / "B/1/f", ARRAY[:, 1], _image("tzyx"), version)
    with pytest.raises(UnknownSeries, match=r"4 images.*0: A/1/0, 1: A/1/f, 2: B/1/0, 3: B/1/f"):
        read_movie(plate)
    for path, series in ((plate, 3), (plate, "B/1/f"), (plate / "B/1", "f"), (plate / "B/1/f", None)):
        with read_movie(path, series=series) as movie:
            np.testing.assert_array_equal(movie.frame(2), ARRAY[2, 1])
    with pytest.raises(InvalidInput, match=r"p\.zarr"):
        read_movie(plate, series="A/1/0")


@pytest.mark.parametrize("plate", [{}, {"wells": []}, {"wells": [{"path": "A/1"}]}, {"wells": [{}]}, None])
def test_a_plate_without_images_is_named(tmp_path: Path, plate: Any) -> None:
    zarr.open_group(str(tmp_path / "p.zarr"), mode="w", zarr_format=2).attrs["plate"] = plate
    with pytest.raises(InvalidInput, match=r"p\.zarr"):
        read_movie(tmp_path / "p.zarr")


def test_the_labels_of_an_image_are_read_by_its_group_of_labels(tmp_path: Path) -> None:
    image = _write(tmp_path / "a.ome.zarr", ARRAY, _image())
    zarr.open_group(str(image / "labels"), mode="w", zarr_format=2).attrs["labels"] = ["nuclei"]
    _write(image / "labels" / "nuclei", ARRAY[:, 1], _image("tzyx"))
    with read_movie(image / "labels") as movie:
        np.testing.assert_array_equal(movie.frame(0), ARRAY[0, 1])


@pytest.mark.parametrize("version", [2, 3])
def test_an_array_by_itself_is_read_once_its_axes_and_voxels_are_said(tmp_path: Path, version: int) -> None:
    """As `zarr.save` and dask write label images; a coarser level of an image is read in this way too."""
    zarr.create_array(str(tmp_path / "labels.zarr"), data=ARRAY[:, 0], chunks=(1, 4, 8, 8), zarr_format=version)
    path = tmp_path / "labels.zarr"
    assert is_image(path)
    assert not holds_points(path)
    with pytest.raises(UnknownAxes, match=r"labels\.zarr.*3 × 4 × 16 × 12"):
        read_movie(path)
    with pytest.raises(UnknownScale, match="voxel size"):
        read_movie(path, axes="TZYX")
    with read_movie(path, axes="TZYX", scale=(2, 0.5, 0.5)) as movie:
        np.testing.assert_array_equal(movie.frame(2), ARRAY[2, 0])


@pytest.mark.parametrize("damage", ["no array", "no datasets", "scale", "chunk", "not JSON"])
def test_damage_is_one_sentence_that_names_the_folder(tmp_path: Path, damage: str) -> None:
    path = _write(tmp_path / "a.zarr", ARRAY[:, 0], _image("tzyx"))
    said = json.loads((path / ".zattrs").read_text())
    if damage == "no array":
        shutil.rmtree(path / "0")
    elif damage == "no datasets":
        said["multiscales"][0]["datasets"] = []
    elif damage == "scale":
        said["multiscales"][0]["datasets"][0]["coordinateTransformations"][0]["scale"] = [1, 2]
    elif damage == "chunk":
        (chunk,) = (path / "0").rglob("1.0.0.0")
        chunk.write_bytes(b"damaged")
    (path / ".zattrs").write_text("{" if damage == "not JSON" else json.dumps(said))
    with pytest.raises(InvalidInput, match=r"a\.zarr"), read_movie(path) as movie:
        movie.frame(1)


def test_without_the_package_zarr_it_is_asked_for_and_no_damage_is_spoken_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "a.zarr", ARRAY[:, 0], _image("tzyx"))
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(InvalidSetting, match=r"pip install"):
        read_movie(path)


def test_an_image_is_no_table_of_points_and_a_geff_is_no_image(tmp_path: Path) -> None:
    image = _write(tmp_path / "a.zarr", ARRAY, _image())
    zarr.open_group(str(tmp_path / "tracks.zarr"), mode="w", zarr_format=2).attrs["geff"] = {}
    assert is_image(image)
    assert not holds_points(image)
    assert not is_image(tmp_path / "tracks.zarr")
    assert holds_points(tmp_path / "tracks.zarr")


def test_the_same_tracks_as_from_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    movie = rng.normal(100, 2, (5, 6, 32, 32)).astype(np.float32)
    for k in range(5):
        for y in (8, 22):
            movie[k, 2:5, y - 1 : y + 2, 5 + 4 * k - 1 : 5 + 4 * k + 2] += 80
    path = _write(tmp_path / "two.ome.zarr", movie, _image("tzyx"))
    settings = {"diameter": 2.0, "search_range": 4.0, "motion": "none"}
    found = track(path, **settings).tracks.table
    known = track(movie, axes="TZYX", scale=(2, 0.5, 0.5), frame_interval=10, **settings).tracks.table
    assert len(found) >= 10
    np.testing.assert_allclose(found[["z", "y", "x", "track_id"]], known[["z", "y", "x", "track_id"]])

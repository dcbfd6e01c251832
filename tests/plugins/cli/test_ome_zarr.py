"""OME-Zarr images as inputs of the command line: a folder is one movie, and a folder of them several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile

zarr = pytest.importorskip("zarr")


def _as_ome_zarr(folder: Path, movie: Path) -> Path:
    """Write the 2D movie in a TIFF as an OME-Zarr that states pixels of 0.5 µm."""
    pixels = tifffile.imread(movie)
    group = zarr.open_group(str(folder), mode="w", zarr_format=2)
    array = group.create_array("0", shape=pixels.shape, chunks=(1, 20, 20), dtype=pixels.dtype)
    array[...] = pixels
    space = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
    level = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 0.5, 0.5]}]}
    group.attrs["multiscales"] = [
        {"version": "0.4", "axes": [{"name": "t", "type": "time"}, *space], "datasets": [level]}
    ]
    return folder


@pytest.fixture
def image(movie, tmp_path) -> Path:
    return _as_ome_zarr(tmp_path / "in" / "same.ome.zarr", movie)


def test_an_image_gives_the_tracks_of_the_same_movie_in_a_tiff(auctrack, movie, image, tmp_path):
    assert auctrack("track", movie, image, "-o", "out").exit_code == 0
    assert (tmp_path / "out/same.tracks.csv").read_bytes() == (tmp_path / "out/spots.tracks.csv").read_bytes()


def test_an_image_is_up_to_date_until_one_of_its_chunks_changes(auctrack, image, tmp_path, summary):
    def status():
        auctrack("track", image, "-o", "out")
        return summary(tmp_path / "out")["inputs"][0]["status"]

    assert [status(), status()] == ["tracked", "up to date"]
    zarr.open_array(str(image / "0"), mode="r+")[1, 12:16, 12:16] = np.uint16(300)
    assert status() == "failed"  # as a result of something else is in its place


def test_a_plate_is_tracked_field_by_field_and_each_is_up_to_date_until_its_own_chunks_change(
    auctrack, movie, tmp_path, summary
):
    def statuses():
        auctrack("track", plate, "--series", "all", "-o", "out")
        return [one["status"] for one in summary(tmp_path / "out")["inputs"]]

    plate = tmp_path / "plate.zarr"
    zarr.open_group(str(plate), mode="w", zarr_format=2).attrs["plate"] = {"wells": [{"path": "A/1"}]}
    zarr.open_group(str(plate / "A/1"), mode="w", zarr_format=2).attrs["well"] = {
        "images": [{"path": "0"}, {"path": "1"}]
    }
    for field in ("0", "1"):
        _as_ome_zarr(plate / "A/1" / field, movie)
    assert [statuses(), statuses()] == [["tracked"] * 2, ["up to date"] * 2]
    assert {path.name for path in (tmp_path / "out").glob("*.csv")} == {
        "plate.A_1_0.tracks.csv",
        "plate.A_1_1.tracks.csv",
    }
    zarr.open_array(str(plate / "A/1/1/0"), mode="r+")[1, 12:16, 12:16] = np.uint16(300)
    assert statuses() == ["up to date", "failed"]


def test_tracks_of_labels_are_up_to_date_until_the_movie_of_their_intensities_changes(
    auctrack, image, tmp_path, summary
):
    def status():
        auctrack("track", "l.tif", "--labels", *said, "--intensity", image, "-o", "out")
        return summary(tmp_path / "out")["inputs"][0]["status"]

    said = ("--axes", "TYX", "--voxel", "0.5,0.5")
    pixels = zarr.open_array(str(image / "0"), mode="r+")
    labels = np.zeros(pixels.shape, np.uint16)
    labels[:, 3:9, 3:9] = 1
    tifffile.imwrite(tmp_path / "l.tif", labels, photometric="minisblack")
    assert [status(), status()] == ["tracked", "up to date"]
    pixels[1, 4:6, 4:6] = np.uint16(300)
    assert status() == "failed"


def test_each_image_of_a_folder_is_a_movie_beside_its_tiff_files(auctrack, movie, image, tmp_path):
    del image
    _as_ome_zarr(tmp_path / "in" / "other.zarr", movie)
    assert auctrack("track", tmp_path / "in", "-o", "out").exit_code == 0
    assert {path.name for path in (tmp_path / "out").glob("*.csv")} == {
        "same.tracks.csv",
        "other.tracks.csv",
        "spots.tracks.csv",
    }


def test_an_image_is_no_table(auctrack, image):
    outcome = auctrack("link", image)
    assert outcome.exit_code == 1
    assert "auctrack track" in outcome.stderr

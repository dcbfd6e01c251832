"""Bad input: one clear sentence, the right exit code, no traceback, and nothing lost."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceUnavailable
from auctrack.tracker.errors import OutputFailed
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.points import Tracks


def points(frames=(0, 1, 2), **columns):
    n = len(frames)
    return pd.DataFrame({"frame": frames, "y": np.arange(n, dtype=float), "x": np.zeros(n), **columns})


def refused(result, *says):
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    for part in says:
        assert part in line
    return line


@pytest.mark.parametrize("command", ["track", "detect", "info"])
@pytest.mark.parametrize("name", ["empty.tif", "empty.csv"])
def test_an_empty_file(auctrack, tmp_path, command, name):
    (tmp_path / name).write_bytes(b"")
    refused(auctrack(command, name), name)


def test_a_truncated_movie(auctrack, movie, tmp_path):
    (tmp_path / "cut.ome.tif").write_bytes(movie.read_bytes()[:-3000])
    refused(auctrack("track", "cut.ome.tif"), "cut.ome.tif", "truncated")
    assert not (tmp_path / "cut.tracks.csv").exists()


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (("--division-range", 3), "--linking jaqaman"),
        (("--linking", "jaqaman", "--features", "none", "--motion", "velocity"), None),
        (("--motion", "none", "--divisions"), "--motion auto"),
        (("--cost", "distance"), "--motion none"),
    ],
)
def test_an_option_of_no_use_is_answered_with_the_option_that_makes_it_of_use(auctrack, tmp_path, given, remedy):
    points().to_csv(tmp_path / "spots.csv", index=False)
    result = auctrack("link", "spots.csv", *given)
    said = " ".join(result.stderr.replace("│", " ").split())
    assert result.exit_code == 2
    assert (remedy or "--linking auctrack") in said


def test_wrong_axes(auctrack, movie):
    refused(auctrack("track", movie, "--axes", "TZCYX"), "axes")


@pytest.mark.parametrize(
    ("axes", "fault"),
    [
        ("TZ", "must end in YX"),
        ("TQX", "have Q"),
        ("TXX", "name one twice"),
        ("tz8xy", "end in YX"),
        ("TYXC", "the colours of a colour image get no letter"),
        ("TYXS", "the colours of a colour image get no letter"),
    ],
)
@pytest.mark.parametrize("command", ["track", "info", "detect"])
def test_axes_that_no_file_has_are_wrong_usage_before_anything_is_read(auctrack, tmp_path, command, axes, fault):
    for given in (("--axes", axes), ("--config", "c.toml")):
        (tmp_path / "c.toml").write_text(f'[input]\naxes = "{axes}"\n')
        if command == "info" and given[0] == "--config":
            continue  # it has none
        result = auctrack(command, "nowhere.tif", *given)
        message = " ".join(result.stderr.replace("│", " ").split())
        assert result.exit_code == 2
        assert all(
            word in message for word in (f"the axes {axes} ", fault, "--axes" if given[0] == "--axes" else "axes")
        )


def test_unknown_axes(auctrack, tmp_path):
    tifffile.imwrite(tmp_path / "plain.tif", np.zeros((5, 32, 32), np.uint16), metadata=None)
    refused(auctrack("track", "plain.tif", "--voxel", "1,1,1"), "--axes")


@pytest.mark.parametrize("shape", [(5, 32, 32), (24, 16, 16)])
@pytest.mark.parametrize("command", ["info", "track", "track --dry-run", "detect"])
def test_of_a_silent_file_all_that_is_needed_is_asked_for_at_once(auctrack, tmp_path, shape, command):
    tifffile.imwrite(tmp_path / "plain.tif", np.zeros(shape, np.uint16), photometric="minisblack", metadata=None)
    asked = *command.split(), "plain.tif"
    line = refused(auctrack(*asked), "Say which is which: --axes", "voxel size", "--voxel Z,Y,X")
    for known in (("--voxel", "1,1,1"), ("--unit", "pixel")):
        assert "voxel size" not in refused(auctrack(*asked, *known), "--axes")
    assert line.count("plain.tif") == 1
    named = auctrack(*asked, "--axes", line.partition("--axes ")[2].split()[0])
    assert "--axes" not in refused(named, "--voxel")


@pytest.mark.parametrize("command", ["track", "track --dry-run", "detect"])
def test_of_several_channels_one_is_asked_for_with_all_else_that_is_needed(auctrack, tmp_path, command):
    pixels = np.zeros((3, 4, 2, 32, 32), np.uint16)
    tifffile.imwrite(tmp_path / "plain.tif", pixels, photometric="minisblack")
    tifffile.imwrite(tmp_path / "imagej.tif", pixels, imagej=True, metadata={"axes": "TZCYX"})
    tifffile.imwrite(tmp_path / "sized.tif", pixels, metadata={"axes": "TZCYX", "PhysicalSizeX": 0.5}, ome=True)
    line = refused(auctrack(*command.split(), "plain.tif"), "--axes TZCYX", "--voxel Z,Y,X", "--channel")
    assert line.count("--channel") == 2
    line = refused(auctrack(*command.split(), "imagej.tif"), "has 2 channels", "--voxel Z,Y,X", "ImageJ header")
    assert line.count("imagej.tif") == 1
    refused(auctrack(*command.split(), "sized.tif"), "has 2 channels", "it gives x = 0.5 µm, but nothing for z, y")
    refused(auctrack(*command.split(), "plain.tif", "--axes", "TZCYX"), "has 2 channels", "--voxel Z,Y,X")


def test_of_a_silent_colour_video_the_colour_is_asked_for_too(auctrack, tmp_path):
    colours = np.arange(5 * 32 * 32 * 3).astype(np.uint8).reshape(5, 32, 32, 3)
    tifffile.imwrite(tmp_path / "rgb.tif", colours, photometric="rgb", metadata=None)
    refused(auctrack("track", "rgb.tif"), "--axes", "--voxel", "And it has 4 channels", "--channel grey")


@pytest.mark.parametrize(("unit", "said"), [("CENTIMETER", "of 0.5 µm a pixel"), ("INCH", "of 1.27 µm a pixel")])
def test_resolution_tags_are_named_and_not_taken_for_a_voxel_size(auctrack, tmp_path, unit, said):
    size = {"resolution": (20_000, 20_000), "resolutionunit": unit}
    tifffile.imwrite(tmp_path / "tags.tif", np.zeros((5, 32, 32), np.uint16), photometric="minisblack", **size)
    refused(auctrack("track", "tags.tif", "--axes", "TYX"), said, "printer", "--voxel")
    tifffile.imwrite(tmp_path / "bare.tif", np.zeros((5, 32, 32), np.uint16), photometric="minisblack")
    assert "printer" not in refused(auctrack("track", "bare.tif", "--axes", "TYX"), "no OME-XML or ImageJ header")


@pytest.mark.parametrize("says_scale", [True, False])
def test_of_several_channels_info_shows_which_there_are_and_asks_for_one(auctrack, tmp_path, says_scale):
    stated = {"axes": "TCYX", "Channel": {"Name": ["nuclei", "membrane"]}}
    stated |= {"PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5} if says_scale else {}
    tifffile.imwrite(tmp_path / "two.ome.tif", np.zeros((3, 2, 32, 32), np.uint16), ome=True, metadata=stated)
    result = auctrack("info", "two.ome.tif")
    refused(result, "two.ome.tif", "--channel membrane", *(() if says_scale else ("--voxel Y,X",)))
    for fact in ("TCYX", "0: nuclei, 1: membrane", "0.5 × 0.5 µm" if says_scale else "not known"):
        assert fact in result.stdout
    assert "(read)" not in result.stdout
    refused(auctrack("track", "two.ome.tif", "--unit", "pixel"), "--channel membrane")


def two_positions(path):
    pixels = np.random.default_rng(0).normal(20, 1, (2, 4, 40, 40)).astype(np.float32)
    pixels[1, :, 18:22, 18:22] += 50
    with tifffile.TiffWriter(path, ome=True) as tif:
        for number, image in enumerate(pixels):
            tif.write(image, metadata={"axes": "TYX", "Name": f"Pos{number}"})


def test_of_several_series_one_is_asked_for_with_all_else_that_is_needed(auctrack, movie):
    del movie  # called for its folder
    two_positions("two.ome.tif")
    refused(auctrack("track", "two.ome.tif"), "0: Pos0, 1: Pos1", "--series Pos1", "--voxel Y,X")
    result = auctrack("info", "two.ome.tif")
    refused(result, "--series Pos1", "--voxel Y,X")
    assert "0: Pos0, 1: Pos1; one must be chosen" in result.stdout
    refused(auctrack("track", "two.ome.tif", "--unit", "pixel", "--series", "Pos7"), "--series 'Pos7'", "1: Pos1")


def test_the_series_that_was_chosen_is_tracked_shown_and_recorded(auctrack, tmp_path):
    two_positions("two.ome.tif")
    chosen = ("two.ome.tif", "--unit", "pixel", "--series", "Pos1", "--diameter", 4)
    assert "1: Pos1  (read)" in auctrack("info", *chosen).stdout
    assert json.loads(auctrack("info", *chosen, "--json").stdout)["series"] == ["Pos0", "Pos1"]
    result = auctrack("track", *chosen)
    assert result.exit_code == 0, result.output
    tracks = read_tracks(tmp_path / "two.Pos1.tracks.csv")
    np.testing.assert_allclose(tracks.table[["y", "x"]], 19.5, atol=0.5)
    again = auctrack("track", "two.ome.tif", "--config", "two.Pos1.tracks.csv.settings.json", "-o", "again.csv")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "two.Pos1.tracks.csv").read_bytes()


def test_an_unknown_voxel_size(auctrack, tmp_path):
    tifffile.imwrite(tmp_path / "bare.tif", np.zeros((2, 32, 32), np.uint16), imagej=True, metadata={"axes": "TYX"})
    refused(auctrack("track", "bare.tif"), "--voxel Y,X", "--unit pixel")


def test_a_channel_that_is_not_there(auctrack, movie):
    refused(auctrack("track", movie, "--channel", "GFP"), "GFP")


def test_nothing_to_see(auctrack, tmp_path):
    image = np.full((3, 48, 48), 7, np.uint16)
    tifffile.imwrite(tmp_path / "dark.tif", image, imagej=True, metadata={"axes": "TYX"})
    refused(auctrack("track", "dark.tif", "--voxel", "1,1"), "dark.tif", "diameter")
    assert auctrack("track", "dark.tif", "--voxel", "1,1", "--diameter", 4).exit_code == 0
    assert len(read_tracks(tmp_path / "dark.tracks.csv")) == 0


@pytest.mark.parametrize("command", ["track", "link", "info"])
@pytest.mark.parametrize(
    ("table", "says"),
    [
        (points(z=[1.0, np.nan, 2.0]), ("'z'", "line 3")),
        (points(z=["1", "two", "3"]), ("'z'", "two")),
        (points(frames=(0, 1.5, 2)), ("'frame'", "1.5")),
        (points().drop(columns="x"), ("x",)),
        (points()[:0], ("no rows",)),
    ],
    ids=["NaN", "text", "half a frame", "no x", "no rows"],
)
def test_a_table_that_cannot_be_used(auctrack, tmp_path, command, table, says):
    table.to_csv(tmp_path / "bad.csv", index=False)
    refused(auctrack(command, "bad.csv"), "bad.csv", *says)
    assert not (tmp_path / "bad.tracks.csv").exists()


def test_a_frame_without_points_and_missing_frames_are_no_error(auctrack, tmp_path):
    table = points(frames=(0, 1, 5, 6)).assign(y=[1.0, 1.1, 1.0, 1.1])
    table.to_csv(tmp_path / "gaps.csv", index=False)
    assert auctrack("link", "gaps.csv", "--search-range", 1).exit_code == 0
    assert read_tracks(tmp_path / "gaps.tracks.csv").table["track_id"].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("command", [("measure",), ("score", "--tolerance", 1)])
def test_one_track_twice_in_a_frame(auctrack, tmp_path, command):
    points(frames=(0, 0, 1), track_id=[4, 4, 4]).to_csv(tmp_path / "twice.csv", index=False)
    tables = ["twice.csv"] * (2 if command[0] == "score" else 1)
    refused(auctrack(*command, *tables), "track 4", "two points in frame 0")


def test_a_file_that_is_not_there(auctrack):
    for words in (
        ("track", "no.tif"),
        ("detect", "no.tif"),
        ("link", "no.csv"),
        ("measure", "no.csv"),
        ("info", "no.tif"),
    ):
        refused(auctrack(*words), words[1])


def test_a_solver_that_does_not_run_on_the_device_is_wrong_usage_before_anything_is_read(auctrack, tmp_path):
    result = auctrack("track", "nowhere.csv", "--solver", "jv", "--device", "cuda")
    assert result.exit_code == 2
    for part in ("solver 'jv'", "runs on cpu only", "device 'cuda'"):
        assert part in " ".join(result.output.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_a_device_that_is_not_there(auctrack, monkeypatch, tmp_path):
    def missing(device):
        raise DeviceUnavailable(f"no CUDA device for {device!r}.")

    monkeypatch.setattr(cuda, "using", missing)
    refused(auctrack("track", "nowhere.csv", "--solver", "auction", "--device", "cuda"), "no CUDA device")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def closed(tmp_path, monkeypatch):
    """A folder that the system lets nobody write into, whoever runs the tests."""
    (tmp_path / "closed").mkdir()
    plainly = tempfile.TemporaryFile

    def refusing(*rest, dir, **more):  # noqa: A002
        if Path(dir).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        return plainly(*rest, dir=dir, **more)

    monkeypatch.setattr(tempfile, "TemporaryFile", refusing)
    return tmp_path / "closed"


@pytest.mark.parametrize("command", ["track", "track --dry-run", "detect", "link", "measure"])
@pytest.mark.parametrize("inside", ["", "deeper/"])
def test_a_folder_that_cannot_be_written_into_is_refused_before_any_work(auctrack, closed, command, inside):
    run = auctrack(*command.split(), "nowhere.csv", "-o", f"closed/{inside}")
    refused(run, "closed", "Permission denied", "written into")
    assert not list(closed.iterdir())


def test_a_current_folder_that_cannot_be_written_into_is_called_that(auctrack, monkeypatch):
    def refusing(**_: object):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refusing)
    refused(auctrack("link", "nowhere.csv"), "the current folder cannot be written into", "Permission denied")


def test_an_output_folder_that_is_a_file_is_called_one(auctrack, movie, tmp_path):
    (tmp_path / "taken").write_text("mine")
    refused(auctrack("track", movie, "-o", "taken"), "taken is a file")
    refused(auctrack("detect", movie, "-o", "taken/points.csv"), "taken is a file")


@pytest.mark.parametrize("folder", [".", "out"])
def test_a_run_in_which_no_input_is_there_leaves_nothing_behind(auctrack, tmp_path, folder):
    refused(auctrack("track", "typo.tif", "-o", folder), "typo.tif")
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_and_a_pattern_without_files_stop_no_other(auctrack, movie, tmp_path, summary):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "readme.md").touch()
    result = auctrack("track", "empty", "none*.tif", "notes", movie)
    assert result.exit_code == 1
    messages = [entry["message"] for entry in summary()["inputs"]]
    assert messages[0] == "empty: the folder is empty."
    assert messages[1].startswith("none*.tif: ")
    assert messages[2].startswith("notes: no TIFF files")
    assert messages[3] is None


def test_an_input_without_permission(auctrack, movie, write_movie, monkeypatch, summary):
    other = write_movie(movie.parent / "z.ome.tif")
    plainly = Path.open

    def closed(path, *rest, **more):
        if path.name == movie.name:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return plainly(path, *rest, **more)

    monkeypatch.setattr(Path, "open", closed)
    refused(auctrack("track", movie, other), str(movie), "Permission denied")
    assert [entry["status"] for entry in summary()["inputs"]] == ["failed", "tracked"]


def test_a_full_disk_leaves_the_old_result_and_no_rubbish(auctrack, movie, tmp_path, monkeypatch):
    assert auctrack("track", movie).exit_code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for words in (("track", movie, "--min-length", 2, "--overwrite"), ("measure", "spots.tracks.csv")):
        result = auctrack(*words)
        assert result.exit_code == 1
        assert "No space left on device" in result.stderr
        assert "Traceback" not in result.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_what_became_of_the_inputs_is_said_though_the_summary_cannot_be_written(
    auctrack, movie, write_movie, monkeypatch
):
    other = write_movie(movie.parent / "z.ome.tif")

    def full(*_given, **_more):
        raise OutputFailed("No space left on device")

    monkeypatch.setattr("auctrack.plugins.cli.runs.summary.write_whole", full)
    result = auctrack("track", movie, other)
    assert result.exit_code == 1
    assert "2 tracked" in result.stderr


def test_a_result_that_exists_is_refused_by_every_command_before_any_work(auctrack, tmp_path):
    for words, name in (
        (("detect", "nowhere.tif"), "nowhere.points.csv"),
        (("link", "nowhere.csv"), "nowhere.tracks.csv"),
        (("measure", "nowhere.csv"), "nowhere.measures.csv"),
        (("simulate", "points.csv"), "points.truth.csv"),
    ):
        (tmp_path / name).write_text("mine")
        refused(auctrack(*words), name, "--overwrite")
        assert (tmp_path / name).read_text() == "mine"


def test_frames_that_a_truth_does_not_have(auctrack, samples):
    table = samples / "points.truth.csv"
    refused(auctrack("score", table, table, "--tolerance", 1, "--frames", "100:200"), "frames, which are 0 to 19")


@pytest.mark.parametrize(
    ("effective", "says"),
    [
        (None, "settings need the tables"),
        ([1], "settings need the tables"),
        ({"input": 3}, "[input] needs a table"),
        ({"input": {"frames": 3}}, "frames needs a text"),
        ({"input": {"frames": "first"}}, "frames needs FROM:TO"),
    ],
    ids=["null", "a list", "no section", "a number", "no range"],
)
def test_settings_beside_tracks_that_were_edited_by_hand(auctrack, tmp_path, effective, says):
    write_tracks(Tracks(points(track_id=0)), tmp_path / "t.csv", settings={"effective": effective})
    refused(auctrack("score", "t.csv", "t.csv", "--tolerance", 1), "t.csv.settings.json", says)
    result = auctrack("link", "t.csv", "--config", "t.csv.settings.json")
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("device", ["0", '["cuda:0"]', "true", '"gpu"'])
def test_a_device_in_a_settings_file_that_is_none(auctrack, tmp_path, device):
    points().to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "ours.toml").write_text(f"[link]\ndevice = {device}\n")
    result = auctrack("link", "p.csv", "--config", "ours.toml")
    assert result.exit_code == 2
    assert "ours.toml: device needs auto, cpu, cuda or cuda:N" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        ("link", "t.csv", "-o", "t.csv"),
        ("link", "t.csv", "-o", "./t.csv", "--frames", "0:2"),
        ("measure", "t.csv", "-o", "t.csv"),
        ("measure", "t.tracks.csv", "--msd", "-o", "t.tracks.csv"),
        ("track", "t.tracks.csv"),
        ("score", "t.csv", "t.tracks.csv", "--tolerance", "1", "-o", "t.csv"),
        ("score", "t.csv", "t.tracks.csv", "--tolerance", "1", "-o", "t.tracks.csv"),
    ],
    ids=" ".join,
)
def test_no_result_takes_the_place_of_its_input(auctrack, tmp_path, words):
    for name in ("t.csv", "t.tracks.csv"):
        points(track_id=0).to_csv(tmp_path / name, index=False)
    refused(auctrack(*words, "--overwrite"), "is the input itself, which would be lost", "--output")
    assert {path.name for path in tmp_path.glob("t*")} == {"t.csv", "t.tracks.csv"}
    assert len(read_tracks(tmp_path / "t.csv")) == len(read_tracks(tmp_path / "t.tracks.csv")) == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("measure", "t.csv", "--msd", "-o", "k.msd.csv"), "where the curve of --msd goes"),
        (("measure", "t.csv", "--per-track"), "goes with --msd only"),
        (("measure", "t.csv", "--per-axis"), "goes with --msd only"),
        (("measure", "t.csv", "--max-lag", 3), "goes with --msd, --velocity-correlation or --picture only"),
        (("measure", "t.csv", "--displacements", "1,x"), "needs whole numbers of frames of at least 1, such as 1,10"),
        (("measure", "t.csv", "--displacements", "0"), "needs whole numbers of frames of at least 1, such as 1,10"),
        (("measure", "t.csv", "--displacements", "1", "-o", "k.displacements.csv"), "curve of --displacements goes"),
        (("measure", "t.csv", "--pair-correlation", "0"), "--pair-correlation: needs a finite length above 0"),
        (("track", ""), "an input needs a name"),
    ],
)
def test_words_that_cannot_be_meant_are_wrong_usage(auctrack, tmp_path, words, says):
    points(track_id=0).to_csv(tmp_path / "t.csv", index=False)
    result = auctrack(*words)
    assert result.exit_code == 2, result.output
    assert says in " ".join(result.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("words", [("link",), ("measure",), ("draw",), ("convert", "t.csv")])
def test_a_movie_is_not_read_as_a_table(auctrack, movie, words):
    command, *rest = words
    refused(auctrack(command, movie, *rest), "is a movie, not a table", "auctrack track")


def test_pixels_are_not_told_in_micrometres_without_their_size(auctrack, tmp_path):
    write_tracks(Tracks(points(track_id=[4, 4, 4])), tmp_path / "tracks.csv")
    refused(auctrack("measure", "tracks.csv", "--unit", "µm"), "--voxel", "µm")


def test_a_table_is_not_detected_in(auctrack, tmp_path):
    (tmp_path / "points.csv").write_text("frame,y,x\n0,1,1\n1,1,1\n")
    result = auctrack("detect", "points.csv", "-o", "found.csv")
    assert result.exit_code == 1
    assert "auctrack link" in result.stderr
    assert not (tmp_path / "found.csv").exists()


@pytest.mark.parametrize("command", ["link", "track", "measure", "draw", "convert", "info"])
def test_columns_are_called_as_the_option_called_them(auctrack, tmp_path, command):
    (tmp_path / "own.csv").write_text("hour,row,col,cell\n0,1,1,4\n1,2,nowhere,4\n", encoding="utf-8")
    words = ["own.csv", *(["out.csv"] if command == "convert" else [])]
    result = auctrack(command, *words, "--columns", "frame=hour,y=row,x=col,track_id=cell")
    assert result.exit_code == 1
    assert "column 'col' needs" in result.stderr
    assert "line 3" in result.stderr
    assert "'x'" not in result.stderr


@pytest.mark.parametrize("words", [(), ("--tolerance", 1)], ids=["by identity", "by position"])
def test_columns_of_the_truth_are_called_as_their_option_called_them(auctrack, tmp_path, words):
    found = pd.DataFrame({"frame": [0, 1], "y": 1.0, "x": 1.0, "track_id": 1, "true_id": 1})
    found.to_csv(tmp_path / "found.csv", index=False)
    found.rename(columns={"track_id": "cell"}).drop(columns="true_id").assign(cell=[1.5, 2]).to_csv(
        tmp_path / "truth.csv", index=False
    )
    result = auctrack("score", "found.csv", "truth.csv", "--truth-columns", "track_id=cell", *words)
    assert result.exit_code == 1
    assert "truth.csv: column 'cell' needs whole numbers" in result.stderr


@pytest.mark.parametrize("words", [("link",), ("measure",), ("draw",), ("convert", "{}", "t.csv")])
def test_a_folder_is_not_read_as_a_table(auctrack, tmp_path, words):
    (tmp_path / "results").mkdir()
    command, *rest = [word.format("results") for word in words]
    refused(auctrack(command, *(rest or ["results"])), "results: is a folder")


@pytest.mark.parametrize("command", ["info", "detect"])
def test_a_folder_of_movies_is_answered_with_the_command_that_takes_it(auctrack, movie, write_movie, command):
    write_movie(movie.with_name("other.ome.tif"))
    line = refused(
        auctrack(command, movie.parent), "other.ome.tif: holds 3 time points", "one by one", "auctrack track"
    )
    assert "axes of one file" not in line
    assert auctrack("track", movie.parent, "--dry-run").exit_code == 0


def test_of_movies_in_a_folder_whose_axes_were_only_given_these_are_asked_for(auctrack, tmp_path):
    (tmp_path / "movies").mkdir()
    for name in "ab":
        tifffile.imwrite(tmp_path / f"movies/{name}.tif", np.zeros((3, 2, 16, 16), np.uint8), photometric="minisblack")
    line = refused(
        auctrack("info", "movies", "--axes", "ZTYX", "--unit", "pixel"), "axes of one file", "auctrack track"
    )
    assert "state" not in line


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("--memory", "--max-missed-frames"),
        ("--max-gap", "--max-missed-frames"),
        ("--linking-max-distance", "--search-range"),
        ("--gap-closing-max-distance", "--gap-closing-range"),
        ("--pixel-size", "--voxel"),
        ("--serch-range", "--search-range"),
    ],
)
def test_an_option_by_its_name_in_other_programs_is_answered_with_ours(auctrack, theirs, ours):
    result = auctrack("link", "spots.csv", theirs, 1)
    assert result.exit_code == 2
    said = " ".join(result.stderr.replace("│", " ").split())
    assert f"No such option: {theirs}" in said
    assert ours in said
    assert "--memory-budget" not in said


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("simulate", "-o", "a.tif"), "simulate OUT"),
        (("convert", "a.csv", "--output", "b.csv"), "convert IN OUT"),
        (("link", "spots.csv", "--dry-run"), "auctrack track has it."),
        (("report", "spots.csv", "--roi", "0:9,:"), "auctrack track, info, detect, link, draw and measure have it."),
        (("link", "spots.csv", "--picture"), "auctrack track and measure have it."),
    ],
)
def test_an_option_that_a_command_does_without_is_answered_with_what_does_it(auctrack, words, instead):
    result = auctrack(*words)
    assert result.exit_code == 2
    said = " ".join(result.stderr.replace("│", " ").split())
    assert instead in said
    assert "ossible" not in said


def test_an_option_that_nobody_knows_is_answered_with_none(auctrack):
    assert "ossible" not in auctrack("link", "spots.csv", "--quux", 1).stderr

"""Where results go: a file or a folder, made if need be, in the format of the name or of --format."""

from __future__ import annotations

import pandas as pd
import pytest

from auctrack.tracker.formats.tables import read_points, read_tracks


@pytest.fixture
def points(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    pd.DataFrame({"frame": [0, 1], "y": [0.0, 1.0], "x": [0.0, 1.0]}).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv"


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ((), "a.tracks.csv"),
        (("-o", "new/deep/b.csv"), "new/deep/b.csv"),
        (("-o", "new/deep/"), "new/deep/a.tracks.csv"),
        (("-o", "new/deep"), "new/deep/a.tracks.csv"),
        (("-o", "in"), "in/a.tracks.csv"),
        (("-o", "in", "--format", "parquet"), "in/a.tracks.parquet"),
        (("--format", "napari"), "a.tracks.napari.csv"),
    ],
)
def test_tracks_go_to_a_file_or_a_folder(auctrack, points, tmp_path, given, result):
    assert auctrack("link", points, *given).exit_code == 0
    assert read_tracks(tmp_path / result).table["frame"].tolist() == [0, 1]
    assert (tmp_path / f"{result}.settings.json").exists()


def test_points_go_there_too(auctrack, movie, tmp_path):
    assert auctrack("detect", movie, "-o", "new/", "--format", "parquet").exit_code == 0
    assert len(read_points(tmp_path / "new/spots.points.parquet")) == 6


def test_measures_go_beside_the_tracks_unless_sent_elsewhere(auctrack, points, tmp_path):
    assert auctrack("link", points, "-o", "in").exit_code == 0
    assert auctrack("measure", "in/a.tracks.csv", "--msd").exit_code == 0
    assert {"a.measures.csv", "a.msd.csv"} <= {path.name for path in (tmp_path / "in").iterdir()}
    assert auctrack("measure", "in/a.tracks.csv", "--msd", "-o", "new/", "--format", "parquet").exit_code == 0
    for name, columns in (("measures", {"track_id", "length"}), ("msd", {"lag", "msd"})):
        assert columns <= set(pd.read_parquet(tmp_path / f"new/a.{name}.parquet").columns)
        plain = pd.read_csv(tmp_path / f"in/a.{name}.csv")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"new/a.{name}.parquet"), plain, check_dtype=False)


@pytest.mark.parametrize(("command", "kind"), [("link", "xlsx"), ("detect", "xlsx"), ("measure", "napari")])
def test_an_unknown_format_is_wrong_usage(auctrack, points, command, kind):
    result = auctrack(command, points, "--format", kind)
    assert result.exit_code == 2
    assert "--format" in result.output


@pytest.mark.parametrize("command", ["link", "detect", "measure"])
def test_a_name_that_leaves_the_format_open_is_wrong_usage_before_any_work(auctrack, command):
    result = auctrack(command, "nowhere.csv", "-o", "out.xlsx")
    assert result.exit_code == 2
    assert "ends in .csv, .parquet" in " ".join(result.output.split())


def test_a_run_that_fails_makes_no_folder(auctrack, tmp_path):
    for command in ("link", "detect", "measure", "track"):
        assert auctrack(command, "nowhere.csv", "-o", "new/").exit_code == 1
    assert not list(tmp_path.iterdir())


def test_the_tracks_of_one_movie_may_have_a_name_of_their_own(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "-o", "out/named.parquet").exit_code == 0
    assert (tmp_path / "out/named.parquet").is_file()
    assert auctrack("track", movie, "-o", "named.csv", "--format", "parquet").exit_code == 2


@pytest.mark.parametrize("command", ["track", "link", "detect", "measure", "convert"])
@pytest.mark.parametrize(
    ("kind", "name"), [("parquet", "out.csv"), ("parquet", "out.tsv"), ("csv", "out.parquet"), ("csv", "out.csv.gz")]
)
def test_a_format_under_a_name_that_is_read_as_another_is_wrong_usage(auctrack, tmp_path, command, kind, name):
    """Before any work: the program could not read its own result."""
    if command == "track" and name in ("out.tsv", "out.csv.gz"):
        pytest.skip("of track that is no ending of a result, whatever the format")
    where = (name,) if command == "convert" else ("-o", name)
    refused = auctrack(command, "nowhere.csv", *where, "--format", kind)
    said = " ".join(refused.stderr.split())
    assert refused.exit_code == 2
    assert all(word in said for word in ("--format", f"{kind} goes into names", f".{kind}", name, "Change the name"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "name"), [("isbi", "out.xml"), ("napari", "out.csv")])
def test_a_run_says_the_same_of_a_name_by_which_it_would_write_another_format(auctrack, tmp_path, kind, name):
    refused = auctrack("track", "nowhere.tif", "-o", name, "--format", kind)
    said = " ".join(refused.stderr.split())
    assert refused.exit_code == 2
    assert all(word in said for word in ("--format", f"{kind} goes into names", f".{kind}.", name, "Change the name"))
    assert not list(tmp_path.iterdir())


def test_a_format_of_text_may_be_in_any_text_file(auctrack, points, tmp_path):
    for kind, name in (("csv", "out.tsv"), ("napari", "out.csv"), ("csv", "out.napari.csv")):
        assert auctrack("link", points, "-o", name, "--format", kind).exit_code == 0
        assert len(read_tracks(tmp_path / name)) == 2


def test_the_tracks_of_several_movies_need_a_folder(auctrack, movie, write_movie, tmp_path):
    result = auctrack("track", movie, write_movie(tmp_path / "in" / "other.ome.tif"), "-o", "tracks.csv")
    assert result.exit_code == 2
    assert "needs a folder" in result.output
    assert not (tmp_path / "tracks.csv").exists()


def test_a_name_with_an_unknown_ending_is_no_folder_unless_it_is_there(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "-o", "out.foo").exit_code == 2
    assert not (tmp_path / "out.foo").exists()
    (tmp_path / "out.foo").mkdir()
    for folder in ("out.foo", "run.2"):
        assert auctrack("track", movie, "-o", folder).exit_code == 0
        assert len(list((tmp_path / folder).glob("*.tracks.csv"))) == 1


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
@pytest.mark.parametrize("command", ["track", "link", "detect", "measure"])
def test_a_result_does_not_go_to_standard_output(auctrack, movie, tmp_path, command, output):
    result = auctrack(command, movie, "-o", output)
    assert result.exit_code == 2
    assert "--output" in result.output
    assert not (tmp_path / "-").exists()

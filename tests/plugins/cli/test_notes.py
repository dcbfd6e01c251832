"""What is empty, or not what it was given for, is said to be; and nothing is said of what is as it should be."""

from __future__ import annotations

import json
import re
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.plugins.cli.terminal import console
from auctrack.plugins.words.notes import on_reach

FAR = {"frame": [0, 1], "y": [0.0, 50.0], "x": [0.0, 50.0]}


def notes(result):
    assert result.exit_code == 0, result.output
    return [line for line in result.stderr.splitlines() if line.startswith("note:")]


def table(tmp_path, **columns):
    pd.DataFrame(columns).to_csv(tmp_path / "points.csv", index=False)
    return tmp_path / "points.csv"


@pytest.mark.parametrize("command", ["track", "link"])
@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        (FAR, ("--roi", "90:99,90:99"), "no particles were found"),
        ({"frame": [4, 4], "y": [0.0, 1.0], "x": [0.0, 1.0]}, (), "all particles are in one frame (4)"),
        ({"frame": [0, 2, 5], "y": [0.0] * 3, "x": [0.0] * 3}, (), "no two frames are consecutive"),
        (FAR, ("--search-range", 3), "within the search range of 3 pixels"),
        (FAR, ("--unmatched-cost", 3), "closer than twice the unmatched cost of 3 pixels"),
    ],
    ids=["no points", "one frame", "no consecutive frames", "out of range", "too dear"],
)
def test_a_run_without_links_says_why_and_claims_no_proof(auctrack, tmp_path, command, columns, options, says):
    result = auctrack(command, table(tmp_path, **columns), *options)
    (note,) = notes(result)
    assert says in note
    for claim in ("optimal", "solver", "unmatched cost", "candidates"):
        assert claim not in result.stdout


def test_candidates_that_were_not_counted_are_said_to_be_more(auctrack, tmp_path):
    at = np.random.default_rng(0).random((100, 2)) * 9
    where = table(tmp_path, frame=np.repeat([0, 1], 50), y=at[:, 0], x=at[:, 1])
    settings = ("--motion", "none", "--search-range", 3, "--unmatched-cost", 9)
    for budget, said in (
        ("4", r"50 of \d+ candidates, proven"),
        ("0.000002", r"50 of more than \d+ candidates, proven"),
    ):
        result = auctrack("link", where, *settings, "--memory-budget", budget, "--overwrite")
        assert result.exit_code == 0, result.output
        assert re.search(said, result.stdout)


@pytest.mark.parametrize("command", ["track", "info"])
def test_settings_of_movies_are_said_to_do_nothing_to_a_table(auctrack, tmp_path, command):
    near = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0])
    (note,) = [line for line in notes(auctrack(command, near, "--diameter", 3, "--channel", 1)) if "movies" in line]
    assert note == "note: --channel, --diameter are of movies only, and this is a table."
    elsewhere = ("-o", "elsewhere") if command == "track" else ()
    (note,) = [line for line in notes(auctrack(command, near, "--dark", *elsewhere)) if "movies" in line]
    assert note == "note: --dark is of movies only, and this is a table."


def test_a_length_that_no_track_has_is_said(auctrack, tmp_path):
    near = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0])
    result = auctrack("link", near, "--search-range", 3, "--min-length", 3)
    assert notes(result) == ["note: no track is as long as --min-length 3; the longest has length 2."]
    assert "tracks    0\n" in result.stdout
    assert auctrack("link", near, "--search-range", 3, "-o", "two.csv").exit_code == 0
    for command, name in (("measure", "measures.csv"), ("draw", "drawn.png")):
        result = auctrack(command, "two.csv", "--min-length", 4, "-o", name)
        assert "note: no track is as long as --min-length 4; the longest has length 2." in notes(result)


def test_frames_without_particles_are_counted_though_tracks_pass_over_them(auctrack, tmp_path):
    rows = [(frame, 20.0 * k + frame, 5.0) for frame in range(12) for k in range(8) if frame != 6]
    frame, y, x = zip(*rows, strict=True)
    result = auctrack("link", table(tmp_path, frame=frame, y=y, x=x), "--motion", "velocity", "--max-missed-frames", 1)
    (note,) = [line for line in notes(result) if "no particles" in line]
    assert note.startswith("note: 1 of the 12 frames from 0 to 11 ")
    assert "of 12 frames\n" in result.stdout  # what a median length is compared with


def test_frames_without_particles_at_the_ends_of_a_movie_are_counted(auctrack, movie):
    """As of a recording that was stopped: the median length was said to be of all frames, and nothing else."""
    image = tifffile.imread(movie)
    stopped = np.concatenate([np.zeros_like(image[:1]), image, np.zeros_like(image[:2])])
    tifffile.imwrite("stopped.tif", stopped, imagej=True, metadata={"axes": "TYX"})
    (note,) = notes(auctrack("track", "stopped.tif", "--voxel", "1,1,1", "--diameter", 3))
    last = len(image)
    assert note.startswith(f"note: 3 of the {last + 3} frames from 0 to {last + 2} hold no particles")
    assert f"1 to {last}" in note


@pytest.mark.parametrize("command", ["info", "detect", "track"])
@pytest.mark.parametrize("given", [(), ("--frame-interval", 9)], ids=["not given", "given"])
def test_a_frame_interval_in_a_unit_that_is_not_known_is_named(auctrack, movie, command, given):
    about_time = {"finterval": 2, "tunit": "fortnight", "spacing": 1, "unit": "um"}
    image = tifffile.imread(movie)
    tifffile.imwrite("odd.tif", image, imagej=True, resolution=(1, 1), metadata={"axes": "TYX", **about_time})
    found = notes(auctrack(command, "odd.tif", "--voxel", "1,1", "--diameter", 3, *given))
    assert [("2 fortnight" in note, "--frame-interval" in note) for note in found] == [(True, True)] * (not given)


def test_planes_with_channels_that_may_be_time_points_have_other_axes(auctrack, movie):
    image = np.repeat(tifffile.imread(movie)[:, np.newaxis], 2, axis=1)
    tifffile.imwrite("channels.tif", image, imagej=True, metadata={"axes": "ZCYX"})
    (note,) = notes(auctrack("track", "channels.tif", "--channel", 0, "--voxel", "1,1,1", "--diameter", 3))
    assert "TCYX" in note


def test_a_movie_without_particles(auctrack, movie):
    for command in ("detect", "track"):
        (note,) = notes(auctrack(command, movie, "--threshold", "1e6", "--diameter", 3))
        assert "--threshold" in note


def test_planes_that_may_be_time_points_are_pointed_out(auctrack, movie, tmp_path):
    stack = tmp_path / "video.tif"
    tifffile.imwrite(stack, tifffile.imread(movie), imagej=True, metadata={"axes": "ZYX"})
    (note,) = notes(auctrack("track", stack, "--voxel", "1,1,1", "--diameter", 3))
    assert "--axes TYX" in note


@pytest.mark.parametrize("command", ["track", "link", "info"])
def test_a_table_of_one_stack_has_no_axes_to_give_and_no_threshold_to_lower(auctrack, movie, tmp_path, command):
    stack = tmp_path / "stack.tif"
    tifffile.imwrite(stack, tifffile.imread(movie), imagej=True, metadata={"axes": "ZYX"})
    found = auctrack("detect", stack, "--voxel", "1,1,1", "--diameter", 3, "-o", "found.csv")
    assert found.exit_code == 0, found.output
    (note,) = notes(auctrack(command, "found.csv"))
    assert "one frame (0)" in note
    assert "--axes" not in note
    if command != "info":
        (note,) = notes(auctrack(command, "found.csv", "--roi", "0:1,0:1,0:1", "-o", "none.csv"))
        assert "--threshold" not in note


def test_files_that_a_shell_has_listed_may_be_the_frames_of_one_movie(auctrack, movie, tmp_path):
    image = tifffile.imread(movie)
    for number, frame in enumerate(image):
        tifffile.imwrite(tmp_path / f"t{number}.tif", np.stack([frame] * 3), imagej=True, metadata={"axes": "ZYX"})
    given = ("--voxel", "1,1,1", "--diameter", 3)
    for asked in (given, (*given, "--dry-run", "-o", "elsewhere")):
        said = notes(auctrack("track", "t0.tif", "t1.tif", "t2.tif", *asked))
        assert [note for note in said if "in quotes" in note] == said[-1:]
        assert "each of the 3 movies" in said[-1]
    again = notes(auctrack("track", "t?.tif", movie, *given, "-o", "together"))
    assert not any("in quotes" in note for note in again)


@pytest.mark.parametrize("command", ["track", "link", "info"])
def test_a_table_that_holds_rows_twice_is_said_to(auctrack, tmp_path, command):
    once = pd.DataFrame({"frame": [0, 0, 1, 1], "y": [1.0, 9.0, 1.5, 9.5], "x": [3.0, 3.0, 3.0, 3.0]})
    once.to_csv(tmp_path / "once.csv", index=False)
    assert not any("exactly where" in note for note in notes(auctrack(command, "once.csv", "--unit", "µm")))
    pd.concat([once, once.iloc[2:]]).to_csv(tmp_path / "twice.csv", index=False)
    said = "\n".join(notes(auctrack(command, "twice.csv", "--unit", "µm")))
    assert re.search(r"\b2 particles .*frame 1, y 1\.5, x 3\b", said)


def test_nothing_is_said_of_a_run_as_it_should_be(auctrack, movie):
    assert notes(auctrack("track", movie, "--min-length", 2)) == []


def test_info_says_it_too_and_names_no_unmatched_cost(auctrack, tmp_path):
    result = auctrack("info", table(tmp_path, frame=[4, 4], y=[0.0, 1.0], x=[0.0, 1.0]))
    (note,) = notes(result)
    assert "one frame (4)" in note
    assert "seen in   frame 4," in result.stdout
    assert "unmatched cost" not in result.stdout


@pytest.mark.parametrize(("unit", "noted"), [((), True), (("--unit", "pixel"), False)])
def test_pixels_are_explained_unless_asked_for(auctrack, tmp_path, unit, noted):
    near = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0])
    for command in ("link", "info"):
        assert ("no unit is known" in auctrack(command, near, *unit).stdout) is noted


@pytest.mark.parametrize(("asked", "noted"), [((), True), (("--voxel", "1,1"), False), (("--unit", "pixel"), False)])
def test_measures_of_voxels_of_unknown_size_say_so(auctrack, tmp_path, asked, noted):
    tracks = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0], track_id=[0, 0])
    said = notes(auctrack("measure", tracks, *asked))
    assert [("pixels of unknown size" in note and "--voxel" in note) for note in said] == [True] * noted
    assert not any("along z" in note for note in said)


@pytest.mark.parametrize(("asked", "noted"), [((), True), (("--unit", "pixel"), False)])
def test_measures_of_tracks_that_were_linked_in_pixels_on_purpose_do_not(auctrack, tmp_path, asked, noted):
    linked = auctrack("link", table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0]), *asked, "-o", "linked.csv")
    assert linked.exit_code == 0, linked.output
    assert ["unknown size" in note for note in notes(auctrack("measure", "linked.csv"))] == [True] * noted


@pytest.mark.parametrize("words", [(), ("--frame-step", 3)])
def test_measures_of_frames_in_steps_that_nobody_stated_say_so(auctrack, tmp_path, words):
    tracks = table(tmp_path, frame=[0, 3, 6, 12], y=[0.0, 1.0, 2.0, 3.0], x=0.0, track_id=0)
    several = auctrack("measure", tracks, shutil.copy(tracks, tmp_path / "b.csv"), *words, "-o", "two.csv")
    for result in (auctrack("measure", tracks, *words, "-o", "one.csv"), several):
        assert result.exit_code == 0, result.output
        assert any("--frame-step 3" in note for note in notes(result)) == (not words)


@pytest.mark.parametrize(("track_id", "noted"), [([0, 1], True), ([0, 0], False)])
def test_tracks_of_one_detection_are_said_to_measure_no_motion(auctrack, tmp_path, track_id, noted):
    tracks = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0], track_id=track_id)
    said = notes(auctrack("measure", tracks, "--unit", "pixel", "--msd"))
    assert ["one detection" in note for note in said] == [True] * noted


def test_scores_by_a_tolerance_in_pixels_of_unknown_size_say_so(auctrack, tmp_path):
    tracks = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0], track_id=[0, 0])
    (note,) = notes(auctrack("score", tracks, tracks, "--tolerance", 1))
    assert "pixels of unknown size" in note


def test_tracks_apart_from_their_settings_are_measured_in_their_unit(auctrack, movie, tmp_path):
    assert auctrack("track", movie, "--diameter", 3).exit_code == 0
    together = auctrack("measure", "spots.tracks.csv", "-o", "together.csv")
    (tmp_path / "spots.tracks.csv.settings.json").unlink()
    apart = auctrack("measure", "spots.tracks.csv", "-o", "apart.csv")
    assert notes(together) == notes(apart) == []
    moved = [pd.read_csv(name)["net_displacement"] for name in ("together.csv", "apart.csv")]
    pd.testing.assert_series_equal(*moved, rtol=1e-12)


@pytest.mark.parametrize("depth", ["z", "Depth"])
def test_a_table_that_is_linked_in_2d_is_said_to_be(auctrack, tmp_path, depth):
    points = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0], **{depth: [3.0, 3.5]})
    assert ("in 2D (y, x)" in auctrack("link", points).stdout) is (depth == "Depth")


@pytest.mark.parametrize("command", ["track", "detect", "info"])
def test_dark_particles_taken_for_bright_ones_are_noticed(auctrack, movie, tmp_path, command):
    image = tifffile.imread(movie)
    inverted = tmp_path / "dark.tif"
    tifffile.imwrite(inverted, image.max() - image, imagej=True, metadata={"axes": "TYX"})
    asked = (command, inverted, "--voxel", "0.5,0.5", "--diameter", 3)
    wrong = auctrack(*asked)
    assert wrong.exit_code == 0
    assert any("--dark" in note for note in notes(wrong))
    others = () if command == "info" else ("--overwrite",)
    assert not any("--dark" in note for note in notes(auctrack(*asked, "--dark", *others)))
    assert not any("--dark" in note for note in notes(auctrack(command, movie, "--diameter", 3)))


def labels(tmp_path):
    image = np.zeros((3, 48, 48), np.uint16)
    for number, corner in enumerate((4, 20, 34), start=1):
        image[:, corner : corner + 9, corner : corner + 9] = number
    tifffile.imwrite(tmp_path / "masks.tif", image, imagej=True, metadata={"axes": "TYX"})
    return tmp_path / "masks.tif"


def test_labels_given_as_a_movie_and_a_movie_given_as_labels_are_noticed(auctrack, movie, tmp_path):
    masks = ("track", labels(tmp_path), "--voxel", "1,1")
    assert notes(auctrack(*masks, "--labels")) == []
    (as_movie,) = notes(auctrack(*masks, "--diameter", 8, "--overwrite"))
    assert "looks like labels" in as_movie
    noise = np.random.default_rng(0).poisson(3.0, (2, 32, 32)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "noise.tif", noise, imagej=True, metadata={"axes": "TYX"})
    (as_labels,) = notes(auctrack("detect", tmp_path / "noise.tif", "--voxel", "1,1", "--labels"))
    assert "does not look like labels" in as_labels
    assert "look" not in auctrack("detect", movie).stderr
    without_background, *_ = notes(auctrack("track", movie, "--labels"))
    assert "does not look like labels" in without_background


def test_a_mask_given_as_labels_is_said(auctrack, tmp_path):
    path = labels(tmp_path)
    tifffile.imwrite(path, (tifffile.imread(path) > 0).astype(np.uint8), imagej=True, metadata={"axes": "TYX"})
    said, *_ = notes(auctrack("detect", path, "--voxel", "1,1", "--labels"))
    assert "is a mask: its 3 regions" in said


def test_of_a_mask_of_truth_values_it_is_said_that_its_regions_are_particles(auctrack, tmp_path):
    path = labels(tmp_path)
    truth = tmp_path / "mask.tif"
    tifffile.imwrite(truth, tifffile.imread(path) > 0, photometric="minisblack")
    given = (truth, "--axes", "TYX", "--voxel", "1,1")
    (as_labels,) = notes(auctrack("detect", *given, "--labels"))
    assert "each of its regions is a particle" in as_labels
    assert "give --labels" in notes(auctrack("detect", *given, "--diameter", 8, "--overwrite"))[0]


def test_the_frames_that_count_are_said_as_they_are_written(auctrack, samples):
    auctrack("track", samples / "movie.ome.tif", "--frames", "0:3", "--diameter", 2.5)
    (note,) = notes(auctrack("score", "movie.tracks.csv", samples / "movie.truth.csv", "--tolerance", 1))
    assert "(--frames 0:3)" in note


def test_one_is_counted_in_the_singular(auctrack, tmp_path):
    said = auctrack("link", table(tmp_path, frame=[0], y=[1.0], x=[1.0])).stdout
    assert "1 in 1 frame, in 2D" in said
    pair = auctrack("link", table(tmp_path, frame=[0, 1], y=[1.0, 1.1], x=[1.0, 1.0]), "-o", "pair.csv").stdout
    assert "1 link, of which" in pair
    assert json.loads((tmp_path / "points.tracks.csv.settings.json").read_text())["columns"]["track_id"] == "int64"


def wanderers(tmp_path, *, step=1.0, stay=1.0):
    """Write 8 frames of 10 × 10 particles 10 apart, of which a share `stay` goes on by `step`; others are new."""
    rng = np.random.default_rng(0)
    home = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), -1).reshape(-1, 2) * 10
    place, frames = home.copy(), []
    for frame in range(8):
        angle = rng.uniform(0, 2 * np.pi, len(home))
        place = place + step * np.column_stack([np.sin(angle), np.cos(angle)]) * (frame > 0)
        place[rng.random(len(home)) > stay] += 4.5
        frames.append(pd.DataFrame(place, columns=["y", "x"]).assign(frame=frame))
    return table(tmp_path, **pd.concat(frames).to_dict("list"))


@pytest.mark.parametrize("command", ["track", "link", "info"])
def test_steady_particles_raise_no_doubt(auctrack, tmp_path, command):
    assert notes(auctrack(command, wanderers(tmp_path))) == []


@pytest.mark.parametrize("command", ["track", "link"])
def test_frames_that_were_recorded_twice_are_said(auctrack, tmp_path, command):
    file = wanderers(tmp_path)
    rows = pd.read_csv(file)
    again = [rows[rows["frame"] == frame].assign(frame=frame + 1) for frame in (2, 5)]
    pd.concat([rows[~rows["frame"].isin([3, 6])], *again]).to_csv(file, index=False)
    (note,) = [each for each in notes(auctrack(command, file)) if "recorded twice" in each]
    assert "frames 3, 6 are" in note


def scattered(tmp_path):
    """Write 6 frames of 60 particles that have nothing to do with those of the next."""
    y, x = np.random.default_rng(0).uniform(0, 100, (2, 360))
    return table(tmp_path, frame=np.repeat(range(6), 60), y=y, x=x)


@pytest.mark.parametrize("command", ["track", "link"])
def test_links_that_are_no_better_than_chance_are_said_to_be_guesses(auctrack, tmp_path, command):
    guesses, lost = notes(auctrack(command, scattered(tmp_path)))
    assert "most of the links are guesses" in guesses
    assert "have no link to the next frame" in lost


@pytest.mark.parametrize("command", ["track", "link"])
def test_a_range_that_reaches_hardly_anyone_raises_doubt(auctrack, tmp_path, command):
    lost, near = notes(
        auctrack(command, scattered(tmp_path), "--motion", "none", "--search-range", 4, "--unmatched-cost", 4)
    )
    assert "the median track has length 1" in lost
    assert "search range" in near


def test_more_false_detections_than_particles_are_not_taken_for_particles_that_are_lost(auctrack, tmp_path):
    rng = np.random.default_rng(0)
    steps = rng.normal(0, 0.1, (20, 2, 40)).cumsum(axis=0)
    y, x = np.concatenate([rng.uniform(0, 100, (2, 40)) + steps, rng.uniform(0, 100, (20, 2, 4))], axis=2).swapaxes(
        0, 1
    )
    (note,) = notes(auctrack("link", table(tmp_path, frame=np.repeat(range(20), 44), y=y.ravel(), x=x.ravel())))
    assert "single detections, 9% of all detections" in note


def test_particles_that_are_lost_raise_doubt_and_the_proof_is_put_in_its_place(auctrack, tmp_path):
    lattice, note = notes(auctrack("link", wanderers(tmp_path, stay=0.6), "--unmatched-cost", 1))
    assert "as regularly as in a crystal" in lattice
    assert re.search(r"\d\d% of the particles have no link to the next frame", note)
    assert "does not make them right" in note


def test_links_as_long_as_the_range_raise_doubt(auctrack, tmp_path):
    (note,) = notes(auctrack("link", wanderers(tmp_path, step=2), "--search-range", 2.2, "--unmatched-cost", 2))
    assert "search range of 2.2" in note


def test_no_table_of_links_is_made_to_say_that_none_is_in_doubt(auctrack, monkeypatch, tmp_path):
    def made(*_: object) -> None:
        raise AssertionError("a table of links")

    monkeypatch.setattr("auctrack.tracker.linking.frame_pairs.pair_links._table", made)
    assert notes(auctrack("link", wanderers(tmp_path, step=0.1), "--motion", "none")) == []


def test_a_reach_that_still_rises_raises_doubt():
    assert on_reach([0.5, 0.8, 0.9, 0.91]) == []
    (note,) = on_reach([0.2, 0.4, 0.6, 0.8])
    assert "20%" in note


def test_info_doubts_a_range_that_is_too_short_for_the_steps(auctrack, tmp_path):
    said = notes(auctrack("info", scattered(tmp_path)))
    assert any("quarter of the search range" in note for note in said)
    assert "--" not in " ".join(said)  # info has none of the options that would help


def strided(tmp_path, frames):
    return table(tmp_path, frame=list(frames), y=[0.0] * len(frames), x=[float(n) for n in range(len(frames))])


@pytest.mark.parametrize(("command", "frames"), [("link", (0, 5, 10)), ("info", (0, 5, 10)), ("link", (-3, 10**12))])
def test_a_stride_that_was_not_stated_is_said_with_the_option_that_states_it(auctrack, tmp_path, command, frames):
    step = frames[1] - frames[0]
    (note,) = notes(auctrack(command, strided(tmp_path, frames)))
    assert f"--frame-step {step}" in note
    assert f"{len(frames)} frames" in note


def test_a_stated_frame_step_is_linked_over_kept_and_scored(auctrack, tmp_path):
    every = strided(tmp_path, range(11)).rename(tmp_path / "truth.csv")
    truth = pd.read_csv(every).assign(track_id=0)
    truth.to_csv(every, index=False)
    points = strided(tmp_path, (0, 5, 10))
    result = auctrack("link", points, "--search-range", 3, "--frame-step", 5)
    assert notes(result) == []
    (row,) = pd.read_csv("points.tracks.csv").groupby("track_id").size()
    assert row == 3
    pd.read_csv("points.tracks.csv").assign(x=[0.0, 5.0, 10.0]).to_csv("points.tracks.csv", index=False)
    scored = auctrack("score", "points.tracks.csv", every, "--tolerance", 1, "--json")
    assert json.loads(scored.stdout)["link_recall"] == 1.0
    measured = auctrack("measure", "points.tracks.csv")
    assert measured.exit_code == 0
    assert pd.read_csv("points.measures.csv")["missed_frames"].tolist() == [0]


def test_missing_frames_are_counted(auctrack, tmp_path):
    (note,) = notes(auctrack("link", strided(tmp_path, (0, 1, 2, 6)), "--search-range", 3))
    assert "3 of the 7 frames" in note


def test_a_movie_takes_no_names_of_columns(auctrack, movie):
    outcome = auctrack("track", movie, "--columns", "frame=T")
    assert outcome.exit_code != 0
    assert "--columns" in outcome.output


def test_a_movie_takes_no_frame_step(auctrack, movie):
    said = auctrack("track", movie, "--frame-step", 2).output
    assert "a movie knows its frames" in said
    assert "--frames ::k" in said


def test_info_names_frozen_and_shifted_frames(auctrack, samples, tmp_path):
    pixels = tifffile.imread(samples / "movie.ome.tif")
    pixels[5] = pixels[4]
    pixels[12:] = np.roll(pixels[12:], 9, axis=-1)
    tifffile.imwrite(tmp_path / "odd.tif", pixels, metadata=None)
    words = ("info", "odd.tif", "--axes", f"TZ{pixels.shape[1]}YX", "--voxel", "1,0.5,0.5")
    said = [note.split(":")[1].strip() for note in notes(auctrack(*words))]
    assert said == ["frozen", "shifted", "unlike"]
    odd = json.loads(auctrack(*words, "--json").stdout)["odd_frames"]
    assert (odd["frozen"], [jump["frame"] for jump in odd["shifted"]]) == ([5], [12])
    assert odd["unlike"] == [6]  # what moved while the fifth was frozen
    assert notes(auctrack("info", samples / "movie.ome.tif")) == []


def test_a_tolerance_that_reaches_other_particles_is_said_to(auctrack, samples):
    truth = samples / "points.truth.csv"
    (said,) = notes(auctrack("score", truth, truth, "--tolerance", 20))
    assert "the tolerance is more than half" in said
    assert not notes(auctrack("score", truth, truth, "--tolerance", 1))


@pytest.mark.parametrize("command", ["info", "detect"])
def test_padding_around_a_rotated_frame_is_said(auctrack, tmp_path, command):
    y, x = np.indices((128, 128)) - 64
    grey = np.random.default_rng(0).normal(100.0, 5.0, (128, 128)) + 100.0 * ((y % 32 < 6) & (x % 32 < 6))
    rotated = np.where(np.abs(x) + np.abs(y) < 60, grey, 0).astype(np.uint16)
    tifffile.imwrite(tmp_path / "turned.tif", np.stack([rotated] * 2))
    said = notes(auctrack(command, "turned.tif", "--axes", "TYX", "--voxel", "1,1", "--diameter", 6))
    assert [note for note in said if "slanted" in note]


def test_voxels_without_a_value_are_counted(auctrack, movie):
    image = tifffile.imread(movie).astype(np.float32)
    assert not notes(auctrack("info", movie))
    image[..., : image.shape[-1] // 4] = np.nan
    tifffile.imwrite("holes.tif", image, photometric="minisblack")
    said = notes(auctrack("info", "holes.tif", "--axes", "TYX", "--voxel", "1,1"))
    assert any("25.00% of the middle frame holds no numbers" in line for line in said)


@pytest.mark.parametrize(("voxel", "is_said"), [("0.5,0.5,2", True), ("2,0.5,0.5", False), ("2,0.5,0.501", False)])
def test_a_voxel_size_given_from_x_on_is_told_by_its_oblong_pixels(auctrack, tmp_path, voxel, is_said):
    image = np.random.default_rng(0).poisson(10, (2, 8, 24, 24)).astype(np.uint16)
    image[:, 3:5, 10:14, 10:14] += 200
    tifffile.imwrite(tmp_path / "deep.tif", image, photometric="minisblack")
    for command in ("info", "track"):
        said = notes(auctrack(command, "deep.tif", "--axes", "TZYX", "--voxel", voxel))
        oblong = (
            "a voxel is 0.5 along y and 2 µm along x, and pixels are hardly ever oblong: --voxel is in the order z,y,x."
        )
        assert [oblong in line for line in said if "oblong" in line] == [True] * is_said


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("score", ("truth.csv", "--tolerance", 1)),
        ("measure", ("-o", "m.csv")),
        ("report", ()),
        ("draw", ("-o", "t.png")),
    ],
)
def test_particles_of_the_truth_that_are_taken_for_tracks_are_said_to_be(auctrack, tmp_path, command, words):
    columns = {"frame": [0, 1], "y": [0.0, 1.0], "x": [0.0, 1.0]}
    real = table(tmp_path, **columns, true_id=[4, 4])
    pd.DataFrame({**columns, "track_id": [4, 4]}).to_csv(tmp_path / "truth.csv", index=False)
    (note,) = (note for note in notes(auctrack(command, real, *words)) if "true_id" in note)
    assert "no column track_id" in note
    linked = auctrack(command, "truth.csv", *(word for word in words if word not in ("m.csv", "t.png", "-o")))
    assert linked.exit_code == 0, linked.output
    assert "true_id" not in linked.stderr


STACKED = {
    "two movies": ([0, 0, 1, 1, 0, 0, 1, 1], "row 4 "),
    "three": ([0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1], "row 4, 10 "),
    "one": ([0, 0, 1, 1, 2, 2], ""),
    "track by track": ([0, 1, 2, 0, 1, 2], ""),
    "its second half first": ([2, 2, 3, 3, 0, 0, 1, 1], ""),
    "in no order": ([1, 0, 2, 1, 0, 2, 0, 1, 2, 0, 1, 2] * 20, ""),
}


@pytest.mark.parametrize(("frames", "said"), STACKED.values(), ids=STACKED)
def test_movies_one_below_the_other_in_a_table_are_told(auctrack, tmp_path, frames, said):
    x = np.arange(len(frames)) * 2.0
    pd.DataFrame({"frame": frames, "y": np.zeros(len(frames)), "x": x}).to_csv(tmp_path / "points.csv", index=False)
    told = [note for note in notes(auctrack("link", "points.csv", "--unit", "µm")) if "begin again" in note]
    assert [said in note for note in told] == [True] * bool(said)


@pytest.mark.parametrize("command", ["link", "track", "convert", "measure", "draw"])
def test_a_voxel_size_that_goes_before_the_tables_own_is_told(auctrack, tmp_path, command):
    """In 2D and in another unit, too; the same size, and none where the table has none, say nothing."""
    pd.DataFrame({"frame": [0, 1, 2], "y": 1.0, "x": 2.0}).to_csv(tmp_path / "plain.csv", index=False)
    assert notes(auctrack("link", "plain.csv", "--voxel", "0.5,0.25", "-o", "own.csv")) == []
    results = {"link": ("-o", "{}.csv"), "track": ("-o", "{}.csv"), "convert": ("{}.csv",)}
    results |= {"measure": ("-o", "{}.csv"), "draw": ("-o", "{}.png")}
    given = {"same": ("--voxel", "0.5,0.25"), "nm": ("--voxel", "500,250", "--unit", "nm"), "other": ("--voxel", "1,1")}
    for name, options in given.items():
        done = auctrack(command, "own.csv", *(word.format(name) for word in results[command]), *options)
        assert done.exit_code == 0, done.output
        told = "note: the table's own voxel size is 0.5 × 0.25 µm; --voxel goes before it, and changes all lengths."
        assert (told in done.stderr) is (name == "other")


def test_with_learned_motion_limits_that_were_given_are_said_and_no_others(auctrack, samples):
    def said(*words: object) -> str:
        run = auctrack("link", samples / "points.csv", "-o", "out/", "--overwrite", *words)
        assert run.exit_code == 0, run.output
        return " ".join(run.stdout.split())

    assert "search range 7.5 µm, as given" in said("--search-range", 7.5)
    assert "search range 7.5 µm and unmatched cost 6 µm, as given" in said("--search-range", 7.5, "--unmatched-cost", 6)
    assert "as given" not in said()


def test_what_is_warned_of_before_learning_is_not_noted_again_after_it(auctrack, tmp_path, monkeypatch):
    monkeypatch.setattr("warnings.showwarning", lambda message, *_: console.warn(str(message)))  # as `main` has it
    at = np.random.default_rng(0).random((1200, 3)) * 15
    where = table(tmp_path, frame=np.repeat(np.arange(12), 100), z=at[:, 0], y=at[:, 1], x=at[:, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = auctrack("link", where, "--memory-budget", "0.0006")
    (said,) = [note for note in notes(result) if "memory budget of 0.0006 GB" in note]
    assert "motion none" in said

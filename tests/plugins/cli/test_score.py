"""`auctrack score`: every kind of score, for one movie and for folders of them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack import Tracks, read_tracks, score_lineages, score_links, write_tracks
from auctrack.plugins.cli.results import no_positions
from auctrack.plugins.cli.results.no_positions import without_positions
from auctrack.plugins.cli.results.score_table import SHOWN


def ok(result) -> str:
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture
def folders(tmp_path, samples):
    for folder in ("found", "real"):
        (tmp_path / folder).mkdir()
    truth = samples / "movie.truth.csv"
    for name in ("one", "two"):
        shutil.copy(truth, tmp_path / "real" / f"{name}.truth.csv")
    table = pd.read_csv(truth)
    table.to_csv(tmp_path / "found" / "one.tracks.csv", index=False)
    table[table["frame"] < 10].to_csv(tmp_path / "found" / "two.tracks.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("kind", SHOWN)
def test_the_truth_is_perfect_by_every_kind_of_score(auctrack, samples, kind):
    truth = samples / "movie.truth.csv"
    score = json.loads(ok(auctrack("score", truth, truth, "--scores", kind, "--tolerance", 1, "--json")))
    shown = {name: score[name] for name in SHOWN[kind] if name not in ("switches", "rmse")}
    assert {value for value in shown.values() if value is not None} == {1.0}
    said = ok(auctrack("score", truth, truth, "--scores", kind, "--tolerance", 1))
    assert "1.0000" in said


def test_tracks_of_another_movie_are_noticed(auctrack, tmp_path):
    table = pd.DataFrame({"frame": [0, 1, 2], "y": 5.0, "x": [1.0, 2.0, 3.0], "track_id": 1})
    table.to_csv(tmp_path / "truth.csv", index=False)
    table.assign(x=table["x"] + 1000).to_csv(tmp_path / "far.csv", index=False)
    result = auctrack("score", "far.csv", "truth.csv", "--tolerance", 1)
    assert "of one movie" in result.stderr
    assert "nan" not in ok(result)
    assert "of one movie" not in auctrack("score", "truth.csv", "truth.csv", "--tolerance", 1).stderr


def test_a_truth_in_which_there_is_nothing_has_no_shares(auctrack, tmp_path):
    table = pd.DataFrame({"frame": [0, 1, 2], "y": 5.0, "x": [1.0, 2.0, 3.0], "track_id": 1})
    table.to_csv(tmp_path / "found.csv", index=False)
    write_tracks(read_tracks(table).only(table["frame"] > 9), tmp_path / "truth.csv")
    said = ok(auctrack("score", "found.csv", "truth.csv", "--tolerance", 1))
    assert "– complete, – covered" in said
    assert "nan" not in said


@pytest.mark.parametrize("kind", SHOWN)
def test_folders_give_a_row_a_movie_and_the_mean(auctrack, folders, kind):
    words = ("score", "found", "real", "--scores", kind, "--tolerance", 1)
    lines = ok(auctrack(*words, "-o", "scores.csv")).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["one", "two", "mean"]
    assert len({line.split()[1] for line in lines[1:]}) > 1 or kind == "isbi"
    table = pd.read_csv(folders / "scores.csv")
    assert table["movie"].tolist() == ["one", "two"]
    assert set(table.columns) - {"movie"} == set(json.loads(ok(auctrack(*words, "--json")))["one"])


@pytest.mark.usefixtures("folders")
def test_a_table_of_scores_is_not_replaced_unasked(auctrack):
    words = ("score", "found", "real", "--tolerance", 1, "-o", "scores.csv")
    ok(auctrack(*words))
    assert auctrack(*words).exit_code == 1
    ok(auctrack(*words, "--overwrite"))


def test_tables_without_a_partner_are_named(auctrack, folders):
    (folders / "real" / "two.truth.csv").unlink()
    refused = auctrack("score", "found", "real", "--tolerance", 1)
    assert refused.exit_code == 1
    assert "without truth: two" in refused.stderr


@pytest.mark.usefixtures("folders")
def test_a_folder_and_a_table_are_no_pair(auctrack):
    refused = auctrack("score", "found", "real/one.truth.csv", "--tolerance", 1)
    assert refused.exit_code == 1
    assert "two folders" in refused.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--scores", "best"),
        ("--scores", "isbi"),
        ("--scores", "sparse"),
        ("--tolerance", 1, "-o", "scores.txt"),
        ("--tolerance", 1, "--frame-tolerance", 2),
        ("--scores", "isbi", "--tolerance", 1, "--frame-tolerance", 2),
        ("--scores", "lineages", "--max-missed-frames", 1),
        ("--scores", "lineages", "--divisions"),
    ],
)
def test_what_cannot_be_scored_or_written_is_wrong_usage(auctrack, samples, words):
    assert auctrack("score", samples / "movie.truth.csv", samples / "movie.truth.csv", *words).exit_code == 2


def test_divisions_count_by_identity_too(auctrack, tmp_path):
    rows = [(0, 0, 0.0), (0, 1, 0.0), (1, 2, -3.0), (2, 2, 3.0)]
    table = pd.DataFrame(rows, columns=["track_id", "frame", "x"]).assign(y=0.0, true_id=[0, 0, 1, 2])
    write_tracks(Tracks(table, parents={1: [0], 2: [0]}), tmp_path / "cells.csv")
    score = json.loads(ok(auctrack("score", "cells.csv", "cells.csv", "--scores", "lineages", "--json")))
    assert (score["real_divisions"], score["correct_divisions"], score["TRA"]) == (1, 1, 1.0)
    score = json.loads(ok(auctrack("score", "cells.csv", "cells.csv", "--divisions", "--json")))
    assert [score[f"{which}_links"] for which in ("real", "predicted", "correct")] == [3, 3, 3]


@pytest.mark.parametrize("name", ["track_id", "true_id"])
@pytest.mark.parametrize("options", [(), ("--tolerance", 1)], ids=["by identity", "by position"])
def test_rows_of_the_truth_with_a_negative_name_are_not_real(auctrack, tmp_path, name, options):
    table = pd.DataFrame({"frame": [0, 1, 2, 2], "y": 5.0, "x": [1.0, 1, 1, 9], name: [1, 1, 1, -1]})
    table.to_csv(tmp_path / "truth.csv", index=False)
    table.rename(columns={name: "true_id"}).assign(track_id=[4, 4, 4, 5]).to_csv(tmp_path / "found.csv", index=False)
    score = json.loads(ok(auctrack("score", "found.csv", "truth.csv", *options, "--json")))
    assert [score[f"{which}_detections"] for which in ("real", "predicted", "correct")] == [3, 4, 3]


def test_links_across_gaps_are_counted_by_themselves(auctrack, tmp_path):
    table = pd.DataFrame({"frame": range(6), "y": 5.0, "x": 1.0, "track_id": 1})
    table.to_csv(tmp_path / "truth.csv", index=False)
    table.drop(index=2).to_csv(tmp_path / "found.csv", index=False)
    words = ("score", "found.csv", "truth.csv", "--tolerance", 1)
    score = json.loads(ok(auctrack(*words, "--json")))
    assert [score[f"{which}_gap_links"] for which in ("real", "predicted", "correct")] == [1, 1, 1]
    assert (score["real_links"], score["predicted_links"]) == (5, 3)
    (said,) = (line.split() for line in ok(auctrack(*words)).splitlines() if "gap links" in line)
    assert said[2:5] == ["1", "1", "1"]
    assert "not among the links" in ok(auctrack(*words))
    assert "up to 1, in links too" in ok(auctrack(*words, "--max-missed-frames", 1))
    assert "gap links" not in ok(auctrack("score", "truth.csv", "truth.csv", "--tolerance", 1))


@pytest.mark.parametrize(("cuts", "said"), [([3], " 1 switch of identity"), ([2, 4], " 2 switches of identity")])
def test_one_switch_of_identity_is_said_to_be_one(auctrack, tmp_path, cuts, said):
    table = pd.DataFrame({"frame": range(6), "y": 5.0, "x": 1.0, "track_id": 1})
    table.to_csv(tmp_path / "truth.csv", index=False)
    table.assign(track_id=np.searchsorted(cuts, table["frame"], side="right")).to_csv(
        tmp_path / "found.csv", index=False
    )
    assert said in ok(auctrack("score", "found.csv", "truth.csv", "--tolerance", 1))


@pytest.mark.parametrize("words", [(), ("--scores", "isbi"), ("--scores", "lineages")])
def test_frames_that_are_numbered_from_another_number_are_pointed_out(auctrack, tmp_path, samples, words):
    table = pd.read_csv(samples / "movie.truth.csv")[["frame", "z_um", "y_um", "x_um", "track_id"]]
    table.to_csv(tmp_path / "truth.csv", index=False)
    table.assign(frame=table["frame"] + 1).to_csv(tmp_path / "found.csv", index=False)
    shifted = auctrack("score", "found.csv", "truth.csv", "--tolerance", 1, *words)
    assert ok(shifted)
    said = " ".join(shifted.stderr.split())
    assert "if the numbers of the tracks were 1 less, 100% of their detections would lie within --tolerance" in said
    assert "the tracks begin with frame 1, the truth with 0" in said
    assert "numbered" not in auctrack("score", "truth.csv", "truth.csv", "--tolerance", 1, *words).stderr
    table.assign(frame=table["frame"] * 2).to_csv(tmp_path / "halved.csv", index=False)
    said = auctrack("score", "truth.csv", "halved.csv", "--tolerance", 1, *words).stderr
    assert "multiplied by 2" in said
    assert "begin" not in said  # both begin with 0


@pytest.mark.parametrize("frames", ["0:10", ":10", "::3", "1:9:2"])
@pytest.mark.parametrize("words", [("--tolerance", 1), ("--tolerance", 1, "--scores", "lineages"), ()])
def test_frames_that_count_are_those_of_tracks_and_truth(auctrack, tmp_path, samples, words, frames):
    table = pd.read_csv(samples / "movie.truth.csv")
    table.assign(true_id=table["track_id"]).query("frame > 0").to_csv(tmp_path / "found.csv", index=False)
    table.query("frame > 0").to_csv(tmp_path / "truth.csv", index=False)
    score = json.loads(ok(auctrack("score", "found.csv", "truth.csv", *words, "--frames", frames, "--json")))
    what = "edge" if "lineages" in words else "link"
    assert (score[f"{what}_precision"], score[f"{what}_recall"]) == (1.0, 1.0)
    assert score[f"correct_{what}s"] == score[f"predicted_{what}s"] > 0


def test_detections_in_frames_that_the_truth_has_not_are_pointed_out(auctrack, tmp_path, samples):
    table = pd.read_csv(samples / "movie.truth.csv")
    table.to_csv(tmp_path / "found.csv", index=False)
    table.query("5 <= frame < 10").to_csv(tmp_path / "truth.csv", index=False)
    words = "score", "found.csv", "truth.csv", "--tolerance", 1
    assert "--frames 5:10" in auctrack(*words).stderr
    assert "--frames" not in auctrack(*words, "--scores", "sparse").stderr  # where they are not judged
    assert auctrack(*words, "--frames", "5:10").stderr == ""


def test_frames_that_count_in_which_nothing_was_found(auctrack, tmp_path, samples):
    table = pd.read_csv(samples / "movie.truth.csv")
    table.query("frame > 9").to_csv(tmp_path / "found.csv", index=False)
    words = "score", "found.csv", samples / "movie.truth.csv", "--tolerance", 1, "--frames", "0:10", "--json"
    assert json.loads(ok(auctrack(*words)))["predicted_detections"] == 0


@pytest.mark.parametrize("words", [(), ("--scores", "lineages")])
def test_by_identity_other_frame_numbers_and_other_names_are_pointed_out(auctrack, tmp_path, samples, words):
    truth = pd.read_csv(samples / "movie.truth.csv")[["frame", "z_um", "y_um", "x_um", "track_id"]]
    truth.assign(true_id=truth["track_id"]).to_csv(tmp_path / "found.csv", index=False)

    def said(**other: pd.Series) -> str:
        truth.assign(**other).to_csv(tmp_path / "truth.csv", index=False)
        result = auctrack("score", "found.csv", "truth.csv", *words)
        assert ok(result)
        return " ".join(result.stderr.split())

    assert said() == ""
    assert "if the numbers of the tracks were 1 more, 100% of their detections" in said(frame=truth["frame"] + 1)
    assert "if the numbers of the tracks were multiplied by 5, 100%" in said(frame=truth["frame"] * 5)
    assert "only 0% of the detections" in said(track_id=truth["track_id"] + 10_000)


def test_a_truth_in_lengths_that_is_taken_for_voxels_is_pointed_out(auctrack, tmp_path, samples):
    truth = pd.read_csv(samples / "movie.truth.csv")
    lengths = truth[["frame", "z_um", "y_um", "x_um", "track_id"]]
    lengths.set_axis(["frame", "z", "y", "x", "track_id"], axis=1).to_csv(tmp_path / "truth.csv", index=False)
    write_tracks(read_tracks(truth, scale=(1, 0.5, 0.5)), tmp_path / "found.csv")
    words = ("score", "found.csv", "truth.csv", "--tolerance", 0.5)
    said = " ".join(auctrack(*words).stderr.split())
    assert "if they are lengths already (in µm: --truth-voxel 1,1,1), 100% of the detections" in said
    assert "seem" not in auctrack(*words, "--truth-voxel", "1,1,1").stderr


def test_a_truth_with_other_axes_is_pointed_out_with_what_mends_it(auctrack, tmp_path, samples):
    truth = pd.read_csv(samples / "movie.truth.csv")[["frame", "z", "y", "x", "track_id"]]
    write_tracks(read_tracks(truth, scale=(1, 0.5, 0.5)), tmp_path / "found.csv")
    words = ("score", "found.csv", "truth.csv", "--tolerance", 0.5)
    truth.rename(columns={"y": "x", "x": "y"}).to_csv(tmp_path / "truth.csv", index=False)
    assert "by its columns y=x,x=y (--truth-columns), 100%" in " ".join(auctrack(*words).stderr.split())
    assert "seem" not in auctrack(*words, "--truth-columns", "y=x,x=y").stderr
    truth.assign(y=127 - truth["y"]).to_csv(tmp_path / "truth.csv", index=False)
    assert "by 127 - y in place of y, 100%" in " ".join(auctrack(*words).stderr.split())


def test_a_truth_without_z_is_answered_with_the_axes_of_both(auctrack, tmp_path, samples):
    table = pd.read_csv(samples / "movie.truth.csv")[["frame", "y", "x", "track_id"]]
    table.to_csv(tmp_path / "flat.csv", index=False)
    refused = auctrack("score", samples / "movie.truth.csv", "flat.csv", "--tolerance", 1)
    assert refused.exit_code == 1
    said = " ".join(refused.stderr.split())
    assert "3 (z, y, x), the truth 2 (y, x)" in said
    assert "column of z" in said


def linked_detections(samples) -> pd.DataFrame:
    """Return the particles of a movie with tracks of which some are cut, some run on into others, some are false."""
    table = pd.read_csv(samples / "movie.truth.csv").rename(columns={"track_id": "true_id"})
    rng = np.random.default_rng(5)
    table["track_id"] = table["true_id"] + 1000 * (table["frame"] > 9)
    table.loc[rng.random(len(table)) < 0.1, "true_id"] = -1
    return table[rng.random(len(table)) < 0.95].reset_index(drop=True)


@pytest.mark.parametrize(("kind", "score"), [("links", score_links), ("lineages", score_lineages)])
def test_by_identity_positions_change_no_score(auctrack, tmp_path, samples, kind, score):
    found, real = linked_detections(samples), pd.read_csv(samples / "movie.truth.csv")
    real.to_csv(tmp_path / "truth.csv", index=False)
    found.to_csv(tmp_path / "found.csv", index=False)
    found.assign(y=-found["y"], x=0.5).to_csv(tmp_path / "elsewhere.csv", index=False)
    wanted = score(read_tracks(found), read_tracks(real)).summary()
    for name in ("found.csv", "elsewhere.csv"):
        assert json.loads(ok(auctrack("score", name, "truth.csv", "--scores", kind, "--json"))) == wanted


@pytest.mark.parametrize("bad", ["found.csv", "truth.csv"])
def test_by_identity_positions_are_checked_all_the_same(auctrack, tmp_path, samples, bad):
    tables = {"found.csv": linked_detections(samples), "truth.csv": pd.read_csv(samples / "movie.truth.csv")}
    tables[bad].loc[3, "y"] = np.nan
    for name, table in tables.items():
        table.to_csv(tmp_path / name, index=False)
    result = auctrack("score", "found.csv", "truth.csv")
    assert result.exit_code == 1
    assert f"{bad}: column 'y' needs finite numbers; line 5" in " ".join(result.stderr.split())


def test_positions_that_nobody_asks_for_take_no_memory(samples):
    tracks = read_tracks(samples / "movie.truth.csv")
    ids_alone = without_positions(tracks)
    assert isinstance(ids_alone, Tracks)
    assert {ids_alone.table[axis].to_numpy().strides for axis in tracks.axes} == {(0,)}
    for name in set(tracks.table.columns) - set(tracks.axes):
        assert np.shares_memory(ids_alone.table[name].to_numpy(), tracks.table[name].to_numpy())


def test_of_many_detections_some_of_each_frame_are_looked_at(monkeypatch, samples):
    monkeypatch.setattr(no_positions, "_FRAMES", 3)
    monkeypatch.setattr(no_positions, "_OF_A_FRAME", 4)
    tracks = read_tracks(samples / "movie.truth.csv")
    mixed = replace(tracks, table=tracks.table.sample(frac=1, random_state=0).reset_index(drop=True))
    for points in (tracks, mixed):
        some = no_positions.some_of(points)
        assert some.frame_numbers.tolist() == tracks.frame_numbers[[0, 9, 19]].tolist()
        assert some.frame_sizes.tolist() == [4, 4, 4]
        assert len(some.table.merge(points.table)) == 12

"""`auctrack report`: pages that need no other file and no network, and say what the result holds."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.points import Tracks

VOID = {"meta", "img", "br", "link", "hr"}


class Page(HTMLParser):
    """A page as a browser takes it apart: headings, cells, pictures, links; and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.headings, self.pictures, self.links, self.seen = text, [], [], [], []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self._open.append(tag)
        given = dict(attrs)
        if tag == "img":
            self.pictures.append((given["src"], given["alt"]))
        if tag == "a":
            self.links.append(given["href"])

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] == "h2":
            self.headings.append(data)
        if self._open and self._open[-1] not in ("style", "title"):
            self.seen.append(data)

    @property
    def words(self) -> str:
        return " ".join(self.seen)

    def fact(self, name: str) -> str:
        """Return what stands behind a name in a list or table."""
        return self.seen[self.seen.index(name) + 1]

    def setting(self, name: str) -> tuple[str, str]:
        """Return the value of a setting, and why it is that."""
        at = self.seen.index(name)
        return self.seen[at + 1], self.seen[at + 2]


def ok(result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def tracked(auctrack, movie, tmp_path) -> Path:
    ok(auctrack("track", movie, "-o", "out", "--diameter", 3))
    return tmp_path / "out"


def test_a_page_says_what_went_in_what_came_out_and_how_to_do_it_again(auctrack, tracked, movie):
    ok(auctrack("report", tracked / "spots.tracks.csv"))
    page = Page((tracked / "spots.report.html").read_text(encoding="utf-8"))
    assert page.headings == [
        "What went in",
        "Settings",
        "What was learned of the motion",
        "Tracks",
        "What came out",
        "Doubtful links",
        "How it was proven",
        "To do it again",
    ]
    for said in (
        str(movie),
        "y × x = 0.5 × 0.5 µm",
        "measured from the movie",
        "optimal",
        "--config",
        "MSD",
        "µm per frame",
    ):
        assert said in page.words


@pytest.mark.parametrize("later", ["same run again", "another movie into the folder", "summary gone"])
def test_the_proof_of_a_result_is_known_whatever_ran_after_it(auctrack, tracked, movie, summary, later):
    if later == "same run again":
        ok(auctrack("track", movie, "-o", "out", "--diameter", 3))
        assert summary(tracked)["inputs"][0]["figures"]["is_optimal"]
    elif later == "another movie into the folder":
        other = movie.with_name(f"other{movie.name}")
        other.write_bytes(movie.read_bytes())
        ok(auctrack("track", other, "-o", "out", "--diameter", 3))
    else:
        (tracked / "auctrack-summary.json").unlink()
    ok(auctrack("report", tracked / "spots.tracks.csv"))
    page = Page((tracked / "spots.report.html").read_text(encoding="utf-8"))
    assert page.fact("result") == "optimal"
    assert "pairs" in page.words


def test_a_page_of_a_linked_table_knows_its_proof(auctrack, tmp_path):
    pd.DataFrame({"frame": [0, 1, 2], "y": [1.0, 1.5, 2.0], "x": [1.0, 1.0, 1.0]}).to_csv(tmp_path / "in.csv")
    ok(auctrack("link", "in.csv", "-o", "one.csv"))
    ok(auctrack("report", "one.csv"))
    assert Page((tmp_path / "one.report.html").read_text(encoding="utf-8")).fact("result") == "optimal"


def test_a_page_needs_no_other_file_and_holds_pictures_that_open(auctrack, tracked):
    ok(auctrack("report", tracked / "spots.tracks.csv"))
    page = Page((tracked / "spots.report.html").read_text(encoding="utf-8"))
    assert len(page.pictures) >= 5
    for source, alt in page.pictures:
        kind, _, data = source.removeprefix("data:image/").partition(";base64,")
        content = base64.b64decode(data, validate=True)
        assert alt
        assert content.startswith(b"\x89PNG") if kind == "png" else ET.fromstring(content).tag.endswith("svg")
    assert "<script" not in page.text
    assert not re.search(r"(src|href)=\"(?!data:)", page.text)


def test_what_is_in_names_is_shown_and_not_obeyed(auctrack, tracked):
    settings = tracked / "spots.tracks.csv.settings.json"
    known = json.loads(settings.read_text(encoding="utf-8"))
    known["settings"] |= {"source": "<script>alert(1)</script> & 'co'.tif", "figures": {"learned": 7}}
    settings.write_text(json.dumps(known), encoding="utf-8")
    ok(auctrack("report", tracked / "spots.tracks.csv"))
    page = Page((tracked / "spots.report.html").read_text(encoding="utf-8"))
    assert "<script" not in page.text
    assert "<script>alert(1)</script> & 'co'.tif" in page.words


def test_doubtful_links_and_gaps_are_listed_where_the_table_has_them(auctrack, tmp_path):
    rows = {"frame": [0, 1, 2, 4], "y": [0.0, 1, 2, 4], "x": 0.0, "track_id": 7}
    rows["link_probability"] = [1, 0.25, 0.99, 0.5]
    pd.DataFrame(rows).to_csv(tmp_path / "t.tracks.csv", index=False)
    ok(auctrack("report", "t.tracks.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert "Doubtful links" in page.headings
    assert "2 of 3 links are less than 90% probable; 1.3 are expected to be wrong." in page.words
    assert re.search(r"expected to be wrong\W+7\W+3\W+1\.26", page.words)
    assert any("missed" in alt for _, alt in page.pictures)


def test_one_doubtful_link_is_said_to_be_one(auctrack, tmp_path):
    rows = {"frame": [0, 1, 2], "y": [0.0, 1, 2], "x": 0.0, "track_id": 7, "link_probability": [1, 0.25, 0.99]}
    pd.DataFrame(rows).to_csv(tmp_path / "t.tracks.csv", index=False)
    ok(auctrack("report", "t.tracks.csv"))
    assert "1 of 2 links is less than 90% probable" in Page((tmp_path / "t.report.html").read_text("utf-8")).words


def test_where_no_link_has_a_probability_the_page_says_so(auctrack, tmp_path):
    pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 0.0, "track_id": 7}).to_csv(tmp_path / "t.tracks.csv", index=False)
    ok(auctrack("report", "t.tracks.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert "Doubtful links" in page.headings
    assert "no link_probability" in page.words


def test_motion_is_that_of_steps_from_frame_to_frame_and_of_what_was_seen_twice_as_its_charts_say(auctrack, tmp_path):
    moving = {"frame": [0, 1, 2, 5], "y": [0.0, 1, 2, 9], "x": 0.0, "track_id": 0}
    unlinked = {"frame": 3, "y": 50.0 * np.arange(1, 11), "x": 0.0, "track_id": range(1, 11)}
    pd.concat(map(pd.DataFrame, (moving, unlinked))).to_csv(tmp_path / "t.tracks.csv", index=False)
    said = ok(auctrack("measure", "t.tracks.csv"))
    assert re.search(r"moved +median 9 pixels", said)
    ok(auctrack("report", "t.tracks.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert page.fact("net displacement").startswith("median 9 pixels")
    assert page.fact("step") == "median 1 pixel; 10th to 90th percentile 1 to 1"


def test_the_accuracy_expected_is_said_now_and_at_half_the_frame_rate(auctrack, tmp_path):
    steps = np.random.default_rng(0).normal(0, 0.5, (2, 6, 25))
    y, x = np.indices((5, 5)).reshape(2, 1, -1) * 10 + steps.cumsum(1)
    rows = [pd.DataFrame({"frame": frame, "y": y[frame], "x": x[frame]}) for frame in range(6)]
    pd.concat(rows).to_csv(tmp_path / "points.csv", index=False)
    ok(auctrack("link", "points.csv"))
    ok(auctrack("report", "points.tracks.csv"))
    words = Page((tmp_path / "points.report.html").read_text(encoding="utf-8")).words
    assert "The links found are expected to reach an F1 of about 1.000, and at half the frame rate 1.000." in words


def test_links_to_daughters_count_too(auctrack, tmp_path):
    rows = {"frame": [0, 1, 1, 2], "y": [0.0, 1, -1, 1], "x": 0.0, "track_id": [0, 1, 2, 1]}
    rows["link_probability"] = [float("nan"), 0.25, 0.99, 0.5]
    write_tracks(Tracks(pd.DataFrame(rows), parents={1: [0], 2: [0]}), tmp_path / "t.tracks.csv")
    ok(auctrack("report", "t.tracks.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert "2 of 3 links are less than 90% probable; 1.3 are expected to be wrong." in page.words
    assert page.fact("divisions") == "1"


def test_settings_are_given_measured_or_default(auctrack, tmp_path):
    rows = [(frame, 20.0 * k + frame, 5.0) for frame in range(4) for k in range(5)]
    pd.DataFrame(rows, columns=["frame", "y", "x"]).to_csv(tmp_path / "p.csv", index=False)
    ok(auctrack("link", "p.csv", "--motion", "none", "--search-range", 9, "-o", "t.csv"))
    ok(auctrack("report", "t.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert page.setting("link search_range") == ("9 pixels", "given")
    assert page.setting("link motion") == ("none", "given")
    assert page.setting("link max_missed_frames") == ("0", "chosen for the problem at hand")
    assert page.setting("link divisions") == ("false", "default")
    assert page.setting("link unmatched_cost")[0].endswith(" pixels")
    assert page.setting("link unmatched_cost")[1] == "measured from the points"
    assert page.setting("link solver")[0] == "auto: jv"
    assert page.setting("link cost")[0] == "squared"
    assert "link gap_closing_range" not in page.seen
    assert "detect method" not in page.seen
    assert page.fact("points") == str(tmp_path / "p.csv")
    assert "auctrack link" in page.words
    assert "movie" not in page.words


def test_learned_motion_without_contexts_is_not_called_none_which_is_another_setting(auctrack, tmp_path):
    rows = [(frame, 20.0 * k + frame % 2, 5.0) for frame in range(4) for k in range(5)]
    pd.DataFrame(rows, columns=["frame", "y", "x"]).to_csv(tmp_path / "p.csv", index=False)
    ok(auctrack("link", "p.csv", "-o", "t.csv"))
    ok(auctrack("report", "t.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert page.setting("link motion")[0] == "auto: diffusion"


def test_settings_of_which_nobody_knows_who_asked_are_said_to_be(auctrack, tmp_path):
    tracks = Tracks(pd.DataFrame({"frame": [0], "y": 0.0, "x": 0.0, "track_id": 0}))
    write_tracks(tracks, tmp_path / "t.csv", settings={"effective": {"link": {"search_range": 9}}})
    ok(auctrack("report", "t.csv"))
    page = Page((tmp_path / "t.report.html").read_text(encoding="utf-8"))
    assert page.setting("link search_range") == ("9 pixels", "not recorded")


def test_many_tables_get_an_index_that_leads_to_their_pages(auctrack, tracked, tmp_path):
    content = (tracked / "spots.tracks.csv").read_bytes()
    for name in ("a b", "ü%"):
        (tracked / f"{name}.tracks.csv").write_bytes(content)
        (tracked / f"{name}.tracks.csv.settings.json").write_bytes(
            (tracked / "spots.tracks.csv.settings.json").read_bytes()
        )
    ok(auctrack("report", "out", "-o", "pages"))
    index = Page((tmp_path / "pages" / "index.html").read_text(encoding="utf-8"))
    assert index.links == ["a%20b.report.html", "spots.report.html", "%C3%BC%25.report.html"]
    assert len(list((tmp_path / "pages").glob("*.report.html"))) == 3


def test_frozen_frames_of_the_movie_are_on_the_page(auctrack, write_movie, tmp_path):
    import tifffile

    path = write_movie(tmp_path / "in" / "still.ome.tif", frames=6)
    pixels = tifffile.imread(path)
    pixels[3] = pixels[2]
    tifffile.imwrite(path, pixels, metadata={"axes": "TYX"})
    ok(auctrack("track", path, "-o", "out", "--diameter", 3, "--voxel", "0.5,0.5", "--axes", "TYX"))
    ok(auctrack("report", "out"))
    page = Page((tmp_path / "out" / "still.report.html").read_text(encoding="utf-8"))
    assert "Frames to look at" in page.headings
    assert "frozen: frame 3 is" in page.words


def test_a_movie_that_is_gone_is_said_to_be_and_a_page_comes_all_the_same(auctrack, tracked, movie):
    movie.unlink()
    result = auctrack("report", "out")
    ok(result)
    assert "was not found" in result.stderr
    assert (tracked / "spots.report.html").exists()


def test_a_table_without_tracks_makes_a_page(auctrack, tmp_path):
    one = pd.DataFrame({"frame": [0], "y": [1.0], "x": [1.0], "track_id": [0]})
    one.to_csv(tmp_path / "one.tracks.csv", index=False)
    ok(auctrack("report", "one.tracks.csv"))
    assert "Not known" in Page((tmp_path / "one.report.html").read_text(encoding="utf-8")).words


def test_a_picture_says_what_is_behind_the_tracks_where_there_is_a_movie(auctrack, tracked, movie):
    for is_there in (True, False):
        ok(auctrack("report", "out", "--overwrite"))
        _, alt = Page((tracked / "spots.report.html").read_text(encoding="utf-8")).pictures[0]
        assert ("over the brightest pixel" in alt) == is_there
        movie.unlink(missing_ok=True)


def test_what_cannot_be_reported_is_refused(auctrack, tracked, tmp_path):
    (tmp_path / "empty").mkdir()
    assert auctrack("report", "empty").exit_code == 1
    ok(auctrack("report", "out"))
    assert auctrack("report", "out").exit_code == 1
    ok(auctrack("report", "out", "--overwrite"))
    table = tracked / "spots.tracks.csv"
    assert auctrack("report", table, table, "--movie", "m.tif").exit_code == 2


def test_pages_that_stand_in_the_way_are_named_before_any_work(auctrack, tracked, monkeypatch):
    def working(*_: object):
        raise AssertionError("it was worked on")

    (tracked / "spots.report.html").write_text("mine")
    monkeypatch.setattr("auctrack.plugins.report.movie_report.movie_page", working)
    refused = auctrack("report", "out")
    assert (refused.exit_code, "spots.report.html exists" in refused.stderr) == (1, True)
    assert (tracked / "spots.report.html").read_text() == "mine"


def test_tables_of_one_name_do_not_replace_each_others_pages(auctrack, tracked, tmp_path):
    shutil.copytree(tracked, tmp_path / "again")
    for overwrite in ((), ("--overwrite",)):
        refused = auctrack("report", "out", "again", "-o", "pages", *overwrite)
        assert refused.exit_code == 1
        assert "spots.report.html" in refused.stderr
    assert not (tmp_path / "pages").exists()
    ok(auctrack("report", "out", tracked / "spots.tracks.csv", "-o", "pages"))
    assert [page.name for page in (tmp_path / "pages").iterdir()] == ["spots.report.html"]


def looked_at(page: Path) -> dict:
    """Return what a headless Chromium saw of a page."""
    words = [sys.executable, str(Path(__file__).with_name("render_page.py")), str(page)]
    return json.loads(subprocess.run(words, capture_output=True, check=True, timeout=120).stdout)


@pytest.mark.window
def test_a_browser_shows_every_picture_loads_nothing_and_needs_no_sideways_scrolling(auctrack, tracked):
    ok(auctrack("report", tracked / "spots.tracks.csv"))
    seen = looked_at(tracked / "spots.report.html")
    assert len(seen["pictures"]) >= 5
    assert all(seen["pictures"])
    assert (seen["loaded"], seen["headings"][0]) == (0, "What went in")
    assert seen["width"] <= 0


@pytest.mark.window
def test_a_browser_shows_the_index_of_many_whole(auctrack, tracked, tmp_path):
    (tracked / f"{'long ' * 20}.tracks.csv").write_bytes((tracked / "spots.tracks.csv").read_bytes())
    ok(auctrack("report", *sorted(tracked.glob("*.tracks.csv")), "-o", "pages"))
    seen = looked_at(tmp_path / "pages" / "index.html")
    assert seen["loaded"] == 0
    assert seen["width"] <= 0


def test_of_a_folder_all_tracks_are_reported_on_whatever_their_names_and_nothing_else(auctrack, tmp_path):
    rows = [(frame, 20.0 * k + frame, 5.0) for frame in range(4) for k in range(5)]
    pd.DataFrame(rows, columns=["frame", "y", "x"]).to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "runs").mkdir()
    for name in ("first.csv", "second.tracks.csv"):
        ok(auctrack("link", "in.csv", "--motion", "none", "-o", f"runs/{name}"))
    ok(auctrack("measure", "runs/first.csv"))
    ok(auctrack("report", "runs"))
    assert {path.name for path in (tmp_path / "runs").glob("*.html")} == {
        "first.report.html", "second.report.html", "index.html",
    }  # fmt: skip


def test_a_folder_without_tracks_does_not_keep_the_others_from_their_pages(auctrack, tracked, tmp_path):
    (tmp_path / "empty").mkdir()
    result = auctrack("report", "empty", tracked)
    assert result.exit_code == 1
    assert "empty" in result.stderr
    assert (tracked / "spots.report.html").exists()


def test_a_page_goes_where_it_is_named(auctrack, tracked, tmp_path):
    ok(auctrack("report", tracked / "spots.tracks.csv", "-o", "pages/page.html"))
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["page.html"]
    assert Page((tmp_path / "pages" / "page.html").read_text(encoding="utf-8")).headings
    (tmp_path / "v1.html").mkdir()  # whoever made such a folder means it
    ok(auctrack("report", tracked / "spots.tracks.csv", "-o", "v1.html"))
    assert (tmp_path / "v1.html" / "spots.report.html").is_file()


@pytest.mark.parametrize(("tables", "output"), [(2, "page.html"), (1, "page.pdf")])
def test_a_name_that_no_page_can_have_is_wrong_usage(auctrack, tracked, tmp_path, tables, output):
    refused = auctrack("report", *[tracked / "spots.tracks.csv"] * tables, "-o", output)
    assert refused.exit_code == 2
    assert output in refused.stderr
    assert not (tmp_path / output).exists()

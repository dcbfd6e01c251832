"""`--pinned FILE` and `--forbidden FILE`."""

import pandas as pd
import pytest

SPOTS = pd.DataFrame(
    {"frame": [0, 0, 1, 1, 2, 2], "y": [0.0] * 6, "x": [0, 3, 0.1, 3.1, 0.2, 3.2]},
)
LINK = ("link", "spots.csv", "--motion", "none", "--search-range", 5, "--unmatched-cost", 4, "-o", "tracks.csv")


@pytest.fixture
def link(auctrack, tmp_path):
    """Link two particles with some more options; returns typer's result."""
    SPOTS.to_csv(tmp_path / "spots.csv", index=False)

    def call(*words):
        return auctrack(*LINK, *words)

    return call


def track_ids(tmp_path):
    return pd.read_csv(tmp_path / "tracks.csv")["track_id"].tolist()


def test_links_of_a_file_are_made_and_not_made(link, tmp_path):
    pd.DataFrame({"source": [0], "target": [3]}).to_csv(tmp_path / "pins.csv")
    pd.DataFrame({"source": [1], "target": [2]}).to_csv(tmp_path / "bans.csv")
    assert link("--pinned", "pins.csv", "--forbidden", "bans.csv").exit_code == 0
    assert track_ids(tmp_path) == [0, 1, 2, 0, 2, 0]


def test_the_settings_beside_the_result_repeat_it(link, tmp_path):
    names = [f"{end}_{axis}" for end in ("source", "target") for axis in ("frame", "y", "x")]
    pd.DataFrame([[0, 0.0, 0.0, 1, 0.0, 3.1]], columns=names).to_csv(tmp_path / "pins.csv", index=False)
    assert link("--pinned", "pins.csv").exit_code == 0
    (tmp_path / "pins.csv").unlink()
    made = track_ids(tmp_path)
    assert link("--config", "tracks.csv.settings.json", "--overwrite").exit_code == 0
    assert track_ids(tmp_path) == made == [0, 1, 1, 0, 1, 0]


def test_toml_holds_them_as_lists(link, tmp_path):
    (tmp_path / "given.toml").write_text("[link]\nforbidden = [[0, 2], [0, 3]]\n")
    assert link("--config", "given.toml").exit_code == 0
    assert track_ids(tmp_path)[0] not in track_ids(tmp_path)[1:]


def test_a_contradiction_names_the_link(link, tmp_path):
    pd.DataFrame({"source": [0], "target": [3]}).to_csv(tmp_path / "both.csv")
    result = link("--pinned", "both.csv", "--forbidden", "both.csv")
    assert result.exit_code != 0
    assert "0 → 3" in result.output
    assert not (tmp_path / "tracks.csv").exists()


@pytest.mark.parametrize("content", [None, "", "a,b\n1,2\n"])
def test_a_file_without_links_is_refused(link, tmp_path, content):
    if content is not None:
        (tmp_path / "pins.csv").write_text(content)
    result = link("--pinned", "pins.csv")
    assert result.exit_code != 0
    assert "pins.csv" in result.output

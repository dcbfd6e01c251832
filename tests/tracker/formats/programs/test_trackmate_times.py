"""TrackMate's POSITION_T is the frame interval only where it is a multiple of FRAME, the same in every row."""

from __future__ import annotations

from pathlib import Path

import pytest

from auctrack.tracker.formats.tables import read_points

HEADER = "LABEL,ID,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME\n" * 3 + ",,(micron),(micron),(micron),(sec),\n"


@pytest.mark.parametrize(
    ("times", "interval"),
    [((0.0, 2.5, 7.5), 2.5), ((0.0, 2.5, 7.6), None), ((1.0, 3.5, 8.5), None), ((0.0, -2.5, -7.5), None)],
    ids=["even", "one late", "begun before frame 0", "backwards"],
)
def test_only_even_times_are_a_frame_interval(tmp_path: Path, times: tuple[float, ...], interval: float | None) -> None:
    rows = [f"ID{i},{i},{i}.5,1.5,2.5,{t},{f}\n" for i, (t, f) in enumerate(zip(times, (0, 1, 3), strict=True))]
    (tmp_path / "spots.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    assert read_points(tmp_path / "spots.csv").calibration.frame_interval == interval


def test_a_first_frame_alone_states_none(tmp_path: Path) -> None:
    (tmp_path / "spots.csv").write_text(HEADER + "ID0,0,0.5,1.5,2.5,0.0,0\n", encoding="utf-8")
    assert read_points(tmp_path / "spots.csv").calibration.frame_interval is None

"""Which frame each file of a folder is, and what is said where that is not plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from auctrack.tracker.reading.frame_names import timed


def frames_of(*names: str):
    return timed([Path(name) for name in names])


def test_numbers_that_follow_each_other_need_no_word() -> None:
    timeline, note = frames_of("cell2_t007.tif", "cell2_t008.tif", "cell2_t009.tif")
    assert (timeline.numbers, timeline.step, note) == ((0, 1, 2), 1, "")
    assert timeline.files == {0: "cell2_t007.tif", 1: "cell2_t008.tif", 2: "cell2_t009.tif"}


def test_missing_files_are_missing_frames() -> None:
    timeline, note = frames_of(*(f"t{n}.tif" for n in (0, 1, 2, 3, 4, 8, 9, 10, 11)))
    assert timeline.numbers == (0, 1, 2, 3, 4, 8, 9, 10, 11)
    assert timeline.spans() == "0 to 4, 8 to 11"
    assert "3 frames" in note


def test_a_stride_is_found_and_said() -> None:
    timeline, note = frames_of("t0.tif", "t5.tif", "t10.tif", "t20.tif")
    assert (timeline.numbers, timeline.step) == ((0, 5, 10, 20), 5)
    assert "5 apart" in note
    assert "1 frame between" in note


@pytest.mark.parametrize(
    "names",
    [
        ("a.tif", "b.tif", "c.tif"),
        ("t1_z1.tif", "t1_z2.tif", "t2_z1.tif"),
        ("day1/t0.tif", "day2/t5.tif", "day3/t1.tif"),
        ("t1.tif", "t01.tif", "t2.tif"),
        ("a1.tif", "b2.tif", "c3.tif"),
        ("at_120000.tif", "at_120031.tif", "at_120059.tif"),
    ],
    ids=["no number", "two numbers", "folders and numbers", "twice", "other words", "times of the day"],
)
def test_without_one_number_that_counts_the_order_does_and_is_said(names) -> None:
    timeline, note = frames_of(*names)
    assert (timeline.numbers, timeline.step) == ((0, 1, 2), 1)
    assert list(timeline.files.values()) == list(names)
    assert "in the order of their names" in note


def test_one_name_a_folder_is_told_by_its_folder() -> None:
    timeline, _ = frames_of("day1/im.tif", "day2/im.tif", "day4/im.tif")
    assert timeline.files == {0: "day1/im.tif", 1: "day2/im.tif", 3: "day4/im.tif"}

"""Points and calibration: what a table must hold, what it is turned into, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting, InvalidTable
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.timeline import Timeline

from ..refusals import refused


def spots(**columns) -> pd.DataFrame:
    return pd.DataFrame({"frame": [0, 0, 2], "z": [1.0, 2, 3], "y": [4.0, 5, 6], "x": [7.0, 8, 9]} | columns)


class TestTable:
    def test_positions_are_physical_in_the_order_z_y_x(self):
        points = Points(spots(), Calibration(scale=(10, 1, 0.5), unit="µm"))
        np.testing.assert_array_equal(points.positions, [[10, 4, 3.5], [20, 5, 4], [30, 6, 4.5]])

    def test_without_a_z_column_points_are_2d(self):
        points = Points(spots().drop(columns="z"), Calibration(scale=(10, 1, 0.5)))
        assert points.ndim == 2
        np.testing.assert_array_equal(points.positions[0], [4, 3.5])

    @pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]])
    @pytest.mark.parametrize("numbers", [[0, 2, 5], [-3, 0, 70_000], [-(2**62), 0, 2**62]])
    def test_rows_of_each_frame_come_in_the_order_of_time_and_of_the_table(self, numbers, order):
        frames = np.repeat(numbers, [2, 2, 1])[order]
        points = Points(pd.DataFrame({"frame": frames, "y": 0.0, "x": 0.0}))
        rows = {frame: np.arange(5)[own].tolist() for frame, own in points.rows_by_frame()}
        assert list(rows) == numbers
        assert rows == {frame: np.flatnonzero(frames == frame).tolist() for frame in rows}

    def test_some_rows_are_points_of_the_same_movie(self):
        points = Points(spots(), Calibration(scale=(10, 1, 0.5), unit="µm"), timeline=Timeline(2, (0, 2, 4)))
        right = points.only(points.table["x"] > 7)
        assert type(right) is Points
        assert right.table.index.tolist() == [1, 2]
        assert (right.calibration, right.timeline) == (points.calibration, points.timeline)

    def test_integers_become_floats_and_text_numbers_are_read(self):
        points = Points(spots(y=[4, 5, 6], x=["7", "8", "9"], frame=[0.0, 0.0, 2.0]))
        assert points.table["y"].dtype == np.float64
        assert points.frames.dtype == np.int64

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"x": [1.0, np.nan, 2]}, "'x' .*row 1 .*nan"),
            ({"y": [1.0, 2, np.inf]}, "'y' .*row 2 .*inf"),
            ({"z": [1.0, "left", 2]}, "'z' .*row 1 .*'left'"),
            ({"frame": [0, 1.5, 2]}, "'frame' .*row 1 .*1.5"),
            ({"frame": [0, None, 2]}, "'frame' .*row 1"),
            ({"frame": [0, 1e300, 2]}, r"'frame' .*2\*\*63.*row 1 .*1e\+300"),
            ({"y": [0, 1j, 2]}, "'y'"),
            ({"y": pd.Series([0, 1j, 2], dtype=object)}, "'y'"),
            ({"frame": pd.to_datetime(["2026-11-01"] * 3)}, "'frame'"),
            ({"frame": pd.period_range("2026", periods=3, freq="D")}, "'frame'"),
            ({"y": pd.to_timedelta([1, 2, 3], unit="s")}, "'y'"),
        ],
        ids=[
            *("NaN", "infinity", "text", "fractional frame", "missing frame", "huge frame", "complex"),
            *("complex objects", "dates for frames", "days for frames", "times for positions"),
        ],
    )
    def test_what_is_refused(self, columns, message):
        with pytest.raises(InvalidInput, match=message):
            Points(spots(**columns))

    def test_the_first_row_without_a_place_is_named_whatever_its_column_and_all_are_counted(self):
        with pytest.raises(InvalidInput, match=r"'y' .*row 0 has nan; 2 rows in all .* Remove or repair those rows"):
            Points(spots(z=[1.0, np.nan, 2], y=[np.nan, np.inf, 2]))

    @pytest.mark.parametrize("x", [["7um", "8um", "9um"], ["1,000.5", "8", "2,000.5"]], ids=["units", "thousands"])
    def test_rows_that_are_not_numbers_most_of_them_are_not_to_be_removed(self, x):
        with pytest.raises(InvalidInput, match=rf"'x' .*row 0 has '{x[0]}'.*of 3 rows") as caught:
            Points(spots(x=x))
        assert "Remove" not in str(caught.value)

    def test_a_column_without_any_number_is_said_to_be_empty_and_of_z_what_that_may_mean(self):
        with pytest.raises(InvalidInput, match=r"'z' .*empty in all 3.* 2D"):
            Points(spots(z=[np.nan] * 3))
        with pytest.raises(InvalidInput, match=r"'y' .*empty in all 3\.$"):
            Points(spots(y=[np.nan] * 3))

    def test_times_are_no_frames(self):
        with pytest.raises(InvalidInput, match=r"'frame' needs whole numbers.*row 1 has 0\.5.*frame interval"):
            Points(spots(frame=[0.0, 0.5, 1.0]))
        with pytest.raises(InvalidInput, match=r"'frame' .*row 1 has nan\. Remove or repair that row\.$"):
            Points(spots(frame=[0, None, 2], y=[1.0, np.nan, 2]))

    @pytest.mark.parametrize("dtype", [np.int64, np.uint64, "Int64", "category", object])
    def test_large_frame_numbers_stay_apart(self, dtype):
        frames = [2**53, 2**53 + 1, 2**62 + 1]
        assert Points(spots(frame=pd.Series(frames, dtype=dtype))).frames.tolist() == frames

    @pytest.mark.parametrize("given", [np.zeros((3, 4)), {"frame": [0]}, None], ids=["array", "mapping", "nothing"])
    def test_what_is_no_table_is_refused(self, given):
        with pytest.raises(InvalidInput, match=r"^table .*DataFrame"):
            Points(given)

    def test_a_missing_column_is_named(self):
        with pytest.raises(InvalidInput, match=r" y, x.*frame, lat"):
            Points(pd.DataFrame({"frame": [0], "lat": [1.0]}))

    def test_positions_whose_squares_are_no_numbers_are_refused(self):
        with pytest.raises(InvalidInput, match=r"1e\+100 pixel.*2e\+120"):
            _ = Points(spots(x=[0, 1, -2e120])).positions

    def test_a_column_that_comes_twice_is_refused(self):
        table = pd.concat([spots(), spots()[["x"]]], axis=1)
        with pytest.raises(InvalidInput, match="'x'"):
            Points(table)

    def test_tracks_need_a_track_id(self):
        with pytest.raises(InvalidInput, match="track_id"):
            Tracks(spots())

    def test_a_track_has_one_point_a_frame(self):
        with pytest.raises(InvalidInput, match=r"track 7 has two points in frame 0 \(row 1; 1 in all\)"):
            Tracks(spots(track_id=[7, 7, 7]))
        Tracks(spots(track_id=[-1, -1, 7]))  # of no track

    @pytest.mark.parametrize("dtype", ["float64", "uint8", "Int64", "int64[pyarrow]", "category", "object", "str"])
    def test_ids_of_any_type_are_whole_numbers_in_the_table(self, dtype):
        """Joins of pandas make floats of them, or categories: repr, measures and scores had failed on these."""
        table = spots(track_id=pd.Series([0, 1, 1], dtype=dtype))
        tracks, plain = Tracks(table), Tracks(spots(track_id=[0, 1, 1]))
        pd.testing.assert_frame_equal(tracks.table, plain.table)
        assert str(table["track_id"].dtype) == dtype, "the caller's table stays as it is"

    def test_one_column_of_ids_is_needed(self):
        table = spots(track_id=[0, 1, 1])
        with pytest.raises(InvalidTable, match="one column 'track_id'"):
            Tracks(pd.concat([table, table[["track_id"]]], axis=1))

    @pytest.mark.parametrize(
        "ids",
        [[0, 1, 0.5], [0, 1, None], [0, 1, "a"], pd.array([0, 1, None], "Int64"), np.array([0, 1, 2**63], np.uint64)],
        ids=["fractional", "missing", "text", "NA", "too large"],
    )
    def test_ids_of_tracks_are_whole_numbers(self, ids):
        with pytest.raises(InvalidInput, match=r"'track_id' needs whole numbers.* row 2 has"):
            Tracks(spots(track_id=ids))


def in_frames(frames, **options) -> Points:
    return Points(pd.DataFrame({"frame": np.asarray(frames, np.int64), "y": 0.0, "x": 0.0}), **options)


class TestSaid:
    def test_points_are_said_in_a_line(self):
        said = repr(Points(spots(), Calibration(scale=(2, 1, 1), unit="µm")))
        assert said.startswith("<Points: 3 in 2 frames along z, y, x, voxel z × y × x = 2 × 1 × 1 µm")

    def test_in_2d_there_is_no_z(self):
        said = repr(in_frames([0, 1], calibration=Calibration(scale=(2, 0.5, 0.5), unit="µm")))
        assert said.startswith("<Points: 2 in 2 frames along y, x, voxel y × x = 0.5 × 0.5 µm, ")

    def test_points_without_a_track_are_no_track(self):
        assert repr(Tracks(spots(track_id=[-1, 4, 4]))).startswith("<Tracks: 1 of points: 3")

    def test_tracks_are_said_in_a_line_however_many_have_parents(self):
        many = pd.DataFrame({"frame": 0, "y": 0.0, "x": 0.0, "track_id": range(999)})
        said = repr(Tracks(many, parents={child: [0] for child in range(1, 999)}))
        assert said.startswith("<Tracks: 999 of points: 999 in 1 frame along y, x, ")
        assert len(said) < 200


class TestFrameStep:
    @pytest.mark.parametrize("frames", [[], [4], [0, 1, 3], [0, 5, 20], [10, 4, 10**12 + 2], [-3, 3]])
    def test_it_is_never_guessed_from_the_frames_that_hold_points(self, frames):
        points = in_frames(frames)
        assert points.frame_step == 1
        numbers, sizes = np.unique(frames, return_counts=True)
        np.testing.assert_array_equal(points.frame_numbers, numbers)
        np.testing.assert_array_equal(points.frame_sizes, sizes)

    def test_a_stated_step_is_kept(self):
        assert in_frames([0, 5, 20], timeline=Timeline(5)).frame_step == 5

    def test_frames_between_those_of_a_stated_step_are_refused(self):
        with pytest.raises(InvalidInput, match=r"frame step of 5 .*row 2 .*frame 7"):
            in_frames([0, 5, 7], timeline=Timeline(5))

    @pytest.mark.parametrize("step", [0, -1, 1.5, True, "2"])
    def test_a_step_is_a_whole_number_from_1(self, step):
        with pytest.raises(InvalidSetting, match="frame_step"):
            Timeline(step)


class TestCut:
    @pytest.mark.parametrize(("stated", "asked", "step"), [(1, 5, 5), (2, 2, 2), (2, 5, 10)])
    def test_a_step_that_is_asked_for_is_known_afterwards(self, stated, asked, step):
        cut = in_frames(range(0, 40, stated), timeline=Timeline(stated)).cut(slice(None, None, asked))
        assert cut.frame_step == step
        np.testing.assert_array_equal(cut.frame_numbers, range(0, 40, step))

    def test_frames_that_were_looked_at_stay_known(self):
        seen = in_frames([1, 2], timeline=Timeline(1, tuple(range(10))))
        assert seen.cut(slice(None, 8, 2)).timeline == Timeline(2, (0, 2, 4, 6))

    def test_frames_and_region(self):
        points = Points(spots())
        assert points.cut(slice(1, None)).table.index.tolist() == [2]
        assert points.cut(slice(None, None, 2)).table.index.tolist() == [0, 1, 2]
        assert points.cut(roi=(slice(None), slice(4, 6), slice(8, None))).table.index.tolist() == [1]

    @pytest.mark.parametrize("frames", [slice(3, None), slice(1, 2), slice(None, 0)])
    def test_frames_without_a_point_are_refused(self, frames):
        with pytest.raises(InvalidSetting, match="0 to 2"):
            Points(spots()).cut(frames)
        assert len(Points(spots()[:0]).cut(frames)) == 0

    def test_a_range_of_frames_may_be_longer_than_memory(self):
        assert Points(spots()).cut(slice(0, 10**15)).table.index.tolist() == [0, 1, 2]

    def test_ranges_may_be_written_as_in_settings(self):
        points = Points(spots())
        for kept, as_slices in ((points.cut("1:"), points.cut(slice(1, None))), (points.cut("0:9:2"), points)):
            assert kept.table.index.tolist() == as_slices.table.index.tolist()
        region = points.cut(roi=(slice(None), slice(4, 6), slice(8, None)))
        assert points.cut(roi=":,4:6,8:").table.index.tolist() == region.table.index.tolist() == [1]

    def test_the_region_needs_a_range_an_axis(self):
        with refused(InvalidSetting, match="3 ranges", setting="roi"):
            Points(spots()).cut(roi=(slice(None),))


class TestCalibration:
    @pytest.mark.parametrize(
        "scale", [(1, 1), (0, 1, 1), (1, -1, 1), (1, 1, np.nan), (1, 1, np.inf), 2.0, None, "2,1,1", ("2", "1", "1")]
    )
    def test_sizes_must_be_three_and_above_zero(self, scale):
        with pytest.raises(InvalidSetting, match="scale"):
            Calibration(scale=scale)

    @pytest.mark.parametrize("interval", [0, -1, np.nan, "10 s", True])
    def test_the_interval_must_be_a_number_above_zero(self, interval):
        with pytest.raises(InvalidSetting, match="frame_interval"):
            Calibration(frame_interval=interval)

    @pytest.mark.parametrize("unit", [None, 3])
    @pytest.mark.parametrize("name", ["unit", "time_unit"])
    def test_units_must_be_names(self, name, unit):
        with pytest.raises(InvalidSetting, match=f"^{name} "):
            Calibration(**{name: unit})

    def test_it_says_what_it_is(self):
        assert str(Calibration((2, 1, 1), "µm", 5.0, "s")) == "voxel z × y × x = 2 × 1 × 1 µm, frame interval 5 s"


def test_tracks_that_are_cut_descend_only_from_those_that_are_left():
    table = pd.DataFrame({"track_id": [0, 1, 2, 2], "frame": [0, 1, 2, 3], "y": 1.0, "x": [1.0, 1.0, 1.0, 9.0]})
    family = Tracks(table, parents={1: [0], 2: [1]})
    assert family.cut("1:").parents == {2: [1]}
    assert family.cut(roi=":,5:").parents == {}

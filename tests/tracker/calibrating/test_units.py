"""Units of length and time, and what they are worth."""

import re

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.calibrating.stated import Stated, calibrate, three_sizes
from auctrack.tracker.calibrating.units import LENGTHS, TIMES, length_factor, micrometres_of, seconds_of, time_factor
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.points import Points

IN_METRES = {"Å": 1e-10, "nm": 1e-9, "µm": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0}
IN_SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 60.0**2, "d": 24 * 60.0**2}


@pytest.mark.parametrize("unit", LENGTHS)
def test_a_length_is_worth_what_the_si_says(unit):
    assert micrometres_of(unit) == pytest.approx(IN_METRES[unit] / 1e-6, rel=1e-12)


@pytest.mark.parametrize("unit", TIMES)
def test_a_time_is_worth_what_the_si_says(unit):
    assert seconds_of(unit) == pytest.approx(IN_SECONDS[unit], rel=1e-12)


def test_a_unit_is_worth_so_many_of_another_and_one_of_itself_known_or_not():
    assert length_factor("mm", "nm") == pytest.approx(1e6)
    assert time_factor("ms", "h") == pytest.approx(1e-3 / 3600)
    assert (length_factor("furlong", "furlong"), time_factor("fortnight", "fortnight")) == (1.0, 1.0)
    for of, to in (("furlong", "µm"), ("µm", "furlong")):
        with pytest.raises(InvalidSetting, match="furlong"):
            length_factor(of, to)


def test_two_sizes_of_a_plane_leave_z_at_one():
    assert three_sizes((0.5, 0.25), 2) == (1.0, 0.5, 0.25)


def test_pixels_are_one_long_whatever_the_file_states():
    wanted = calibrate(Stated({"z": 2.0, "y": 0.5, "x": 0.5}, "µm"), 3, unit="pixel")
    assert (wanted.scale, wanted.unit) == ((1.0, 1.0, 1.0), "pixel")


def test_frame_numbers_that_no_whole_number_holds_are_refused():
    table = pd.DataFrame({"frame": np.array([0, 2**63], dtype=np.uint64), "y": [0.0, 1.0], "x": [0.0, 1.0]})
    with pytest.raises(InvalidInput):
        Points(table)


@pytest.mark.parametrize("size", [1e-9, 2e-7, 1.1e6, 1e9])
def test_sizes_that_are_absurd_in_micrometres_need_their_unit(size):
    with pytest.raises(InvalidSetting, match=re.escape(f"{size:g} µm is")) as refused:
        calibrate(Stated(), 3, scale=(1.0, size, size))
    assert refused.value.setting == "scale"
    for unit in ("µm", "m", "pixel"):
        assert calibrate(Stated(), 3, scale=(1.0, size, size), unit=unit).scale == (1.0, size, size)


@pytest.mark.parametrize("size", [1e-5, 1e-3, 1e6])
def test_sizes_of_atoms_and_fields_need_none(size):
    assert calibrate(Stated(), 3, scale=(size, size, size)).unit == "µm"


def test_what_is_not_known_is_called_so_as_everywhere():
    assert str(Calibration((1.0, 1.0, 1.0), "µm")).endswith("frame interval not known")
    assert Calibration((1.0, 1.0, 1.0), "µm", 2.0, "s").in_words(2).endswith("frame interval 2 s")

"""Numbers as people read them."""

import math

import pytest

from auctrack.tracker.calibrating.digits import expected, in_digits, in_unit, significant


@pytest.mark.parametrize("value", [1e-4, 0.00123456, 0.5, 1.0, 9.996, 123.456, 99999.5, 12345678.9, 4.2e14])
@pytest.mark.parametrize("digits", [2, 3, 4])
def test_digits_are_kept_without_powers_of_ten(value, digits):
    for text in (significant(value, digits), in_digits(value, digits)):
        assert "e" not in text
        assert float(text) == pytest.approx(value, rel=0.5 * 10 ** (1 - digits))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0246e-12, "1.02e-12"),
        (-1.0246e-12, "-1.02e-12"),
        (1e-10, "1e-10"),
        (9.9e-5, "9.9e-05"),
        (1.26e15, "1.26e+15"),
    ],
)
def test_zeros_that_would_have_to_be_counted_are_a_power_of_ten(value, text):
    assert in_digits(value) == text


def test_whole_numbers_keep_all_digits_and_lengths_no_trailing_zeros():
    assert (significant(1093.4), in_digits(1093.4), in_digits(1090)) == ("1093", "1093", "1090")
    assert (significant(8), in_digits(8), in_digits(2.5)) == ("8.00", "8", "2.5")


@pytest.mark.parametrize("value", [0.0, math.inf, math.nan])
def test_what_has_no_digits_stays_a_word(value):
    assert significant(value) == in_digits(value) == f"{value:g}"


@pytest.mark.parametrize(
    ("unit", "value", "said"),
    [
        ("pixel", 1, "1 pixel"),
        ("pixel", 1.2, "1.2 pixels"),
        ("pixel", 0, "0 pixels"),
        ("detection", 1.0, "1 detection"),
        ("pixel/frame", 2, "2 pixels/frame"),
        ("µm", 1.2, "1.2 µm"),
        ("µm/s", 1.2, "1.2 µm/s"),
        ("", 1.2, "1.2"),
    ],
)
def test_units_that_are_words_have_a_plural(unit, value, said):
    assert in_unit(unit, value) == said


def test_of_hundreds_that_are_expected_no_tenth_is_said():
    assert [expected(number) for number in (0.0, 0.628, 99.94, 99.96, 253.02)] == ["0.0", "0.6", "99.9", "100", "253"]

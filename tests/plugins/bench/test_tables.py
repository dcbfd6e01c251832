"""Numbers as they are shown, tables, and profiles."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.plugins.bench.draw.profiles import performance_profile, speed_up_profile
from auctrack.plugins.bench.draw.steps import steps_text
from auctrack.plugins.bench.draw.tables import (
    Table,
    bytes_text,
    duration,
    grid,
    missing_notes,
    ratio,
    round_time,
    significant,
    times_with_spread,
)
from auctrack.plugins.bench.measure.harness import Case, Experiment, Variant
from auctrack.plugins.bench.measure.record import Cell, Record


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (138.4, "138 s"),
        (12.34, "12.3 s"),
        (1, "1.00 s"),
        (0.9996, "1.00 s"),
        (0.01234, "12.3 ms"),
        (4.2e-6, "4.20 µs"),
        (3e-9, "3.00 ns"),
    ],
)
def test_durations_have_three_digits_and_a_unit(seconds, text):
    assert duration(seconds) == text


def test_times_on_an_axis_are_round_and_bytes_have_three_digits():
    assert [round_time(seconds) for seconds in (0, 1e-5, 0.01, 0.1, 20)] == ["0 s", "10 µs", "10 ms", "100 ms", "20 s"]
    assert [bytes_text(count) for count in (12, 999_600, 1_600_000_000)] == ["12.0 B", "1.00 MB", "1.60 GB"]


@pytest.mark.parametrize(("value", "text"), [(0.0999, "0.0999"), (9.999, "10.0"), (1234.5, "1234"), (0.5, "0.500")])
def test_significant_digits(value, text):
    assert significant(value) == text


def test_a_ratio_of_nothing_is_a_dash():
    assert ratio(3.0, 2.0) == "1.50 ×"
    assert ratio(None, 2.0) == ratio(3.0, None) == "—"


def test_spread_is_half_the_middle_half_and_the_cpu_clock_is_none_of_a_gpu():
    text = times_with_spread("cpu")
    cell = Cell("e", "s", 1, "v", seconds=[5.0] * 5, cpu_seconds=[0.8, 1.0, 1.0, 1.2, 1.2])
    assert text(cell) == "1.00 s ± 10 %"
    cell.device = "cuda"
    assert text(cell) == "5.00 s ± 0 %"


def test_steps_of_a_cpu_are_shares_under_the_cpu_clock_and_those_of_a_gpu_seconds():
    cell = Cell("e", "s", 1, "v", facts=[{"prices_s": 3.0, "paths_s": 1.0, "solve_s": 5.0, "phases": 2}])
    assert steps_text(cell, "cpu") == "prices 75 %, paths 25 %"
    assert steps_text(cell, "wall") == "prices 3.00 s, paths 1.00 s"
    cell.device = "cuda"
    assert steps_text(cell, "cpu") == "prices 3.00 s, paths 1.00 s"


def test_a_grid_drops_variants_without_figures_and_says_why(tmp_path):
    """The third case was not come to: it has no row."""
    record = Record(tmp_path / "r.json", "b", [{}])
    cases = [Case("s", size, lambda _: None) for size in (1, 2, 3)]
    variants = [Variant(name, lambda _: None, lambda *_: {}) for name in ("fast", "slow")]
    variants += [Variant(name, lambda _: None, lambda *_: {}, missing="no GPU") for name in ("gone", "lost")]
    for cell in (
        Cell("e", "s", 1, "fast", seconds=[0.5]),
        Cell("e", "s", 2, "fast", seconds=[2.0]),
        Cell("e", "s", 1, "slow", seconds=[9.0]),
        Cell("e", "s", 2, "slow", why_not="took 9 s at size 1"),
        *(Cell("e", "s", size, name, why_not="no GPU") for size in (1, 2) for name in ("gone", "lost")),
    ):
        record.cells[cell.key] = cell
    table = grid(
        "T",
        Experiment("e", cases, variants, 1),
        record,
        times_with_spread("wall"),
        label=lambda case: f"n = {case.size}",
        beside=lambda case: (str(case.size**2),),
        beside_columns=("paper",),
    )
    assert table.columns == ("", "fast", "slow", "paper")
    assert table.rows == [("n = 1", "500 ms", "9.00 s", "1"), ("n = 2", "2.00 s", "—", "4")]
    assert table.notes == ("gone; lost: no GPU", "slow (s, 2): took 9 s at size 1")


def test_markdown_escapes_what_would_break_a_row():
    text = Table("T", ("", "a|b"), [("x", "1")], ("note",)).markdown()
    assert text.splitlines() == ["**T**", "", "|  | a\\|b |", "| --- | ---: |", "| x | 1 |", "", "- note"]


def test_performance_profile_counts_shares_within_multiples_of_the_best():
    """All curves go on to the largest multiple, as a curve that rises no further is drawn."""
    curves = performance_profile({"a": [1.0, 4.0, 2.0, None], "b": [2.0, 1.0, 2.0, 3.0]})
    np.testing.assert_allclose(curves["a"][0], [1, 1, 4, 4])
    np.testing.assert_allclose(curves["a"][1], [0.25, 0.5, 0.75, 0.75])
    np.testing.assert_allclose(curves["b"][0], [1, 1, 1, 2, 4])
    np.testing.assert_allclose(curves["b"][1], [0.25, 0.5, 0.75, 1, 1])


def test_speed_up_profile_counts_shares_of_at_least_a_speed_up():
    x, share = speed_up_profile({"a": [1.0, 2.0, None, 8.0]}, [4.0, 2.0, 1.0, 2.0])["a"]
    np.testing.assert_allclose(x, [4, 1, 0.25])
    np.testing.assert_allclose(share, [0.25, 0.5, 0.75])


@pytest.mark.parametrize("missing", [None, "no GPU"])
def test_what_a_record_lacked_is_said_alike_where_it_is_there(tmp_path, missing):
    record = Record(tmp_path / "r.json", "b", [{}])
    cases = [Case("s", size, lambda _: None) for size in (1, 2)]
    variants = [Variant("fast", lambda _: None, lambda *_: {})]
    variants.append(Variant("GPU", lambda _: None, lambda *_: {}, missing=missing))
    for size in (1, 2):
        for cell in (Cell("e", "s", size, "fast", seconds=[0.5]), Cell("e", "s", size, "GPU", why_not="no GPU")):
            record.cells[cell.key] = cell
    assert missing_notes(Experiment("e", cases, variants, 1), record) == ["GPU: no GPU"]

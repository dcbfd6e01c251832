"""What an error says of itself: a violator is named to the last member, or the first few of many."""

from __future__ import annotations

import re

import pytest

from auctrack.matching import Infeasible


@pytest.mark.parametrize(
    ("rows", "columns"), [((3,), ()), ((3, 4), (7,)), ((3, 4, 5), (7, 8)), ((2, 3, 4, 5, 6), (7, 8, 9))]
)
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_every_member_of_a_violator_is_named(rows, columns, side):
    error = Infeasible(rows=rows, columns=columns, side=side)
    assert {*rows, *columns} <= set(map(int, re.findall(r"\d+", str(error))))


def test_of_many_members_five_are_named_and_all_are_counted():
    numbers = list(map(int, re.findall(r"\d+", str(Infeasible(rows=range(100, 140), columns=(7,))))))
    assert [number for number in numbers if number >= 100] == [100, 101, 102, 103, 104]
    assert 40 in numbers

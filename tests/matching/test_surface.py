"""The public names of `auctrack.matching`; what importing them must not load, tests/test_package.py says."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType

import pytest

import auctrack.matching


def test_every_public_name_is_there_and_no_module_hides_one():
    for name in auctrack.matching.__all__:
        assert getattr(auctrack.matching, name) is not None
    for module in iter_modules(auctrack.matching.__path__):
        import_module(f"auctrack.matching.{module.name}")
        assert module.name not in auctrack.matching.__all__
    assert isinstance(auctrack.matching.solve, FunctionType)
    assert set(auctrack.matching.__all__) <= set(dir(auctrack.matching))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="munkres"):
        _ = auctrack.matching.munkres  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    "name", ["InvalidProblem", "Infeasible", "NotConverged", "DeviceUnavailable", "DeviceMemoryExceeded"]
)
def test_one_except_clause_catches_every_error(name: str):
    error = getattr(auctrack.matching, name)
    assert issubclass(error, auctrack.matching.AuctrackError)


def test_errors_are_also_what_python_users_expect():
    from auctrack.matching import DeviceMemoryExceeded, Infeasible, InvalidProblem, NotConverged

    assert issubclass(InvalidProblem, ValueError)
    assert issubclass(Infeasible, ValueError)
    assert issubclass(NotConverged, RuntimeError)
    assert issubclass(DeviceMemoryExceeded, MemoryError)

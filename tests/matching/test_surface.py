"""The public names of `auctrack.matching`, and what importing them must not load."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import FunctionType

import pytest

import auctrack.matching


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("package", ["auctrack", "auctrack.matching"])
def test_importing_loads_nothing_heavy(package: str):
    heavy = "{'numba', 'cupy', 'scipy', 'pandas', 'matplotlib', 'napari', 'tifffile'}"
    assert _run(f"import sys, {package}; print(sorted({heavy} & set(sys.modules)))") == "[]"


def test_solve_and_verify_stay_functions_after_their_modules_were_imported():
    code = (
        "import auctrack.matching.solving, auctrack.matching.verification, auctrack.matching.problem;"
        "from auctrack.matching import solve, verify, Problem;"
        "print(type(solve).__name__, type(verify).__name__, type(Problem).__name__)"
    )
    assert _run(code) == "function function type"


def test_every_public_name_is_there_and_no_module_hides_one():
    for name in auctrack.matching.__all__:
        assert getattr(auctrack.matching, name) is not None
    for module in ("solving", "verification", "problem", "assignment", "errors", "solvers", "jv", "sparse_jv"):
        import_module(f"auctrack.matching.{module}")
        assert module not in auctrack.matching.__all__
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

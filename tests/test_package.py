"""The package as installed: what it offers, how light it is to import, and that nothing is left out of the wheel."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import typing
from pathlib import Path
from types import FunctionType

import pytest

import auctrack

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def loaded_after(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", auctrack.__all__)
def test_every_public_name_is_there(name):
    assert getattr(auctrack, name) is not None


@pytest.mark.parametrize("name", sorted({*auctrack.__all__} - {"__version__"}))
def test_annotations_can_be_resolved(name):
    """As magicgui, pydantic and beartype do."""
    found = getattr(auctrack, name)
    for annotated in (found, *(member for member in vars(found).values() if isinstance(member, FunctionType))):
        typing.get_type_hints(annotated)


def test_functions_stay_functions_whatever_was_imported_before():
    import auctrack.matching.certificate.verification
    import auctrack.matching.solving
    import auctrack.tracker.linking.link

    assert callable(auctrack.link)
    assert callable(auctrack.solve)
    assert callable(auctrack.matching.solve)
    assert callable(auctrack.matching.verify)


def test_the_rooms_are_there_without_importing_them():
    code = "import auctrack; print(auctrack.matching.SOLVERS, auctrack.tracker)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_every_call_in_the_readme_is_there_after_importing_auctrack_alone():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    calls = sorted(set(re.findall(r"\bauctrack(?:\.\w+)+(?=\()", text)))
    assert len(calls) >= 5
    code = "import auctrack\n" + "\n".join(f"assert callable({call})" for call in calls)
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_says_so():
    with pytest.raises(AttributeError, match="no attribute 'trak'"):
        _ = auctrack.trak


@pytest.mark.parametrize("name", ["measure", "score", "locate", "filter_stubs", "emsd"])
def test_what_a_command_or_trackpy_calls_a_function_is_answered_with_ours(name):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; it has '") as said:
        getattr(auctrack, name)
    assert str(said.value).split("'")[-2] in auctrack.__all__


@pytest.mark.parametrize(
    "statement", ["import auctrack", "import auctrack.matching", "import auctrack.plugins.cli.app"]
)
def test_importing_is_light(statement):
    heavy = {"numba", "scipy", "pandas", "matplotlib", "cupy", "napari", "tifffile"}
    assert not heavy & loaded_after(statement)


def test_solving_touches_no_gpu_library_on_the_cpu():
    assert "cupy" not in loaded_after("import auctrack; auctrack.solve([[1.0]], device='cpu')")


LEFT_OUT = ("auctrack.plugins.bench.reproduced", "auctrack.plugins.napari.scripted")
"""What only reproduces the papers' tables, and what takes pictures and times of the napari plugin."""


def test_every_package_is_listed_but_what_only_checkouts_use():
    """`packages` is written by hand; one that is missing would be missing from the wheel."""
    folders = {
        path.parent.relative_to(ROOT)
        for room in ("matching", "tracker", "plugins")
        for path in (ROOT / room).rglob("__init__.py")
    }
    expected = {"auctrack"} | {".".join(("auctrack", *folder.parts)) for folder in folders}
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    assert {name for name in expected if name.startswith(LEFT_OUT)} == expected - listed
    assert listed <= expected


@pytest.mark.parametrize("package", ["", "matching"])
def test_a_type_checker_sees_no_name_that_is_not_there(package):
    module = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
    hidden = [
        each for each in module.body if isinstance(each, ast.If) and ast.unparse(each.test) == "not TYPE_CHECKING"
    ]
    named = {each for each in ast.walk(module) if isinstance(each, ast.FunctionDef) and each.name == "__getattr__"}
    assert named == {each for part in hidden for each in part.body if isinstance(each, ast.FunctionDef)}


def test_nothing_in_the_wheel_imports_what_is_left_out_of_it():
    rooms = "|".join(name.rpartition(".")[2] for name in LEFT_OUT)
    for file in (file for file in (ROOT / "plugins").rglob("*.py") if not set(rooms.split("|")) & set(file.parts)):
        text = file.read_text(encoding="utf-8")
        assert not re.search(rf"^\s*(from|import) .*\b({rooms})\b", text, re.MULTILINE), file


@pytest.mark.parametrize("floor", ["plugins", "tracker", "matching"])
def test_the_map_is_drawn_as_imports_are_held(floor):
    drawn = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"┌ {floor}: ")[2].partition("└")[0]
    lines = [line.strip("│ ") for line in drawn.splitlines()[1:]]
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    assert lines == next(each["layers"] for each in contracts if each.get("containers") == [f"auctrack.{floor}"])


def test_no_two_classes_have_one_name():
    """One word for each thing: a reader who finds a class by its name has found the one that is meant."""
    places: dict[str, list[str]] = {}
    for room in ("matching", "tracker", "plugins"):
        for file in (ROOT / room).rglob("*.py"):
            for each in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(each, ast.ClassDef):
                    places.setdefault(each.name, []).append(f"{file.relative_to(ROOT)}:{each.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_every_data_file_is_listed():
    listed = PROJECT["tool"]["setuptools"]["package-data"]
    for room in ("matching", "tracker", "plugins"):
        for file in (ROOT / room).rglob("*"):
            if file.is_file() and file.suffix not in (".py", ".pyc", ".nbi", ".nbc"):
                package = ".".join(("auctrack", *file.parent.relative_to(ROOT).parts))
                assert any(file.match(pattern) for pattern in listed["*"] + listed.get(package, [])), file

"""Mutation testing: change one operator, number or name of the product at random, and see whether a test notices.

    python -m auctrack.tests.mutants tracker/linking --count 10 --seed 1

works on a copy of the tree and prints a line a mutant: file and function, what it became, and the test that killed it
or SURVIVED.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .compiled_cache import CACHE, NUMBA, ROOT

OTHERS: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
TREE = CACHE / "mutants"
"""Always in one place: numba keeps code by the path of its source."""
COMPILED = TREE / "compiled"
FLOORS = ("matching", "tracker", "plugins", "tests")
"""Where compiled functions stand."""
LIMIT_S = 600
"""A test run that takes longer has noticed: such a mutant does not end."""
NOT_HERE = "not gpu and not multigpu and not kernels and not window"


def main() -> None:
    """Make mutants of a room one by one, and run its tests on each, then those of no room."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", help="folders such as tracker/linking, or files")
    parser.add_argument("--count", type=int, default=10, help="mutants a room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--near", action="store_true", help="only the tests of the file and of its room")
    asked = parser.parse_args()
    tree = TREE / "auctrack"
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", ".pytest_cache", "__pycache__"))
    take_over_compiled(tree)
    for room in asked.rooms:
        found = places(room)
        for path, k in random.Random(f"{asked.seed} {room}").sample(found, min(asked.count, len(found))):
            what, text = mutant(path, k)
            killer = killed_by(tree, path, text, near(path) if asked.near else suites(path))
            sys.stdout.write(f"{path} {what}  {killer or 'SURVIVED'}\n")
            sys.stdout.flush()


def places(room: str) -> list[tuple[Path, int]]:
    """Return what can be changed in a folder or file: the files, and which of their expressions."""
    files = [ROOT / room] if room.endswith(".py") else sorted(filter(on_cpu, (ROOT / room).glob("*.py")))
    trees = {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in files}
    return [
        (path, k) for path, tree in trees.items() for k, node in enumerate(running(tree)) if change(copy.copy(node))
    ]


def mutant(path: Path, k: int) -> tuple[str, str]:
    """Return what becomes of one expression of a file, and the text of the changed file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    node = list(running(tree))[k]
    owner, before = dict(functions(tree)).get(node, "module"), ast.unparse(node)
    change(node)
    return f"{owner}: {before} -> {ast.unparse(node)}", ast.unparse(tree)


def on_cpu(path: Path) -> bool:
    """Tell whether a file can be judged without a GPU; the others have to be named."""
    return "gpu" not in path.stem.split("_")


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Yield each node that stands in a function, and that function's name."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        name = f"{within}.{node.name}".lstrip(".") if named else within
        if name:
            yield node, name
        yield from functions(node, name)


def running(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that run, in the order of the text: no annotations, no texts, no messages of errors."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.arguments)):
            continue
        if isinstance(node, ast.expr):
            yield node
        yield from running(node)


def change(node: ast.expr) -> bool:
    """Change an expression; return False where it has nothing to change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHERS:
        node.ops = [OTHERS[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OTHERS:
        node.op = OTHERS[type(node.op)]()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    elif isinstance(node, ast.Constant) and type(node.value) is float and node.value:
        node.value *= 1.25
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        node.attr = NAMES[node.attr]
    elif isinstance(node, ast.Name) and node.id in NAMES:
        node.id = NAMES[node.id]
    else:
        return False
    return True


def killed_by(tree: Path, path: Path, text: str, suites: Iterable[list[str]]) -> str:
    """Return the first test that fails on a changed file, or nothing."""
    (tree / path).write_text(text, encoding="utf-8")
    try:
        for tests in suites:
            if killer := first_failure(tree, path, tests):
                return killer
    finally:
        shutil.copyfile(ROOT / path, tree / path)
    return ""


def suites(path: Path) -> Iterator[list[str]]:
    """Yield the tests of a file, then those of its room and of the rooms around it, then those of no room."""
    rooms = [Path("tests") / room for room in path.parents[:-2]]
    if own := sorted((ROOT / rooms[0]).glob(f"test_{path.stem}*.py")) if rooms else []:
        yield [str(test.relative_to(ROOT)) for test in own]
    for room in rooms:
        if (ROOT / room).is_dir():
            yield [str(room)]
    yield sorted(str(test.relative_to(ROOT)) for test in (ROOT / "tests" / path.parts[0]).glob("test_*.py"))


def near(path: Path) -> Iterator[list[str]]:
    """Yield the tests of a file, then those of the nearest room that has any."""
    for tests in suites(path):
        yield tests
        if (ROOT / tests[0]).is_dir():
            return


def first_failure(tree: Path, path: Path, tests: list[str]) -> str:
    """Return the first test that fails; what numba made of other functions is taken from a cache."""
    here = dict(os.environ, PYTHONPATH=str(tree.parent), PYTHONDONTWRITEBYTECODE="")
    here["NUMBA_CACHE_DIR"] = str(compiled_for(path))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", NOT_HERE, *tests]
    try:
        ran = subprocess.run(command, cwd=tree, env=here, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no end in {LIMIT_S} s of {tests[0]}"
    named = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    return named[1] if named else "" if ran.returncode in (0, 5) else f"exit {ran.returncode} of {tests[0]}"


def take_over_compiled(tree: Path) -> None:
    """Give the copied tree what numba made of the tree itself; it names folders after the paths of sources."""
    COMPILED.mkdir(parents=True)
    for folder in {path.parent for floor in FLOORS for path in (ROOT / floor).rglob("*.py")}:
        here, there = (
            f"{folder.name}_{hashlib.sha1(str(path).encode()).hexdigest()}"
            for path in (folder, tree / folder.relative_to(ROOT))
        )
        if (NUMBA / here).is_dir():
            shutil.copytree(NUMBA / here, COMPILED / there, dirs_exist_ok=True)


def compiled_for(path: Path) -> Path:
    """Return the cache of all mutants or, where the changed file has compiled code, a copy: it would replace theirs."""
    if "import compiled" not in (ROOT / path).read_text(encoding="utf-8"):
        return COMPILED
    own = TREE / "own"
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(COMPILED, own)
    return own


if __name__ == "__main__":
    main()

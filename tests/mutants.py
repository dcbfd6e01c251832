"""Mutation testing: change one operator, number or name of the product at random, and see whether a test notices.

    python -m auctrack.tests.mutants tracker/linking --count 10 --seed 1

works on a copy of the tree and prints a line a mutant: where, what it became, and the test that killed it or SURVIVED.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .compiled_cache import CACHE, ROOT, compiled_sources

OTHERS: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
LIMIT_S = 600
"""A test run that takes longer has noticed: such a mutant does not end."""
NOT_HERE = "not gpu and not multigpu and not kernels and not window"


def main() -> None:
    """Make mutants of a room one by one, and run its tests on each, then those of no room."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", help="folders such as tracker/linking, or files")
    parser.add_argument("--count", type=int, default=10, help="mutants a room")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="auctrack-mutants-") as folder:
        tree = Path(folder) / "auctrack"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", ".pytest_cache", "__pycache__"))
        for room in asked.rooms:
            chosen = random.Random(f"{asked.seed} {room}")
            found = list(mutants(room))
            for path, node, changed in chosen.sample(found, min(asked.count, len(found))):
                killer = killed_by(tree, path, changed)
                sys.stdout.write(f"{path}:{node}  {killer or 'SURVIVED'}\n")
                sys.stdout.flush()


def mutants(room: str) -> Iterator[tuple[Path, str, str]]:
    """Yield file, description and changed text of every mutant of a folder or file."""
    files = [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).glob("*.py"))
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for k, node in enumerate(running(tree)):
            other = copy.deepcopy(tree)
            here = [*running(other)][k]
            if not change(here):
                continue
            yield (
                path.relative_to(ROOT),
                f"{node.lineno}  {ast.unparse(node)} -> {ast.unparse(here)}",
                ast.unparse(other),
            )


def running(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that run, in the order of the text: no annotations, no texts, no messages of errors."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.arguments)):
            continue
        if isinstance(node, ast.expr):
            yield node
        yield from running(node)


def change(node: ast.expr) -> bool:
    """Change an expression in place; return False where it has nothing to change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHERS:
        node.ops[0] = OTHERS[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OTHERS:
        node.op = OTHERS[type(node.op)]()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    elif isinstance(node, ast.Constant) and type(node.value) is float:
        node.value *= 1.25
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        node.attr = NAMES[node.attr]
    elif isinstance(node, ast.Name) and node.id in NAMES:
        node.id = NAMES[node.id]
    else:
        return False
    return True


def killed_by(tree: Path, path: Path, text: str) -> str:
    """Return the first test that fails on a changed file, or nothing."""
    original = (tree / path).read_text(encoding="utf-8")
    (tree / path).write_text(text, encoding="utf-8")
    try:
        for tests in suites(path):
            if killer := first_failure(tree, tests, compiled=ROOT / path in compiled_sources()):
                return killer
    finally:
        (tree / path).write_text(original, encoding="utf-8")
    return ""


def suites(path: Path) -> Iterator[list[str]]:
    """Yield the tests of a file, then those of its room, then those of no room."""
    room = Path("tests") / path.parent
    own = sorted((ROOT / room).glob(f"test_{path.stem}*.py"))
    if own:
        yield [str(test.relative_to(ROOT)) for test in own]
    if (ROOT / room).is_dir():
        yield [str(room)]
    yield sorted(str(test.relative_to(ROOT)) for test in (ROOT / "tests" / path.parts[0]).glob("test_*.py"))


def first_failure(tree: Path, tests: list[str], *, compiled: bool) -> str:
    """Return the first test that fails; what numba made of unchanged sources is taken from one cache."""
    here = dict(os.environ, PYTHONPATH=str(tree.parent), PYTHONDONTWRITEBYTECODE="1")
    if not compiled:
        here["NUMBA_CACHE_DIR"] = str(CACHE / "mutants")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", NOT_HERE, *tests]
    try:
        ran = subprocess.run(command, cwd=tree, env=here, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no end in {LIMIT_S} s of {tests[0]}"
    named = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    return named[1] if named else "" if ran.returncode in (0, 5) else f"exit {ran.returncode} of {tests[0]}"


if __name__ == "__main__":
    main()

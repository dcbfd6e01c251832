"""Where compiled code is kept between test runs: folders named after a hash of the sources it was made from.

numba looks only at the file of a compiled function, not at the functions and constants it takes from other files, so a
cache that outlives a change there would test the code of yesterday.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".pytest_cache" / "compiled"


def numba_folder() -> Path:
    """Return the folder for today's sources, and remove those of other sources."""
    sources = sorted(compiled_sources())
    here = CACHE / f"numba-{digest(path.read_bytes() for path in sources)}"
    for old in CACHE.glob("numba-*"):
        if old != here:
            shutil.rmtree(old, ignore_errors=True)
    return here


def digest(parts: Iterable[bytes]) -> str:
    """Return a short name for what `parts` say."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(len(part).to_bytes(8, "little"))
        sha.update(part)
    return sha.hexdigest()[:16]


@functools.cache
def compiled_sources() -> frozenset[Path]:
    """Return the files with numba functions, and the files whose functions and constants go into them."""
    found: set[Path] = set()
    for path in _modules():
        text = path.read_text(encoding="utf-8")
        if "njit" in text:
            found |= {path, *_imported(path, ast.parse(text))}
    return frozenset(found)


def importers(changed: Path) -> set[Path]:
    """Return a file, and all files of the package that import it, through others too."""
    found = {changed}
    while more := {path for path, taken in _imports().items() if taken & found} - found:
        found |= more
    return found


@functools.cache
def _imports() -> dict[Path, set[Path]]:
    """Return which files each file of the package imports from."""
    return {path: set(_imported(path, ast.parse(path.read_text(encoding="utf-8")))) for path in _modules()}


def _modules() -> Iterator[Path]:
    """Yield the files that numba functions may stand in."""
    for room in ("matching", "tracker"):
        yield from (ROOT / room).rglob("*.py")


def _imported(path: Path, tree: ast.Module) -> Iterator[Path]:
    """Yield the files of the package from which a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for target in (folder.with_suffix(".py"), *(folder / f"{name.name}.py" for name in node.names)):
                if target.is_file():
                    yield target

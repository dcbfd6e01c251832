"""Tables that a program exports side by side, recognised by their names: `edges.csv` beside `spots.csv`."""

from __future__ import annotations

import re
from pathlib import Path


def namesake(path: Path, word: str, other: str) -> Path | None:
    """Return the file beside one whose name has `other` in place of its last `word`, in letters of the same case.

    None where the name has no such word, or no such file stands there.
    """

    def in_its_case(found: re.Match[str]) -> str:
        text = found[0]
        return other.upper() if text.isupper() else other.capitalize() if text[0].isupper() else other

    name = re.sub(f"(?i){word}(?!.*{word})", in_its_case, path.name)
    file = path.with_name(name)
    return file if name != path.name and file.is_file() else None

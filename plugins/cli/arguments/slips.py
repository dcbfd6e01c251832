"""Slips in what is typed, found before the words are parsed: options with one dash, addresses in place of paths."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from itertools import takewhile
from urllib.request import url2pathname

_ONE_DASH = re.compile(r"[-–—](?!-)([^\W\d][\w-]{2,})(?:=.*)?", re.DOTALL)
"""One dash, or a longer one that a text editor makes of two, before a word."""
_ALIKE = 0.8
"""Of 1: how alike two names are spelt that are taken for one."""
_ADDRESS = re.compile(r"(?:--[\w-]+=)?(file:/.*)", re.IGNORECASE | re.DOTALL)


def slip_in(words: Sequence[str], options: Collection[str]) -> str:
    """Return what is wrong with a word, and what was likely meant; empty where nothing is.

    Examples
    --------
    >>> slip_in(["a.tif", "-channel", "GFP"], {"--channel", "-o"})
    'No such option: -channel. Give --channel.'
    >>> slip_in(["-o", "out", "file:///data/my%20cells.tif"], {"--channel", "-o"})
    "file:///data/my%20cells.tif is an address; give the path: '/data/my cells.tif'"
    >>> slip_in(["-oout", "--", "-channel"], {"--channel", "-o"})
    ''
    """
    for word in takewhile(lambda word: word != "--", words):
        if address := _ADDRESS.fullmatch(word):
            return f"{address[1]} is an address; give the path: {shlex.quote(_path_of(address[1]))}"
        dashed = _ONE_DASH.fullmatch(word)
        if dashed and (meant := _meant(dashed[1], options, is_short=word[:2] in options)):
            return f"No such option: {word.partition('=')[0]}. Give {meant}."
    return ""


def _path_of(address: str) -> str:
    without = address[len("file:") :]
    host, slash, path = without[2:].partition("/") if without.startswith("//") else ("", "", without)
    return url2pathname(f"{slash}{path}" if host in ("", "localhost") else without)


def _meant(name: str, options: Collection[str], *, is_short: bool) -> str:
    """Return the option of a name, or what is spelt alike; not where it begins as a short option with its value."""
    written = f"--{name.lower().replace('_', '-')}"
    if written in options:
        return written
    alike = (
        [] if is_short else get_close_matches(written, [each for each in options if each.startswith("--")], 1, _ALIKE)
    )
    return alike[0] if alike else ""

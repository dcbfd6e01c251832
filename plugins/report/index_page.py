"""The index of the reports of many movies."""

from __future__ import annotations

from collections.abc import Mapping

from ... import __version__
from . import html


def index_page(movies: Mapping[str, tuple[str, Mapping[str, str]]]) -> str:
    """Return a table with a row a movie: by its name, the page it leads to and its figures."""
    head = ("movie", *next(iter(figures for _, figures in movies.values())))
    rows = [(name, *figures.values()) for name, (_, figures) in movies.items()]
    shown = html.table(head, rows, [page for page, _ in movies.values()])
    return html.page("Tracked movies", f"{len(movies)} movies; auctrack {__version__}", [html.section("Movies", shown)])

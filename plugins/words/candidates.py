"""How many links were chosen from how many, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tracker.calibrating.digits import counted


def links_of_candidates(report: Mapping[str, Any], form: str = "d") -> str:
    """Return the links that were made and the candidates among which they are, of what linking said.

    `form` is how numbers are written. Results of earlier versions do not say whether all candidates were counted.

    Examples
    --------
    >>> links_of_candidates({"links": 2, "candidate_links": 5})
    '2 of 5 candidates'
    >>> links_of_candidates({"links": 9000, "candidate_links": 10_000_001, "more_candidates": True}, ",")
    '9,000 of more than 10,000,000 candidates'
    """
    known, has_more = report["candidate_links"], report.get("more_candidates", False)
    of = counted(known - 1, "candidate", form) if has_more else counted(known, "candidate", form)
    return f"{report['links']:{form}} of {'more than ' if has_more else ''}{of}"

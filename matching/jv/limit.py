"""The budget of a solve by shortest paths: how many rows they may scan."""

from __future__ import annotations

from ..certificate.not_converged import NotConverged
from ..paths.finish import NO_LIMIT


def scans_allowed(most_scans: int | None, rows: int) -> int:
    """Return how many rows may be scanned for so many rows to be matched; `most_scans` is as of `JV`."""
    return NO_LIMIT if most_scans is None else int(most_scans) * max(rows, 1)


def out_of_scans(most_scans: int | None, *, is_far: bool = False) -> NotConverged:
    """Return the error of a solve whose `most_scans` ran out; `is_far` as there."""
    unfinished = f"most_scans={most_scans} scans for each row did not suffice; raise it, or set it to None for no limit"
    return NotConverged(f"{unfinished}.", is_far=is_far)

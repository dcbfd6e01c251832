"""Scores as text and as tables: one movie by itself, or one row per movie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....tracker.scoring.agreement import Score

Summary = Mapping[str, float | int | None]

SHOWN = {
    "links": {
        "detection_f1": "detections",
        "link_precision": "precision",
        "link_recall": "recall",
        "link_f1": "links F1",
        "track_completeness": "complete",
        "switches": "switches",
    },
    "lineages": {
        "node_f1": "nodes F1",
        "edge_f1": "edges F1",
        "division_f1": "div. F1",
        **{name: name for name in ("DET", "TRA", "LNK", "CHOTA", "HOTA", "CT", "TF", "BC", "CCA")},
    },
    "isbi": {"alpha": "α", "beta": "β", "jsc": "JSC", "jsc_tracks": "JSCθ", "rmse": "RMSE"},
    "sparse": {"edge_jaccard": "edges J", "division_jaccard": "divisions J", "node_recall": "node recall"},
}
"""Figures in the tables of each kind of score, and their headings; --json and -o have them all."""


def by_movie(kind: str, scores: Mapping[str, Summary]) -> str:
    """Return one row per movie, and where there are several their mean."""
    shown = SHOWN[kind]
    rows = [[name, *(_figure(of[figure]) for figure in shown)] for name, of in scores.items()]
    if len(scores) > 1:
        rows.append(["mean", *(_figure(_mean(scores, figure)) for figure in shown)])
    rows.insert(0, ["", *shown.values()])
    widths = [max(len(row[column]) for row in rows) for column in range(len(shown) + 1)]
    return "\n".join("  " + "  ".join(_padded(row, widths)).rstrip() for row in rows)


def _padded(row: list[str], widths: list[int]) -> list[str]:
    """Return a row's cells, its name to the left and its figures to the right."""
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]


def _mean(scores: Mapping[str, Summary], figure: str) -> float | None:
    values = [value for of in scores.values() if (value := of[figure]) is not None]
    return math.fsum(values) / len(values) if values else None


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def links_of_one(score: Score, max_missed_frames: int) -> str:
    """Return what `score_links` says of one movie; of links across gaps only where there are any."""
    pieces = "no" if math.isnan(score.tracks.mean_fragments) else f"{score.tracks.mean_fragments:.2f}"
    complete, covered = (_share(share, ".1%") for share in (score.tracks.completeness, score.tracks.mean_coverage))
    named = [("detections", score.detections), ("links", score.links)]
    gaps = [("gap links", score.gap_links)] if score.gap_links.real or score.gap_links.predicted else []
    switches = "1 switch" if score.tracks.switches == 1 else f"{score.tracks.switches} switches"
    among = f"up to {max_missed_frames}, in links too" if max_missed_frames else "not among the links"
    rows = [
        f"  {'':<11}{'real':>9}{'found':>9}{'right':>9}{'precision':>11}{'recall':>9}{'F1':>9}",
        *(
            f"  {name:<11}{part.real:>9}{part.predicted:>9}{part.correct:>9}"
            f"{_share(part.precision):>11}{_share(part.recall):>9}{_share(part.f1):>9}"
            for name, part in (*named, *gaps)
        ),
        *(f"  {'':<38}   across missed frames: {among}" for _ in gaps),
        f"  {'tracks':<11}{score.tracks.real:>9}{score.tracks.predicted:>9}{score.tracks.complete:>9}"
        f"   {complete} complete, {covered} covered on average,",
        f"  {'':<38}   {pieces} pieces a track, {switches} of identity",
    ]
    return "\n".join(rows)


def _share(value: float, form: str = ".4f") -> str:
    return "–" if math.isnan(value) else f"{value:{form}}"

"""The report of one movie: what went in, what came out, how sure it is, and how to do it again."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ... import __version__
from ...tracker.calibrating.digits import expected, in_digits, in_unit, plural
from ...tracker.detecting.settings import DetectSettings
from ...tracker.formats.graph import count_divisions, count_merges, edges_of
from ...tracker.formats.sidecar import SUFFIX
from ...tracker.kinds import LENGTH
from ...tracker.linking.advice.expected_accuracy import expected_f1
from ...tracker.linking.settings import LinkSettings
from ...tracker.links import PROBABILITY
from ...tracker.measuring.measures import measure_tracks, measure_units
from ...tracker.measuring.msd import mean_squared_displacement
from ...tracker.measuring.steps import count_by_frame, measure_steps
from ...tracker.points import Tracks
from ...tracker.settings import InputSettings, Settings
from ..words.candidates import links_of_candidates
from . import charts, html

_MOST_DOUBTS, _LAGS = 20, 8
_DOUBTFUL = 0.9
"""Probability below which a link is doubtful."""
_LENGTHS = {
    f"{section} {each.name}"
    for section, of in (("detect", DetectSettings), ("link", LinkSettings))
    for each in fields(of)
    if each.metadata == LENGTH
}
"""Settings that have the unit of the positions."""
_MEASURED = ("detect diameter", "detect threshold", "link search_range", "link unmatched_cost")
"""Settings that "auto" reads from the input."""


@dataclass(frozen=True)
class Result:
    """A table of tracks, and what is known of it.

    Parameters
    ----------
    path : Path
        The table.
    tracks : Tracks
    settings : mapping
        What stands beside the table: `source`, `asked` and `effective` settings, `figures` of the run; empty where
        nothing does.
    faults : list of str
        What is odd about the frames of the movie.
    overview : bytes or None
        PNG of the tracks.
    is_over_movie : bool
        Whether the movie is behind them.
    """

    path: Path
    tracks: Tracks
    settings: Mapping[str, Any]
    faults: list[str]
    overview: bytes | None = None
    is_over_movie: bool = False

    @property
    def name(self) -> str:
        """What the movie is called."""
        return Path(self.settings.get("source", self.path)).name

    @property
    def known(self) -> Mapping[str, Any]:
        """The figures of the run; empty where they are not known."""
        figures = self.settings.get("figures")
        return figures if isinstance(figures, Mapping) else {}

    @property
    def behind(self) -> Literal["movie", "labels", "points"]:
        """What was tracked, as far as it is known; "movie" where it is not."""
        kind = self.settings.get("effective", {}).get("input", {}).get("kind", "auto")
        if InputSettings(kind=kind).is_table(self.settings.get("source", "")):
            return "points"
        return "labels" if kind == "labels" else "movie"


def movie_page(result: Result) -> str:
    """Return the page of one movie."""
    return html.page(
        f"Tracks of {result.name}",
        f"{len(result.tracks):,} detections; a report by auctrack {__version__} on {result.path.name}",
        [
            _what_went_in(result),
            html.section("Frames to look at", html.listed(result.faults, "odd")),
            _settings(result),
            _learned(result),
            _pictures(result),
            _what_came_out(result),
            _doubtful(result),
            _proof(result),
            _again(result),
        ],
    )


def figures(result: Result) -> dict[str, str]:
    """Return what the index says of a movie."""
    measures = measure_tracks(result.tracks)
    return {
        "frames": f"{len(count_by_frame(result.tracks)):,}",
        "detections": f"{len(result.tracks):,}",
        "tracks": f"{len(measures):,}",
        "median length": _shown(measures["length"].median()) if len(measures) else "–",
        "proven": _proven(result),
        "to look at": "; ".join(line.partition(":")[0] for line in result.faults) or "–",
    }


def _what_went_in(result: Result) -> str:
    calibration, ndim = result.tracks.calibration, result.tracks.ndim
    sizes = " × ".join(f"{size:g}" for size in calibration.scale_for(ndim))
    interval = calibration.frame_interval
    counts = count_by_frame(result.tracks)
    rows = [
        (result.behind, str(result.settings.get("source", "not known: no settings stand beside the table"))),
        ("tracks", str(result.path)),
        ("voxel", f"{' × '.join(result.tracks.axes)} = {sizes} {calibration.unit}"),
        ("time", "frame interval not known" if interval is None else f"{interval:g} {calibration.time_unit} per frame"),
        ("frames", f"{len(counts):,}"),
    ]
    if len(counts):
        first, last = counts["frame"].min(), counts["frame"].max()
        rows.append(("numbered", f"{first} to {last}" if last > first else f"{first}"))
    return html.section("What went in", html.facts(rows))


def _settings(result: Result) -> str:
    """Return every setting in force, and whether it was given or found."""
    asked, effective = (_flat(result.settings.get(name, {})) for name in ("asked", "effective"))
    usual = _flat(Settings().to_mapping())
    rows: list[tuple[str, str, str]] = []
    for name, value in effective.items():
        if value is None or not _counts(name, effective, result.behind):
            continue
        why = _origin(name, asked.get(name), value, usual.get(name), result.behind) if asked else "not recorded"
        rows.append((name, _in_force(name, value, result), why))
    return html.section("Settings", html.table(("setting", "value", "why"), rows) if rows else "")


def _in_force(name: str, value: Any, result: Result) -> str:
    """Return a setting in words: lengths with their unit, and what "auto" stood for, where that is known."""
    if value == "auto":
        found = result.known.get(name.removeprefix("link "))
        return "auto" if found is None else f"auto: {found}"
    unit = result.known.get("unit", result.tracks.calibration.unit)
    return f"{_shown(value)} {unit if value == 1 else plural(unit)}" if name in _LENGTHS else _shown(value)


def _counts(name: str, effective: Mapping[str, Any], behind: str) -> bool:
    """Whether a setting had any part in the run: nothing is detected in a table, and some are of one way of linking."""
    if name.startswith("detect "):
        return behind == "movie"
    if name in ("link gap_closing_range", "link division_range", "link merge_range"):
        return effective.get("link linking") == "jaqaman"
    return name != "link cost" or effective.get("link motion") == "none"


def _learned(result: Result) -> str:
    lines = result.known.get("learned")
    known = list(map(str, lines)) if isinstance(lines, list) else []
    return html.section("What was learned of the motion", html.listed(known))


def _origin(name: str, asked: Any, value: Any, usual: Any, behind: str) -> str:
    """Return where a setting in force comes from; `usual` is its default."""
    if asked not in (None, "auto"):
        return "default" if asked == usual else "given"
    is_measured = name in _MEASURED and value != "auto"
    return f"measured from the {behind}" if is_measured else "chosen for the problem at hand"


def _flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{before}{name} ") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return flat


def _pictures(result: Result) -> str:
    behind = " over the brightest pixel along each line of sight" if result.is_over_movie else ""
    says = f"Tracks of {result.name}{behind}"
    return html.section("Tracks", html.picture(result.overview, "png", says) if result.overview else "")


def _what_came_out(result: Result) -> str:
    tracks = result.tracks
    measures, steps, units = measure_tracks(tracks), measure_steps(tracks), measure_units(tracks.calibration)
    unit, moving = tracks.calibration.unit, len(steps) > 0
    between = (tracks.unstated_stride or tracks.frame_step) if tracks.timeline.numbers is None else None
    drawn = [charts.counts_chart(count_by_frame(tracks), between)]
    if len(measures):
        drawn.append(charts.histogram_chart(measures["length"], "length", "detection", "tracks", "How long tracks are"))
    curve = mean_squared_displacement(tracks) if moving else None
    if curve is not None:
        drawn.append(charts.histogram_chart(_direct(steps), "displacement", unit, "steps", "Steps from frame to frame"))
        gaps = steps.loc[steps["missed_frames"] > 0, "missed_frames"]
        drawn += [charts.gaps_chart(gaps)] if len(gaps) else []
        drawn.append(charts.msd_chart(curve, units))
    rows = _motion(measures, steps, units, unit)
    if tracks.parents:
        merges = count_merges(tracks)
        rows[1:1] = [("divisions", f"{count_divisions(tracks):,}"), *[("merges", f"{merges:,}")] * bool(merges)]
    at_lags = _lags(curve, units) if curve is not None else ""
    return html.section("What came out", html.facts(rows), html.charts(drawn), at_lags)


def _motion(measures: pd.DataFrame, steps: pd.DataFrame, units: dict[str, str], unit: str) -> list[tuple[str, str]]:
    """Return tracks and their motion in figures: median, and where the middle eight tenths lie; as in the charts."""
    rows = [("tracks", f"{len(measures):,}"), ("gaps", f"{int((steps['missed_frames'] > 0).sum()):,}")]
    moving = measures[measures["length"] > 1]
    for name, values, its_unit in (
        ("length", measures["length"], "detection"),
        ("step", _direct(steps), unit),
        ("speed", moving["mean_speed"].dropna(), units["mean_speed"]),
        ("net displacement", moving["net_displacement"], units["net_displacement"]),
    ):
        if len(values):
            low, middle, high = values.quantile([0.1, 0.5, 0.9])
            spread = f"10th to 90th percentile {in_digits(low)} to {in_digits(high)}"
            rows.append((name, f"median {in_unit(its_unit, middle)}; {spread}"))
    return rows


def _direct(steps: pd.DataFrame) -> pd.Series:
    """Return the lengths of the steps from one frame to the next."""
    return steps.loc[steps["missed_frames"] == 0, "displacement"]


def _lags(curve: pd.DataFrame, units: dict[str, str]) -> str:
    """Return the mean squared displacement at the first lags, with 95 % intervals."""
    known = ["lag_time", "msd", "standard_error", "n_tracks"]
    rows = [
        (f"{lag:g}", in_digits(msd, 4), _interval(msd, error, n), f"{n}")
        for lag, msd, error, n in curve[known].head(_LAGS).itertuples(index=False)
    ]
    head = (f"time lag ({units['lag_time']})", f"MSD ({units['msd']})", "95 % interval", "tracks")
    return html.table(head, rows)


def _interval(mean: float, error: float, tracks: int) -> str:
    """Return the 95 % interval of a mean over tracks, whose error few of them tell badly (Student)."""
    if math.isnan(error):
        return "–"
    half = error * float(stdtrit(tracks - 1, 0.975))
    return f"{in_digits(max(mean - half, 0.0), 4)} to {in_digits(mean + half, 4)}"


def _doubtful(result: Result) -> str:
    """Return the links of least probability, or say that none is known."""
    tracks = result.tracks
    if PROBABILITY not in tracks.table:
        return _without_probability(tracks)
    links = _links(tracks)
    doubtful = links[links["probability"] < _DOUBTFUL].sort_values("probability")
    wrong, now = (1 - links["probability"]).sum(), links["probability"].mean()
    number = f"more than {expected(wrong)}" if result.known.get("more_are_wrong") else expected(wrong)
    are = "is" if len(doubtful) == 1 else "are"
    says = (
        f"{len(doubtful):,} of {len(links):,} links {are} less than {_DOUBTFUL:.0%} probable; "
        f"{number} are expected to be wrong.{_accuracy(result, now)}"
    )
    rows = [
        (str(link.track_id), str(link.frame), f"{link.probability:.3f}", in_digits(link.displacement))
        for link in doubtful.head(_MOST_DOUBTS).itertuples()
    ]
    head = ("track", "into frame", "probability", f"displacement ({tracks.calibration.unit})")
    listed = [html.table(head, rows), _doubtful_tracks(links)] if rows else []
    return html.section("Doubtful links", html.paragraph(says), *listed)


def _doubtful_tracks(links: pd.DataFrame) -> str:
    """Return how many links of each track are expected to be wrong, of the tracks with most."""
    wrong = (1 - links["probability"]).groupby(links["track_id"]).agg(["sum", "size"])
    most = wrong.sort_values("sum", ascending=False, kind="stable").head(_MOST_DOUBTS)
    rows = [(str(track), str(each["size"]), f"{each['sum']:.2f}") for track, each in most.to_dict("index").items()]
    return html.table(("track", "links", "expected to be wrong"), rows)


def _without_probability(tracks: Tracks) -> str:
    says = (
        "How probable links are, and how many are wrong, is not known: the table has no link_probability, as no motion "
        "was learned (motion none, linking jaqaman, or tracks of another program). auctrack score compares them with "
        "a truth."
    )
    return html.section("Doubtful links", html.paragraph(says)) if len(edges_of(tracks)) else ""


def _links(tracks: Tracks) -> pd.DataFrame:
    """Return every link by where it leads to, those from parents to children too.

    Of two links into one detection the table has the lower probability; both get it.
    """
    source, target = edges_of(tracks).T
    position = tracks.positions
    return pd.DataFrame(
        {
            "track_id": tracks.table["track_id"].to_numpy()[target],
            "frame": tracks.frames[target],
            "displacement": np.linalg.norm(position[target] - position[source], axis=1),
            "probability": tracks.table[PROBABILITY].to_numpy()[target],
        }
    )


def _accuracy(result: Result, now: float) -> str:
    """Return the F1 expected of the links, whose mean probability is `now`, and of links between every other frame."""
    settings = Settings.from_mapping(result.settings.get("effective", {}))
    expected = expected_f1(result.tracks, settings.link, every=2)
    if expected is None:
        return ""
    return (
        f" The links found are expected to reach an F1 of about {now:.3f}, and at half the frame rate {expected:.3f}."
    )


def _proof(result: Result) -> str:
    known = result.known
    if "is_optimal" not in known:
        return html.section(
            "How it was proven",
            html.paragraph(f"Not known: there are no settings beside {result.path.name}.", "quiet"),
        )
    rows = [
        ("result", _proven(result)),
        ("links", links_of_candidates(known, ",")),
        ("frame pairs", f"{known['frame_pairs']:,}"),
        ("gap", f"{known['gap']:.3g}: at most so much better, in the unit of the costs, could another set of links be"),
        ("solver", f"{known['solver']} on {known['device']}, {known['solves']} solve{'s' * (known['solves'] != 1)}"),
    ]
    why = (
        "Duals were recomputed in float64; their sum is a lower bound on the cost of any set of links. They "
        "prove that the links are the best for these settings, not that each link is right."
    )
    return html.section("How it was proven", html.facts(rows), html.paragraph(why, "quiet"))


def _proven(result: Result) -> str:
    optimal = result.known.get("is_optimal")
    return "not known" if optimal is None else "optimal" if optimal else "not optimal"


def _again(result: Result) -> str:
    source = result.settings.get("source")
    if source is None:
        return ""
    command = "link" if result.behind == "points" else "track"
    words = ["auctrack", command, str(source), "--config", f"{result.path}{SUFFIX}", "-o", "again"]
    return html.section("To do it again", html.command(shlex.join(words)))


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

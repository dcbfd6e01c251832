"""`auctrack measure`: tracks in, one row of measures a track out, and the mean squared displacement."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....tracker.calibrating.digits import in_digits, in_unit
from ...words.setting_options import INPUT, OF_TABLE, option_of
from ..arguments import options
from ..arguments.command_settings import given_settings, input_beside
from ..arguments.taking import taking
from ..terminal import console

if TYPE_CHECKING:
    import pandas as pd

    from ....tracker.points import Points, Tracks
    from ....tracker.settings import InputSettings
    from ..runs.measures_of_files import Measured

_FORMATS = ("csv", "parquet")
_MISSED = "those between count as missed"
_MEASURED = "msd exponent"  # the longest name of what has an interval
_measures = options.panel("Measures")


@taking(*OF_TABLE, INPUT["frames"], INPUT["roi"])
def command(
    ctx: typer.Context,
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACKS",
            show_default=False,
            help="Table of tracks: .csv, .csv.gz, .tsv, .txt or .parquet; - is standard input. Or several, folders of "
            "them (those with TABLE.settings.json beside) or quoted patterns: one table of the measures of all.",
        ),
    ],
    min_length: Annotated[int, _measures("N", "Leave out tracks of fewer detections.", least=1)] = 1,
    msd: Annotated[
        bool,
        _measures(
            "",
            "Also write the mean squared displacement over all tracks against the time lag, into NAME.msd.csv.",
            "--msd",
        ),
    ] = False,
    per_track: Annotated[bool, _measures("", "With --msd: one curve per track.", "--per-track")] = False,
    per_axis: Annotated[
        bool, _measures("", "With --msd: also that along each axis, msd_z, msd_y and msd_x.", "--per-axis")
    ] = False,
    displacements: Annotated[
        str | None,
        _measures(
            "FRAMES,…",
            "Also write how many displacements over these lags, such as 1,10, are how long along each axis, into "
            "NAME.displacements.csv.",
            "--displacements",
        ),
    ] = None,
    velocity_correlation: Annotated[
        bool,
        _measures(
            "",
            "Also write the autocorrelation of the velocity against the time lag, into NAME.velocity_correlation.csv.",
            "--velocity-correlation",
        ),
    ] = False,
    distance: Annotated[
        float | None,
        _measures(
            "LENGTH",
            "Also write how many particles are around each other, up to this distance, by how many chance would put "
            "there, into NAME.pair_correlation.csv. The only one that a table of points without tracks has too.",
            "--pair-correlation",
        ),
    ] = None,
    max_lag: Annotated[
        int | None,
        _measures(
            "FRAMES",
            "With --msd, --velocity-correlation or --picture: longest lag. Default: the longest track.",
            least=1,
        ),
    ] = None,
    without_drift: Annotated[
        bool,
        _measures(
            "",
            "First subtract the movement that all tracks share, such as drift of the stage or the liquid: from each "
            "frame to the next, the mean step of the tracks seen in both frames.",
            "--subtract-drift",
        ),
    ] = False,
    intervals: Annotated[
        bool,
        _measures(
            "",
            "Also write mean speed, diffusion, the exponent of the mean squared displacement and the rate of "
            "divisions of all tracks with 95 % intervals that include the errors of tracking, into NAME.intervals.csv; "
            "with --msd, --displacements or --velocity-correlation, also for what these write. Thirty trackings are "
            "sampled by their likelihood, with the settings beside the table, or else those of auctrack link; that "
            "takes longer than linking, and where links are guesses many times as long.",
            "--intervals",
        ),
    ] = False,
    picture: Annotated[
        bool,
        options.in_output(
            "",
            "Also draw the mean squared displacement with its errors, and histograms of speed, displacement and "
            "duration, into NAME.measures.png; with --displacements, --velocity-correlation and --pair-correlation "
            "these too.",
            "--picture",
        ),
    ] = False,
    output: Annotated[
        str | None,
        options.in_output(
            "FILE|FOLDER",
            "Measures; .csv or .parquet, or a folder. Default: NAME.measures.csv beside the tracks, of several tables "
            "FOLDER.measures.csv in the folder that holds them all. --msd goes beside the measures.",
            "--output",
            "-o",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        options.in_output(
            "csv|parquet", "Format of the tables. Default: by the ending of the file; CSV in a folder.", "--format"
        ),
    ] = None,
    as_json: options.Json = False,
    overwrite: options.Overwrite = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Measure every track: length, duration, displacement, speed, straightness, mean intensity.

    One row per track; the units are in FILE.settings.json beside the table. Times are in frames and lengths in pixels
    if neither the tracks nor an option state their units. A frame is a step of 1 in frame numbers: of frames 0, 5, 10,
    … each is 5 frames after the one before.

    length: number of detections; missed_frames: frames between first_frame and last_frame without a detection;
    duration: time from first to last frame.

    net_displacement: straight-line distance from first to last position; max_distance: largest distance from the first
    position to another; path_length: sum of the steps; mean_speed: path_length divided by duration; straightness:
    net_displacement divided by path_length, from 0 to 1; mean_turning_angle: mean angle between one step and the next,
    from 0 (straight on) to 180 (back), 90 in free diffusion.

    mean_intensity, mean_quality, mean_snr: means over the track's detections; parent_track_id: where particles divide
    or merge, the track that it comes from.

    With --msd, NAME.msd.csv has one row per lag: lag, in frames; lag_time: the same as time; msd: the mean of the
    squared displacements between positions that far apart; n: how many pairs of positions were averaged; n_tracks: how
    many tracks they come from; standard_error: of msd, from how much tracks differ (displacements within one track
    overlap, so their number means little). An error of positions of variance σ² along each axis adds 2σ² for each axis
    at every lag.

    With --displacements, NAME.displacements.csv has one row per lag, axis and bin that is not empty (the self part of
    the van Hove function): displacement: the middle of the bin; count; density: share of the displacements, over the
    width of the bin; gaussian: that density of a Gaussian of the same mean square; non_gaussian: mean fourth power over
    three times the squared mean square, less 1, which is 0 of a Gaussian and more where some particles go farther than
    others; non_gaussian_error: its standard error, from how much tracks differ; n_tracks: how many they are. An error
    of positions makes non_gaussian smaller: by the square of what the mean square is without it to what it is with it.

    With --velocity-correlation, NAME.velocity_correlation.csv has one row per lag: correlation: the mean of the
    products of two velocities that far apart, over steps between consecutive frames; normalised: the same, in parts of
    that at lag 0; standard_error, n, n_tracks: as of msd. Particles that diffuse have 0 but at lag 0. An error of
    positions of variance σ² along each axis shows as a negative correlation at a lag of one step of the time Δt: it
    takes off σ²/Δt² for each axis there, and adds twice that at lag 0, so that normalised comes out small.

    With --pair-correlation, NAME.pair_correlation.csv has one row per bin of distance, 100 of them: pair_correlation:
    g(r), the pairs of particles of one frame that far apart, by how many they would be if each were anywhere in the
    box that holds all, which should be full of them (1 far away in a liquid); n: how many pairs they are, of all
    frames. All detections count, those without a track and of tracks that --min-length leaves out too. Of a table of
    points that nobody linked it is what is written, and drawn by --picture; there are no measures of tracks then.

    With --intervals, NAME.intervals.csv has a row each for mean_speed (of steps over one frame), diffusion (from the
    growth of the mean squared displacement from one frame to two), msd_exponent (the power of time by which it grows
    from one frame to four: 1 for diffusion, 2 for straight motion) and, where particles divide, division_rate and
    generation_time (from one division to the next): value, standard_error, low, high, unit. The curve of --msd gets
    msd_low and msd_high (not with --per-track), that of --velocity-correlation correlation_low and correlation_high,
    and the table of --displacements non_gaussian_low and non_gaussian_high. They cover both how much tracks differ and
    the errors of tracking. Where the exponent is not 1, diffusion is not a diffusion coefficient; a note says so where
    it is surely farther from 1 than 0.1. A cell is empty if the tracks cannot give its value, such as generation_time
    if no particle is seen from one division to the next; a note says why.

    With --frames and --roi only the detections there are measured: a track is what it has there, and missed_frames
    counts those in which it was elsewhere. With --intervals they are linked again on their own.

    Several tables, such as those of a plate's wells, go into one, whose first column, file, names the table of each
    track from the folder on that holds all of them. Tracks, detections, median length and median speed of each table
    are shown, with --json as JSON. A table that cannot be read, or has another unit than the first, is named; the
    others are measured, and the exit code is 1. --msd, --displacements, --velocity-correlation, --pair-correlation,
    --intervals and --picture are for one table.

    [bold]Examples[/bold]

    auctrack measure movie.tracks.csv --min-length 5 --picture

    auctrack measure spots.csv --voxel 0.2,0.2 --frame-interval 0.5 --msd --subtract-drift

    auctrack measure colloids.csv --displacements 1,10 --pair-correlation 5 --picture

    auctrack measure colloids.points.csv --pair-correlation 5     (of points, linked or not)

    auctrack measure movie.tracks.csv --frames 50:100 --roi :,100:300,: --msd     (late, and in the middle)

    auctrack measure results -o plate.csv     (all tables of tracks in a folder; or 'results/B*.tracks.csv')
    """
    from ....tracker.calibrating.lengths import A_LENGTH, is_above_zero
    from ..runs.track_tables import names_one_table
    from ..terminal.destination import checked_format

    checked_format(format_, _FORMATS)
    written = {
        "msd": msd,
        "displacements": displacements is not None,
        "velocity_correlation": velocity_correlation,
        "pair_correlation": distance is not None,
        "intervals": intervals,
    }
    beside = [what for what, is_asked in written.items() if is_asked]
    lags = None if displacements is None else _lags(displacements)
    if distance is not None and not is_above_zero(distance):
        raise typer.BadParameter(f"needs {A_LENGTH}; got {distance:g}.", param_hint="--pair-correlation")
    asked = _Asked(beside, lags, max_lag, distance, per_track=per_track, per_axis=per_axis, picture=picture)
    asked.refuse_idle()
    given = given_settings({**ctx.params, "min_length": None}).input
    how = _How(given, min_length, without_drift)
    if len(tables) == 1 and names_one_table(tables[0]):
        if as_json:
            raise typer.BadParameter("is for several tables, a folder or a quoted pattern.", param_hint="--json")
        _measure_one(tables[0], how, asked, output, format_, overwrite=overwrite)
        return
    _refuse_for_several(tables, [option_of(what) for what in (*beside, *(["picture"] if picture else []))])
    _measure_several(tables, how, output, format_, as_json=as_json, overwrite=overwrite)


@dataclass(frozen=True)
class _Asked:
    """What is asked for beside the measures: tables, by what they hold, how these are made, and a picture."""

    beside: Sequence[str]
    lags: Sequence[int] | None
    max_lag: int | None
    max_distance: float | None
    per_track: bool
    per_axis: bool
    picture: bool

    def refuse_idle(self) -> None:
        """Refuse options that nothing asked for would use."""
        for name, is_asked in {"--per-track": self.per_track, "--per-axis": self.per_axis}.items():
            if is_asked and "msd" not in self.beside:
                raise typer.BadParameter("goes with --msd only.", param_hint=name)
        if self.max_lag is not None and not (self.picture or {"msd", "velocity_correlation"}.intersection(self.beside)):
            raise typer.BadParameter(
                "goes with --msd, --velocity-correlation or --picture only.", param_hint="--max-lag"
            )

    @property
    def width(self) -> int:
        """The length of the longest name that is shown beside what was written, or found of all."""
        return max([9, *(len(_MEASURED if name == "intervals" else name) for name in self.beside)])

    @property
    def is_of_points(self) -> bool:
        """Whether nothing that is asked for needs tracks, but the measures themselves."""
        return self.max_distance is not None and len(self.beside) == 1 and self.max_lag is None

    def curves(self, kept: Tracks, sampled: Sequence[Tracks], found: Tracks) -> dict[str, pd.DataFrame]:
        """Return the tables by lag, with intervals where trackings are sampled, and by distance, of all `found`."""
        from ....tracker.measuring.displacements import measure_displacements
        from ....tracker.measuring.intervals import (
            msd_intervals,
            non_gaussian_intervals,
            velocity_correlation_intervals,
        )
        from ....tracker.measuring.msd import mean_squared_displacement
        from ....tracker.measuring.pair_correlation import pair_correlation
        from ....tracker.measuring.velocity import velocity_correlation
        from ...words.notes import on_distances, on_lags
        from ..results.measure_intervals import with_intervals

        made: dict[str, pd.DataFrame] = {}
        if "msd" in self.beside:
            curve = mean_squared_displacement(kept, self.max_lag, per_track=self.per_track, per_axis=self.per_axis)
            has_bounds = sampled and not self.per_track
            made["msd"] = with_intervals(curve, msd_intervals(sampled, self.max_lag), "msd") if has_bounds else curve
        if self.lags is not None:
            curve = measure_displacements(kept, self.lags)
            console.note(*on_lags(self.lags, curve["lag"].to_numpy()))
            bounds = non_gaussian_intervals(sampled, self.lags) if sampled else None
            made["displacements"] = curve if bounds is None else with_intervals(curve, bounds, "non_gaussian")
        if "velocity_correlation" in self.beside:
            curve = velocity_correlation(kept, self.max_lag)
            bounds = velocity_correlation_intervals(sampled, self.max_lag) if sampled else None
            made["velocity_correlation"] = curve if bounds is None else with_intervals(curve, bounds, "correlation")
        if self.max_distance is not None:
            made["pair_correlation"] = table = pair_correlation(found, self.max_distance)
            console.note(*on_distances(self.max_distance, table, found))
        return made


def _measure_one(
    given: Path, how: _How, asked: _Asked, output: str | None, format_: str | None, *, overwrite: bool
) -> None:
    """Measure one table, and write what is asked for beside."""
    from ....tracker.errors import NoTracks
    from ....tracker.measuring.drift import subtract_drift
    from ....tracker.measuring.measures import filter_by_length
    from ....tracker.measuring.msd import mean_squared_displacement
    from ...words.notes import on_carried, on_drift, on_length, on_motionless, on_stride, on_unknown_size
    from ..results.measure_intervals import on_linked_anew, sampled_tracks, stated_settings
    from ..runs.inputs import stem
    from ..terminal.destination import destination, make_ready
    from ..terminal.standard_input import STANDARD_INPUT, table_file

    name = "stdin" if given == STANDARD_INPUT else stem(str(given))
    files = _Files.of(destination(output, f"{name}.measures", format_, given.parent, _FORMATS), format_, asked.beside)
    also = [*files.beside.values(), *([files.picture] if asked.picture else [])]
    of_points = asked.is_of_points and how.is_of_points
    make_ready(*([] if of_points else [files.measures]), *also, overwrite=overwrite, inputs=[given])
    has_intervals = "intervals" in asked.beside
    with table_file(given) as file:
        try:
            with console.at_work(name, "reading it"):
                read, drift, unit = _read(file, given, how.given, without_drift=how.without_drift)
                stated = stated_settings(file) if has_intervals else None
        except NoTracks:
            if not of_points:
                raise
            _measure_points(file, given, how, asked, files, overwrite=overwrite)
            return
        make_ready(files.measures, overwrite=overwrite, inputs=[given])
        sampled = sampled_tracks(read, file, stated, how.min_length, name) if has_intervals else []
    console.note(*(on_linked_anew(stated) if has_intervals else ()), *on_unknown_size(read, unit))
    console.note(*on_stride(read, _MISSED))
    console.note(*on_length(read, how.min_length), *on_drift(drift, read.calibration.unit))
    found = read
    if drift is not None:
        read, sampled = subtract_drift(read, drift), [subtract_drift(each) for each in sampled]
    elif asked.beside or asked.picture:
        console.note(*on_carried(read))
    kept = filter_by_length(read, how.min_length)
    measures = _with_parents(kept)
    console.note(*on_motionless(measures))
    made_with = {"source": str(given), **how.made_with}
    _write(measures, kept, files.measures, files.kind, made_with, overwrite=overwrite)
    _report(measures, kept, files.measures, asked.width)
    made_with |= {name: getattr(asked, name) for name in ("lags", "max_lag", "max_distance", "per_track", "per_axis")}
    curves = asked.curves(kept, sampled, found)
    for what, table in curves.items():
        _write(table, kept, files.beside[what], files.kind, made_with, overwrite=overwrite)
        console.show(console.aligned([(what.replace("_", " "), str(files.beside[what]))], asked.width))
    if has_intervals:
        table = _intervals(sampled, name)
        _write(table, kept, files.beside["intervals"], files.kind, made_with, overwrite=overwrite)
        _report_intervals(table, files.beside["intervals"], asked.width)
    if asked.picture:
        from ...report.measure_picture import draw, write_picture

        msd = curves.pop("msd", None)
        msd = mean_squared_displacement(kept, asked.max_lag) if msd is None or asked.per_track else msd
        drawn = draw(measures, msd, kept, given.name, how.min_length, curves)
        write_picture(drawn, files.picture, overwrite=overwrite)
        console.show(console.aligned([("picture", str(files.picture))], asked.width))


def _measure_points(file: Path, given: Path, how: _How, asked: _Asked, files: _Files, *, overwrite: bool) -> None:
    """Write how particles that nobody linked are around each other, the only one of these tables that they have."""
    from ....tracker.formats.tables import read_points
    from ....tracker.measuring.pair_correlation import pair_correlation
    from ...report.measure_picture import draw_points, write_picture
    from ...words.notes import on_distances, on_unknown_size

    assert asked.max_distance is not None  # what makes them measurable
    part = how.given
    with console.at_work(given.name, "measuring it"):
        points = read_points(file, **part.of_table).cut(part.frame_slice, part.roi_slices)
        table = pair_correlation(points, asked.max_distance)
    console.note(*on_unknown_size(points, _unit_asked_for(file, part)))
    console.note(*on_distances(asked.max_distance, table, points))
    (written,) = files.beside.values()
    made_with = {"source": str(given), **how.made_with, "max_distance": asked.max_distance}
    _write(table, points, written, files.kind, made_with, overwrite=overwrite)
    found = console.found_in(len(points), len(points.frame_numbers))
    console.show(console.aligned([("points", f"{found}, without tracks"), ("pair correlation", str(written))]))
    if asked.picture:
        write_picture(draw_points(table, points, given.name), files.picture, overwrite=overwrite)
        console.show(console.aligned([("picture", str(files.picture))], asked.width))


@dataclass(frozen=True)
class _How:
    """How each table is read and measured."""

    given: InputSettings
    min_length: int
    without_drift: bool

    @property
    def is_of_points(self) -> bool:
        """Whether none of it needs tracks."""
        return self.min_length == 1 and not self.without_drift

    @property
    def made_with(self) -> dict[str, Any]:
        """What stands beside the measures of it."""
        part = {name: each for name in ("frames", "roi") if (each := getattr(self.given, name)) is not None}
        return {"min_length": self.min_length, "subtract_drift": self.without_drift, **part}

    def measured(self, table: Path) -> Measured:
        """Measure one table; what there is to note of it is said."""
        from ....tracker.measuring.drift import subtract_drift
        from ....tracker.measuring.measures import filter_by_length
        from ...words.notes import on_drift, on_length, on_motionless, on_stride, on_unknown_size
        from ..runs.measures_of_files import Measured

        with console.at_work(table.name, "measuring it"):
            read, drift, unit = _read(table, table, self.given, without_drift=self.without_drift)
            kept = filter_by_length(read if drift is None else subtract_drift(read, drift), self.min_length)
            measures = _with_parents(kept)
        console.note(
            *on_stride(read, _MISSED), *on_length(read, self.min_length), *on_drift(drift, read.calibration.unit)
        )
        console.note(*on_motionless(measures))
        return Measured(measures, kept.calibration, on_unknown_size(read, unit))


def _measure_several(
    given: Sequence[Path], how: _How, output: str | None, format_: str | None, *, as_json: bool, overwrite: bool
) -> None:
    """Measure several tables into one; those that cannot be measured are named, and do not stop the others."""
    from ....tracker.measuring.measures_file import write_measures_of_files
    from ..runs.measures_of_files import in_one_table, measure_each, names_of, shared_folder, show_json, show_lines
    from ..runs.outcome import SOME_FAILED
    from ..runs.track_tables import all_tables
    from ..terminal.destination import destination, make_ready
    from ..terminal.interrupt import held_back

    tables, without = all_tables(given)
    if not tables:
        raise typer.Exit(SOME_FAILED)
    folder = shared_folder(tables)
    result = destination(output, f"{folder.resolve().name}.measures", format_, folder, _FORMATS)
    make_ready(result, overwrite=overwrite, inputs=tables)
    measured, failed = measure_each(names_of(tables, folder), how.measured)
    if not measured:
        raise typer.Exit(SOME_FAILED)
    console.note(*dict.fromkeys(note for one in measured.values() for note in one.notes))
    kind = format_ or result.suffix.lower().removeprefix(".")
    calibrations = {name: one.calibration for name, one in measured.items()}
    with held_back():
        write_measures_of_files(in_one_table(measured), calibrations, result, kind, how.made_with, overwrite=overwrite)
    (show_json if as_json else show_lines)(measured, failed, result)
    if without or failed:
        raise typer.Exit(SOME_FAILED)


def _refuse_for_several(tables: Sequence[Path], asked: Sequence[str]) -> None:
    """Refuse what is there for one table only."""
    from ..terminal.standard_input import STANDARD_INPUT

    shown = f"{len(tables)} of them" if len(tables) > 1 else f"{tables[0]}, which stands for several"
    for name in asked:
        raise typer.BadParameter(f"is for one table; got {shown}.", param_hint=name)
    if STANDARD_INPUT in tables:
        raise typer.BadParameter(f"- is for one table; got {shown}.", param_hint="TRACKS")


def _read(
    file: Path, table: Path, given: InputSettings, *, without_drift: bool
) -> tuple[Tracks, pd.DataFrame | None, str | None]:
    """Read a table of tracks: return those of the part asked for, their drift if to be subtracted, and the unit."""
    from ....tracker.measuring.drift import measure_drift
    from ..results.tracks_table import read_tracks_table

    read = read_tracks_table(file, table, given.of_table).cut(given.frame_slice, given.roi_slices)
    return read, measure_drift(read) if without_drift else None, _unit_asked_for(file, given)


def _unit_asked_for(file: Path, given: InputSettings) -> str | None:
    """Return the unit that was asked for, now or when the table was made."""
    beside = input_beside(file)
    return given.unit or (beside.unit if beside else None)


def _with_parents(tracks: Tracks) -> pd.DataFrame:
    """Measure every track, and name its parents where tracks divide or merge."""
    from ....tracker.measuring.measures import measure_tracks
    from ....tracker.parent_columns import parent_columns

    measures = measure_tracks(tracks)
    if not tracks.parents:
        return measures
    return measures.assign(**parent_columns(measures["track_id"].to_numpy(), tracks.parents))


@dataclass(frozen=True)
class _Files:
    """Where results go: the measures, other tables by what they hold, a picture."""

    kind: str
    measures: Path
    beside: Mapping[str, Path]
    picture: Path

    @classmethod
    def of(cls, measures: Path, format_: str | None, beside: Sequence[str]) -> _Files:
        """Return where the others go by where the measures do, which leaves each its own place."""
        from ..runs.inputs import stem
        from ..terminal.destination import SUFFIXES

        kind = format_ or measures.suffix.lower().removeprefix(".")
        others = {what: measures.with_name(f"{stem(measures.name)}.{what}{SUFFIXES[kind]}") for what in beside}
        for what, path in others.items():
            if path == measures:
                raise typer.BadParameter(
                    f"{measures} is where the curve of {option_of(what)} goes; give another name.",
                    param_hint="--output",
                )
        picture = measures.with_name(f"{measures.name.removesuffix(SUFFIXES[kind])}.png")
        return cls(kind, measures, others, picture)


def _lags(text: str) -> list[int]:
    """Read the lags of --displacements."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise typer.BadParameter(
            f"needs whole numbers of frames of at least 1, such as 1,10; got {text!r}.", param_hint="--displacements"
        )
    return list(map(int, parts))


def _intervals(sampled: Sequence[Tracks], name: str) -> pd.DataFrame:
    from ....tracker.measuring.intervals import ensemble_intervals

    with console.at_work(name, "measuring on each of its likely trackings"):
        return ensemble_intervals(sampled)


def _report_intervals(table: pd.DataFrame, written: Path, width: int) -> None:
    from ..results.measure_intervals import on_unknown, said

    console.show(console.aligned([*said(table), ("intervals", str(written))], width))
    console.note(*on_unknown(table))


def _write(
    table: pd.DataFrame, points: Points, path: Path, kind: str, made_with: dict[str, Any], *, overwrite: bool
) -> None:
    """Write a table of measures; Ctrl+C waits until it is there."""
    from ....tracker.measuring.measures_file import write_measures
    from ..terminal.interrupt import held_back

    with held_back():
        write_measures(table, points, path, kind, made_with, overwrite=overwrite)


def _report(measures: pd.DataFrame, tracks: Tracks, result: Path, width: int) -> None:
    from ....tracker.measuring.measures import measure_units

    units = measure_units(tracks.calibration)
    rows, moving = [("tracks", f"{len(measures)}")], measures[measures["length"] > 1]
    for name, column in (("length", "length"), ("moved", "net_displacement"), ("speed", "mean_speed")):
        known = measures[column] if name == "length" else moving[column].dropna()
        if len(known):
            low, middle, high = known.quantile([0.1, 0.5, 0.9])
            median = in_unit(units.get(column, "detection"), middle)
            rows.append((name, f"median {median}; 10th to 90th percentile {in_digits(low)} to {in_digits(high)}"))
    console.show(console.aligned([*rows, ("written", str(result))], width))

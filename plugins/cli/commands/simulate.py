"""`auctrack simulate`: a movie or a point table with exact truth."""
# ruff: noqa: ARG001 - the options reach `_swarm` and `_camera` through the context

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....tracker.calibrating.digits import counted, in_digits
from ....tracker.suffixes import OME_TIFF, PLAIN_TABLES, TRUTH, without_ending
from ...words.setting_options import option_of
from ..arguments import options
from ..arguments.command_settings import usage
from ..terminal import console

if TYPE_CHECKING:
    from ....tracker.simulating.render import RenderSettings
    from ....tracker.simulating.simulate import Simulation, SimulationSettings

_BYTES_WRITTEN = 2
_BYTES_A_VOXEL = 8 + 2  # of the frame that is drawn: expected photons, and what the camera reads of them
_BYTES_AT_REST = 250e6  # Python with its libraries
_SECONDS_A_VOXEL = 1.4e-7  # of drawing and compressing, on one core
_OPTIONS = {
    "spacing_um": "spacing",
    "box_um": "box",
    "death_rate": "deaths",
    "birth_rate": "births",
    "localisation_error_um": "localisation_error",
    "frame_interval_s": "frame_interval",
    "voxel_um": "voxel",
    "psf_sigma_um": "psf_sigma",
}
"""Options that are called otherwise than their settings."""
_ENDINGS = (*OME_TIFF, *PLAIN_TABLES)
_movement, _detector, _microscope = map(
    options.panel, ("Particles and how they move", "Detector (points only)", "Microscope (movies only)")
)


def command(
    ctx: typer.Context,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            show_default=False,
            help="NAME.ome.tif for a movie; NAME.csv or NAME.parquet for a table of points.",
        ),
    ],
    particles: Annotated[int, _movement("N", "Particles in the first frame.")] = 1000,
    frames: Annotated[int, _movement("N", "Frames.")] = 10,
    ndim: Annotated[int, _movement("2|3", "Dimensions of space.")] = 3,
    spacing: Annotated[
        float,
        _movement("LENGTH", "Mean distance between nearest neighbours in µm; it sets the size of the box."),
    ] = 10.0,
    box: Annotated[
        str | None,
        _movement("Z,Y,X", "Edges of the box in µm, instead of --spacing. Example: 20,100,100."),
    ] = None,
    persistence: Annotated[float, _movement("0…1", "0: every step in a new direction; 1: straight lines.")] = 0.9,
    step: Annotated[float, _movement("FACTOR", "Mean step, as a fraction of the spacing.")] = 0.3,
    step_um: Annotated[float | None, _movement("LENGTH", "Mean step in µm, instead of --step.")] = None,
    walls: Annotated[str, _movement("reflect|leave", "At a wall, particles bounce off or leave.")] = "reflect",
    births: Annotated[float, _movement("RATE", "New particles per frame, as a fraction of --particles.")] = 0.0,
    deaths: Annotated[float, _movement("RATE", "Fraction of the particles that vanish per frame.")] = 0.0,
    keep_density: Annotated[
        bool,
        _movement(
            "",
            "Replace every particle that is lost; one that left, by one that enters opposite: across a thin box "
            "linking may take the two for one that jumped.",
            "--keep-density",
        ),
    ] = False,
    frame_interval: Annotated[float, _movement("SECONDS", "Time between two frames.")] = 1.0,
    seed: Annotated[int, _movement("N", "The same seed gives the same data.")] = 0,
    missed: Annotated[float, _detector("RATE", "Fraction of the particles missed per frame.")] = 0.0,
    false: Annotated[
        float,
        _detector("RATE", "False detections per frame, as a fraction of the real ones.", "--false"),
    ] = 0.0,
    localisation_error: Annotated[
        str | None,
        _detector("LENGTH|Z,Y,X", "Standard deviation of positions in µm, one for all axes or one per axis."),
    ] = None,
    voxel: Annotated[str | None, _microscope("Z,Y,X", "Voxel size in µm. Default: 1,0.5,0.5.")] = None,
    psf_sigma: Annotated[
        str | None,
        _microscope("Z,Y,X", "Standard deviation of a spot in µm. Default: 1.5,0.75,0.75."),
    ] = None,
    peak: Annotated[float, _microscope("PHOTONS", "Mean brightness of a spot's centre.")] = 100.0,
    peak_spread: Annotated[
        float, _microscope("FRACTION", "Standard deviation of brightness, as a fraction of --peak.")
    ] = 0.25,
    background: Annotated[float, _microscope("PHOTONS", "Uniform background per voxel.")] = 10.0,
    read_noise: Annotated[float, _microscope("PHOTONS", "Read noise of the camera.")] = 1.5,
    overwrite: options.Overwrite = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Simulate particles wandering through a box, as a movie or a table of detections, with the exact truth.

    A movie NAME.ome.tif comes with NAME.truth.csv: where each particle is, in voxels and in µm. A table holds what a
    detector would report, in µm; NAME.truth.csv holds every particle in every frame.

    [bold]Examples[/bold]

    auctrack simulate movie.ome.tif --particles 60 --box 15,64,64 --step-um 1

    auctrack simulate points.csv --missed 0.05 --false 0.05 --seed 7
    """
    from ....tracker.formats.sidecar import sidecar_path
    from ..terminal.destination import make_ready

    if not output.name.lower().endswith(_ENDINGS):
        raise typer.BadParameter(
            f"needs a name that ends in .ome.tif, .csv or .parquet; got {output}.", param_hint="OUT"
        )
    is_movie = output.name.lower().endswith(OME_TIFF)
    _refuse_idle(ctx, output, is_movie=is_movie)
    with usage(options=_OPTIONS):
        swarm, camera = _swarm(ctx.params), _camera(ctx.params)
        expected = _expected(output, swarm, camera) if is_movie else ""
    truth = _truth_beside(output)
    _refuse_truth_of_another(truth, output)
    beside = [sidecar_path(table) for table in ((truth,) if is_movie else (output, truth))]
    make_ready(output, truth, *beside, overwrite=overwrite, elsewhere="another OUT")
    from ....tracker.simulating.simulate import simulate

    if expected:
        console.say(expected)
    with console.progress(output.name, nouns={"draw": "plane"}) as progress:
        simulation = simulate(swarm, progress=lambda done, total: progress("simulate", done, total))
        if is_movie:
            from ....tracker.simulating.render import render

            drawn = partial(progress, "draw")
            paths: tuple[Path, ...] = render(simulation, output, camera, overwrite=overwrite, progress=drawn)
        else:
            paths = _write_tables(simulation, output, truth, overwrite=overwrite)
    _report(simulation, paths, is_movie=is_movie)


def _swarm(given: Mapping[str, Any]) -> SimulationSettings:
    """Return how particles move and what the detector does, by the options of the command."""
    from ....tracker.simulating.simulate import SimulationSettings

    alike = ("particles", "frames", "ndim", "persistence", "step", "step_um", "walls", "keep_density", "seed")
    detector = ("missed", "false")
    renamed = ("spacing_um", "death_rate", "birth_rate", "frame_interval_s")
    error = _numbers("--localisation-error", given["localisation_error"]) or (0.0,)
    return SimulationSettings(
        **{name: given[name] for name in (*alike, *detector)},
        **{name: given[_OPTIONS[name]] for name in renamed},
        box_um=_numbers("--box", given["box"]),
        localisation_error_um=error[0] if len(error) == 1 else error,
    )


def _expected(output: Path, swarm: SimulationSettings, camera: RenderSettings) -> str:
    """Return what a movie will be, and what making it takes, in words."""
    from ....tracker.simulating.render import movie_shape

    shape = movie_shape(swarm, camera)
    voxels = math.prod(shape)
    written, memory = voxels * swarm.frames * _BYTES_WRITTEN, voxels * _BYTES_A_VOXEL + _BYTES_AT_REST
    seconds = max(voxels * swarm.frames * _SECONDS_A_VOXEL, 1)
    return (
        f"{output.name}: {counted(swarm.frames, 'frame')} of {' × '.join(map(str, shape))} voxels, {_size(written)} "
        f"before compression; takes about {seconds:.0f} s and {_size(memory)} of memory"
    )


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{max(size / 1e6, 0.1):.1f} MB"


def _camera(given: Mapping[str, Any]) -> RenderSettings:
    """Return how particles are drawn, by the options of the command; sizes that were not given keep their default."""
    from ....tracker.simulating.render import RenderSettings

    voxel, sigma = _numbers("--voxel", given["voxel"]), _numbers("--psf-sigma", given["psf_sigma"])
    sizes: dict[str, Any] = {} if voxel is None else {"voxel_um": voxel}
    if sigma is not None:
        sizes["psf_sigma_um"] = sigma
    light = ("peak", "peak_spread", "background", "read_noise", "seed")
    return RenderSettings(**{name: given[name] for name in light}, **sizes)


def _report(simulation: Simulation, paths: Sequence[Path], *, is_movie: bool) -> None:
    """Show what was made."""
    truth, swarm = simulation.truth, simulation.settings
    real = counted(truth.table["track_id"].nunique(), "particle")
    frames = counted(swarm.frames, "frame")
    detected, seen = len(simulation.detections), len(simulation.detections.frame_numbers)
    rows = [
        ("truth", f"{real}, {counted(len(truth), 'position')} in {frames}"),
        *([] if is_movie else [("points", console.found_in(detected, seen))]),
        ("spacing", f"{in_digits(swarm.mean_spacing_um)} µm, mean step {in_digits(swarm.mean_step_um)} µm"),
        *(("written", str(path)) for path in paths),
    ]
    console.show(console.aligned(rows))


def _truth_beside(output: Path) -> Path:
    """Return where the truth goes: beside the movie or table, under the same name."""
    return output.with_name(f"{_stem(output)}{TRUTH}")


def _stem(output: Path) -> str:
    """Return the name without its ending, one of those that a simulation can have."""
    return without_ending(output.name, _ENDINGS)


def _refuse_truth_of_another(truth: Path, output: Path) -> None:
    """Refuse to replace a truth beside which another movie or table would be left.

    Raises
    ------
    OutputExists
    """
    from ....tracker.errors import OutputExists

    if not truth.exists():
        return
    for ending in _ENDINGS:
        other = output.with_name(f"{_stem(output)}{ending}")
        if other.exists() and other != output:
            raise OutputExists(
                f"{truth} is what {other} would be compared with, and would not belong to it any more; choose another "
                f"name, or move {other} away."
            )


def _write_tables(simulation: Simulation, output: Path, truth: Path, *, overwrite: bool) -> tuple[Path, ...]:
    from ....tracker.formats.write import write_points, write_tracks
    from ..terminal.interrupt import held_back

    made_with: dict[str, Any] = {"simulation": simulation.settings}
    with held_back():
        write_points(simulation.detections, output, settings=made_with, overwrite=overwrite)
        write_tracks(simulation.truth, truth, settings=made_with, overwrite=overwrite)
    return output, truth


def _refuse_idle(ctx: typer.Context, output: Path, *, is_movie: bool) -> None:
    """Refuse options that would change nothing in what is asked for."""
    made, other, idle = (
        ("movie", "points", ("missed", "false", "localisation_error"))
        if is_movie
        else ("table of points", "movies", ("voxel", "psf_sigma", "peak", "peak_spread", "background", "read_noise"))
    )
    for name in idle:
        if _is_given(ctx, name):
            raise typer.BadParameter(f"goes with {other} only, and {output} is a {made}.", param_hint=option_of(name))
    for name, replacing in (("spacing", "box"), ("step", "step_um")):
        if _is_given(ctx, name) and _is_given(ctx, replacing):
            raise typer.BadParameter(
                f"has no effect together with {option_of(replacing)}, which replaces it; give one of the two.",
                param_hint=option_of(name),
            )


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"needs numbers separated by commas, such as 1,0.5,0.5; got {text!r}.", param_hint=option
        ) from None

"""Track many inputs: skip what is up to date, go on after a failure, leave a summary."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...matching.errors import AuctrackError
from ...tracker.errors import InvalidSetting, OutputExists
from . import console
from .fingerprint import fingerprint
from .inputs import Job

if TYPE_CHECKING:
    from ...tracker.pipeline import TrackingResult
    from ...tracker.settings import Settings

Status = Literal["tracked", "up to date", "failed", "interrupted", "not started"]


@dataclass
class Outcome:
    """What became of one input; one entry of the summary."""

    source: str
    result: str
    status: Status = "not started"
    seconds: float = 0.0
    message: str | None = None
    figures: Mapping[str, Any] | None = None


def run_all(jobs: Sequence[Job], settings: Settings, *, overwrite: bool, picture: bool) -> list[Outcome]:
    """Track every input in turn. Ctrl-C ends the run; what was finished stays."""
    outcomes = [Outcome(job.source, str(job.result)) for job in jobs]
    for job, outcome in zip(jobs, outcomes, strict=True):
        began = time.monotonic()
        try:
            _run_one(job, settings, outcome, overwrite=overwrite, picture=picture)
        except KeyboardInterrupt:
            outcome.status = "interrupted"
            break
        except (AuctrackError, OSError, MemoryError) as error:
            outcome.status, outcome.message = "failed", str(error) or type(error).__name__
            console.fail(outcome.message)
        except Exception as error:  # noqa: BLE001 - one broken input, even by a bug of ours, must not stop the others
            outcome.status, outcome.message = "failed", f"unexpected {type(error).__name__}: {error}"
            console.fail(f"{job.source}: {outcome.message}. Please report this:")
            console.say(traceback.format_exc())
        finally:
            outcome.seconds = round(time.monotonic() - began, 3)
    return outcomes


def _run_one(job: Job, settings: Settings, outcome: Outcome, *, overwrite: bool, picture: bool) -> None:
    key = fingerprint(job.files, settings.to_mapping()) if all(file.is_file() for file in job.files) else ""
    if _is_up_to_date(job, key, overwrite=overwrite):
        outcome.status = "up to date"
        console.say(f"{job.source}: {job.result} is up to date")
        return
    from ...tracker.pipeline import track
    from ...tracker.write import write_tracks

    describe(job, settings)
    with console.progress(job.source) as progress:
        result = track(job.source, settings, progress=progress)
    record = {"fingerprint": key, "source": job.source, "asked": settings.to_mapping(), "effective": result.settings.to_mapping()}
    write_tracks(result.tracks, job.result, settings=record, overwrite=overwrite)
    outcome.status, outcome.figures = "tracked", figures(result)
    report(job, result)
    if picture:
        from .picture import write_picture

        console.say(f"  picture   {write_picture(result.tracks, job, settings, overwrite=overwrite)}")


def _is_up_to_date(job: Job, key: str, *, overwrite: bool) -> bool:
    """Whether the result stands there with this fingerprint; refuses a result of another input or other settings."""
    if not job.result.exists():
        return False
    from ...tracker.sidecar import read_sidecar

    sidecar = read_sidecar(job.result) if not overwrite else None
    if sidecar is not None and key and sidecar.settings.get("fingerprint") == key:
        return True
    if overwrite:
        return False
    raise OutputExists(
        f"{job.result} stands there and comes from another input or other settings. "
        "Give --overwrite to replace it, or another --output folder."
    )


def describe(job: Job, settings: Settings) -> None:
    """Show what the input is taken to be, before anything runs."""
    from ...tracker.pipeline import open_movie

    console.say(job.source)
    if not settings.input.is_table(job.source):
        with open_movie(job.source, settings.input) as movie:
            console.say(_indented(movie.describe()))


def report(job: Job, result: TrackingResult) -> None:
    """Show what came out."""
    made, calibration = figures(result), result.tracks.calibration
    unit = calibration.unit
    if result.settings.detect is not None:
        found = result.settings.detect
        console.say(f"  detect    diameter {found.diameter:.4g} {unit}, threshold {found.threshold:.4g}")
    console.say(f"  points    {made['points']} in {made['frames']} frames")
    range_text = f"{result.linking.settings.search_range:.4g} {unit}"
    console.say(f"  link      search range {range_text}; unmatched cost {result.linking.unmatched_cost.reason}")
    proof = "proven optimal" if made["is_optimal"] else f"gap {made['gap']:.3g}"
    console.say(f"  links     {made['links']} of {made['candidate_links']} candidates, {proof} ({made['solver']}, {made['device']})")
    console.say(f"  tracks    {made['tracks']}, median length {made['median_length']:g} -> {job.result}")


def figures(result: TrackingResult) -> dict[str, Any]:
    """Return the figures of a run for the summary."""
    table = result.tracks.table
    lengths = table.groupby("track_id").size()
    return {
        "points": len(result.linking.tracks),
        "frames": len(result.linking.tracks.frame_numbers),
        "tracks": len(lengths),
        "median_length": float(lengths.median()) if len(lengths) else 0.0,
        "unit": result.tracks.calibration.unit,
        **result.linking.report,
    }


def write_summary(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write every outcome as JSON, whole or not at all; replaces an earlier summary."""
    from ...tracker.write import write_whole

    content = json.dumps([asdict(outcome) for outcome in outcomes], indent=2, ensure_ascii=False) + "\n"
    write_whole({path: lambda stream: _write(stream, content)}, overwrite=True)


def _write(stream: Any, content: str) -> None:
    stream.write(content.encode())


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def check_settings(mapping: Mapping[str, Any], make: Callable[[Mapping[str, Any]], Settings]) -> Settings:
    """Return checked settings; a solver that does not exist is refused here, before anything is read."""
    settings = make(mapping)
    if settings.link.solver != "auto":
        from ...matching.solvers import make_solver

        make_solver(settings.link.solver)
    if settings.link.device.partition(":")[0] not in ("auto", "cpu", "cuda"):
        raise InvalidSetting(f"--device needs auto, cpu, cuda or cuda:N; got {settings.link.device!r}.")
    return settings

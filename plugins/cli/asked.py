"""What was asked for: options and settings file together as `Settings`, and settings as options again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from ...tracker.errors import InvalidSetting
from .toml import read_config

if TYPE_CHECKING:
    from ...tracker.settings import Settings

AUTO = "auto"


@contextmanager
def usage(option: str | None = None) -> Generator[None]:
    """Turn an `InvalidSetting` into wrong usage (exit code 2): nothing was read yet, so the options are to blame."""
    try:
        yield
    except InvalidSetting as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def asked_settings(params: Mapping[str, Any]) -> Settings:
    """Return the settings that the options of a command (and its `config` file) ask for.

    Parameters
    ----------
    params : mapping
        Every parameter of the command by name, as `typer.Context.params` has them; None states nothing.

    Raises
    ------
    typer.BadParameter
        If one of them is malformed, or the solver or device has no such name. Nothing was read by then.
    DeviceUnavailable
        If the device asked for is not there.
    """
    from ...tracker.settings import merged

    with usage("--config"):
        base = read_config(params["config"]) if params.get("config") else {}
    with usage():
        asked = merged(base, stated(params))
        if isinstance(asked.get("detect"), Mapping) and asked["detect"].get("threshold") == AUTO:
            del asked["detect"]["threshold"]
        try:
            return _checked(asked)
        except InvalidSetting as error:
            raise InvalidSetting(f"{params['config']}: {error}" if _is_to_blame(base, error) else str(error)) from None


def _checked(asked: Mapping[str, Any]) -> Settings:
    """Return settings whose solver and device are there."""
    from ...matching.errors import InvalidProblem
    from ...tracker.settings import Settings

    settings = Settings.from_mapping(asked)
    try:
        _check_solver(settings.link.solver, settings.link.device)
    except InvalidProblem as error:
        raise InvalidSetting(str(error)) from None
    return settings


def _is_to_blame(config: Mapping[str, Any], error: InvalidSetting) -> bool:
    """Whether the settings file alone says what is wrong."""
    from ...matching.errors import AuctrackError

    try:
        _checked(config)
    except AuctrackError as its_own:
        return str(its_own) == str(error)
    return False


def _check_solver(solver: str, device: str) -> None:
    from ...matching.device.cuda import is_device_name, using
    from ...matching.solvers import make_solver

    if device not in (AUTO, "cpu") and not is_device_name(device):
        one = " Several GPUs can share dense costs only; those of links are sparse." if "," in str(device) else ""
        raise InvalidSetting(f"device (--device) needs auto, cpu, cuda or cuda:N; got {device!r}.{one}")
    kind = device.partition(":")[0]
    devices = make_solver(solver).devices if solver != AUTO else (kind,)
    if kind != AUTO and kind not in devices:
        raise InvalidSetting(
            f"solver {solver!r} (--solver) runs on {' and '.join(devices)} only; got device {device!r} (--device). "
            "Choose another solver, such as auction, or --device auto."
        )
    if kind == "cuda":
        with using(device):  # raises here rather than after hours of detection
            pass


def stated(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the given options state, as `Settings.from_mapping` takes them."""
    from ...tracker.linking.given_links import read_links

    out: dict[str, Any] = {}
    for option in _OPTIONS:
        given = params.get(option.parameter)
        if given is None or given is False:
            continue
        section = out.setdefault(option.section, {}) if option.section else out
        section[option.key] = option.read(given)
    for name in ("pinned", "forbidden"):
        if params.get(name) is not None:
            out.setdefault("link", {})[name] = read_links(params[name], name)
    return out


def as_options(settings: Settings) -> list[str]:
    """Return settings as options of `auctrack track`, those at their defaults left out: what "copy as command" copies.

    Links that are given are no part of it: they stand in files.

    Examples
    --------
    >>> from auctrack.tracker.settings import Settings
    >>> as_options(Settings.from_mapping({"link": {"search_range": 2.5}}))
    ['--search-range', '2.5']
    """
    from ...tracker.settings import Settings

    mapping, default = settings.to_mapping(), Settings().to_mapping()
    words: list[str] = []
    for option in _OPTIONS:
        value, usual = (
            (of.get(option.section, {}) if option.section else of).get(option.key) for of in (mapping, default)
        )
        if value is None or value == usual:
            continue
        name = f"--{option.parameter.replace('_', '-')}"
        if option.write is not None:
            words += [name, option.write(value)]
        elif value == option.read(True):
            words.append(name)
    return words


def _sizes(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidSetting(f"--voxel needs sizes along z,y,x (or y,x), such as 2,0.5,0.5; got {text!r}.") from None


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and theirs for ours, _, theirs in pairs):
        raise InvalidSetting(f"--columns needs OURS=THEIRS pairs, such as frame=Time,z=Pos_Z; got {text!r}.")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _names(text: str) -> list[str] | str:
    return text if text in (AUTO, "none") else [name.strip() for name in text.split(",")]


def _number(option: str) -> Callable[[str], float | str]:
    def read(text: str) -> float | str:
        try:
            return AUTO if text == AUTO else float(text)
        except ValueError:
            raise InvalidSetting(f"{option} needs a number, or auto; got {text!r}.") from None

    return read


def _count(text: str) -> int | str:
    try:
        return AUTO if text == AUTO else int(text)
    except ValueError:
        raise InvalidSetting(f"--max-missed-frames needs a whole number, or auto; got {text!r}.") from None


@dataclass(frozen=True)
class _Option:
    """Which setting an option is.

    Attributes
    ----------
    parameter : str
        Its name in the command.
    section, key : str
        Its place among the settings; section "" is the top.
    read : callable
        The setting that the option's value is.
    write : callable or None
        The text of the option for a setting; None for a flag.
    """

    parameter: str
    section: str
    key: str
    read: Callable[[Any], Any] = lambda value: value
    write: Callable[[Any], str] | None = str


_OPTIONS = (
    _Option("labels", "input", "kind", lambda _: "labels", None),
    _Option("axes", "input", "axes"),
    _Option("voxel", "input", "scale", _sizes, lambda sizes: ",".join(str(float(size)) for size in sizes)),
    _Option("unit", "input", "unit"),
    _Option("frame_interval", "input", "frame_interval"),
    _Option("time_unit", "input", "time_unit"),
    _Option("frame_step", "input", "frame_step"),
    _Option("channel", "input", "channel"),
    _Option("frames", "input", "frames"),
    _Option("roi", "input", "roi"),
    _Option("columns", "input", "columns", _columns, lambda names: ",".join(f"{a}={b}" for a, b in names.items())),
    _Option("intensity", "input", "intensity"),
    _Option("diameter", "detect", "diameter", _number("--diameter")),
    _Option("threshold", "detect", "threshold", _number("--threshold")),
    _Option("separation", "detect", "separation"),
    _Option("method", "detect", "method"),
    _Option("dark", "detect", "bright_on_dark", lambda _: False, None),
    _Option("motion", "link", "motion"),
    _Option("features", "link", "features", _names, lambda names: names if isinstance(names, str) else ",".join(names)),
    _Option("max_missed_frames", "link", "max_missed_frames", _count),
    _Option("divisions", "link", "divisions", lambda _: True, None),
    _Option("merges", "link", "merges", lambda _: True, None),
    _Option("search_range", "link", "search_range", _number("--search-range")),
    _Option("unmatched_cost", "link", "unmatched_cost", _number("--unmatched-cost")),
    _Option("cost", "link", "cost"),
    _Option("linking", "link", "linking"),
    _Option("gap_closing_range", "link", "gap_closing_range", _number("--gap-closing-range")),
    _Option("division_range", "link", "division_range", _number("--division-range")),
    _Option("merge_range", "link", "merge_range", _number("--merge-range")),
    _Option("solver", "link", "solver"),
    _Option("device", "link", "device"),
    _Option("min_length", "", "min_length"),
)

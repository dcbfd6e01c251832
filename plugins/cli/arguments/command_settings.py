"""The settings that a command is given: its options and its settings file together."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ....tracker.errors import InvalidInput, InvalidSetting
from ...words.errors import sentence
from ...words.setting_options import AUTO, OPTIONS, SETTINGS
from ...words.toml import read_config

if TYPE_CHECKING:
    from pathlib import Path

    from ....tracker.settings import InputSettings, Settings


@contextmanager
def usage(option: str | None = None, options: Mapping[str, str] = OPTIONS) -> Generator[None]:
    """Turn an `InvalidSetting` into wrong usage (exit code 2): no input was read yet, so the options are to blame."""
    try:
        yield
    except InvalidSetting as error:
        raise typer.BadParameter(sentence(error, options), param_hint=option) from None


def given_settings(params: Mapping[str, Any], options: Mapping[str, str] = OPTIONS) -> Settings:
    """Return the settings that the options of a command (and its `config` file) ask for.

    Parameters
    ----------
    params : mapping
        Every parameter of the command by name, as `typer.Context.params` has them; None states nothing.
    options : mapping
        What the command calls settings, where it has names of its own.

    Raises
    ------
    typer.BadParameter
        If one of them is malformed, or the solver or device has no such name. Nothing was read by then.
    DeviceUnavailable
        If the device asked for is not there.
    """
    from ....tracker.settings import merged

    with usage("--config"):
        base = read_config(params["config"]) if params.get("config") else {}
    with usage(options=options):
        asked = merged(base, stated(params))
        if isinstance(asked.get("detect"), Mapping) and asked["detect"].get("threshold") == AUTO:
            del asked["detect"]["threshold"]
        try:
            return _checked(asked)
        except InvalidSetting as error:
            if not _is_to_blame(base, error):
                raise
            raise InvalidSetting(f"{params['config']}: {error}") from None


def input_beside(table: Path) -> InputSettings | None:
    """Return how the input of a result was read, as the settings beside it say; None where none stand there.

    Raises
    ------
    InvalidInput
        If they are not valid; the file is named.
    """
    from ....tracker.formats.sidecar import read_sidecar, sidecar_path
    from ....tracker.settings import Settings

    sidecar = read_sidecar(table)
    if sidecar is None or "effective" not in sidecar.settings:
        return None
    effective = sidecar.settings["effective"]
    try:
        return Settings.from_mapping(
            {"input": effective.get("input", {})} if isinstance(effective, Mapping) else effective
        ).input
    except InvalidSetting as error:
        raise InvalidInput(f"{sidecar_path(table)}: {error}") from None


def _checked(asked: Mapping[str, Any]) -> Settings:
    """Return settings whose units, solver and device are there."""
    from ....matching.errors import InvalidProblem
    from ....tracker.calibrating.stated import require_micrometres, require_units
    from ....tracker.reading.axes import require_axes
    from ....tracker.settings import Settings

    settings = Settings.from_mapping(asked)
    require_units(settings.input.unit, settings.input.time_unit)
    require_micrometres(settings.input.scale or (), settings.input.unit)
    if settings.input.axes is not None:
        require_axes(settings.input.axes)
    try:
        _check_solver(settings.link.solver, settings.link.device)
    except InvalidProblem as error:
        raise InvalidSetting(str(error)) from None
    return settings


def _is_to_blame(config: Mapping[str, Any], error: InvalidSetting) -> bool:
    """Whether the settings file alone says what is wrong."""
    from ....matching.errors import AuctrackError

    try:
        _checked(config)
    except AuctrackError as its_own:
        return str(its_own) == str(error)
    return False


def _check_solver(solver: str, device: str) -> None:
    from ....matching.device.cuda import is_device_name, using
    from ....matching.solvers import make_solver

    if device not in (AUTO, "cpu") and not is_device_name(device):
        one = " Several GPUs can share dense costs only; those of links are sparse." if "," in str(device) else ""
        raise InvalidSetting(f"needs auto, cpu, cuda or cuda:N; got {device!r}.{one}", setting="device")
    kind = device.partition(":")[0]
    devices = make_solver(solver).devices if solver != AUTO else (kind,)
    if kind != AUTO and kind not in devices:
        raise InvalidSetting(
            f"{solver!r} runs on {' and '.join(devices)} only; got device {device!r}. Choose another solver, such as "
            "auction, or device auto.",
            setting="solver",
        )
    if kind == "cuda":
        with using(device):  # raises here rather than after hours of detection
            pass


def stated(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the given options state, as `Settings.from_mapping` takes them."""
    out: dict[str, Any] = {}
    for option in SETTINGS.values():
        given = params.get(option.parameter)
        if given is None or given is False:
            continue
        section = out.setdefault(option.section, {}) if option.section else out
        section[option.key] = option.read(given, option.key)
    return out

"""Options that are settings, as typer takes them: commands that have them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any

import typer

from ...words.setting_options import SettingOption


def typer_option(setting: SettingOption) -> Any:
    """Return what typer takes for the option of a setting."""
    return typer.Option(
        setting.name, metavar=setting.metavar, rich_help_panel=setting.panel, help=setting.help, show_default=False
    )


def taking(*settings: SettingOption) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options that are settings, before its own; it finds them in its context."""

    def with_them(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in signature.parameters.values()]
        first = sum(one.default is one.empty for one in own)
        own[first:first] = [_as_parameter(one) for one in settings]

        @wraps(command)
        def taking_them(**given: Any) -> None:
            command(**{name: given[name] for name in signature.parameters})

        taking_them.__signature__ = signature.replace(parameters=own)  # pyright: ignore[reportAttributeAccessIssue]
        return taking_them

    return with_them


def chosen(*groups: Mapping[str, SettingOption], without: str = "") -> list[SettingOption]:
    """Return the options of some groups, without those named."""
    return [option for group in groups for name, option in group.items() if name not in without.split()]


def _as_parameter(setting: SettingOption) -> inspect.Parameter:
    """Return the parameter of a command that takes the option of a setting."""
    wanted, default = (bool, False) if setting.is_flag else (setting.kind | None, None)
    annotation = Annotated[wanted, typer_option(setting)]
    return inspect.Parameter(setting.parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

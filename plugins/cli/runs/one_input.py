"""One input of many: what stops it is said, and stops none of the others."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import NamedTuple

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidSetting
from ...words.errors import naming, sentence
from ..terminal import console
from ..terminal.interrupt import CtrlCAsItself

_LOG = logging.getLogger(__name__)


class FailedInput(NamedTuple):
    """Why an input failed; `is_refused` where a setting does not fit it, so that nothing was begun."""

    message: str
    is_refused: bool


def failure_of(source: str, work: Callable[[], None]) -> FailedInput | None:
    """Do the work of one input; say what it failed by and return it, a bug of ours too, with where in the program."""
    try:
        with CtrlCAsItself():
            work()
    except (AuctrackError, OSError, MemoryError) as error:
        failure = FailedInput(naming(source, error), isinstance(error, InvalidSetting))
        console.fail(failure.message)
        _LOG.debug("where it failed", exc_info=error)
        return failure
    except Exception as error:  # noqa: BLE001 - one broken input, even by a bug of ours, must not stop the others
        failure = FailedInput(sentence(error), is_refused=False)
        console.fail(f"{source}: {failure.message}. This is a bug of auctrack; please report it with:")
        console.say("".join(traceback.format_exception(error)))
        return failure
    return None

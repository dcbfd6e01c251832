"""What tracking a whole input is expected to take, in words."""

from __future__ import annotations

from ....tracker.calibrating.digits import in_digits
from ....tracker.first_look import FirstLook
from ....tracker.resources import SECONDS_AT_REST
from ..terminal import console

_DOUBTFUL = 2.0
"""Times as long, or as much, as expected that linking may take before that is said."""
_LONG_STEPS = "steps are long beside the spacing, so that linking may take up to"


def memory_in_words(look: FirstLook) -> str:
    """Return the memory that is expected, and what bounds it."""
    budget = f"memory budget {look.settings.link.memory_budget_gb:g} GB"
    least = f", less than the {in_digits(look.least_budget / 1e9, 2)} GB that the fewest frames it learns from may take"
    over = least if look.least_budget else ""
    on_gpu = f", and {in_digits(look.gpu_bytes / 1e9, 2)} GB of the GPU's" if look.gpu_bytes else ""
    most = (
        f"; {_LONG_STEPS} {in_digits(look.most_bytes / 1e9, 2)} GB" if look.most_bytes > _DOUBTFUL * look.bytes else ""
    )
    return f"about {in_digits(look.bytes / 1e9, 2)} GB ({budget}{over}){on_gpu}{most}"


def time_in_words(look: FirstLook) -> str:
    """Return the time that is expected, where it goes and on what device."""
    stages = console.stages(look.seconds, look.seconds.devices, digits=0)
    together = sum(look.seconds.values())
    said = "a few seconds" if together < SECONDS_AT_REST else f"about {together:.0f} s"
    is_known = look.most_linking < max(_DOUBTFUL * look.seconds.get("link", 0.0), SECONDS_AT_REST)
    longest = f"; {_LONG_STEPS} {look.most_linking:.0f} s"
    return f"{said}, once all is compiled: {stages}{'' if is_known else longest}"

"""The parts that the widget is made of, as the code that works with them takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..draw.overlay import Overlay
from ..layers.preferences import Preferences
from ..panels.detect_panel import DetectPanel
from ..panels.input_panel import InputPanel
from ..panels.link_panel import LinkPanel
from ..panels.pages import Pages
from ..panels.results_panel import ResultsPanel
from ..panels.run_bar import RunBar
from ..session.session import WidgetSession
from ..threads.keys import Keys
from ..threads.turns import Turns

if TYPE_CHECKING:
    from napari import Viewer


@dataclass(frozen=True)
class Parts:
    """One widget's parts.

    `session` is what the panels show, `steps` holds the three pages, `turns` what is asked for by `keys` and buttons.
    """

    viewer: Viewer
    preferences: Preferences
    session: WidgetSession
    input: InputPanel
    detect: DetectPanel
    link: LinkPanel
    results: ResultsPanel
    steps: Pages
    bar: RunBar
    overlay: Overlay
    keys: Keys
    turns: Turns

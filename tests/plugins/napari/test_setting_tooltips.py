"""Fields of settings say what `tracker.setting_words` says, and offer what the setting may be."""

from __future__ import annotations

import pytest
from qtpy.QtWidgets import QCheckBox, QLabel

from auctrack.plugins.napari.threads.job import sentence_of
from auctrack.plugins.words.setting_options import SETTINGS
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.kinds import choices_of
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.setting_words import WORDS

from .conftest import PHYSICAL, finish, open_dock, spots

FIELDS = {
    "diameter": "detect.diameter",
    "threshold": "detect.threshold",
    "method": "detect.method",
    "bright_on_dark": "detect.dark",
    "linking": "link.linking",
    "motion": "link.motion",
    "features": "link.features",
    "search_range": "link.search_range",
    "unmatched_cost": "link.unmatched",
    "cost": "link.cost",
    "max_missed_frames": "link.missed",
    "divisions": "link.divisions",
    "merges": "link.merges",
    "gap_closing_range": "link.segments.gap_closing_range",
    "division_range": "link.segments.division_range",
    "merge_range": "link.segments.merge_range",
    "link_penalties": "link.penalties.link_penalties",
    "gap_closing_penalties": "link.penalties.gap_closing_penalties",
    "division_penalties": "link.penalties.division_penalties",
    "merge_penalties": "link.penalties.merge_penalties",
    "solver": "link.solver",
    "device": "link.device",
    "axes": "input.axes",
    "frame_interval": "input.interval",
    "intensity": "input.part.intensity",
}


@pytest.fixture(scope="module")
def widget(window, module_kept_folder):  # noqa: ARG001 - and not where the user's are
    """The widget over a movie of spots; no test here does more than look at it."""
    window.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_dock(window)
    finish(widget)
    return widget


def _field(widget, place):
    part = widget.parts
    for name in place.split("."):
        part = part[name] if isinstance(part, dict) else getattr(part, name)
    return part


@pytest.mark.parametrize(("setting", "place"), FIELDS.items(), ids=FIELDS)
def test_a_field_says_what_its_setting_is_and_its_option(widget, setting, place):
    tip = _field(widget, place).toolTip()
    option = next(option for option in SETTINGS.values() if option.key == setting)
    assert WORDS[setting].what in tip
    assert WORDS[setting].auto in tip
    assert option.name in tip


@pytest.mark.parametrize(("setting", "place"), FIELDS.items(), ids=FIELDS)
def test_an_error_calls_a_setting_what_its_field_is_called(widget, setting, place):
    field = _field(widget, place)
    labels = [label.text() for label in widget.findChildren(QLabel) if label.toolTip() == field.toolTip()]
    shown = next(filter(None, [*labels, field.text() if isinstance(field, QCheckBox) else ""]))
    assert sentence_of(InvalidSetting("needs another.", setting=setting)).lower() == f"{shown} needs another.".lower()


@pytest.mark.parametrize(
    ("settings", "setting"),
    [(DetectSettings, "method"), *((LinkSettings, name) for name in ("linking", "motion", "cost", "solver"))],
)
def test_a_box_offers_what_the_setting_may_be(widget, settings, setting):
    box = _field(widget, FIELDS[setting])
    assert tuple(box.itemData(row) for row in range(box.count())) == choices_of(settings, setting)


@pytest.mark.parametrize(
    ("typed", "asked"), [("", "auto"), ("none", "none"), ("intensity, size", ("intensity", "size"))]
)
def test_features_are_typed_as_on_the_command_line(widget, typed, asked):
    link = widget.parts.link
    link.features.setText(typed)
    try:
        assert link.settings.features == asked
    finally:
        link.features.clear()


def test_features_are_asked_for_with_learned_motion_alone(widget):
    link = widget.parts.link
    chosen = link.motion.currentIndex()
    link.features.setText("intensity")
    link.motion.setCurrentIndex(link.motion.findData("none"))
    try:
        assert not link.features.isEnabled()
        assert link.settings.features == "auto"
    finally:
        link.motion.setCurrentIndex(chosen)
        link.features.clear()

"""Fields of settings say what `tracker.setting_words` says, and offer what the setting may be."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest
from qtpy.QtWidgets import QCheckBox, QLabel

from auctrack.plugins.napari.threads.job import sentence_of
from auctrack.plugins.words.setting_options import DETECT, LINK, SETTINGS
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.kinds import choices_of
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.setting_words import WORDS

from .conftest import PHYSICAL, finish, open_dock, spots

FIELDS = {
    **{option.key: "detect" for option in DETECT.values()},
    **{option.key: "link" for option in LINK.values() if option.kind is not Path},
    "axes": "input.axes",
    "frame_interval": "input.interval",
    "intensity": "input.part.intensity",
}
"""Where a field is; of those that a panel makes from the options, the panel."""


@pytest.fixture(scope="module")
def widget(window, module_kept_folder):  # noqa: ARG001 - and not where the user's are
    """The widget over a movie of spots; no test here does more than look at it."""
    window.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_dock(window)
    finish(widget)
    return widget


def _field(widget, setting):
    place = FIELDS[setting]
    if place in ("detect", "link"):
        return getattr(widget.parts, place).fields.in_order()[setting]
    return reduce(getattr, place.split("."), widget.parts)


@pytest.mark.parametrize("setting", FIELDS)
def test_a_field_says_what_its_setting_is_and_its_option(widget, setting):
    tip = _field(widget, setting).toolTip()
    option = next(option for option in SETTINGS.values() if option.key == setting)
    assert WORDS[setting].what in tip
    assert WORDS[setting].auto in tip
    assert option.name in tip


@pytest.mark.parametrize("setting", FIELDS)
def test_an_error_calls_a_setting_what_its_field_is_called(widget, setting):
    field = _field(widget, setting)
    labels = [label.text() for label in widget.findChildren(QLabel) if label.toolTip() == field.toolTip()]
    shown = next(filter(None, [*labels, field.text() if isinstance(field, QCheckBox) else ""]))
    assert sentence_of(InvalidSetting("needs another.", setting=setting)).lower() == f"{shown} needs another.".lower()


@pytest.mark.parametrize(
    ("settings", "setting"),
    [(DetectSettings, "method"), *((LinkSettings, name) for name in ("linking", "motion", "cost", "solver"))],
)
def test_a_box_offers_what_the_setting_may_be(widget, settings, setting):
    box = _field(widget, setting)
    assert tuple(box.itemData(row) for row in range(box.count())) == choices_of(settings, setting)


@pytest.mark.parametrize("setting", ["diameter", "threshold", "separation", "search_range", "unmatched_cost"])
def test_a_number_in_a_field_is_the_setting_and_an_empty_field_the_default(widget, setting):
    panel, field = getattr(widget.parts, FIELDS[setting]), _field(widget, setting)
    before = panel.settings
    field.setValue(2.5)
    assert panel.settings == replace(before, **{setting: 2.5})
    field.show_number(None)
    assert panel.settings == before


def test_the_memory_budget_is_typed_as_on_the_command_line(widget):
    field = _field(widget, "memory_budget_gb")
    field.setText("500MB")
    assert widget.parts.link.settings.memory_budget_gb == 0.5
    field.clear()
    assert widget.parts.link.settings == LinkSettings()


@pytest.mark.parametrize(
    ("typed", "asked"), [("", "auto"), ("none", "none"), ("intensity, size", ("intensity", "size"))]
)
def test_features_are_typed_as_on_the_command_line(widget, typed, asked):
    link = widget.parts.link
    link.fields.texts["features"].setText(typed)
    try:
        assert link.settings.features == asked
    finally:
        link.fields.texts["features"].clear()


def test_features_are_asked_for_with_learned_motion_alone(widget):
    link = widget.parts.link
    chosen = link.motion.currentIndex()
    link.fields.texts["features"].setText("intensity")
    link.motion.setCurrentIndex(link.motion.findData("none"))
    try:
        assert not link.fields.texts["features"].isEnabled()
        assert link.settings.features == "auto"
    finally:
        link.motion.setCurrentIndex(chosen)
        link.fields.texts["features"].clear()

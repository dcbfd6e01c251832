"""The widget on a small screen, and its warnings on light and dark backgrounds."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from auctrack.plugins.napari.threads.job import Failure

from .conftest import finish, process_events, spots, wait
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_clicked_particles import click_all
from .test_correcting import press, tracked  # noqa: F401 - a fixture
from .test_on_the_canvas import lines  # noqa: F401 - a fixture


def luminance(colour) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one, other) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.fixture
def theme():
    from napari.settings import get_settings

    appearance = get_settings().appearance
    before = appearance.theme
    yield appearance
    appearance.theme = before
    process_events()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_warnings_can_be_read_on_every_theme(widget, theme, name):
    from napari.utils.theme import get_theme
    from qtpy.QtGui import QPalette

    theme.theme = name
    label = widget.parts.bar.warnings
    label.setText("Half of the particles have no link.")
    label.show()
    process_events()
    colour = label.palette().color(QPalette.ColorRole.WindowText).getRgbF()[:3]
    background = [channel / 255 for channel in get_theme(name).background.as_rgb_tuple()]
    assert contrast(colour, background) >= 4.5


@pytest.mark.parametrize("name", ["light", "dark"])
def test_lines_of_charts_are_seen_on_every_theme(widget, theme, name):
    from napari.utils.theme import get_theme
    from qtpy.QtGui import QColor

    from auctrack.plugins.napari.panels.chart import chart_colours

    theme.theme = name
    process_events()
    background = [channel / 255 for channel in get_theme(name).background.as_rgb_tuple()]
    for chart in (widget.parts.link.steps, widget.parts.results.plots[0]):
        assert all(contrast(QColor(one).getRgbF()[:3], background) >= 3 for one in chart_colours(chart))


def test_the_widget_leaves_most_of_a_small_screen_to_the_movie(viewer, widget):
    viewer.window.resize(1280, 720)
    wait(lambda: viewer.window._qt_window.width() == 1280)
    assert widget.minimumSizeHint().width() <= 460


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1100)])
def test_no_button_moves_by_what_is_said(viewer, lines, mouse, size):  # noqa: F811
    """Neither by a short or long sentence, warnings or an error, nor by the particles that were clicked."""
    viewer.window.resize(*size)
    wait(lambda: viewer.window._qt_window.width() == size[0])
    results, bar = lines.parts.results, lines.parts.bar
    results.tabs.setCurrentWidget(results.doubtful)
    finish(lines)

    def places() -> list[tuple[int, int]]:
        process_events()
        buttons = (*results._acts, results.link_button, results.clicked_button, results.export_button, bar.run_button)
        at = (button.mapToGlobal(button.rect().topLeft()) for button in buttons)
        return [(place.x(), place.y()) for place in at]

    before = places()
    click_all(viewer, lines, mouse, (1, 4, 12, 10), (2, 4, 24, 20), (3, 4, 36, 30))
    assert results.clicked.text().count("in frame") == 3
    assert places() == before
    for text, warnings in (("", ()), ("A sentence.", ()), ("Many words. " * 60, ("And a warning. " * 20,))):
        bar.say(text, warnings)
        assert places() == before
        bar.fail(Failure("It could not be done. " * 20, "why"))
        assert places() == before


def test_an_error_is_in_sight_above_whatever_else_is_said(viewer, lines):  # noqa: F811
    viewer.window.resize(1280, 720)
    bar = lines.parts.bar
    bar.say("Many words. " * 60)
    bar.fail(Failure("It could not be done.", "why"))
    process_events()
    for part in (bar.error, bar.details_button):
        assert part.isVisible()
        assert part.visibleRegion().boundingRect().height() == part.height()


def test_a_doubtful_result_is_in_sight_above_its_praise(viewer, widget):
    """Where a run says much, "proven optimal" must not stand alone over nonsense."""
    viewer.window.resize(1280, 720)
    bar = widget.parts.bar
    bar.say("2,400 particles, 1,168 tracks. All links are proven optimal. " * 4, ["40 % of the particles have no link"])
    process_events()
    assert bar.warnings.isVisible()
    assert bar.warnings.visibleRegion().boundingRect().height() == bar.warnings.height()


def lines_of(label) -> int:
    """How many lines a message in sight takes."""
    assert label.isVisible()
    return round(label.heightForWidth(label.width()) / label.fontMetrics().lineSpacing())


def test_what_came_of_a_run_is_said_in_a_line_and_the_rest_on_demand(viewer, widget, mouse):  # noqa: F811
    viewer.window.resize(1280, 720)
    widget.running.run_all()
    finish(widget)
    bar = widget.parts.bar
    assert lines_of(bar.status) == 1
    assert "proven optimal" in bar.status.text()
    mouse.click(bar.details_button)
    for details in (bar.status.toolTip(), bar.details.toPlainText()):
        assert "median step" in details
        assert "Solved by jv on cpu" in details
    mouse.click(bar.details_button)
    assert not bar.details.isVisible()


def test_what_came_of_a_correction_is_said_in_two_lines(viewer, lines):  # noqa: F811
    viewer.window.resize(1280, 720)
    for key in "nb":
        press(viewer, key)
        finish(lines)
    bar, results = lines.parts.bar, lines.parts.results
    assert lines_of(bar.status) <= 2
    assert "All links are proven optimal again. Corrections so far: 1." in bar.status.toolTip()
    results.tabs.setCurrentWidget(results.doubtful)
    process_events()
    assert results.progress.text().startswith("2 looked at, 1 corrected")
    assert lines_of(results.progress) == 1


def test_of_a_warning_the_first_sentence_is_in_sight_and_all_of_it_on_demand(viewer, widget, mouse):  # noqa: F811
    viewer.window.resize(1280, 720)
    warning = "3.5 % have no link. These are the best links for <these> settings, which does not make them right."
    bar = widget.parts.bar
    bar.say("9 tracks.", [warning, "one more"])
    process_events()
    assert bar.warnings.text() == "3.5 % have no link. …\nOne more"
    assert "&lt;these&gt; settings" in bar.warnings.toolTip()
    mouse.click(bar.details_button)
    assert warning in bar.details.toPlainText()
    bar.say("9 tracks.")
    process_events()
    assert (bar.warnings.text(), bar.warnings.toolTip(), bar.details.isVisible()) == ("", "", False)
    assert not bar.details_button.isVisible()


def test_why_a_link_is_doubtful_is_read_beside_tracks_of_large_numbers(viewer, widget):
    from auctrack.plugins.napari.scripted.settled import settle

    viewer.window.resize(1280, 720)
    widget.running.run_all()
    finish(widget)
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.doubtful)
    results.colour.choose("mean_speed")  # whose bar takes the room beside a scroll bar
    why = ["unlikely", "ambiguous", "long", "both"]
    listed = results._links.head(4).assign(why=why, track_id=range(123_456, 123_460), frame=1_234)
    columns = ["looked_at", "frame", "track_id", "margin", "distance", "why"]
    results.suspicious.show_frame(listed[columns], results._link_heads)
    settle(widget, quiet_s=0.3)  # Qt lays out nested tabs in several turns
    table = results.suspicious
    assert table.horizontalScrollBar().maximum() == 0
    assert all(table.fontMetrics().horizontalAdvance(word) < table.columnWidth(5) for word in why)
    assert {*suspicious_words()} <= {*why}


@pytest.mark.parametrize("smallest", [3.21e-1, 3.21e-2, 3.21e-3, 3.21e-4, 3.21e-5, 0.0])
def test_small_numbers_are_read_in_full(open_widget, smallest):
    table = open_widget().parts.results.suspicious
    table.show_frame(pd.DataFrame({"of": [smallest, 0.456, np.nan], "why": "both"}))  # a narrow title
    for row in range(3):
        index = table.model().index(row, 0)
        assert table.sizeHintForIndex(index).width() <= table.columnWidth(0), table.model().data(index)


def suspicious_words() -> set[str]:
    """All that the list says of why, each way that links can be doubtful."""
    from auctrack.plugins.napari.session.suspicious import suspicious_links
    from auctrack.tracker.linking.link import link_points

    from ...tracker.linking.movies import walks

    linking = link_points(walks(40, 8, seed=4)[0])
    margins, links = linking.links["margin"].to_numpy(), linking.links
    held = links[["source", "target"]].iloc[:1].to_numpy().tolist()
    return {*suspicious_links(linking, margins, held=held)["why"]}


@pytest.mark.parametrize("button", ["detect.run_button", "link.run_button", "results.export_button"])
def test_what_carries_on_is_seen_without_scrolling(viewer, widget, button):
    from qtpy.QtCore import QPoint
    from qtpy.QtWidgets import QScrollArea

    viewer.window.resize(1280, 720)
    wait(lambda: viewer.window._qt_window.width() == 1280)
    page = getattr(widget.parts, button.partition(".")[0])
    widget.parts.steps.setCurrentWidget(page)
    process_events()
    shown = getattr(page, button.partition(".")[2])
    viewport = next(area.viewport() for area in widget.findChildren(QScrollArea) if area.widget().isAncestorOf(page))
    bottom = shown.mapTo(viewport, QPoint(0, shown.height())).y()
    assert shown.isVisible()
    assert 0 < bottom <= viewport.height()


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1100)])
def test_the_list_of_links_is_read_without_scrolling_aside(viewer, tracked, size):  # noqa: F811
    from auctrack.plugins.napari.scripted.settled import settle

    viewer.window.resize(*size)
    wait(lambda: viewer.window._qt_window.width() == size[0])
    settle(tracked, quiet_s=0.3)  # Qt lays out nested tabs in several turns
    table = tracked.parts.results.suspicious
    model = table.model()
    assert table.isVisible()
    assert table.horizontalScrollBar().maximum() == 0
    for row in range(model.rowCount()):
        for column in range(model.columnCount()):
            said = model.data(model.index(row, column))
            assert table.fontMetrics().horizontalAdvance(said) < table.columnWidth(column), said


def test_an_empty_viewer_has_nothing_to_suggest_and_no_gap_above_its_hint(open_widget):
    parts = open_widget().parts
    assert not parts.link.suggest_button.isEnabled()
    process_events()
    assert parts.input.problem.geometry().top() - parts.input.layer_box.geometry().bottom() < 15


def test_what_the_preview_found_goes_with_it(widget):
    detect = widget.parts.detect
    detect.preview.setChecked(True)
    finish(widget)
    assert detect.found.text().startswith("Preview: ")
    detect.preview.setChecked(False)
    finish(widget)
    assert detect.found.text() == ""


def test_input_leaves_its_room_to_the_results_unless_something_is_amiss(viewer, widget):
    field = widget.parts.input.interval
    widget.parts.steps.setCurrentWidget(widget.parts.results)
    assert not field.isVisible()
    widget.parts.steps.setCurrentWidget(widget.parts.link)
    assert field.isVisible()
    viewer.add_image(spots(), name="unknown size")
    widget.parts.input.choose_layer("unknown size")
    widget.parts.steps.setCurrentWidget(widget.parts.results)
    assert "voxel size is not known" in widget.parts.input.problem.text()
    assert field.isVisible()


def test_what_is_missing_can_be_entered_field_by_field_beside_the_results(viewer, widget, mouse):  # noqa: F811
    """The unit first, the interval after it: what was amiss is not amiss any more then."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    viewer.add_image(spots(), name="unknown size")
    panel, steps = widget.parts.input, widget.parts.steps
    panel.choose_layer("unknown size")
    tabs = steps.tabBar()
    mouse.click(tabs, tabs.tabRect(steps.indexOf(widget.parts.results)).center())
    QTest.keyClicks(panel.unit_box, "µ")
    process_events()
    assert (panel.unit_box.currentText(), panel.problem.text()) == ("µm", "")
    mouse.click(panel.interval)
    panel.interval.selectAll()
    QTest.keyClicks(panel.interval, "10")
    QTest.keyClick(panel.interval, Qt.Key.Key_Return)
    assert panel.source.calibration.frame_interval == 10
    mouse.click(widget.parts.bar.run_button)
    assert not panel.interval.isVisible()
    finish(widget)
    assert not panel.interval.isVisible()


def test_tracks_that_were_taken_up_are_corrected_without_a_second_scroll_bar(viewer, widget, tmp_path):
    from auctrack.plugins.napari.panels.scroll import PanelScroll
    from auctrack.plugins.napari.scripted.settled import settle

    viewer.window.resize(1280, 720)
    widget.running.run_all()
    finish(widget)
    widget.taking_away.export(str(tmp_path / "mine.auctrack"))
    finish(widget)
    viewer.open(str(tmp_path / "mine.auctrack"), plugin="auctrack")
    widget.parts.input.choose_layer("mine.auctrack")
    widget.parts.input.take_up_button.click()
    finish(widget)
    assert widget.parts.results.doubtful.isVisible()
    whole = next(area for area in widget.findChildren(PanelScroll) if area.isAncestorOf(widget.parts.input))
    widget.parts.bar.say("All links are proven optimal again. " * 7)  # five lines, as after many a correction
    settle(widget, quiet_s=0.3)  # Qt lays out nested tabs in several turns
    assert whole.verticalScrollBar().maximum() == 0


def test_keys_are_explained_at_the_press_of_a_button(viewer, widget):
    """Every key that the viewer has from the widget stands in the text, and no other."""
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentWidget(results.doubtful)
    assert not results.help.isVisible()
    results.help_button.click()
    assert results.help.isVisible()
    said = {key for keys in re.findall(r"<b>(.*?)</b>", results.help.label.text()) for key in keys.split(", ")}
    assert said - {"", "click", "drag", "Delete"} == {str(key) for key in viewer.keymap}
    results.help_button.click()
    assert not results.help.isVisible()


@pytest.mark.parametrize(("size", "share"), [((1600, 1100), 1), ((1280, 720), 0.85)])
def test_the_help_is_read_without_much_scrolling_and_put_away_by_a_click(viewer, widget, mouse, size, share):  # noqa: F811
    viewer.window.resize(*size)
    wait(lambda: viewer.window._qt_window.width() == size[0])
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentWidget(results.doubtful)
    process_events()
    mouse.click(results.help_button)
    assert results.help.area.viewport().height() >= share * results.help.label.height()
    mouse.click(results.help.label)
    assert not results.help.isVisible()
    assert not results.help_button.isChecked()


def test_the_help_leaves_the_canvas_below_its_text_free(viewer, widget, mouse):  # noqa: F811
    viewer.window.resize(1600, 1000)
    wait(lambda: viewer.window._qt_window.width() == 1600)
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentWidget(results.doubtful)
    process_events()
    mouse.click(results.help_button)
    process_events()
    assert results.help.height() < 0.8 * viewer.window._qt_viewer.canvas.native.height()
    assert results.help.area.viewport().height() >= results.help.label.heightForWidth(results.help.label.width())


@pytest.mark.parametrize("where", ["canvas", "button"])
def test_escape_puts_the_help_away_and_lets_go_of_nothing(viewer, widget, where):
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    widget.running.run_all()
    finish(widget)
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.doubtful)
    viewer.window._qt_window.activateWindow()
    press(viewer, "n")
    finish(widget)
    link = widget.parts.session.link
    results.help_button.click()
    part = viewer.window._qt_viewer.canvas.native if where == "canvas" else results.help_button
    part.setFocus()
    QTest.keyClick(part, Qt.Key.Key_Escape)
    process_events()
    assert not results.help.isVisible()
    assert not results.help_button.isChecked()
    assert widget.parts.session.link == link is not None


def test_the_help_goes_with_the_dock(viewer, widget):
    from auctrack.plugins.napari.panels.help_sheet import HelpSheet

    results = widget.parts.results
    results.help_button.click()
    viewer.window.remove_dock_widget(widget.parent())
    assert not [sheet for sheet in viewer.window._qt_window.findChildren(HelpSheet) if sheet.isVisible()]


def test_errors_begin_with_a_capital(widget):
    from auctrack.plugins.napari.threads.job import Failure

    widget.parts.bar.fail(Failure("found no blob; give the diameter, or say that they are dark.", ""))
    assert widget.parts.bar.error.text() == "Found no blob; give the diameter, or say that they are dark."

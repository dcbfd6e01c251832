"""The ring around a particle is as large whatever step it has come to: detected, linked, filtered."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import finish


@pytest.fixture
def drawn(monkeypatch) -> list[float]:
    """The sizes of rings as they are handed to napari, with all that is shown while work goes on."""
    from auctrack.plugins.napari.layers.own_layers import OwnLayers

    for name, value in (("_SHOW_SECONDS", 0), ("_SHOW_SHARE", 1e9), ("_REPORT_SECONDS", 0)):
        monkeypatch.setattr(f"auctrack.plugins.napari.session.steps.{name}", value)
    sizes: list[float] = []
    put = OwnLayers.put

    def noted(self, role, layer_data):
        put(self, role, layer_data)
        if role == "particles":
            sizes.extend(np.unique(self.layer(role).size).tolist())

    monkeypatch.setattr(OwnLayers, "put", noted)
    return sizes


def test_rings_of_a_movie_have_the_diameter_of_its_particles_all_the_way(widget, drawn):
    widget.running.run_all()
    finish(widget)
    diameter = widget.parts.session.found_with.diameter
    assert len(drawn) >= 2  # particles while links are looked for, then tracks
    assert set(drawn) == {diameter / 0.5}


def test_rings_keep_the_diameter_that_particles_were_found_with_when_another_one_is_typed(widget, drawn):
    widget.running.run_detect()
    finish(widget)
    widget.parts.detect.diameter.setValue(9.0)
    widget.running.run_link()
    finish(widget)
    assert len(set(drawn)) == 1


def test_rings_of_a_table_are_as_large_for_a_few_of_its_tracks_as_for_all(viewer, open_widget, drawn):
    random = np.random.default_rng(0)
    places = random.uniform(0, 50, (40, 2))
    rows = [(frame, *place) for frame in range(5) for place in places[: 40 - 6 * frame] + frame * 0.1]
    viewer.add_points(np.array(rows), name="beads", size=1)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    widget.parts.results.filters.filters["length"].set_range((5, np.inf))
    finish(widget)
    assert len(viewer.layers["particles of beads"].data) < len(rows)
    assert len(drawn) >= 2
    assert len(set(drawn)) == 1

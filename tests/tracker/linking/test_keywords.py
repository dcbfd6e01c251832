"""`auctrack.link` names the settings of linking one by one: each has its setting's default, and reaches it."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from auctrack import link
from auctrack.tracker.linking.settings import LinkSettings

OF_THE_TABLE = {"points", "scale", "track_column", "frame_step", "unknown"}
TRACKPYS = {"memory": "max_missed_frames"}
KEYWORDS = {name: each.default for name, each in inspect.signature(link).parameters.items() if name not in OF_THE_TABLE}
POINTS = pd.DataFrame({"frame": [0, 1], "y": [0.0, 1.0], "x": [0.0, 0.0]})

OTHER_VALUES = {
    "search_range": 3.0,
    "unmatched_cost": 2.0,
    "cost": "distance",
    "memory": 1,
    "motion": "none",
    "features": ("intensity",),
    "divisions": True,
    "merges": True,
    "pinned": [[0, 1]],
    "forbidden": [[0, 1]],
    "linking": "jaqaman",
    "predict": lambda *_: None,
    "extra_cost": lambda *_: None,
    "solver": "jv",
    "device": "cpu",
    "memory_budget_gb": 1.0,
}
GOES_WITH = {"cost": {"motion": "none"}}


class Reached(Exception):
    """Linking would begin here."""


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_has_the_default_of_its_setting(keyword):
    defaults = {field.name: field.default for field in fields(LinkSettings)}
    assert KEYWORDS[keyword] == defaults[TRACKPYS.get(keyword, keyword)]


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_reaches_its_setting(keyword, monkeypatch):
    reached = []

    def begin(_, settings):
        reached.append(settings)
        raise Reached

    monkeypatch.setattr("auctrack.tracker.linking.link.link_points", begin)
    with pytest.raises(Reached):
        link(POINTS, **{keyword: OTHER_VALUES[keyword]}, **GOES_WITH.get(keyword, {}))
    setting = getattr(reached[0], TRACKPYS.get(keyword, keyword))
    assert setting != KEYWORDS[keyword]
    assert np.array_equal(setting, OTHER_VALUES[keyword])

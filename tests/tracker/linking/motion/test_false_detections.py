"""Movies of many false detections: chance links them, and each that has links makes the next one likelier."""

import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion import recipe
from auctrack.tracker.linking.settings import LinkSettings
from tests.tracker.linking.movies import f1, walks


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_false_detections_hang_together_in_no_chains(device, seed):
    """Of some 6,500 links 489 and 743 were wrong, nearly all between false detections (F1 .966 and .945)."""
    points, who = walks(500, 15, step=0.6, missed=0.1, false=0.3, seed=seed)
    links = link_points(points, LinkSettings(device=device)).links
    source, target = who[links["source"]], who[links["target"]]
    assert f1(points, who, links["source"], links["target"]) > 0.98
    assert ((source != target) | (source < 0)).sum() < 250


def test_where_few_detections_are_alone_nothing_begins_once_more(monkeypatch):
    points, _ = walks(200, 8)
    found = link_points(points).links
    monkeypatch.setattr(recipe, "SURE_FIRST", 2.0)  # nothing would be left
    assert link_points(points).links.equals(found)

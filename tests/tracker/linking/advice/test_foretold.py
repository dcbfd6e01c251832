"""How good links are expected to be, without a truth, at the frame rate as it is and at lower ones."""

import numpy as np
import pytest

from auctrack.tracker.linking.advice import foretold
from auctrack.tracker.linking.advice.foretold import expected_f1
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

from ..movies import f1, table, walks


@pytest.mark.parametrize("every", [1, 2])
def test_it_comes_near_the_real_one(every):
    points, names = walks(1000, frames=12, step=0.3, persistence=0.5)
    used = points.frames % every == 0
    seen = Points(points.table[used].assign(frame=points.frames[used] // every).reset_index(drop=True))
    links = link_points(seen).links
    real = f1(seen, names[used], links["source"], links["target"])
    assert expected_f1(points, every=every) == pytest.approx(real, abs=0.02)


def test_fewer_frames_are_worse():
    points, _ = walks(400, frames=12, step=0.3)
    now, halved, third = (expected_f1(points, every=every) for every in (1, 2, 3))
    assert 1 > now > halved > third > 0.4


@pytest.mark.parametrize(
    ("points", "settings"),
    [
        (walks(100)[0], LinkSettings(motion="none")),
        (walks(100)[0], LinkSettings(linking="jaqaman")),
        (table([], np.empty((0, 2))), None),
        (table([0, 1], [[0, 0], [0, 1]]), None),
    ],
    ids=["no motion", "jaqaman", "nothing", "one link"],
)
@pytest.mark.parametrize("every", [1, 2])
def test_where_nothing_can_be_said_nothing_is(points, settings, every):
    assert expected_f1(points, settings, every=every) is None


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize(("most", "frames"), [(1000, 10), (100, 6)], ids=["by detections", "but six at least"])
def test_of_many_detections_the_first_frames_are_linked(monkeypatch, every, most, frames):
    points = table(np.repeat(np.arange(30), 100), np.tile(np.random.default_rng(0).uniform(0, 30, (100, 2)), (30, 1)))
    linked: list[Points] = []
    monkeypatch.setattr(foretold, "MOST", most)
    monkeypatch.setattr(foretold, "link_points", lambda used, given: linked.append(used) or link_points(used, given))
    assert expected_f1(points, every=every) == pytest.approx(1, abs=0.01)
    assert linked[0].frame_numbers.tolist() == [every * k for k in range(frames)]
    assert linked[0].frame_step == every

"""How good links are expected to be, without a truth, at the frame rate as it is and at lower ones."""

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.advice import expected_accuracy as foretold
from auctrack.tracker.linking.advice.expected_accuracy import expected_f1
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.links import with_sureness
from auctrack.tracker.points import Points

from ..movies import f1, table, walks


@pytest.mark.parametrize(
    ("every", "step", "persistence", "within"), [(1, 0.3, 0.5, 0.003), (2, 0.3, 0.5, 0.01), (2, 0.6, 0.9, 0.02)]
)
def test_it_comes_near_the_real_one(every, step, persistence, within):
    points, names = walks(1000, frames=12, step=step, persistence=persistence)
    used = points.frames % every == 0
    seen = Points(points.table[used].assign(frame=points.frames[used] // every).reset_index(drop=True))
    links = link_points(seen).links
    real = f1(seen, names[used], links["source"], links["target"])
    assert expected_f1(points, every=every) == pytest.approx(real, abs=within)


def test_fewer_frames_are_worse():
    points, _ = walks(400, frames=12, step=0.3)
    now, halved, third = (expected_f1(points, every=every) for every in (1, 2, 3))
    assert 1 > now > halved > third > 0.3


@pytest.mark.parametrize("probability", [1.0, 0.9, 1e-300])
def test_links_between_fewer_frames_are_right_as_far_as_those_of_all_frames_are(monkeypatch, probability):
    """Forty particles; from frame 2 to 4 the links of every other frame exchange two of them."""
    points = table(np.repeat(np.arange(5), 40), np.column_stack([np.tile(np.arange(40.0), 5)] * 2))
    who = np.tile(np.arange(40), 5)

    def linked(used: Points, _: LinkSettings) -> Linking:
        halved = used.frame_step == 2
        frames = len(used) // 40
        source = np.arange(40 * (frames - 1))
        target = source + 40
        if halved:
            target[[40, 41]] = target[[41, 40]]
        links = pd.DataFrame({"source": source, "target": target, "probability": probability, "margin": 1.0})
        tracks = with_sureness(used.with_track_ids(who[: len(used)]), links)
        return Linking(tracks, lambda: links, LinkSettings(), None)

    monkeypatch.setattr(foretold, "link_points", linked)
    assert expected_f1(points) == pytest.approx(probability)
    assert expected_f1(points, every=2) == pytest.approx(probability**2 * 78 / 80)


@pytest.mark.parametrize(
    ("points", "settings"),
    [
        (walks(100)[0], LinkSettings(motion="none")),
        (walks(100)[0], LinkSettings(linking="jaqaman")),
        (table([], np.empty((0, 2))), None),
        (table([0, 1], [[0, 0], [0, 1]]), None),
        (table(np.repeat(np.arange(8), 100), np.random.default_rng(0).uniform(0, 10, (800, 2))), None),
    ],
    ids=["no motion", "jaqaman", "nothing", "one link", "chance"],
)
@pytest.mark.parametrize("every", [1, 2])
def test_where_nothing_can_be_said_nothing_is(points, settings, every):
    assert expected_f1(points, settings, every=every) is None


@pytest.mark.parametrize(
    ("most", "every", "frames"),
    [(1000, 1, 10), (100, 1, 6), (1500, 2, 15), (100, 2, 12)],
    ids=["by detections", "but six at least", "of half by detections", "of half but six at least"],
)
def test_of_many_detections_the_first_frames_are_linked(monkeypatch, every, most, frames):
    points = table(np.repeat(np.arange(30), 100), np.tile(np.random.default_rng(0).uniform(0, 30, (100, 2)), (30, 1)))
    linked: list[Points] = []
    monkeypatch.setattr(foretold, "MOST", most)
    monkeypatch.setattr(foretold, "link_points", lambda used, given: linked.append(used) or link_points(used, given))
    assert expected_f1(points, every=every) == pytest.approx(1, abs=0.01)
    assert linked[0].frame_numbers.tolist() == list(range(frames))
    assert [used.frame_step for used in linked] == [1, every][:every]
    assert linked[-1].frame_numbers.tolist() == list(range(0, frames, every))

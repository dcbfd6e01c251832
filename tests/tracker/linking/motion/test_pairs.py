"""Movies whose particles are detected twice: how far apart two detections of one are is no measure of the others."""

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from tests.tracker.linking.movies import table


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_particles_detected_twice_are_linked_as_others_are(device, share):
    """A tenth of them was, and none where all were detected twice; either detection may follow either."""
    rng = np.random.default_rng(1)
    steps = rng.normal(0, 0.05, (20, 60, 2))
    steps[0] = rng.uniform(0, 60**0.5, (60, 2))
    again = rng.random((20, 60)) < share
    once = np.cumsum(steps, axis=0)
    frame, who = (np.concatenate([own.ravel(), own[again]]) for own in np.mgrid[:20, :60])
    places = np.vstack([once.reshape(-1, 2), once[again] + rng.normal(0, 0.01, (again.sum(), 2))])
    order = np.argsort(frame, kind="stable")
    points, who = table(frame[order], places[order]), who[order]
    links = link_points(points, LinkSettings(device=device)).links
    source, target = links["source"], links["target"]
    assert np.mean(who[source] == who[target]) > 0.98
    assert len(np.unique(points.frames[target] * 60 + who[target])) > 0.95 * 19 * 60

"""How wide steps are, in words: one width where all particles move alike, and one for each kind where they do not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from tests.tracker.linking.movies import table, walks

N, FRAMES, STEP = 300, 20, 0.08


def said_of(ratio: float, ndim: int, seed: int) -> str:
    """Return what is said of the steps of diffusing particles, half of them `ratio` times as fast."""
    rng = np.random.default_rng(seed)
    width = STEP * np.where(np.arange(N) < N // 2, 1.0, ratio)
    steps = rng.normal(0, width[:, None], (FRAMES, N, ndim))
    places = rng.uniform(0, N ** (1 / ndim), (N, ndim)) + steps.cumsum(axis=0)
    learned = link_points(table(np.repeat(np.arange(FRAMES), N), places.reshape(-1, ndim))).report["learned"]
    (line,) = [line for line in learned if line.startswith("steps vary")]
    return line


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_of_particles_that_all_move_alike_one_width_is_said(ndim, seed):
    width = float(re.fullmatch(r"steps vary by ([\d.]+) pixels along each axis", said_of(1, ndim, seed))[1])
    assert width == pytest.approx(STEP, rel=0.03)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_of_two_kinds_two_widths_are_said_however_many_classes_were_learned(ndim, seed):
    kinds = re.findall(r"(\d+)% by ([\d.]+)", said_of(2, ndim, seed))
    assert [float(width) for _, width in kinds] == pytest.approx([STEP, 2 * STEP], rel=0.1)
    assert sum(int(share) for share, _ in kinds) == 100


def test_persistent_ones_among_false_detections_are_one_kind_too():
    learned = "\n".join(link_points(walks(N, FRAMES)[0]).report["learned"])
    assert re.search(r"^steps vary by [\d.]+ pixels along each axis$", learned, re.MULTILINE)

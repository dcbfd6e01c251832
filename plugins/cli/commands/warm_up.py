"""`auctrack warm-up`: everything that numba and NVRTC would otherwise compile at its first use, compiled now."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ....tracker.calibrating.digits import counted
from ...words.compiling import compiling_reported
from ..terminal import console

if TYPE_CHECKING:
    import numpy as np

    from .... import Problem
    from ....tracker.points import Points
    from ....tracker.simulating.simulate import Simulation

_Uses = Sequence[Callable[[], object]]


def command() -> None:
    """Compile once what later runs need: solvers, detection, linking, measures and scores on a CPU, tracking on a GPU.

    The first use of each function on this machine, and the first after an update, has to wait for it to be compiled:
    half a minute in all for a movie. This compiles all of them at once, on examples in memory, and skips what is
    compiled already.

    auctrack warm-up

    The compiled code is kept beside the package, or in NUMBA_CACHE_DIR if that is set; code for a GPU, if there is one,
    in ~/.cupy/kernel_cache, or in CUPY_CACHE_DIR if that is set. Nothing else is written.
    """
    begun, compiled = time.monotonic(), 0

    def count() -> None:
        nonlocal compiled
        compiled += 1

    uses = [*_tracking(2), *_tracking(3), *_solving(), *_tracking_on_gpu()]
    with compiling_reported(count), console.progress("warm-up", noun="part") as advance:
        for done, use in enumerate(uses):
            use()
            advance("compile", done + 1, len(uses))
    seconds = time.monotonic() - begun
    what = f"compiled {counted(compiled, 'function')} in {seconds:.0f} s" if compiled else "compiled already"
    console.show(console.aligned([("warm-up", what)]))


def _tracking(ndim: int) -> _Uses:
    from .... import LinkSettings, link_points, mean_squared_displacement, measure_tracks, reach, score_links

    simulated = _simulated(ndim)
    points, truth = simulated.detections, simulated.truth
    ways = (
        LinkSettings(),
        LinkSettings(motion="none"),
        LinkSettings(motion="none", cost="distance", solver="auction"),
        LinkSettings(divisions=True, merges=True),
    )
    return [
        partial(_track, simulated, "cpu"),
        *(partial(link_points, points, settings) for settings in ways),
        partial(link_points, points, samples=1),
        partial(_correct, points),
        partial(reach, points, [1.0, 10.0]),
        partial(measure_tracks, truth),
        partial(mean_squared_displacement, truth),
        partial(score_links, truth, truth, tolerance=1.0),
        partial(_read_and_write, truth),
    ]


def _read_and_write(truth: Points) -> None:
    from .... import read_tracks
    from ....tracker.formats.columns.csv_rows import csv_rows

    read_tracks(truth.table)
    list(csv_rows(truth.table[["frame", *truth.axes]]))


def _tracking_on_gpu() -> _Uses:
    from .... import LinkSettings, link_points
    from ....matching.device import cuda

    if not cuda.is_available():
        return []
    movies = [_simulated(ndim) for ndim in (2, 3)]
    by_length = LinkSettings(motion="none", device="cuda")
    return [
        *(partial(_track, simulated, "cuda") for simulated in movies),
        *(partial(link_points, simulated.detections, by_length) for simulated in movies),
    ]


def _simulated(ndim: int) -> Simulation:
    from .... import SimulationSettings, simulate

    settings = SimulationSettings(particles=120, frames=6, ndim=ndim, birth_rate=0.05, death_rate=0.05, missed=0.05)
    return simulate(settings)


def _track(simulated: Simulation, device: str) -> None:
    import numpy as np

    from .... import track
    from ....tracker.simulating.render import RenderSettings, render_frame

    camera, ndim = RenderSettings(), simulated.settings.ndim
    movie = np.stack([render_frame(simulated, camera, frame) for frame in range(simulated.settings.frames)])
    track(movie, axes="T" + "ZYX"[3 - ndim :], scale=camera.voxel_um[3 - ndim :], device=device)


def _correct(points: Points) -> None:
    from .... import LinkSettings, Session, link_points

    session = Session(link_points(points, LinkSettings()))
    source = int(session.linking().links["source"].iloc[0])
    session.break_link(source, session.successors(source)[0])
    session.undo()


def _solving() -> _Uses:
    import numpy as np

    from .... import Problem, solve
    from ....matching.jv import JV
    from ....matching.solvers import SOLVERS

    rng = np.random.default_rng(0)
    x, y = rng.random((2, 300, 3))
    costs = rng.random((300, 300))
    matrices = costs, costs.astype(np.float32), (1000 * costs).astype(np.int64)
    problems = [
        *(Problem.points(x, y, unmatched_cost=unmatched_cost) for unmatched_cost in (None, 0.1)),
        *(Problem.dense(matrix, unmatched_cost=unmatched_cost) for matrix in matrices for unmatched_cost in (None, 1)),
    ]
    solvers = *SOLVERS, JV(form="sparse")
    return [
        *(partial(solve, problem, solver, device="cpu") for problem in problems for solver in solvers),
        *(partial(solve, problem, device="cpu") for problem in _of_each_kind(costs, matrices[2])),
    ]


def _of_each_kind(costs: np.ndarray, whole: np.ndarray) -> list[Problem]:
    """Return problems for which "auto" takes other ways: small, tied, hard, large, masked, sparse, and many at once."""
    import numpy as np
    from scipy.sparse import csr_array

    from .... import Problem

    rng = np.random.default_rng(1)
    few = rng.random(costs.shape) < 0.1
    np.fill_diagonal(few, val=True)
    blobs = rng.normal(loc=[[[0]], [[2]]], size=(2, 600, 3))
    apart = ((blobs[0][:, None] - blobs[1]) ** 2).sum(axis=2)
    many = rng.random((2, 2000, 3))
    small = costs[:30, :30], whole[:30, :30]
    batches = rng.random((50, 50, 50)), whole[:250].reshape(30, 50, 50)
    sparse = [csr_array(np.where(few, matrix + 1, 0)) for matrix in (costs, whole)]
    return [
        *map(Problem.batch, batches),
        *map(Problem.dense, (*small, np.floor(100 * costs), apart, apart[:, :590], apart[:590])),
        *map(Problem.dense, (whole.astype(np.int32), np.sqrt(apart[:300, :300]))),
        Problem.dense(costs, unmatched_cost=0.1),
        Problem.dense(whole, forbidden=~few),
        *(Problem.points(*many, unmatched_cost=unmatched_cost) for unmatched_cost in (None, 2.0)),
        *(Problem.sparse(graph, unmatched_cost=unmatched_cost) for graph in sparse for unmatched_cost in (None, 1)),
    ]

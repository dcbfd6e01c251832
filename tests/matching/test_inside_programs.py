"""A host program keeps its environment, its children and its threads, whatever we solve in it."""

import subprocess
import sys
import textwrap

import pytest

SOLVE = """
import os, sys
import numba
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from auctrack.matching import JV, solve

before = dict(os.environ)
cost = np.random.default_rng(0).random((600, 600))  # its levels are worth threads
costs = [solve(cost, solver, "cpu").cost for solver in ("hungarian-tree", "jv", JV(form="sparse"))]
assert dict(os.environ) == before
"""

PROGRAMS = {
    "a child forked after a solve solves too": """
        child = os.fork()
        if child == 0:
            again = solve(cost, "hungarian-tree", "cpu").cost
            os._exit(0 if again == costs[0] else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
    "a child takes as many threads as its parent, while another thread uses them still": """
        child = 0
        def shared(_):
            return solve(cost, "hungarian-tree", "cpu", threads=2).cost
        assert shared(0) == costs[0]
        with ThreadPoolExecutor(1) as pool:
            others = pool.map(shared, range(8))
            child = os.fork()
            if child == 0:
                os._exit(0 if shared(0) == costs[0] else 1)
            assert set(others) == {costs[0]}
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
    "four threads solve at once": """
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: solve(cost, "hungarian-tree", "cpu").cost, range(8)))
        assert set(answers) == {costs[0]}
    """,
    "four threads share the threads of an option": """
        most = int(numba.config.NUMBA_NUM_THREADS)
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: solve(cost, "hungarian-tree", "cpu", threads=most).cost, range(4)))
        assert set(answers) == {costs[0]}
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_program(name):
    program = SOLVE + textwrap.dedent(PROGRAMS[name])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""A command's second large array takes the memory that its first one left, and none waits for pages of 2 MB."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import sys
from threading import Thread
import numpy as np
from auctrack.plugins.cli.terminal.freed_memory import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()


def fill():
    if sys.argv[2] == "main":
        np.ones(10_000_000)
        return
    thread = Thread(target=np.ones, args=(10_000_000,))
    thread.start()
    thread.join()


fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

LARGE_PAGES = """
from auctrack.plugins.cli import app

app.app = lambda: None
app.main()
from numpy._core.multiarray import _set_madvise_hugepage

print(int(_set_madvise_hugepage(False)))
"""


def faults(how: str, thread: str) -> int:
    """Return how many pages the system had to clear for the second array."""
    run = subprocess.run([sys.executable, "-c", FAULTS, how, thread], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems are left as they are")
@pytest.mark.parametrize(("thread", "few"), [("main", 5), ("each its own", 100)])  # a thread's stack is new
def test_freed_pages_are_used_again(thread, few):
    assert faults("kept", thread) < few < faults("as it was", thread)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems are left as they are")
@pytest.mark.parametrize(("said", "asked"), [({}, "0"), ({"NUMPY_MADVISE_HUGEPAGE": "1"}, "1")])
def test_commands_ask_for_large_pages_only_where_the_user_does(said, asked):
    unsaid = {name: value for name, value in os.environ.items() if name != "NUMPY_MADVISE_HUGEPAGE"}
    run = subprocess.run([sys.executable, "-c", LARGE_PAGES], capture_output=True, text=True, env=unsaid | said)
    assert run.stdout.strip() == asked, run.stderr

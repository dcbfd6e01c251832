"""What a command's process does not spend on garbage and on idle threads."""

from __future__ import annotations

import json
import subprocess
import sys

COMMAND = """
import gc, json, os, sys
from auctrack.plugins.cli.entry import main

sys.argv = ["auctrack", "convert", sys.argv[1], "points.csv"]
try:
    main()
except SystemExit:
    pass
looked = sum(generation["collections"] for generation in gc.get_stats())
print(json.dumps([looked, gc.isenabled(), len(gc.get_objects()), os.environ["OPENBLAS_THREAD_TIMEOUT"]]))
"""


def test_garbage_is_looked_for_rarely_and_not_in_the_end(samples, tmp_path):
    command = [sys.executable, "-c", COMMAND, samples / "points.csv"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    looked, is_enabled, left, _ = json.loads(run.stdout.splitlines()[-1])
    assert looked < 100  # else several hundred times
    assert not is_enabled
    assert left < 1000  # all that was there is out of the collector's sight


def test_idle_threads_of_openblas_sleep_unless_the_user_says_otherwise(samples, tmp_path, monkeypatch):
    for given, stands in ((None, "4"), ("20", "20")):
        monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
        if given is not None:
            monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", given)
        command = [sys.executable, "-c", COMMAND, samples / "points.csv"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert json.loads(run.stdout.splitlines()[-1])[-1] == stands

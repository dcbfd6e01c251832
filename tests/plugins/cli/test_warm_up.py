"""`auctrack warm-up`: what is compiled there is not compiled again."""

from __future__ import annotations

import pytest

from auctrack.matching.device import cuda
from auctrack.plugins.cli.commands.warm_up import _tracking_on_gpu
from auctrack.plugins.words.compiling import compiling_reported


@pytest.fixture(scope="module", autouse=True)
def warmed():
    from typer.testing import CliRunner

    from auctrack.plugins.cli.app import app

    assert CliRunner().invoke(app, ["warm-up"]).exit_code == 0


def test_a_second_time_finds_everything_compiled(auctrack):
    assert "compiled already" in auctrack("warm-up").stdout


@pytest.mark.parametrize("command", ["info", "track"])
def test_a_movie_waits_for_nothing_any_more(auctrack, movie, command):
    compiled = []
    with compiling_reported(lambda: compiled.append(command)):
        assert auctrack(command, movie).exit_code == 0
    assert not compiled


@pytest.mark.parametrize("there", [True, False])
def test_tracking_on_a_gpu_is_compiled_where_there_is_one(monkeypatch, there):
    monkeypatch.setattr(cuda, "is_available", lambda: there)
    uses = _tracking_on_gpu()
    assert bool(uses) == there
    assert all("cuda" in repr(use.args) for use in uses)

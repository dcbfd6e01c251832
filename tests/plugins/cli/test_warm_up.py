"""`auctrack warm-up`: what is compiled there is not compiled again."""

from __future__ import annotations

import pytest

from auctrack.plugins.cli.compiling import told_of_compiling


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
    with told_of_compiling(lambda: compiled.append(command)):
        assert auctrack(command, movie).exit_code == 0
    assert not compiled

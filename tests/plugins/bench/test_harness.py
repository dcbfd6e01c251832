"""The harness: what counts as a time, what does not, and that an interrupted benchmark goes on where it was."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import auctrack
from auctrack.matching import NotConverged
from auctrack.plugins.bench.benchmark import code_words
from auctrack.plugins.bench.measure.harness import Case, Experiment, Variant, WrongAnswer, measure
from auctrack.plugins.bench.measure.machine import PACKAGE, commit_of
from auctrack.plugins.bench.measure.memory import watch_memory
from auctrack.plugins.bench.measure.record import Cell, Record
from auctrack.tracker.errors import InvalidInput, OutputExists

MACHINE = {"processor": "abacus", "cores": 1}


class Calls:
    """A variant that counts its calls and may misbehave at one of them."""

    def __init__(self, name="counter", *, at=None, error=None):
        self.name, self.calls, self.at, self.error = name, [], at, error

    def run(self, given):
        self.calls.append(given)
        if len(self.calls) == self.at:
            raise self.error
        return given

    def variant(self, **about):
        return Variant(self.name, self.run, **{"check": lambda _, answer: {"double": 2 * answer}, **about})


def opened(path, machine=MACHINE, commit=None):
    return Record.open(path / "b.json", "b", machine, "auctrack bench b", commit)


def run(path, variants, *, cases=None, repetitions=3, limit=10.0, progress=None):
    record = opened(path)
    cases = cases or [Case("numbers", 7, lambda seed: seed, seed_of=int)]
    measure([Experiment("e", cases, variants, repetitions)], record, limit, progress=progress)
    return record


def cell(record, variant="counter", size=7):
    return record.cell("e", "numbers", size, variant)


def test_one_call_warms_up_and_every_other_is_counted_with_its_facts(tmp_path):
    calls = Calls()
    found = cell(run(tmp_path, [calls.variant()]))
    assert calls.calls == [0, 0, 1, 2]
    assert len(found.seconds) == len(found.cpu_seconds) == 3
    assert found.seeds == [0, 1, 2]
    assert found.values("double") == [0, 2, 4]
    assert found.warm_up_s is not None


@pytest.mark.skipif(watch_memory("cpu") is None, reason="this system does not tell the peak of the resident memory")
def test_the_most_memory_of_a_call_is_recorded(tmp_path):
    fills = Variant("fills", lambda size: bool(np.ones(size, np.uint8).all()), lambda *_: {})
    found = run(tmp_path, [fills], cases=[Case("numbers", 7, lambda _: 200_000_000)])
    assert 190e6 < cell(found, "fills").peak_bytes < 400e6
    assert opened(tmp_path).cells[cell(found, "fills").key].peak_bytes == cell(found, "fills").peak_bytes


def test_an_input_that_does_not_vary_is_made_once_for_all_variants(tmp_path):
    made = []
    case = Case("numbers", 7, lambda seed: made.append(seed) or 5)
    a, b = Calls("a"), Calls("b")
    run(tmp_path, [a.variant(), b.variant()], cases=[case])
    assert made == [1]
    assert a.calls == b.calls == [5] * 4


def test_variants_take_turns(tmp_path):
    order = []
    variants = [
        Variant(name, run=lambda given, name=name: order.append((name, given)), check=lambda *_: {}) for name in "ab"
    ]
    run(tmp_path, variants, repetitions=2)
    assert order[2:] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_what_brings_the_input_into_form_is_not_run_inside_the_timed_call(tmp_path):
    calls = Calls()
    run(tmp_path, [calls.variant(prepare=lambda given: -given)])
    assert calls.calls == [0, 0, -1, -2]


def test_a_wrong_answer_takes_all_times_of_its_cell_away(tmp_path):
    def check(given, _):
        if given == 2:
            raise WrongAnswer("5 where 4 is the optimum")
        return {}

    record = run(tmp_path, [Calls().variant(check=check)])
    assert cell(record).seconds == []
    assert cell(record).why_not == "wrong: 5 where 4 is the optimum"


def test_a_declared_failure_is_recorded_and_others_go_on(tmp_path):
    record = run(tmp_path, [Calls("bad", at=1, error=NotConverged("too hard")).variant(), Calls().variant()])
    assert cell(record, "bad").why_not == "failed: NotConverged: too hard"
    assert len(cell(record).seconds) == 3


def test_an_error_that_is_not_declared_is_not_swallowed(tmp_path):
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, [Calls(at=2, error=ZeroDivisionError()).variant()])


def test_what_is_missing_here_is_said_and_not_run(tmp_path):
    calls = Calls()
    record = run(tmp_path, [calls.variant(missing="no abacus")])
    assert calls.calls == []
    assert cell(record).why_not == "no abacus"


def test_repetitions_end_at_the_limit_and_larger_sizes_of_the_series_are_not_tried(tmp_path):
    calls = Calls()
    cases = [Case("numbers", size, lambda _, size=size: size) for size in (9, 7)]
    cases.append(Case("letters", 9, lambda _: "a"))
    record = run(tmp_path, [calls.variant()], cases=cases, limit=0.0)
    assert calls.calls == [7, 7, "a", "a"]
    assert "more than the limit of 0 s" in cell(record, size=9).why_not
    assert len(cell(record).seconds) == 1


def test_where_answers_are_compared_no_limit_ends_the_repetitions(tmp_path):
    record = opened(tmp_path)
    case = Case("numbers", 7, lambda seed: seed, seed_of=int)
    measure([Experiment("e", [case], [Calls().variant()], 3, complete=True)], record, limit_s=0.0)
    assert len(cell(record).seconds) == 3


def test_a_first_call_that_takes_too_long_is_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr("auctrack.plugins.bench.measure.pace.LONGEST_COMPILATION_S", 0.0)
    calls = Calls()
    cases = [Case("numbers", size, lambda _, size=size: size) for size in (7, 9)]
    record = run(tmp_path, [calls.variant()], cases=cases, limit=0.0)
    assert calls.calls == [7]
    assert cell(record).seconds == []
    assert cell(record).why_not.startswith("given up: its first call took")
    assert "more than the limit" in cell(record, size=9).why_not


def test_a_first_call_that_only_waits_is_not_given_up(tmp_path, monkeypatch):
    """On a machine that others use, a compiler waits for them."""
    monkeypatch.setattr("auctrack.plugins.bench.measure.pace.LONGEST_COMPILATION_S", 0.04)
    waiting = replace(Calls().variant(), run=lambda given: (time.sleep(0.05), given)[1])
    assert len(cell(run(tmp_path, [waiting], limit=0.0)).seconds) == 1


@pytest.mark.parametrize(("clock", "calls"), [("wall", 2), ("cpu", 4)])
def test_limits_count_on_the_clock_that_is_shown(tmp_path, clock, calls):
    """A call that only waits takes wall time, and hardly any of the CPU's."""
    idle = Calls()
    waiting = replace(idle.variant(), run=lambda given: (time.sleep(0.05), idle.run(given))[1])
    case = Case("numbers", 7, lambda seed: seed)
    measure([Experiment("e", [case], [waiting], 3)], opened(tmp_path), 0.04, clock=clock)
    assert len(idle.calls) == calls


@pytest.mark.parametrize(("size", "calls"), [(900, 4), (1100, 0)])
def test_a_variant_that_would_take_too_long_as_it_grows_is_not_tried(tmp_path, size, calls):
    record = opened(tmp_path)
    for smaller, seconds in ((10, 0.01), (100, 0.1)):
        record.keep(Cell("e", "numbers", smaller, "counter", seconds=[seconds] * 3))
    counter = Calls()
    cases = [Case("numbers", n, lambda _: None) for n in (10, 100, size)]
    measure([Experiment("e", cases, [counter.variant(check=lambda *_: {})], 3)], record, limit_s=1.0)
    assert len(counter.calls) == calls
    why_not = cell(record, size=size).why_not
    assert why_not is None if calls else why_not.startswith("would need about 1.1 s, as it grew from 0.01 s at size 10")


def test_an_interrupted_benchmark_goes_on_where_it_was(tmp_path):
    first = Calls(at=4, error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [first.variant()])
    kept = json.loads((tmp_path / "b.json").read_text())["cells"][0]["seconds"]
    assert len(kept) == 2
    second = Calls()
    record = run(tmp_path, [second.variant()])
    assert second.calls == [0, 2]
    assert cell(record).seconds[:2] == kept
    assert len(cell(record).seconds) == 3
    assert len(record.sessions) == 2


def test_a_finished_benchmark_runs_nothing_again_and_a_failure_is_not_tried_again(tmp_path):
    variants = [Calls("bad", at=1, error=NotConverged("too hard")), Calls()]
    run(tmp_path, [v.variant() for v in variants])
    again = [Calls("bad"), Calls()]
    run(tmp_path, [v.variant() for v in again])
    assert [v.calls for v in again] == [[], []]


def test_what_was_missing_is_tried_again(tmp_path):
    run(tmp_path, [Calls().variant(missing="no abacus")])
    record = run(tmp_path, [Calls().variant()])
    assert len(cell(record).seconds) == 3
    assert cell(record).why_not is None


def test_progress_counts_every_cell(tmp_path):
    seen = []
    run(tmp_path, [Calls("a").variant(), Calls("b").variant()], progress=lambda *at: seen.append(at[:2]))
    assert seen == [(0, 2), (2, 2)]


def test_times_of_another_machine_are_no_neighbours_of_ours(tmp_path):
    run(tmp_path, [Calls().variant()])
    with pytest.raises(OutputExists, match="cores"):
        opened(tmp_path, {**MACHINE, "cores": 2})


def test_the_commits_whose_code_was_timed_are_told(tmp_path):
    """The second session changes the code and adds a variant; the third adds nothing, so its code is none of these."""
    for commit, names in (("1edabfb", "a"), ("ecbeeb3-dirty", "ab"), ("018ddea", "ab")):
        record = opened(tmp_path, commit=commit)
        case = Case("numbers", 7, lambda seed: seed)
        measure([Experiment("e", [case], [Calls(name).variant() for name in names], 1)], record, 10.0)
    assert [session["commit"] for session in opened(tmp_path).sessions[:3]] == ["1edabfb", "ecbeeb3-dirty", "018ddea"]
    assert code_words(record) == "; commits 1edabfb, ecbeeb3-dirty"


def test_without_a_commit_the_version_stands_alone(tmp_path):
    assert code_words(run(tmp_path, [Calls().variant()])) == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_is_that_of_a_checkout_with_a_mark_where_files_were_changed(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init")
    (tmp_path / "code.py").write_text("1")
    git("add", "code.py")
    git("commit", "-m", "first")
    assert commit_of(tmp_path) == git("rev-parse", "--short=12", "HEAD")
    (tmp_path / "code.py").write_text("2")
    assert commit_of(tmp_path) == git("rev-parse", "--short=12", "HEAD") + "-dirty"
    inside = tmp_path / "site-packages" / "auctrack"
    inside.mkdir(parents=True)
    assert commit_of(inside) is None  # installed within somebody else's checkout


@pytest.mark.parametrize("broken", ["no git", "no repository"])
def test_a_checkout_that_git_cannot_read_has_no_commit(tmp_path, monkeypatch, broken):
    (tmp_path / ".git").mkdir()
    if broken == "no git":
        monkeypatch.setenv("PATH", "")
    assert commit_of(tmp_path) is None


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": 1, "benchmark": "other", "cells": [], "sessions": []}']
)
def test_a_file_that_is_no_record_of_this_benchmark_is_refused(tmp_path, content):
    (tmp_path / "b.json").write_text(content)
    with pytest.raises(InvalidInput, match=r"b\.json is "):
        opened(tmp_path)


def test_the_commit_is_looked_for_in_the_folder_of_the_package():
    assert Path(auctrack.__file__).resolve() == PACKAGE / "__init__.py"

"""A name that is no setting is answered with the one that was meant, wherever it is given."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from auctrack import (
    Calibration,
    DetectSettings,
    InputSettings,
    LinkSettings,
    Settings,
    SimulationSettings,
    detect,
    link,
    link_points,
    read_movie,
    read_points,
    read_tracks,
    simulate,
    track,
)
from auctrack.tests.refusals import refused
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.setting_words import SECTIONS
from auctrack.tracker.unknown_settings import _OTHER_WORDS

SPOTS = pd.DataFrame({"frame": [0, 1], "y": [0.0, 1.0], "x": [0.0, 0.0]})
MOVIE = read_movie(np.zeros((2, 16, 16)), axes="TYX", unit="pixel")
CLASSES = (InputSettings, DetectSettings, LinkSettings, Settings, SimulationSettings)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: DetectSettings(dark=True),
            r"^DetectSettings .*'dark'.* bright_on_dark=False\?.* dark on a br",
        ),
        (lambda: DetectSettings(min_quality=3), r"'min_quality'.* threshold\?"),
        (lambda: replace(DetectSettings(), diametre=3), r"'diametre'.* diameter\?"),
        (lambda: InputSettings(voxel=(1, 1, 1)), r"'voxel'.* scale\?"),
        (lambda: InputSettings(labels=True), r"'labels'.* kind='labels'\?"),
        (lambda: LinkSettings(memory=2), r"'memory'.* max_missed_frames\?"),
        (lambda: LinkSettings(linking_max_distance=2), r"'linking_max_distance'.* search_range\?"),
        (lambda: Settings(diameter=3), r"^Settings .*'diameter'.* DetectSettings"),
        (lambda: DetectSettings(search_range=3), r"'search_range'.* LinkSettings"),
        (lambda: SimulationSettings(particle=3), r"'particle'.* particles\?"),
        (lambda: simulate(particle=3), r"^simulate\(\) .*'particle'.* particles\?"),
        (lambda: Calibration(voxel=(1, 1, 1)), r"^Calibration .*'voxel'.* scale\?"),
        (lambda: Calibration(dt=2), r"'dt'.* frame_interval\?"),
        (lambda: link(SPOTS, max_missed_frames=2), r"^link\(\) .*'max_missed_frames'.* memory\?"),
        (lambda: link(SPOTS, max_distance=2), r"'max_distance'.* search_range\?"),
        (lambda: link(SPOTS, max_displacement=2), r"'max_displacement'.* search_range\?"),
        (lambda: link(SPOTS, adaptive_step=0.9), r"'adaptive_step'\. It is not needed: .*exactly\. It has points"),
        (lambda: read_points(SPOTS, fps=25), r"'fps'.* frame_interval\?"),
        (lambda: link(SPOTS, diameter=2), r"'diameter'.* DetectSettings"),
        (lambda: link_points(SPOTS, edge_budge=2), r"^link_points\(\) .*'edge_budge'.* edge_budget\?"),
        (lambda: detect(MOVIE, diametre=2), r"^detect\(\) .*'diametre'.* diameter\?"),
        (lambda: read_movie("movie.tif", voxel_size=2), r"^read_movie\(\) .*'voxel_size'.* scale\?"),
        (lambda: read_points(SPOTS, voxel=2), r"^read_points\(\) .*'voxel'.* scale\?"),
        (lambda: read_points(SPOTS, mpp=0.1), r"'mpp'.* scale\?"),
        (lambda: read_points(SPOTS, pos_columns=["x", "y"]), r"'pos_columns'.* columns\?"),
        (lambda: link(SPOTS, t_column="frame"), r"'t_column'\. .*read_points\(…, columns=.*It has points"),
        (lambda: link(SPOTS, columns={"frame": "t"}), r"'columns'\. .*read_points\(…, columns="),
        (lambda: link_points(SPOTS, frame_col="t"), r"'frame_col'\. .*read_points\(…, columns="),
        (lambda: read_tracks(SPOTS, dt=2), r"^read_tracks\(\) .*'dt'.* frame_interval\?"),
        (lambda: track("movie.tif", dark=True), r"'dark'.* bright_on_dark=False\?"),
        (
            lambda: LinkSettings(quux=1, xyzzy=2),
            r"^LinkSettings .*'quux', 'xyzzy'.* search_range, unmatched_cost",
        ),
    ],
)
def test_the_setting_that_was_meant_is_named(call, said):
    with refused(InvalidSetting, match=said):
        call()


def test_settings_of_detecting_by_themselves_are_answered_with_where_they_go():
    with refused(InvalidSetting, match=r"Say detect\(movie, DetectSettings\(diameter=…\)\)", setting="diameter"):
        detect(MOVIE, diameter=3)
    with refused(InvalidSetting, match=r"DetectSettings; got float.*DetectSettings\(diameter=…\)", setting="settings"):
        detect(MOVIE, 3.0)


def test_settings_of_a_simulation_by_themselves_are_answered_with_where_they_go():
    with refused(InvalidSetting, match=r"Say simulate\(SimulationSettings\(seed=…\)\)", setting="seed"):
        simulate(seed=3)
    with refused(InvalidSetting, match=r"simulate\(SimulationSettings\(particles=…\)\)", setting="settings"):
        simulate(3)


def test_a_simulation_needs_no_settings():
    assert simulate().settings == SimulationSettings()


@pytest.mark.parametrize("of", [*CLASSES, Calibration])
def test_settings_are_copied_and_pickled_as_before(of):
    assert copy.deepcopy(of()) == pickle.loads(pickle.dumps(of())) == of()


def test_words_are_sorted_by_the_class_of_their_settings():
    for of in (InputSettings, DetectSettings, LinkSettings):
        assert set(SECTIONS[of.__name__]) == {each.name for each in fields(of)} - {"predict", "extra_cost"}


def test_other_words_stand_for_settings_that_there_are():
    known = {each.name for of in CLASSES for each in fields(of)} | {"memory"}
    assert {said.partition("=")[0] for words in _OTHER_WORDS.values() for said in words} <= known

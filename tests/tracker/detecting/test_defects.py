"""Defects of a camera: known from the movie, filled in, said; whatever optics show is left alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from auctrack.tracker.detecting.defects import Defects, Mended, without_defects
from auctrack.tracker.detecting.detect import detect
from auctrack.tracker.detecting.diameter import suggest_diameter
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.pipeline import track
from auctrack.tracker.reading.contiguous import NEW_MEMORY
from auctrack.tracker.reading.movie import read_movie
from auctrack.tracker.settings import InputSettings, Settings

from .test_diameter import balls, scattered, spots

SIZE = 128
PLANE = SIZE, SIZE


def frames_of(rng, shape, diameter=8.0, count=20, frames=4, noise=5.0):
    """Return frames of spots at places of their own, and these places."""
    places = [scattered(rng, shape, np.ones(len(shape)), count, 1.6 * diameter) for _ in range(frames)]
    images = [100.0 + spots(shape, at, diameter, np.ones(len(shape))) + rng.normal(0.0, noise, shape) for at in places]
    return np.array(images), places


def movie_of(images):
    axes = "TZYX" if images.ndim == 4 else "TYX"
    whole = np.clip(images, 0, 65535).astype(np.uint16)
    return read_movie(whole, axes=axes, scale=(1.0,) * (images.ndim - 1))


def defects_of(movie):
    return without_defects(movie).defects


def hot(images, rng, count=40, by=2000.0):
    """Make some pixels hot in every frame, in place; return where, bool (y, x)."""
    at = np.zeros(PLANE, bool)
    at.flat[rng.choice(at.size, count, replace=False)] = True
    images[..., at] += by
    return at


@pytest.mark.parametrize("shape", [PLANE, (10, *PLANE)], ids=["2D", "3D"])
@pytest.mark.parametrize("by", [2000.0, -90.0])
def test_hot_and_dead_pixels_are_known_and_no_particles(shape, by):
    rng = np.random.default_rng(0)
    images, places = frames_of(rng, shape)
    at = hot(images, rng, by=by)
    movie = movie_of(images)
    defects = defects_of(movie)
    assert defects is not None
    assert not (defects.single & ~at).any()
    assert (defects.single & at).sum() >= 0.95 * at.sum()  # a dead one on the slope of a particle may be missed
    assert np.bincount(detect(movie).frames).tolist() == [len(each) for each in places]


@pytest.mark.parametrize("columns", [(30, 90), (50, 51), (0, 100, 101, 102)])
@pytest.mark.parametrize("axis", [-1, -2])
def test_dead_rows_and_columns_are_known_and_no_particles(columns, axis):
    images, places = frames_of(np.random.default_rng(1), PLANE)
    np.moveaxis(images, axis, 0)[list(columns)] = 0.0
    movie = movie_of(images)
    defects = defects_of(movie)
    assert defects is not None
    assert (defects.columns if axis == -1 else defects.rows) == columns
    assert not defects.single.any()
    assert np.bincount(detect(movie).frames).tolist() == [len(each) for each in places]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hot_pixels", [0, 150])
def test_pixels_that_rare_photons_hit_in_several_frames_are_no_defects(hot_pixels, seed):
    """Of an electron-multiplying camera a photon is a single pixel, as bright as chance will have it."""
    rng = np.random.default_rng(seed)
    photons = rng.poisson(0.12, (4, *PLANE))
    images = 200.0 + rng.normal(0.0, 5.0, photons.shape) + 30.0 * rng.gamma(np.maximum(photons, 0.01))
    at = hot(images, rng, hot_pixels)
    defects = defects_of(movie_of(images))
    if not hot_pixels:
        assert defects is None
        return
    assert defects is not None
    assert (defects.single & at).sum() >= 0.95 * hot_pixels
    assert (defects.single & ~at).sum() <= 0.1 * hot_pixels


@pytest.mark.parametrize("diameter", [2.0, 3.0, 8.0])
@pytest.mark.parametrize("seed", range(4))
def test_particles_that_do_not_move_are_no_defects(diameter, seed):
    rng = np.random.default_rng(seed)
    at = scattered(rng, PLANE, np.ones(2), 60, 2.0 * diameter)
    images = 100.0 + 20.0 * spots(PLANE, at, diameter, np.ones(2)) + rng.normal(0.0, 5.0, (5, *PLANE))
    assert defects_of(movie_of(images)) is None


@pytest.mark.parametrize("light", [1.0, 100.0, 10_000.0])
def test_noise_of_light_has_no_defects(light):
    rng = np.random.default_rng(3)
    lit = light * (1.0 + np.hypot(*np.mgrid[-1:1:512j, -1:1:512j]))
    assert defects_of(movie_of(rng.poisson(lit, (3, 512, 512)).astype(float))) is None


def test_pixels_that_are_hot_in_one_frame_only_are_not_known():
    rng = np.random.default_rng(4)
    images, _ = frames_of(rng, PLANE)
    for image in images:
        hot(image, rng)
    assert defects_of(movie_of(images)) is None


@pytest.mark.parametrize("frames", [1, 2])
def test_frames_too_few_or_all_the_same_tell_of_no_defects(frames):
    rng = np.random.default_rng(5)
    images, _ = frames_of(rng, PLANE, frames=frames)
    hot(images, rng)
    assert defects_of(movie_of(images)) is None
    assert defects_of(movie_of(np.repeat(images[:1], 6, axis=0))) is None


def test_defects_are_filled_in_from_their_neighbours_and_nothing_else_changes():
    rng = np.random.default_rng(6)
    images, _ = frames_of(rng, PLANE)
    sound = movie_of(images)
    at = hot(images, rng)
    images[..., 70:73] = 0.0
    at[:, 70:73] = True
    movie = movie_of(images)
    mended = without_defects(movie)
    assert without_defects(mended) is mended
    for number in movie.frame_numbers:
        before, after, truth = (m.frame(number).astype(float) for m in (movie, mended, sound))
        assert np.array_equal(after[~at], before[~at])
        assert np.abs(after - truth)[at].max() < 60.0  # a spot is 100 high


class _ReadTogether:
    """A movie of which no frame is read before all that wait for theirs are being read."""

    def __init__(self, movie, threads):
        self._movie, self._all_read = movie, Barrier(threads, timeout=20)

    def __getattr__(self, name):
        return getattr(self._movie, name)

    def frame(self, number, into=NEW_MEMORY):
        self._all_read.wait()
        return self._movie.frame(number, into)


def test_frames_are_read_while_others_are_looked_at_for_defects_and_each_but_once():
    images = np.random.default_rng(8).normal(100, 5, (3, 8, *PLANE))
    images[..., 40, 30] += 2000.0
    movie = movie_of(images)
    expected = [without_defects(movie).frame(number) for number in range(3)]
    mended = Mended(_ReadTogether(movie, 3), kept_in=NEW_MEMORY)
    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(mended.frame, range(3)))
    np.testing.assert_array_equal(found, expected)
    assert mended.defects.single.sum() == 1


def test_pixels_without_a_value_beside_a_defect_do_not_fill_it_in():
    rng = np.random.default_rng(7)
    images, _ = frames_of(rng, PLANE)
    hot(images, rng)
    images[..., 60] = 0.0
    images[:, 20:23, 57] = np.nan
    movie = read_movie(images.astype(np.float32), axes="TYX", scale=(1.0, 1.0))
    assert np.isfinite(without_defects(movie).frame(0)[20:23, 60]).all()


def test_an_array_that_is_given_stays_as_it_is():
    rng = np.random.default_rng(8)
    images, _ = frames_of(rng, PLANE)
    hot(images, rng)
    given = images.astype(np.float32)
    kept = given.copy()
    detect(read_movie(given, axes="TYX", scale=(1.0, 1.0)))
    assert np.array_equal(given, kept)


def test_what_was_filled_in_is_said_in_the_coordinates_of_the_file():
    rng = np.random.default_rng(9)
    images, _ = frames_of(rng, PLANE)
    hot(images, rng, count=3)
    images[..., 90] = 0.0
    given = InputSettings(axes="TYX", scale=(1.0, 1.0), roi="10:120,20:120")
    (note,) = track(np.clip(images, 0, 65535).astype(np.uint16), Settings(given)).notes
    assert "column 90 " in note
    assert "pixel" in note


def test_one_defect_is_said_to_be_one_and_several_to_be_several():
    single = np.zeros(PLANE, bool)
    single[5, 5] = True
    one, several = Defects(single).in_words(), Defects(single, columns=(90,)).in_words()
    assert "differs from what surrounds it " in one
    assert "it is filled in from its neighbours" in one
    assert "differ from what surrounds them " in several
    assert "they are filled in from their neighbours" in several


def test_what_is_said_of_a_movie_comes_with_its_tracks_and_its_points():
    """Arcs of hollow particles are found; that larger blobs stand out too is said."""
    rng = np.random.default_rng(10)
    rings = []
    for _ in range(3):
        at = scattered(rng, (256, 256), np.ones(2), 14, 34.0)
        rings.append(balls((256, 256), at, 30.0, np.ones(2)) - 0.9 * balls((256, 256), at, 22.0, np.ones(2)))
    images = np.array(rings) + 100.0 + rng.normal(0.0, 5.0, (3, 256, 256))
    movie = movie_of(images)
    hint = suggest_diameter(movie).other
    assert "if those are the particles" in hint
    result = track(images.astype(np.uint16), Settings(InputSettings(axes="TYX", scale=(1.0, 1.0))))
    assert any(hint in note for note in result.notes)
    given = Settings(InputSettings(axes="TYX", scale=(1.0, 1.0)), DetectSettings(30.0))
    assert not track(images.astype(np.uint16), given).notes

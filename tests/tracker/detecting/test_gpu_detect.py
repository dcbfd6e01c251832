"""Detection on a GPU finds what it finds on a CPU: by the kernels themselves run on the host, and on a real one."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceMemoryExceeded, DeviceUnavailable
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.detecting import gpu_around, gpu_peaks, gpu_separable, gpu_spread, side_by_side, threshold
from auctrack.tracker.detecting.blobs import blob_response
from auctrack.tracker.detecting.detect import detect, detect_frame, resolve_settings
from auctrack.tracker.detecting.diameter import suggest_diameter
from auctrack.tracker.detecting.peaks import local_maxima
from auctrack.tracker.detecting.pixels import held_by
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.side_by_side import GPU_PAYS, work_plan

from ...matching.auction.on_host import be_the_device
from ...matching.hungarian.host_kernels import HostArray
from .test_detect import Stack, gaussian_spots
from .test_side_by_side import Counted


@pytest.fixture(params=[pytest.param("host", marks=pytest.mark.kernels), pytest.param("gpu", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A GPU's name; the host by its own kernels where there is none."""
    if request.param == "host":
        be_the_device(monkeypatch)
        monkeypatch.setattr(cuda, "is_device_array", lambda array: isinstance(array, HostArray))
        monkeypatch.setattr(cuda, "own_stream", nullcontext)
        monkeypatch.setattr(cuda, "queue", lambda: nullcontext(lambda: None))
        monkeypatch.setattr(cuda, "copy_stream", nullcontext)
        monkeypatch.setattr(cuda, "free_bytes", lambda: 1 << 30)
        for module in (gpu_around, gpu_peaks, gpu_separable, gpu_spread):
            monkeypatch.setattr(module, "THREADS", 64)
        monkeypatch.setattr(gpu_peaks, "_BLOCKS", 1)
    return "cuda"


def noisy(shape, seed=0, spots=12):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0.0, np.array(shape) - 1.0, (spots, len(shape)))
    return gaussian_spots(shape, centres, 6.0, (1.0,) * len(shape)) + rng.normal(100.0, 5.0, shape)


def without_values(image):
    image = image.astype(np.float32)
    image[..., 3:9, 4:9] = np.nan
    return image


IMAGES = {
    "2D": noisy((40, 50)),
    "3D": noisy((8, 20, 30), spots=4),
    "whole numbers": noisy((4, 20, 30), spots=4).astype(np.uint16),
    "two planes": noisy((2, 20, 30), spots=4),
    "padding": np.pad(noisy((30, 40)), 8),
    "voxels without a value": without_values(noisy((3, 20, 30), spots=4)),
    "even": np.full((20, 30), 7.0),
}


@pytest.mark.parametrize("method", ["log", "dog"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (1, 20, 20), (2, 3, 4), (9, 33, 17)])
def test_the_response_is_that_of_a_cpu(gpu, shape, method):
    image = np.random.default_rng(1).normal(100.0, 10.0, shape).astype(np.float32)
    scale = np.array([2.0, 1.0, 1.0])[-len(shape) :]
    for diameter in (2.0, 7.3, 40.0):  # the last is wide along x
        wanted = blob_response(image, diameter, scale, method)
        with held_by(gpu, image) as pixels:
            response = blob_response(pixels, diameter, scale, method)
            assert cuda.is_device_array(response)
            np.testing.assert_allclose(cuda.to_host(response), wanted, rtol=0, atol=2e-4)


@pytest.mark.parametrize("room", [1, 1 << 16])
def test_peaks_are_those_of_a_cpu_however_many(gpu, monkeypatch, room):
    monkeypatch.setattr(gpu_peaks, "_ROOM", room)
    for shape in ((30, 20), (4, 9, 11)):
        response = np.random.default_rng(2).integers(0, 5, shape).astype(np.float32)  # with plateaus
        wanted = local_maxima(response, 2.0, 1.5, np.ones(len(shape)))
        with held_by(gpu, response) as pixels:
            found = local_maxima(pixels, 2.0, 1.5, np.ones(len(shape)))
            np.testing.assert_array_equal(cuda.to_host(found), wanted)


@pytest.mark.parametrize("bright", [True, False])
@pytest.mark.parametrize("name", IMAGES)
def test_a_frame_has_the_particles_that_a_cpu_finds(gpu, name, bright):
    image = IMAGES[name] if bright else 250 - IMAGES[name]
    settings = DetectSettings(6.0, threshold=20.0, bright_on_dark=bright)
    if min(image.shape) < 6:
        settings = DetectSettings(2.0, threshold=20.0, bright_on_dark=bright)
    scale = np.ones(image.ndim)
    found, wanted = (detect_frame(image, settings, scale, device=device) for device in (gpu, "cpu"))
    assert len(found) == len(wanted)
    assert len(wanted) > 0 or name == "even"
    for column in wanted:
        np.testing.assert_allclose(found[column], wanted[column], rtol=1e-3, atol=2e-3, err_msg=column)


def test_a_movie_has_the_threshold_and_the_particles_that_a_cpu_finds(gpu):
    movie = Stack(np.stack([noisy((30, 40), seed) for seed in range(6)]).astype(np.uint16), Calibration(), (0, 0))
    chosen, wanted = (resolve_settings(movie, DetectSettings(6.0), device) for device in (gpu, "cpu"))
    assert chosen.threshold == pytest.approx(wanted.threshold, rel=1e-4)
    found, points = (detect(movie, wanted, device=device).table for device in (gpu, "cpu"))
    assert len(points) > 20
    np.testing.assert_allclose(found, points, rtol=1e-3, atol=2e-3)


def noise_and(places, grain):
    """Return a frame of bright squares in noise that is smooth over so many pixels."""
    noise = gaussian_filter(np.random.default_rng(2).normal(size=(160, 160)), grain)
    image = 5.0 * noise / noise.std()
    for y, x in places:
        image[y : y + 6, x : x + 6] += 12.0
    return (image + 100.0).astype(np.float32)


@pytest.mark.parametrize("grain", [0.0, 1.5])
@pytest.mark.parametrize("step", [9, 14, 20, 40])
def test_a_sample_on_a_gpu_has_the_threshold_that_it_has_on_the_host(gpu, step, grain):
    """Where particles fill the frame, where dips tell noise of any grain from them, and where they are few."""
    places = [(y, x) for y in range(4, 150, step) for x in range(4, 150, step)]
    scale, image = np.ones(2), noise_and(places, grain)[None]
    how = [5.0 if grain == 0.0 else 0.5], 7.0, scale, "log", 3.5
    wanted = threshold.threshold_between(threshold.image_qualities(image, *how))
    with held_by(gpu, image) as pixels:
        sample = threshold.image_qualities(pixels, *how)
        assert cuda.is_device_array(sample.qualities)
        assert threshold.threshold_between(sample) == pytest.approx(wanted, rel=1e-4)


def test_a_frame_is_read_once_for_the_settings_and_for_what_is_found(gpu):
    movie = Counted(np.stack([noisy((40, 50), seed, 30) for seed in range(7)]).astype(np.uint16))
    found = detect(movie, DetectSettings(), device=gpu).table
    assert sorted(movie.read) == list(range(7))
    np.testing.assert_allclose(found, detect(movie, DetectSettings(), device="cpu").table, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["2D", "3D", "padding", "voxels without a value", "even"])
@pytest.mark.parametrize("room", [1, 1 << 16])
def test_frames_that_are_queued_have_the_particles_that_a_cpu_finds(gpu, monkeypatch, name, room):
    """Also where a frame has more peaks than there is room for, or voxels without a value, on which more depends."""
    monkeypatch.setattr(gpu_peaks, "_ROOM", room)
    images = np.stack([np.roll(IMAGES[name], shift, axis=-1) for shift in range(0, 12, 2)])
    movie = Stack(images, Calibration(), (0,) * IMAGES[name].ndim)
    settings = DetectSettings(6.0, threshold=20.0)
    found, wanted = (detect(movie, settings, device=device).table for device in (gpu, "cpu"))
    assert len(found) == len(wanted)
    assert len(wanted) > 0 or name == "even"
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("separation", [0.3, 0.5, 0.7, 3.0, 4.0, 40.0])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 0.3, 0.3), (0.3, 0.1, 0.1)])
def test_peaks_well_apart_are_those_of_a_cpu(gpu, separation, scale):
    """By voxels and, where too many lie within the separation, by a tree; all but 40 are just as far as some peaks."""
    response = np.random.default_rng(3).integers(0, 9, (5, 21, 22)).astype(np.float32)  # with peaks of equal height
    wanted = local_maxima(response, 2.0, separation, np.array(scale))
    with held_by(gpu, response) as pixels:
        found = local_maxima(pixels, 2.0, separation, np.array(scale))
        np.testing.assert_array_equal(cuda.to_host(found), wanted)


@pytest.mark.parametrize(("images", "voxels"), [(1, 1), (3, 500), (2, 501)])
def test_responses_spread_as_a_cpu_says(gpu, images, voxels):
    """By an even number of voxels, whose median lies between two, and an odd one; a tenth are particles."""
    rng = np.random.default_rng(6)
    responses = (rng.normal(0.0, 3.0, (images, voxels)) + 100.0 * (rng.random((images, voxels)) < 0.1)).astype(
        np.float32
    )
    wanted = [threshold._spread(response) for response in responses]
    with held_by(gpu, responses) as there:
        found = cuda.to_host(gpu_spread.spreads(there, 1.4826, 5.0, 3))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_the_diameter_suggested_is_that_of_a_cpu(gpu):
    movie = Stack(np.stack([noisy((90, 100), seed, 30) for seed in range(3)]).astype(np.uint16), Calibration(), (0, 0))
    found, wanted = (suggest_diameter(movie, device=device) for device in (gpu, "cpu"))
    assert found.diameter == pytest.approx(wanted.diameter, rel=1e-4)
    np.testing.assert_array_equal(found.blobs, wanted.blobs)


def test_auto_takes_a_gpu_for_large_movies_that_it_holds(monkeypatch):
    monkeypatch.setattr(cuda, "using", lambda _: nullcontext())
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "free_bytes", lambda: 48 * 10**6 * 3)
    shape, many = (10, 1000, 100), GPU_PAYS // 10**6 + 1
    assert work_plan(shape, many, None, "auto").device == "cuda"
    assert work_plan(shape, many, None, "auto").frames == 3
    assert work_plan(shape, many - 1, None, "auto").device == "cpu"
    assert work_plan((40, 1000, 100), many, None, "auto").device == "cpu"


def test_a_frame_that_a_gpu_does_not_hold_is_filtered_in_tiles_or_by_the_cpu(monkeypatch):
    monkeypatch.setattr(cuda, "using", lambda _: nullcontext())
    monkeypatch.setattr(cuda, "free_bytes", lambda: 48 * 10**5 * 30)
    plan = work_plan((40, 1000, 100), 1, None, "cuda", overlap=14)
    assert (plan.device, plan.planes) == ("cuda", 30)
    assert work_plan((40, 1000, 100), 1, None, "cuda").device == "cpu"
    with pytest.raises(DeviceMemoryExceeded):
        work_plan((40, 1000, 100), 1, None, "cuda", overlap=15)


@pytest.mark.parametrize("planes", [17, 25])
def test_tiles_on_a_gpu_find_what_a_cpu_finds_in_the_whole_frame(gpu, monkeypatch, planes):
    image = noisy((60, 20, 24), spots=30)
    movie = Stack(image[None].astype(np.uint16), Calibration(), (0, 0, 0))
    wanted = detect(movie, DetectSettings(6.0, threshold=20.0), device="cpu").table
    monkeypatch.setattr(cuda, "free_bytes", lambda: int((planes + 0.5) * 48 * 20 * 24))
    found = detect(movie, DetectSettings(6.0, threshold=20.0), device=gpu).table
    assert len(found) == len(wanted) > 5
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("room", [1, 1 << 16])
@pytest.mark.parametrize("name", ["whole numbers", "padding", "voxels without a value"])
def test_tiles_that_are_queued_find_what_a_cpu_finds_in_whole_frames(gpu, monkeypatch, name, room):
    """Also where a tile has more peaks than there is room for, or voxels without a value."""
    monkeypatch.setattr(gpu_peaks, "_ROOM", room)
    image = noisy((60, 20, 24), spots=30).astype(np.uint16 if name == "whole numbers" else np.float32)
    if name == "padding":
        image = np.pad(image, 3)
    if name == "voxels without a value":
        image[20:30, 4:9, 4:9] = np.nan
    images = np.stack([np.roll(image, shift, axis=-1) for shift in range(0, 10, 2)])
    movie = Stack(images, Calibration(), (0, 0, 0))
    settings = DetectSettings(6.0, threshold=20.0)
    wanted = detect(movie, settings, device="cpu").table
    monkeypatch.setattr(cuda, "free_bytes", lambda: int(25.5 * 48 * image[0].size))
    found = detect(movie, settings, device=gpu).table
    assert len(found) == len(wanted) > 25
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-3)


def test_auto_takes_tiles_that_a_gpu_holds_where_half_of_each_is_its_own(monkeypatch):
    monkeypatch.setattr(cuda, "using", lambda _: nullcontext())
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "free_bytes", lambda: 48 * 10**5 * 30)
    many = GPU_PAYS // (4 * 10**6) + 1
    plan = work_plan((40, 1000, 100), many, None, "auto", overlap=7)
    assert (plan.device, plan.planes) == ("cuda", 30)
    assert work_plan((40, 1000, 100), many, None, "auto", overlap=8).device == "cpu"
    assert work_plan((40, 1000, 100), many - 1, None, "auto", overlap=7).device == "cpu"


def test_the_next_frame_is_read_while_tiles_are_worked_on(monkeypatch):
    monkeypatch.setattr(cuda, "using", lambda _: nullcontext())
    monkeypatch.setattr(cuda, "free_bytes", lambda: 48 * 10**2 * 5)
    monkeypatch.setattr(side_by_side, "pinned_memory", lambda *_: np.empty)
    movie = Counted(np.arange(9000).reshape(9, 10, 10, 10))
    plan = work_plan(movie.shape, 9, None, "cuda", overlap=2)
    begun: list[int] = []

    def begin(frame):
        begun.append(int(frame.pixels[0, 0, 0]))
        return lambda: partial(int, frame.pixels[0, 0, 1])

    with side_by_side.IncomingFrames(movie, range(9), plan) as incoming:
        results = incoming.queued(begin)
        assert next(results) == (0, 1)
        assert begun[:2] == [0, 1000]
        incoming._readers.submit(int).result()  # after what is to be read
        assert {0, 1, 2} <= set(movie.read)
        assert len(movie.read) <= 2 + 2 + 3
        assert list(results) == [(number, 1000 * number + 1) for number in range(1, 9)]
    assert sorted(movie.read) == list(range(9))


def test_a_gpu_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(cuda, "devices", lambda: ())
    monkeypatch.setattr(cuda, "cupy", lambda: None)
    with pytest.raises(DeviceUnavailable):
        detect(Stack(np.zeros((1, 20, 20)), Calibration()), DetectSettings(6.0, threshold=1.0), device="cuda")

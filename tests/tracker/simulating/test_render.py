"""The rendered movie shows the particles where the truth says, and files are whole or absent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.tests.refusals import refused
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidSetting, OutputExists, OutputFailed
from auctrack.tracker.formats.sidecar import read_sidecar
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.points import Points
from auctrack.tracker.simulating import render as rendering
from auctrack.tracker.simulating.render import RenderSettings, movie_shape, render, render_frame, rendered_truth
from auctrack.tracker.simulating.simulate import Simulation, SimulationSettings, simulate

NOISELESS = {"background": 0.0, "read_noise": 0.0}


def small(ndim: int = 3, **settings) -> Simulation:
    box = (7.0, 15.5, 15.5)[-ndim:]
    return simulate(SimulationSettings(**({"particles": 8, "frames": 3, "ndim": ndim, "box_um": box} | settings)))


def one_particle_at(position_um: tuple[float, ...]) -> Simulation:
    """A simulation of one standing particle."""
    simulation = small(particles=1, frames=1, step_um=0.0)
    table = simulation.truth.table.assign(**dict(zip("zyx", position_um, strict=True)))
    return Simulation(
        simulation.settings, type(simulation.truth)(table, simulation.truth.calibration), simulation.detections
    )


def test_the_file_says_axes_voxel_size_and_time(tmp_path):
    settings = RenderSettings(voxel_um=(1.0, 0.5, 0.25))
    path, _ = render(small(frame_interval_s=0.2), tmp_path / "movie.ome.tif", settings)
    with tifffile.TiffFile(path) as file:
        assert file.is_ome
        assert file.series[0].axes == "TZYX"
        assert file.series[0].shape == (3, 8, 32, 63)
        assert file.series[0].dtype == np.uint16
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
    sizes = {axis: pixels[f"PhysicalSize{axis}"] for axis in "ZYX"}
    assert sizes == {"Z": 1.0, "Y": 0.5, "X": 0.25}
    assert {pixels[f"PhysicalSize{axis}Unit"] for axis in "ZYX"} == {"µm"}
    assert (pixels["TimeIncrement"], pixels["TimeIncrementUnit"]) == (0.2, "s")


def test_a_plane_is_written_as_tyx(tmp_path):
    path, truth = render(small(ndim=2), tmp_path / "movie.ome.tif")
    with tifffile.TiffFile(path) as file:
        assert file.series[0].axes == "TYX"
        assert file.series[0].shape == (3, 32, 32)
    assert list(pd.read_csv(truth).columns) == ["frame", "y", "x", "track_id", "y_um", "x_um", "peak"]


def test_the_truth_beside_the_movie_is_exact_in_voxels_and_um(tmp_path):
    simulation, settings = small(), RenderSettings(voxel_um=(1.0, 0.5, 0.25))
    movie, truth = render(simulation, tmp_path / "movie.ome.tif", settings)
    assert (movie.name, truth.name) == ("movie.ome.tif", "movie.truth.csv")
    written = pd.read_csv(truth, dtype=str).astype(float).astype({"frame": int, "track_id": int})
    pd.testing.assert_frame_equal(written, rendered_truth(simulation, settings).table, check_exact=True)
    np.testing.assert_array_equal(written[["z_um", "y_um", "x_um"]], simulation.truth.positions)
    np.testing.assert_allclose(
        written[["z", "y", "x"]].to_numpy() * settings.voxel_um, simulation.truth.positions, rtol=1e-15
    )
    np.testing.assert_allclose(rendered_truth(simulation, settings).positions, simulation.truth.positions, rtol=1e-15)


@pytest.mark.parametrize("ndim", [2, 3])
def test_every_voxel_is_the_sum_of_gaussian_spots(ndim):
    """Against the whole image written out in numpy; only Poisson noise is in between."""
    simulation = small(ndim=ndim, particles=5, seed=2)
    settings = RenderSettings(psf_sigma_um=(1.5, 0.6, 0.9), peak=1e4, background=100.0, read_noise=0.0)
    truth = rendered_truth(simulation, settings)
    grid = np.indices(movie_shape(simulation.settings, settings))
    expected = np.full(grid.shape[1:], 100.0)
    rows = truth.table[truth.frames == 1]
    voxel, sigma = np.asarray(settings.voxel_um)[-ndim:], np.asarray(settings.psf_sigma_um)[-ndim:]
    for centre, peak in zip(rows[list(truth.axes)].to_numpy(), rows["peak"], strict=True):
        off = (grid - centre.reshape(-1, *[1] * ndim)) * voxel.reshape(-1, *[1] * ndim)
        expected += peak * np.exp(-0.5 * np.sum((off / sigma.reshape(-1, *[1] * ndim)) ** 2, axis=0))
    image = render_frame(simulation, settings, 1).astype(float)
    chi2 = np.mean((image - expected) ** 2 / expected)
    assert chi2 == pytest.approx(1.0, abs=5 * np.sqrt(2 / image.size) + 0.01)
    assert np.abs((image - expected) / np.sqrt(expected)).max() < 6.5


def test_a_spot_is_centred_at_its_particle():
    position = (3.3, 7.7, 8.1)
    settings = RenderSettings(peak=5e4, peak_spread=0.0, **NOISELESS)
    image = render_frame(one_particle_at(position), settings, 0).astype(float)
    weights = image / image.sum()
    centroid = [
        (np.arange(n) * weights.sum(axis=other)).sum()
        for n, other in zip(image.shape, ((1, 2), (0, 2), (0, 1)), strict=True)
    ]
    np.testing.assert_allclose(np.asarray(centroid) * settings.voxel_um, position, atol=0.05)


def test_a_spot_at_the_edge_is_cut_off():
    settings = RenderSettings(peak=1e4, peak_spread=0.0, **NOISELESS)
    image = render_frame(one_particle_at((0.0, 0.0, 15.5)), settings, 0)
    assert np.unravel_index(image.argmax(), image.shape) == (0, 0, 31)
    assert (image[:, 16:, :] == 0).all()
    assert (image[:, :, :16] == 0).all()


def test_background_and_noise_have_the_variance_of_photons_and_camera():
    empty = one_particle_at((3.0, 7.0, 7.0))
    settings = RenderSettings(peak=0.0, background=50.0, read_noise=4.0)
    image = render_frame(empty, settings, 0).astype(float)
    assert image.mean() == pytest.approx(50.0, abs=0.4)
    assert image.var() == pytest.approx(50.0 + 16.0 + 1 / 12, rel=0.06)


def test_noise_is_new_in_every_frame():
    empty = small(frames=2)
    one, two = (render_frame(empty, RenderSettings(peak=0.0, background=50.0), frame).ravel() for frame in (0, 1))
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.05


def test_a_camera_saturates_instead_of_wrapping_around():
    image = render_frame(one_particle_at((3.0, 7.0, 7.0)), RenderSettings(peak=2e5, peak_spread=0.0), 0)
    assert image[3, 14, 14] == 65535
    dark = render_frame(one_particle_at((3.0, 7.0, 7.0)), RenderSettings(peak=0.0, background=0.0, read_noise=5.0), 0)
    assert dark.max() < 50


def test_brightness_is_a_particles_own_for_life_and_spreads_as_asked():
    simulation = simulate(SimulationSettings(particles=5000, frames=3))
    truth = rendered_truth(simulation, RenderSettings(peak=200.0, peak_spread=0.3)).table
    brightness = truth.groupby("track_id")["peak"]
    pd.testing.assert_series_equal(brightness.min(), brightness.max())
    assert truth["peak"].mean() == pytest.approx(200.0, rel=0.02)
    assert truth["peak"].std() == pytest.approx(60.0, rel=0.05)


def test_a_frame_comes_out_alone_as_within_the_movie_and_the_same_again(tmp_path):
    simulation, settings = small(), RenderSettings(seed=5)
    first, _ = render(simulation, tmp_path / "a.ome.tif", settings)
    second, _ = render(simulation, tmp_path / "b.ome.tif", settings)
    movie = tifffile.imread(first)
    np.testing.assert_array_equal(movie[2], render_frame(simulation, settings, 2))
    assert not np.array_equal(movie[1], movie[2])
    assert first.read_bytes() == second.read_bytes()


def test_the_truth_reads_back_in_um_with_the_settings_that_made_it(tmp_path):
    simulation, settings = small(frame_interval_s=0.5), RenderSettings(voxel_um=(1.0, 0.5, 0.25))
    _, path = render(simulation, tmp_path / "movie.ome.tif", settings)
    truth = read_tracks(path)
    assert truth.calibration == Calibration((1.0, 0.5, 0.25), "µm", 0.5, "s")
    np.testing.assert_allclose(truth.positions, simulation.truth.positions, rtol=1e-14)
    made_with = read_sidecar(path).settings
    again = simulate(SimulationSettings(**made_with["simulation"]))
    pd.testing.assert_frame_equal(
        rendered_truth(again, RenderSettings(**made_with["render"])).table, rendered_truth(simulation, settings).table
    )


def test_existing_files_stay_unless_overwriting_is_asked_for(tmp_path):
    simulation = small(frames=1)
    (tmp_path / "movie.truth.csv").write_text("mine")
    with pytest.raises(OutputExists, match=r"movie\.truth\.csv "):
        render(simulation, tmp_path / "movie.ome.tif")
    assert (tmp_path / "movie.truth.csv").read_text() == "mine"
    assert not (tmp_path / "movie.ome.tif").exists()
    render(simulation, tmp_path / "movie.ome.tif", overwrite=True)
    assert (tmp_path / "movie.truth.csv").read_text().startswith("frame,z,y,x,track_id")


def test_a_folder_that_is_not_there_is_made(tmp_path):
    movie, truth = render(small(frames=1), tmp_path / "new" / "movie.ome.tif")
    assert movie.exists()
    assert truth.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "nowhere").write_text("a file stands in the way")
    with pytest.raises(OutputFailed, match="nowhere"):
        render(small(frames=1), tmp_path / "nowhere" / "movie.ome.tif")


def test_an_interrupted_rendering_leaves_nothing(tmp_path):
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(small(), tmp_path / "movie.ome.tif", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_waits_for_few_spots_only(monkeypatch):
    swarm = simulate(SimulationSettings(particles=50, frames=1, box_um=(9, 30, 30)))
    whole, add, sizes = render_frame(swarm, RenderSettings(), 0), rendering._add_spots, []

    def counted(image, centres, *rest):
        sizes.append(len(centres))
        add(image, centres, *rest)

    monkeypatch.setattr(rendering, "_add_spots", counted)
    monkeypatch.setattr(rendering, "_SPOTS", 20)
    np.testing.assert_array_equal(render_frame(swarm, RenderSettings(), 0), whole)
    assert sizes == [20, 20, 10]


def test_a_frame_without_particles_shows_background():
    simulation = simulate(SimulationSettings(particles=3, frames=2, box_um=(7, 7, 7), death_rate=1.0))
    assert render_frame(simulation, RenderSettings(background=20.0), 1).mean() == pytest.approx(20.0, abs=1.0)


def test_the_renderer_reads_no_detections():
    simulation = small()
    blind = Simulation(simulation.settings, simulation.truth, Points(simulation.detections.table.iloc[:0]))
    settings = RenderSettings()
    np.testing.assert_array_equal(render_frame(simulation, settings, 0), render_frame(blind, settings, 0))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("voxel_um", (1.0, 0.0, 1.0)),
        ("psf_sigma_um", (1.0, 1.0)),
        ("peak", -1.0),
        ("peak_spread", float("nan")),
        ("background", -1.0),
        ("read_noise", float("inf")),
        ("seed", -1),
    ],
)
def test_a_setting_out_of_range_is_named(setting, value):
    with pytest.raises(InvalidSetting, match=setting):
        RenderSettings(**{setting: value})


@pytest.mark.parametrize(("axis", "ndim"), [("z", 3), ("y", 3), ("y", 2), ("x", 2)])
def test_voxels_of_which_one_would_hold_the_box_are_refused_by_axis(axis, ndim):
    voxel = tuple(1e9 if name == axis else 1.0 for name in "zyx")
    with refused(InvalidSetting, match=f"1e\\+09 µm along {axis}", setting="voxel_um"):
        movie_shape(SimulationSettings(particles=10, ndim=ndim), RenderSettings(voxel_um=voxel))


def test_a_path_that_is_no_ome_tiff_and_a_frame_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(InvalidSetting, match=r"\.ome\.tif"):
        render(small(), tmp_path / "movie.png")
    with pytest.raises(InvalidSetting, match="0 to 2"):
        render_frame(small(), RenderSettings(), 3)


def test_the_ending_of_the_path_may_be_in_capitals(tmp_path):
    movie, truth = render(small(frames=1), tmp_path / "A.OME.TIF")
    assert (movie.name, truth.name) == ("A.OME.TIF", "A.truth.csv")


def test_a_frame_larger_than_any_memory_is_refused_with_its_shape():
    swarm = simulate(SimulationSettings(particles=1, frames=1, box_um=(1e5, 1e5, 1e5)))
    with pytest.raises(InvalidSetting, match="100001 × 200001 × 200001"):
        render_frame(swarm, RenderSettings(), 0)


@pytest.mark.parametrize("ndim", [2, 3])
def test_progress_moves_by_planes(tmp_path, ndim):
    calls: list[tuple[int, int]] = []
    simulation = small(ndim=ndim)
    render(simulation, tmp_path / "movie.ome.tif", progress=lambda done, total: calls.append((done, total)))
    planes = 3 * (movie_shape(simulation.settings, RenderSettings())[0] if ndim == 3 else 1)
    assert calls == [(done, planes) for done in range(1, planes + 1)]

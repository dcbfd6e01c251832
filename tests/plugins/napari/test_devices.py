"""GPUs by name, and what the user sees when one fails: a stand-in for the machine's list of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceMemoryExceeded, DeviceUnavailable
from auctrack.plugins.napari.layers.preferences import Preferences
from auctrack.plugins.napari.session.devices import find_devices
from auctrack.plugins.napari.threads.job import sentence_of
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate

from .conftest import finish

TWO = (cuda.Device(0, "NVIDIA H200", (9, 0), 2**37, 132), cuda.Device(1, "NVIDIA T4", (7, 5), 2**34, 40))


class CUDARuntimeError(RuntimeError):
    """Stand-in for CuPy's error of that name."""


def machine_of(devices, monkeypatch) -> None:
    monkeypatch.setattr(cuda, "devices", lambda: devices)


def without_driver(monkeypatch) -> None:
    def count():
        raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=CUDARuntimeError)
    monkeypatch.setattr(cuda, "cupy", lambda: SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))


def offered(widget) -> list[str]:
    box = widget.parts.link.device
    return [box.itemText(k) for k in range(box.count())]


def entry(box, value: str) -> tuple[bool, str]:
    """Whether an entry can be chosen, and what it says when the mouse rests on it."""
    from qtpy.QtCore import Qt

    place = box.findData(value)
    is_enabled = bool(box.model().item(place).flags() & Qt.ItemFlag.ItemIsEnabled)
    return is_enabled, box.itemData(place, Qt.ItemDataRole.ToolTipRole) or ""


def test_gpus_are_listed_by_name(monkeypatch):
    machine_of(TWO, monkeypatch)
    found = find_devices(print)
    assert found.gpus == (("cuda:0", "GPU 0: NVIDIA H200"), ("cuda:1", "GPU 1: NVIDIA T4"))
    assert found.why_none == ""


def test_a_machine_without_a_driver_has_none(monkeypatch):
    without_driver(monkeypatch)
    found = find_devices(print)
    assert (found.gpus, found.why_none) == ((), "no NVIDIA driver")


def without_cupy() -> None:
    raise DeviceUnavailable("CuPy cannot be imported")


def test_a_machine_without_cupy_has_none(monkeypatch):
    monkeypatch.setattr(cuda, "cupy", without_cupy)
    assert find_devices(print).why_none == "CuPy is not installed"


def test_the_widget_offers_the_gpus_that_were_found(open_widget, monkeypatch):
    machine_of(TWO, monkeypatch)
    widget = open_widget()
    finish(widget)
    assert offered(widget) == ["auto", "CPU", "GPU 0: NVIDIA H200", "GPU 1: NVIDIA T4"]
    widget.parts.link.device.setCurrentIndex(3)
    assert widget.parts.link.settings.device == "cuda:1"
    widget.parts.link.device.setCurrentIndex(0)


def test_a_gpu_that_is_not_there_cannot_be_chosen_and_says_why(open_widget, monkeypatch):
    without_driver(monkeypatch)
    widget = open_widget()
    finish(widget)
    assert offered(widget) == ["auto", "CPU", "GPU: no NVIDIA driver"]
    can_be_chosen, why_not = entry(widget.parts.link.device, "no gpu")
    assert not can_be_chosen
    assert "driver" in why_not
    assert widget.parts.bar.error.text() == ""


def test_a_solver_that_has_no_gpu_cannot_be_chosen_for_one_and_says_why(open_widget, monkeypatch):
    machine_of(TWO, monkeypatch)
    widget = open_widget()
    finish(widget)
    link = widget.parts.link
    link.solver.setCurrentIndex(link.solver.findData("jv"))
    link.device.setCurrentIndex(link.device.findData("cuda:0"))
    assert link.solver.currentData() == "auto"
    assert entry(link.solver, "auction") == (True, "")
    can_be_chosen, why_not = entry(link.solver, "jv")
    assert not can_be_chosen
    assert "CPU only" in why_not
    link.device.setCurrentIndex(0)
    assert entry(link.solver, "jv") == (True, "")


@pytest.mark.parametrize("remembered", ["cuda:0", "cuda"])
def test_a_gpu_of_another_machine_does_not_make_every_run_fail(viewer, open_widget, monkeypatch, remembered):
    without_driver(monkeypatch)
    preferences = Preferences(device=remembered)
    monkeypatch.setattr("auctrack.plugins.napari.widget.read_preferences", lambda: preferences)
    viewer.add_points(simulate(SimulationSettings(particles=9, frames=4)).detections.table[["frame", "z", "y", "x"]])
    widget = open_widget()
    finish(widget)
    assert f"{remembered}, the device chosen before, is not on this machine" in widget.parts.bar.status.text()
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.is_complete


@pytest.mark.parametrize("remembered", ["cuda:1", "cuda"])
def test_a_gpu_that_is_here_stays_chosen(open_widget, monkeypatch, remembered):
    machine_of(TWO, monkeypatch)
    preferences = Preferences(device=remembered)
    monkeypatch.setattr("auctrack.plugins.napari.widget.read_preferences", lambda: preferences)
    widget = open_widget()
    finish(widget)
    assert widget.parts.link.settings.device == remembered


def test_a_driver_that_fails_when_it_is_asked_is_said(open_widget, monkeypatch):
    def fail():
        raise CUDARuntimeError("cudaErrorUnknown: unknown error")

    monkeypatch.setattr(cuda, "devices", fail)
    widget = open_widget()
    finish(widget)
    assert widget.parts.bar.error.text().startswith("The GPU failed (cudaErrorUnknown: unknown error)")
    assert offered(widget) == ["auto", "CPU"]


@pytest.fixture
def linking(viewer, open_widget, monkeypatch):
    """Open a widget over points whose linking takes several solves."""
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._EDGES", 100)
    points = simulate(SimulationSettings(particles=60, frames=12)).detections
    viewer.add_points(points.table[["frame", "z", "y", "x"]].to_numpy(), name="beads")
    widget = open_widget()
    finish(widget)
    return widget


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            CUDARuntimeError("cudaErrorIllegalAddress: an illegal\nmemory access was encountered"),
            "The GPU failed (cudaErrorIllegalAddress: an illegal memory access was encountered); choose the device CPU "
            "and run again.",
        ),
        (
            DeviceMemoryExceeded("device='cuda:0': NVIDIA H200 ran out of memory: 8 GB asked for"),
            "device='cuda:0': NVIDIA H200 ran out of memory: 8 GB asked for",
        ),
    ],
)
def test_a_gpu_that_fails_in_the_middle_is_one_sentence_and_the_cpu_goes_on(linking, monkeypatch, error, sentence):
    from auctrack.tracker.linking.frame_pairs import first_order

    optimum, solved = first_order.optimum, []
    motion = linking.parts.link.motion
    motion.setCurrentIndex(motion.findData("none"))

    def failing(*given):
        solved.append(given)
        if len(solved) == 3:
            raise error
        return optimum(*given)

    with monkeypatch.context() as broken:
        broken.setattr(first_order, "optimum", failing)
        linking.running.run_all()
        finish(linking)
    bar = linking.parts.bar
    assert len(solved) == 3
    assert bar.error.text() == sentence
    assert not bar.details.isVisibleTo(bar)
    bar.details_button.click()
    assert bar.details.isVisibleTo(bar)
    assert "Traceback" in bar.details.toPlainText()
    assert type(error).__name__ in bar.details.toPlainText()
    linking.running.run_all()
    finish(linking)
    assert bar.error.text() == ""
    assert linking.parts.session.is_complete


def test_an_error_without_a_word_still_makes_a_sentence():
    with pytest.raises(InvalidSetting) as refused:
        LinkSettings(search_range=-1)
    assert sentence_of(refused.value).startswith("search range needs")
    assert sentence_of(RuntimeError()) == (
        "Something unexpected went wrong (RuntimeError: no message); please report the details."
    )

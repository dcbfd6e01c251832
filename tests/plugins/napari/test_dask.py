"""napari's cache of dask images bears one thread alone: the plugin's threads compute without it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from auctrack.plugins.napari.layers.layer_input import read_layer

from .conftest import PHYSICAL, finish, process_events, spots, wait


@pytest.fixture
def movie(viewer):
    """A movie of dask, with the numbers of frames whose reading waits until `let` is set."""
    import dask.array as da

    frames, slow, began, let = spots(), set(), threading.Event(), threading.Event()

    def read(block_info=None) -> np.ndarray:
        (number, _), *_ = block_info[None]["array-location"]
        if number in slow:
            began.set()
            assert let.wait(60)
        return frames[number : number + 1]

    chunks = ((1,) * len(frames), *((size,) for size in frames.shape[1:]))
    data = da.map_blocks(read, chunks=chunks, dtype=frames.dtype, meta=np.empty((0,) * 4, frames.dtype))
    layer = viewer.add_image(data, name="movie", contrast_limits=(0, 90), **PHYSICAL)
    yield layer, frames, slow, began, let
    let.set()


def test_a_frame_is_read_while_napari_slices(viewer, movie):
    """Reading begins while napari has its cache registered, and ends after napari has sliced another frame."""
    from dask.callbacks import Callback

    layer, frames, slow, began, let = movie
    slow.add(5)
    read: list[object] = []

    def work() -> None:
        try:
            read.append(read_layer(layer).source.frame(5))
        except KeyError as error:
            read.append(error)

    with layer.dask_optimized_slicing():
        thread = threading.Thread(target=work)
        thread.start()
        wait(began.is_set)
    viewer.dims.set_current_step(0, 3)
    process_events()
    let.set()
    thread.join()
    np.testing.assert_array_equal(read[0], frames[5])
    assert not Callback.active  # nobody else's computations fill napari's cache from now on


@pytest.mark.usefixtures("movie")
def test_a_run_ends_well_while_the_sliders_are_pulled(viewer, open_widget):
    widget = open_widget()
    finish(widget)
    widget.running.run_all()
    step = 0
    while widget.is_busy:
        step += 1
        viewer.dims.set_current_step((0, 1), (step % 6, step % 8))
        process_events()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    assert widget.parts.session.is_complete

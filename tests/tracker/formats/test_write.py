"""Results are written whole or not at all, and come back as they were."""

from __future__ import annotations

import _thread
import errno
import hashlib
import itertools
import json
import os
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting, OutputExists, OutputFailed
from auctrack.tracker.formats.checksum import Checksum
from auctrack.tracker.formats.registry import WRITTEN
from auctrack.tracker.formats.sidecar import read_sidecar
from auctrack.tracker.formats.tables import read_points, read_tracks
from auctrack.tracker.formats.write import require_writable, write_points, write_tracks, write_whole
from auctrack.tracker.points import Points, Tracks

CALIBRATION = Calibration((2.0, 0.325, 0.325), "µm", 0.5, "s")
NAMES = ("t.csv", "t.parquet", "t.napari.csv")


def some_tracks(ndim: int = 3) -> Tracks:
    random = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "quality": random.random(6).astype(np.float32),
            "track_id": [5, 3, 5, 4, 3, 4],
            "frame": [0, 2, 7, 2, 0, 9],
            "z": random.random(6) / 3,
            "y": random.normal(0, 1e-9, 6),
            "x": random.normal(0, 1e12, 6),
            "label": np.array([1, 2, 3, 4, 5, 2**63 - 1]),
            "gap": [True, False, True, False, True, False],
            "known": pd.array([0.1, None, 1.0, 2.0, None, 1e300], dtype="Float64"),
            "name": ["001", "b,c", 'say "d"', "é", "e\nf", "g"],
        }
    )
    return Tracks(table if ndim == 3 else table.drop(columns="z"), CALIBRATION, {5: [3], 4: [3]})


def assert_same(back: Points, sent: Points, *, in_order: bool = True) -> None:
    columns = list(sent.table.columns)
    assert set(back.table.columns) == set(columns)
    pd.testing.assert_frame_equal(back.table[columns], sent.table, check_exact=True)
    assert not in_order or list(back.table.columns) == columns
    assert back.calibration == sent.calibration


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_tracks_come_back_as_they_were(tmp_path: Path, name: str, ndim: int) -> None:
    tracks = some_tracks(ndim)
    write_tracks(tracks, tmp_path / name, settings={})
    back = read_tracks(tmp_path / name)
    assert_same(back, tracks, in_order="napari" not in name)
    assert back.parents == tracks.parents


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_points_come_back_as_they_were(tmp_path: Path, name: str, ndim: int) -> None:
    points = Points(some_tracks(ndim).table, CALIBRATION)
    write_points(points, tmp_path / name, settings={})
    assert_same(read_points(tmp_path / name), points, in_order="napari" not in name)


def test_a_feature_called_index_is_not_taken_for_row_numbers(tmp_path: Path) -> None:
    table = some_tracks().table
    table.insert(0, "index", range(6))
    write_points(Points(table), tmp_path / "t.csv", settings={})
    assert_same(read_points(tmp_path / "t.csv"), Points(table))


@pytest.mark.parametrize("name", NAMES)
def test_no_points_come_back_as_no_points(tmp_path: Path, name: str) -> None:
    tracks = Tracks(some_tracks().table[:0].reset_index(drop=True), CALIBRATION)
    write_tracks(tracks, tmp_path / name, settings={})
    assert_same(read_tracks(tmp_path / name), tracks, in_order=False)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_every_float_survives_csv(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("floats") / "t.csv"
    points = Points(pd.DataFrame({"frame": 0, "y": values, "x": values}))
    write_points(points, path, settings={})
    assert read_points(path).table["x"].tolist() == values


def test_napari_reads_the_columns_it_knows(tmp_path: Path) -> None:
    write_tracks(some_tracks(), tmp_path / "t.napari.csv", settings={})
    write_points(some_tracks(), tmp_path / "p.csv", settings={}, format="napari")
    assert list(pd.read_csv(tmp_path / "t.napari.csv").columns)[:5] == ["track_id", "t", "z", "y", "x"]
    points = pd.read_csv(tmp_path / "p.csv")
    assert list(points.columns)[:5] == ["index", "axis-0", "axis-1", "axis-2", "axis-3"]
    assert points["index"].tolist() == list(range(6))


def test_a_feature_that_napari_needs_the_name_of(tmp_path: Path) -> None:
    tracks = some_tracks()
    clashing = Tracks(tracks.table.assign(t=1.0), CALIBRATION)
    with pytest.raises(InvalidSetting, match="feature t "):
        write_tracks(clashing, tmp_path / "t.napari.csv", settings={})


def test_units_settings_and_lineage_stand_beside_the_table(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Gate:
        radius_um: float
        source: Path

    values = {"gate": Gate(3.5, Path("m.tif")), "n": np.int64(3), "sigma": np.array([1.0, 2.0]), "frames": slice(0, 5)}
    write_tracks(some_tracks(), tmp_path / "t.csv", settings=values)
    beside = json.loads((tmp_path / "t.csv.settings.json").read_text(encoding="utf-8"))
    assert beside["calibration"] == {
        "scale": [2.0, 0.325, 0.325], "unit": "µm", "frame_interval": 0.5, "time_unit": "s"
    }  # fmt: skip
    assert beside["settings"] == {
        "gate": {"radius_um": 3.5, "source": "m.tif"},
        "n": 3,
        "sigma": [1.0, 2.0],
        "frames": {"start": 0, "stop": 5, "step": None},
    }
    assert beside["parents"] == {"5": [3], "4": [3]}
    assert beside["auctrack"]


def test_what_the_user_says_wins_over_the_units_beside_the_table(tmp_path: Path) -> None:
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    assert read_points(tmp_path / "t.csv", unit="nm").calibration.scale == pytest.approx((2000, 325, 325))
    given = read_points(tmp_path / "t.csv", scale=(1, 2, 3), unit="mm", frame_interval=4).calibration
    assert given == Calibration((1, 2, 3), "mm", 4.0, "s")


def test_damaged_units_are_not_passed_over(tmp_path: Path) -> None:
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    for content in ("{", "[]", '{"calibration": {}}', '{"calibration": null}'):
        (tmp_path / "t.csv.settings.json").write_text(content)
        with pytest.raises(InvalidInput, match=r"t\.csv\.settings\.json"):
            read_points(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("calibration", {"scale": 2, "unit": "µm", "frame_interval": None, "time_unit": "s"}),
        ("calibration", {"scale": [2, 1, 1], "unit": 3, "frame_interval": None, "time_unit": "s"}),
        ("calibration", {"scale": [2, 1, 1], "unit": "µm", "frame_interval": "10 s", "time_unit": "s"}),
        ("columns", ["frame"]),
        ("columns", {"y": 64}),
        ("parents", {"first": [1]}),
        ("parents", {"1": ["first"]}),
        ("settings", None),
    ],
)
def test_units_edited_by_hand_into_something_else(tmp_path: Path, section: str, value: object) -> None:
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    beside = tmp_path / "t.csv.settings.json"
    beside.write_text(json.dumps(json.loads(beside.read_text(encoding="utf-8")) | {section: value}))
    with pytest.raises(InvalidInput, match=r"t\.csv\.settings\.json"):
        read_points(tmp_path / "t.csv")


def test_units_saved_anew_with_a_mark_before_the_text(tmp_path: Path) -> None:
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    beside = tmp_path / "t.csv.settings.json"
    beside.write_text(beside.read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert read_points(tmp_path / "t.csv").calibration == CALIBRATION


def test_rows_taken_out_by_hand_keep_the_units(tmp_path: Path) -> None:
    write_tracks(some_tracks(2), tmp_path / "t.csv", settings={})
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "t.csv").write_text("".join(lines[:3]), encoding="utf-8")
    back = read_tracks(tmp_path / "t.csv")
    assert (len(back), back.calibration) == (2, CALIBRATION)


def test_a_cell_emptied_by_hand_is_empty_and_no_damage(tmp_path: Path) -> None:
    tracks = some_tracks(2)
    counted = replace(tracks, table=tracks.table.assign(track_id=[3, 3, 3, 4, 4, 4], label=range(6)))
    write_tracks(counted, tmp_path / "t.csv")
    edited = pd.read_csv(tmp_path / "t.csv", dtype=str)
    edited.loc[1, ["track_id", "label"]] = ""
    edited.to_csv(tmp_path / "t.csv", index=False)
    back = read_tracks(tmp_path / "t.csv")
    assert (back.table["track_id"].tolist(), back.calibration) == ([3, 5, 3, 4, 4, 4], CALIBRATION)
    assert np.flatnonzero(back.table["label"].isna()).tolist() == [1]


@pytest.mark.parametrize("bad", ["", "one", "1.5"])
def test_a_frame_spoilt_by_hand_is_named_with_its_line(tmp_path: Path, bad: str) -> None:
    write_tracks(some_tracks(2), tmp_path / "t.csv")
    edited = pd.read_csv(tmp_path / "t.csv", dtype=str)
    edited.loc[1, "frame"] = bad
    edited.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InvalidInput, match="line 3 has"):
        read_tracks(tmp_path / "t.csv")


@pytest.mark.parametrize("bad", [{"a": object()}, {("a", "b"): 1}])
def test_settings_without_a_json_form(tmp_path: Path, bad: dict[str, object]) -> None:
    with pytest.raises(InvalidSetting, match="JSON"):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings=bad)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "values",
    [
        [1, "a", None, 2.0, {}, []],
        [2**70] * 6,
        pd.Series(["\ud800"] * 6, dtype=object),
        pd.arrays.SparseArray([0] * 6),
        np.arange(6) * 1j,
    ],
    ids=["mixed", "too large", "no text", "sparse", "complex"],
)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_column_that_no_file_can_hold(tmp_path: Path, name: str, values: object) -> None:
    odd = Tracks(some_tracks().table.assign(note=pd.Series(values)), CALIBRATION)
    with pytest.raises(InvalidInput):
        write_tracks(odd, tmp_path / name, settings={})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "values",
    [[[1, 2]] * 6, [b"\xff"] * 6, pd.period_range("2026", periods=6, freq="D")],
    ids=["lists", "bytes", "periods"],
)
def test_a_column_that_only_parquet_can_hold(tmp_path: Path, values: object) -> None:
    odd = Tracks(some_tracks().table.assign(note=pd.Series(values)), CALIBRATION)
    with pytest.raises(InvalidInput, match=r"CSV .*\.parquet"):
        write_tracks(odd, tmp_path / "t.csv", settings={})
    assert not list(tmp_path.iterdir())
    write_tracks(odd, tmp_path / "t.parquet", settings={})
    assert len(read_tracks(tmp_path / "t.parquet")) == 6


def test_a_name_that_comes_twice(tmp_path: Path) -> None:
    table = some_tracks().table
    twice = Tracks(pd.concat([table, table[["name"]]], axis=1), CALIBRATION)
    with pytest.raises(InvalidInput, match="name"):
        write_tracks(twice, tmp_path / "t.csv", settings={})


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"\.csv, \.parquet, \.napari\.csv"):
        write_tracks(some_tracks(), tmp_path / "t.xlsx", settings={})
    with pytest.raises(InvalidSetting, match=f"{', '.join(WRITTEN)}; got 'xml'"):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings={}, format="xml")


# --- whole or not at all -----------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("standing", ["t.csv", "t.csv.settings.json"])
def test_nothing_is_overwritten_unless_asked(tmp_path: Path, standing: str) -> None:
    (tmp_path / standing).write_text("precious")
    with pytest.raises(OutputExists, match=rf"{standing} .*overwrite=True"):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    assert contents(tmp_path) == {standing: b"precious"}
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={}, overwrite=True)
    assert len(read_tracks(tmp_path / "t.csv")) == 6
    assert sorted(contents(tmp_path)) == ["t.csv", "t.csv.settings.json"]


def test_a_record_that_has_lost_its_table_makes_room_for_that_of_a_new_one(tmp_path: Path) -> None:
    """Snakemake removes a result before it is made again, and knows nothing of what is beside it."""
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={"run": 1})
    (tmp_path / "t.csv").unlink()
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={"run": 2})
    beside = read_sidecar(tmp_path / "t.csv")
    assert beside is not None
    assert beside.settings["run"] == 2
    with pytest.raises(OutputExists, match=r"t\.csv exists"):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings={})


def refuse(number: int):
    def call(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize(
    ("where", "number"),
    [
        ("os.fsync", errno.ENOSPC),
        ("pyarrow.csv.write_csv", errno.ENOSPC),
        ("pathlib.Path.open", errno.EACCES),
        ("pathlib.Path.replace", errno.EACCES),
    ],
)
def test_a_full_disk_or_a_closed_folder_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, number: int
) -> None:
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={"run": 1})
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(where, refuse(number))
        with pytest.raises(OutputFailed, match=rf"t\.csv .*{os.strerror(number)}"):
            write_tracks(some_tracks(2), tmp_path / "t.csv", settings={"run": 2}, overwrite=True)
    assert contents(tmp_path) == before


def test_a_folder_that_may_not_even_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", refuse(errno.EACCES))
    with pytest.raises(OutputFailed, match=os.strerror(errno.EACCES)):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings={})


def test_a_real_limit_on_the_size_of_files(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    big = Points(pd.DataFrame({"frame": 0, "y": np.arange(50_000) / 7, "x": 1.0}))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OutputFailed, match=rf"t\.csv .*{os.strerror(errno.EFBIG)}"):
            write_points(big, tmp_path / "t.csv", settings={})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object, file, *__: object) -> None:
        file.write(b"half a ta")
        raise KeyboardInterrupt

    monkeypatch.setattr("pyarrow.csv.write_csv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failing", ["t.csv", "t.csv.settings.json"])
def test_new_units_never_stand_beside_an_old_table_nor_old_beside_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={"run": 1})
    before = contents(tmp_path)
    original = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.name == failing and self.suffix == ".tmp":
            raise OSError(errno.EIO, "Input/output error")
        return original(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(OutputFailed):
        write_tracks(some_tracks(2), tmp_path / "t.csv", settings={"run": 2}, overwrite=True)
    after = contents(tmp_path)
    if failing == "t.csv":
        assert after == before
    else:
        assert list(after) == ["t.csv"]


@pytest.mark.parametrize(("place", "at"), [*(("t.csv", at) for at in range(3)), *(("t_RES", at) for at in range(4))])
def test_a_ctrl_c_between_two_renames_is_heard_after_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, at: int
) -> None:
    path, one = (
        tmp_path / place,
        Tracks(some_tracks().table[["track_id", "frame", "z", "y", "x"]].assign(z=3, y=9, x=1)),
    )
    more = {"image_shape": [5, 12, 30], "effective": {"detect": {"diameter": 2}}}
    write_tracks(one, path, settings=more)
    other, renames = one.only(one.table["frame"] < 5), itertools.count()
    real = Path.replace

    def pressed(self: Path, target: Path) -> Path:
        if next(renames) == at:
            _thread.interrupt_main()
        return real(self, target)

    monkeypatch.setattr(Path, "replace", pressed)
    with pytest.raises(KeyboardInterrupt):
        write_tracks(other, path, settings=more, overwrite=True)
    monkeypatch.undo()
    assert len(read_tracks(path)) == len(other)
    assert read_sidecar(path) is not None
    assert sorted(file.name for file in tmp_path.iterdir()) == [place, f"{place}.settings.json"]


def test_a_file_is_written_as_python_ends_when_no_thread_can_begin(tmp_path: Path) -> None:
    code = f"""
import atexit
from pathlib import Path
from auctrack.tracker.formats.write import write_whole
atexit.register(write_whole, {{Path({str(tmp_path / "late.txt")!r}): b"whole"}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path) == {"late.txt": b"whole"}


def test_a_single_file_is_never_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_whole({path: lambda file: file.write(b"old")})
    moved: list[tuple[Path, Path]] = []
    original = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, to: moved.append((self, to)) or original(self, to))
    write_whole({path: lambda file: file.write(b"new")}, overwrite=True)
    assert [to for _, to in moved] == [path]
    assert contents(tmp_path) == {"summary.json": b"new"}


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    write_tracks(some_tracks(), tmp_path / "new" / "deep" / "t.csv", settings={})
    assert len(read_tracks(tmp_path / "new" / "deep" / "t.csv")) == len(some_tracks())


def test_a_folder_in_the_place_of_the_file_and_a_file_in_that_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(OutputFailed, match=r"t\.csv "):
        write_tracks(some_tracks(), tmp_path / "t.csv", settings={}, overwrite=True)
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(OutputFailed, match="taken"):
        write_tracks(some_tracks(), tmp_path / "taken" / "t.csv", settings={})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "taken"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "t.csv"
    os.mkfifo(pipe)
    with pytest.raises(OutputFailed, match=r"t\.csv "):
        write_tracks(some_tracks(), pipe, settings={}, overwrite=True)
    assert pipe.is_fifo()


def test_whether_a_folder_takes_files_is_found_out_without_a_trace(tmp_path: Path) -> None:
    require_writable(tmp_path)
    require_writable(tmp_path / "new" / "deep")
    assert not list(tmp_path.iterdir())
    (tmp_path / "taken").write_text("mine")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "deep"):
        with pytest.raises(OutputFailed, match="taken "):
            require_writable(folder)


def test_files_have_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_tracks(some_tracks(), tmp_path / "t.csv", settings={})
    assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.mark.parametrize("name", NAMES)
def test_size_and_checksum_of_a_table_stand_beside_it(tmp_path: Path, name: str) -> None:
    write_tracks(some_tracks(), tmp_path / name)
    content = (tmp_path / name).read_bytes()
    sidecar = read_sidecar(tmp_path / name)
    assert sidecar is not None
    assert sidecar.table == Checksum(len(content), hashlib.blake2b(content, digest_size=16).hexdigest())
    (tmp_path / name).write_bytes(content + b"\n")
    assert sidecar.table != Checksum.of(tmp_path / name)


def killed_while_writing(path: Path, age: float) -> Path:
    """Leave what a run leaves that is killed with SIGKILL; `age` is in seconds."""
    code = f"""
import os, signal
from pathlib import Path
from auctrack.tracker.formats.write import write_whole
def die(file):
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
write_whole({{Path({str(path)!r}): die}})
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    (left,) = path.parent.glob(".*.tmp")
    os.utime(left, (time.time() - age,) * 2)
    return left


@pytest.mark.skipif(sys.platform == "win32", reason="has no locks that end with their process")
def test_what_a_killed_run_left_goes_when_its_file_is_written_and_not_before_it_could_be_locked(tmp_path: Path) -> None:
    left = killed_while_writing(tmp_path / "t[1].csv", age=3600)
    write_whole({tmp_path / "other.csv": b""})
    assert left.exists()
    write_whole({tmp_path / "t[1].csv": b"whole"})
    assert contents(tmp_path) == {"other.csv": b"", "t[1].csv": b"whole"}
    young = killed_while_writing(tmp_path / "t[1].csv.", age=0)
    write_whole({tmp_path / "t[1].csv.": b"whole"})
    assert young.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="has no locks that end with their process")
def test_what_another_run_is_writing_stays(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"

    def meanwhile(file: BinaryIO) -> None:
        file.write(b"mine")
        file.flush()
        (mine,) = tmp_path.glob(".*.tmp")
        os.utime(mine, (0, 0))
        write_whole({path: b"another's"})
        assert mine.exists()

    write_whole({path: meanwhile}, overwrite=True)
    assert contents(tmp_path) == {"t.csv": b"mine"}


def test_files_of_the_users_own_that_only_look_alike_stay(tmp_path: Path) -> None:
    mine = [
        tmp_path / name for name in (".t.csv.tmp", ".t.csv.mybackup.tmp", "t.csv.0123abcd.tmp", ".u.csv.0123abcd.tmp")
    ]
    for file in mine:
        file.touch()
        os.utime(file, (0, 0))
    write_whole({tmp_path / "t.csv": b""})
    assert all(file.exists() for file in mine)


class TestPhysicalColumns:
    """Tables say their voxel size themselves."""

    @pytest.mark.parametrize("ndim", [2, 3])
    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    @pytest.mark.parametrize(("unit", "suffix"), [("µm", "um"), ("nm", "nm"), ("nanometers", "nm")])
    def test_the_voxel_size_is_found_without_the_file_beside_it(self, tmp_path, name, ndim, unit, suffix):
        tracks = some_tracks(ndim)
        sent = replace(tracks, calibration=replace(tracks.calibration, scale=(0.3, 0.1, 0.7), unit=unit))
        write_tracks(sent, tmp_path / name)
        raw = pd.read_parquet(tmp_path / name) if name.endswith("parquet") else pd.read_csv(tmp_path / name)
        for axis, size in zip("zyx"[3 - ndim :], (0.3, 0.1, 0.7)[3 - ndim :], strict=True):
            np.testing.assert_array_equal(raw[f"{axis}_{suffix}"], sent.table[axis] * size)
        (tmp_path / f"{name}.settings.json").unlink()
        back = read_tracks(tmp_path / name)
        assert back.calibration.unit == ("µm" if suffix == "um" else "nm")
        assert back.calibration.scale[3 - ndim :] == (0.3, 0.1, 0.7)[3 - ndim :]
        assert list(back.table.columns) == list(sent.table.columns)
        np.testing.assert_array_equal(back.positions, sent.positions)

    def test_they_do_not_double_on_a_round_trip(self, tmp_path):
        write_tracks(some_tracks(3), tmp_path / "a.csv")
        write_tracks(read_tracks(tmp_path / "a.csv"), tmp_path / "b.csv")
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()

    def test_a_table_without_a_unit_has_none(self, tmp_path):
        write_points(Points(pd.DataFrame({"frame": [0], "y": [1.0], "x": [2.0]})), tmp_path / "p.csv")
        assert list(pd.read_csv(tmp_path / "p.csv").columns) == ["frame", "y", "x"]

    def test_napari_keeps_its_own_columns(self, tmp_path):
        write_tracks(some_tracks(3), tmp_path / "t.napari.csv")
        assert "z_um" not in pd.read_csv(tmp_path / "t.napari.csv")

    @pytest.mark.parametrize(("um", "unit"), [([0.0, 0.0], "µm"), ([0.0, 3.0], "pixel")], ids=["nowhere else", "no"])
    def test_an_axis_without_extent_fits_only_columns_without(self, tmp_path, um, unit):
        table = pd.DataFrame({"frame": [0, 1], "y": [0.0, 0.0], "x": [1.0, 2.0], "y_um": um, "x_um": [0.5, 1.0]})
        table.to_csv(tmp_path / "t.csv", index=False)
        assert read_points(tmp_path / "t.csv").calibration.unit == unit

    def test_what_the_user_states_wins(self, tmp_path):
        write_tracks(some_tracks(3), tmp_path / "t.csv")
        (tmp_path / "t.csv.settings.json").unlink()
        assert read_tracks(tmp_path / "t.csv", scale=(9, 3, 3)).calibration.scale == (9, 3, 3)
        assert read_tracks(tmp_path / "t.csv", unit="pixel").calibration.unit == "pixel"

    def test_features_that_only_have_such_names_stay_features(self, tmp_path):
        table = pd.DataFrame(
            {"frame": [0, 1], "y": [1.0, 2.0], "x": [3.0, 4.0], "y_um": [5.0, 0.0], "x_um": [1.0, 9.0]}
        )
        points = read_points(table)
        assert points.calibration.unit == "pixel"
        assert list(points.table.columns) == list(table.columns)
        write_points(replace(points, calibration=CALIBRATION), tmp_path / "p.csv")
        back = read_points(tmp_path / "p.csv")
        assert back.table["file_x_um"].tolist() == [1.0, 9.0]
        assert "x_um" not in back.table

    @pytest.mark.parametrize("digits", [3, 12])
    def test_positions_from_the_origin_of_a_stage_state_the_size_and_are_kept(self, tmp_path, digits):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"frame": np.arange(50), "y": rng.uniform(0, 500, 50), "x": rng.uniform(0, 500, 50)})
        stage = {
            "y_um": (table["y"] * 0.325 + 12_345.678).round(digits),
            "x_um": (table["x"] * 0.325 - 7.5).round(digits),
        }
        points = read_points(table.assign(**stage))
        assert points.calibration.unit == "µm"
        assert points.calibration.scale[1:] == pytest.approx((0.325, 0.325), rel=1e-5)
        write_points(points, tmp_path / "p.csv")
        pd.testing.assert_series_equal(pd.read_csv(tmp_path / "p.csv")["file_y_um"], stage["y_um"], check_names=False)

    def test_two_positions_lie_on_a_line_by_chance(self):
        table = pd.DataFrame({"frame": [0, 1, 2], "y": [1.0, 2.0, 2.0], "x": [3.0, 4.0, 4.0]})
        assert read_points(table.assign(y_um=[5.0, 9.0, 9.0], x_um=[1.0, 9.0, 9.0])).calibration.unit == "pixel"

    def test_an_axis_along_which_nothing_lies_states_no_size(self):
        flat = pd.DataFrame({"frame": [0, 1], "z": 0.0, "y": [1.0, 2.0], "x": [3.0, 4.0]})
        flat = flat.assign(z_um=0.0, y_um=flat["y"] * 0.2, x_um=flat["x"] * 0.2)
        assert read_points(flat).calibration.scale == (1.0, 0.2, 0.2)


class TestTimeColumn:
    """A column of times beside the frames (`t_s`, `t_min`, …) keeps the frame interval without the sidecar."""

    @pytest.mark.parametrize(("unit", "column"), [("s", "t_s"), ("min", "t_min"), ("µs", "t_us"), ("sec", "t_s")])
    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    def test_the_interval_comes_back(self, tmp_path, name, unit, column):
        sent = replace(some_tracks(), calibration=replace(CALIBRATION, frame_interval=0.1, time_unit=unit))
        write_tracks(sent, tmp_path / name)
        raw = pd.read_parquet(tmp_path / name) if name.endswith("parquet") else pd.read_csv(tmp_path / name)
        np.testing.assert_array_equal(raw[column], sent.table["frame"] * 0.1)
        (tmp_path / f"{name}.settings.json").unlink()
        back = read_tracks(tmp_path / name)
        assert back.calibration.frame_interval == 0.1
        assert list(back.table.columns) == list(sent.table.columns)

    def test_it_needs_no_unit_of_length(self, tmp_path):
        points = Points(some_tracks().table, Calibration(frame_interval=2.0, time_unit="s"))
        write_points(points, tmp_path / "p.csv")
        (tmp_path / "p.csv.settings.json").unlink()
        assert read_points(tmp_path / "p.csv").calibration.frame_interval == 2.0

    def test_times_that_are_no_multiple_of_the_frame_stay_a_feature(self, tmp_path):
        points = Points(pd.DataFrame({"frame": [1, 2], "y": 0.0, "x": [1.0, 2.0], "t_s": [0.7, 0.1]}), CALIBRATION)
        assert read_points(points.table).calibration.frame_interval is None
        write_points(points, tmp_path / "p.csv")
        assert read_points(tmp_path / "p.csv").table["file_t_s"].tolist() == [0.7, 0.1]

    def test_frame_0_alone_tells_no_interval(self):
        only = pd.DataFrame({"frame": [0, 0], "y": [1.0, 2.0], "x": 0.0, "t_s": 0.0})
        assert read_points(only).calibration.frame_interval is None

"""`.ci/display`: what the tests of the viewer need is installed where that may be, else named; never passed over."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / ".ci" / "display"
LIBRARIES = (
    "libGL.so.1",
    "libEGL.so.1",
    "libglib-2.0.so.0",
    "libfontconfig.so.1",
    "libxkbcommon.so.0",
    "libdbus-1.so.3",
    "libxcb-cursor.so.0",
    "libxcb-icccm.so.4",
    "libxcb-keysyms.so.1",
    "libxkbcommon-x11.so.0",
    "libxcb-shape.so.0",
    "libnss3.so",
    "libasound.so.2",
    "libgbm.so.1",
    "libudev.so.1",
    "libxcb-dri3.so.0",
    "libxkbfile.so.1",
    "libXcomposite.so.1",
    "libXdamage.so.1",
    "libXrandr.so.2",
    "libXtst.so.6",
)

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="a script for bash")


class Machine:
    """A machine that has no other commands than those put into its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "apt-get.log"
        (folder / "grep").symlink_to(str(shutil.which("grep")))
        self.command("uname", "echo Linux")
        self.has(*LIBRARIES)
        self.user(0)

    def command(self, name: str, does: str) -> None:
        path = self.folder / name
        path.write_text(f"#!{shutil.which('bash')}\n{does}\n")
        path.chmod(0o755)

    def has(self, *libraries: str) -> None:
        listed = "\n".join(f"{name} (libc6,x86-64) => /lib/{name}" for name in libraries)
        self.command("ldconfig", f"[ $1 = -p ] && echo '{listed}'")

    def has_xvfb(self) -> None:
        for name in ("Xvfb", "xauth"):
            self.command(name, "exit 0")

    def has_apt(self) -> None:
        self.command("apt-get", f'echo "$@" >> {self.log}')

    def user(self, number: int) -> None:
        self.command("id", f"echo {number}")

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [str(shutil.which("bash")), str(SCRIPT)]
        environment = {"PATH": str(self.folder), **environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    @property
    def installed(self) -> list[str]:
        """What apt-get was told to install."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        words = [line.split() for line in lines if line.startswith("install")]
        return [word for line in words for word in line[1:] if not word.startswith("--")]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_nothing_is_installed_where_nothing_is_missing(machine):
    machine.has_xvfb()
    machine.has_apt()
    result = machine.run()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert machine.installed == []


def test_root_installs_what_is_missing_and_no_more(machine):
    machine.has(*(name for name in LIBRARIES if name not in ("libEGL.so.1", "libxcb-cursor.so.0")))
    machine.has_apt()
    assert machine.run().returncode == 0
    assert machine.installed == ["libegl1", "libxcb-cursor0", "xvfb", "xauth"]
    assert machine.log.read_text().startswith("update")


def test_a_failed_installation_fails(machine):
    machine.command("apt-get", "exit 100")
    assert machine.run().returncode == 100


@pytest.mark.parametrize("who", ["no root", "no apt"])
def test_where_nothing_may_be_installed_it_is_named_and_fails(machine, who):
    if who == "no root":
        machine.user(1000)
        machine.has_apt()
    result = machine.run()
    assert result.returncode == 1
    assert "need: xvfb xauth\n" in result.stderr
    assert "sudo apt-get install --no-install-recommends xvfb xauth" in result.stderr
    assert machine.installed == []


def test_a_library_is_not_taken_for_another_one_of_a_longer_name(machine):
    machine.has(*(name for name in LIBRARIES if name != "libGL.so.1"), "libGL.so.10")
    machine.has_xvfb()
    machine.user(1000)
    assert "need: libgl1\n" in machine.run().stderr


def test_a_display_that_is_there_needs_no_virtual_one(machine):
    machine.user(1000)
    assert machine.run(DISPLAY=":7").returncode == 0


def test_other_systems_bring_their_own_display(machine):
    machine.command("uname", "echo Darwin")
    machine.has()
    assert machine.run().returncode == 0
    assert os.access(SCRIPT, os.X_OK)

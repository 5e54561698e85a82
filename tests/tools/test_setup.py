"""tools/setup.sh on machines that lack something, played by a PATH of stand-ins."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "setup.sh"
TOO_OLD = "case $1 in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac"
NO_VENV = "case $2 in *ensurepip*) exit 1 ;; esac"


@dataclass(frozen=True, slots=True)
class Machine:
    """A directory that is the whole PATH."""

    path: Path

    def has(self, name: str, script: str) -> None:
        program = self.path / name
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def setup(self, purpose: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", str(SCRIPT), purpose],
            env={"PATH": str(self.path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine of user 1000 with Debian's essentials, no sudo, and a Python without venv."""
    machine = Machine(tmp_path / "bin")
    machine.path.mkdir()
    for name in ("dirname", "cat", "env", "head", "rm"):
        (machine.path / name).symlink_to(shutil.which(name) or pytest.fail(f"no {name}"))
    machine.has("id", "echo 1000")
    machine.has("apt-get", f'echo "$@" >>{tmp_path / "apt"}')
    machine.has("python3", NO_VENV)
    return machine


def test_python_that_is_too_old_is_named(machine: Machine) -> None:
    machine.has("python3", TOO_OLD)
    done = machine.setup("demo")
    assert done.returncode == 1
    assert "needs Python 3.11 or newer and this machine has Python 3.9.2" in done.stderr


def test_newer_python_beside_an_old_one_is_used(machine: Machine) -> None:
    machine.has("python3", TOO_OLD)
    machine.has("python3.12", NO_VENV)
    assert "python3.12-venv" in machine.setup("demo").stderr


def test_without_rights_the_command_is_named(machine: Machine, tmp_path: Path) -> None:
    done = machine.setup("demo")
    assert done.returncode == 1
    command = "apt-get update && apt-get install --yes --no-install-recommends python3-venv"
    assert command in done.stderr
    assert not (tmp_path / "apt").exists()


def test_sudo_that_wants_a_password_is_not_asked_without_a_terminal(machine: Machine) -> None:
    machine.has("sudo", "exit 1")
    done = machine.setup("demo")
    assert done.returncode == 1
    assert "run this as root" in done.stderr


def test_root_installs_and_says_so_first(machine: Machine, tmp_path: Path) -> None:
    machine.has("id", "echo 0")
    done = machine.setup("demo")
    calls = (tmp_path / "apt").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["update", "install"]
    assert calls[1].endswith(" python3-venv")
    assert done.stderr.startswith("setup: installing missing system packages: python3-venv")
    # These stand-ins install nothing, which must not go unnoticed either.
    assert done.returncode == 1
    assert "still missing after the installation: python3-venv" in done.stderr


def test_sudo_without_a_password_is_used(machine: Machine, tmp_path: Path) -> None:
    machine.has("sudo", '[ "$1" = -n ] || "$@"')
    machine.setup("demo")
    assert (tmp_path / "apt").read_text().splitlines()[0].startswith("update")


def test_tests_need_more_than_the_demo(machine: Machine) -> None:
    wanted = machine.setup("test").stderr
    for package in ("gcc", "libvirt-dev", "qemu-system-x86"):
        assert package in wanted
        assert package not in machine.setup("demo").stderr


def test_system_without_apt_is_told_what_is_missing(machine: Machine) -> None:
    (machine.path / "apt-get").unlink()
    done = machine.setup("demo")
    assert done.returncode == 1
    assert "python3-venv" in done.stderr

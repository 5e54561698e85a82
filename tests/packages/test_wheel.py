"""The wheel and the source distribution: what is in them, and that what they install works."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from support import peers
from support.built_packages import ROOT, VERSION, Packages, names

SHARED = f"unmask-{VERSION}.data/data/share"
INFO = f"unmask-{VERSION}.dist-info"


def sources() -> set[str]:
    """Return every file of the program that git knows or that is new, below src/."""
    listed = peers.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "src"]
    )
    found = {line for line in listed.stdout.splitlines() if (ROOT / line).is_file()}
    return {line.removeprefix("src/") for line in found}


def test_the_wheel_has_the_whole_program_and_no_tests(packages: Packages) -> None:
    inside = names(packages.wheel)
    program = {name for name in inside if name.startswith("unmask/")}
    assert program == sources()
    tops = {name.partition("/")[0] for name in inside - program}
    assert tops == {INFO, f"unmask-{VERSION}.data"}
    assert f"{INFO}/licenses/LICENSE" in inside


def test_the_wheel_brings_the_man_page_and_completions(packages: Packages) -> None:
    inside = names(packages.wheel)
    assert f"{SHARED}/man/man1/unmask.1" in inside
    assert f"{SHARED}/bash-completion/completions/unmask" in inside
    assert f"{SHARED}/zsh/site-functions/_unmask" in inside
    assert f"{SHARED}/fish/vendor_completions.d/unmask.fish" in inside


def test_completions_are_what_unmask_prints(tmp_path: Path) -> None:
    peers.run(["sh", str(ROOT / "tools/completions.sh"), str(tmp_path)])
    for path in tmp_path.iterdir():
        committed = ROOT / "packaging/completions" / path.name
        assert committed.read_text() == path.read_text(), "run tools/completions.sh"


def test_the_source_distribution_has_what_the_checkout_has(packages: Packages) -> None:
    top = f"unmask-{VERSION}/"
    inside = {name.removeprefix(top) for name in names(packages.sdist)}
    for name in ("Makefile", "pyproject.toml", "LICENSE", "README.md", "tools/setup.sh"):
        assert name in inside
    assert {f"src/{name}" for name in sources()} <= inside
    assert "packaging/requirements.txt" in inside
    assert any(name.startswith("tests/") for name in inside)
    assert not any("__pycache__" in name or name.startswith(".venv") for name in inside)


def test_a_wheel_of_the_checkout_is_that_of_the_source_distribution(
    packages: Packages, tmp_path: Path
) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    peers.run([*build, "--outdir", str(tmp_path), str(ROOT)])
    assert names(tmp_path / packages.wheel.name) == names(packages.wheel)


def test_metadata_is_complete(packages: Packages) -> None:
    with zipfile.ZipFile(packages.wheel) as archive:
        info = HeaderParser().parsestr(archive.read(f"{INFO}/METADATA").decode())
    assert info["Version"] == VERSION
    assert info["License-Expression"] == "Apache-2.0"
    assert info["Requires-Python"] == ">=3.11"
    assert info["Author"]
    assert info["Description-Content-Type"] == "text/markdown"
    assert set(info.get_all("Provides-Extra") or ()) == {"keyring", "lab", "libvirt"}
    with tarfile.open(packages.sdist) as tar:
        member = tar.extractfile(f"unmask-{VERSION}/PKG-INFO")
        assert member is not None
        assert HeaderParser().parsestr(member.read().decode())["Version"] == VERSION


def installed(*argv: str, **extra: str) -> None:
    """Run an installer; that PyPI cannot be reached is a missing peer."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env=os.environ | extra, timeout=240
    )
    if "No matching distribution found" in done.stderr or "ConnectionError" in done.stderr:
        peers.missing("PyPI, to install what unmask needs")
    assert done.returncode == 0, done.stderr


def works(program: Path, *, plain: tuple[str, ...] = ()) -> None:
    """Hold an installed program to what it does everywhere."""

    def said(*words: str) -> str:
        return subprocess.run(
            [str(program), *plain, *words], capture_output=True, text=True, check=True, cwd="/"
        ).stdout

    assert said("--version") == f"unmask {VERSION}\n"
    example = str(ROOT / "examples/homelab")
    assert "CLU002" in said("audit", example, "--select", "CLU002", "--fail-on", "never")
    assert "CPU002" in said("explain", "CPU002")


@pytest.mark.peer
def test_pip_installs_it_into_a_new_environment(packages: Packages, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    peers.run([sys.executable, "-m", "venv", str(venv)])
    installed(str(venv / "bin/pip"), "install", str(packages.wheel))
    works(venv / "bin/unmask")
    assert (venv / "share/bash-completion/completions/unmask").is_file()
    assert (venv / "share/man/man1/unmask.1").is_file()
    peers.run([str(venv / "bin/pip"), "check"])


@pytest.mark.peer
def test_pipx_installs_and_removes_it(packages: Packages, tmp_path: Path) -> None:
    pipx = str(Path(sys.executable).parent / "pipx")
    places = {
        "PIPX_HOME": str(tmp_path / "home"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }
    installed(pipx, "install", str(packages.wheel), **places)
    works(tmp_path / "bin/unmask")
    assert (tmp_path / "man/man1/unmask.1").is_file()
    installed(pipx, "uninstall", "unmask", **places)
    assert not (tmp_path / "bin/unmask").exists()

"""unmask.pyz, run by Pythons that have no packages at all, as on a Proxmox VE node."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support import peers
from support.built_packages import ROOT, VERSION, Packages, names

EXAMPLE = str(ROOT / "examples/homelab")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without any package."""
    folder = tmp_path_factory.mktemp("bare")
    peers.run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    return folder / "bin/python"


def run(python: Path, pyz: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the zipapp far from the checkout, with nothing of this process's environment."""
    return subprocess.run(
        [str(python), str(pyz), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"},
    )


def test_its_files_are_sorted_and_of_one_time(packages: Packages) -> None:
    with zipfile.ZipFile(packages.pyz) as archive:
        listed = archive.namelist()
        assert listed == sorted(listed)
        assert {entry.date_time for entry in archive.infolist()} == {(2025, 6, 15, 15, 6, 40)}


def test_it_holds_nothing_that_is_compiled_and_every_licence(packages: Packages) -> None:
    inside = names(packages.pyz)
    assert not [name for name in inside if name.endswith((".so", ".pyc", ".pyd"))]
    distributions = {name.split("/")[0] for name in inside if ".dist-info/" in name}
    text = (ROOT / "packaging/requirements.txt").read_text()
    pinned = set(re.findall(r"^([a-z0-9-]+)==([0-9.]+)", text, re.MULTILINE))
    for name, version in pinned - {pin for pin in pinned if pin[0] in COMPILED}:
        assert f"{name.replace('-', '_')}-{version}.dist-info" in distributions
    assert len(distributions) == len(pinned) - len(COMPILED) + 1  # and unmask itself


COMPILED = ("bcrypt", "cffi", "cryptography", "pycparser", "pynacl")


def test_every_file_of_the_program_is_in_it(packages: Packages) -> None:
    program = {name for name in names(packages.wheel) if name.startswith("unmask/")}
    assert program <= names(packages.pyz)


@pytest.mark.parametrize(
    "words",
    [
        ("audit", EXAMPLE, "--fail-on", "never"),
        ("audit", EXAMPLE, "--fail-on", "never", "--format", "json"),
        ("baseline", EXAMPLE),
        ("migrate-check", EXAMPLE),
        ("models", "x86-64-v3"),
        ("explain", "CPU002"),
        ("--help",),
    ],
    ids=" ".join,
)
def test_it_says_what_the_checkout_says(
    bare: Path, packages: Packages, words: tuple[str, ...]
) -> None:
    ours = subprocess.run(
        [sys.executable, "-m", "unmask", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"},
    )
    theirs = run(bare, packages.pyz, *words)
    assert (theirs.returncode, theirs.stderr) == (ours.returncode, ours.stderr)
    assert stable(theirs.stdout) == stable(ours.stdout)


@pytest.mark.parametrize("command", ["audit", "fix", "bench", "lab", "doctor"])
def test_every_command_has_its_help(bare: Path, packages: Packages, command: str) -> None:
    """In the words of the release of typer that can be bundled."""
    assert run(bare, packages.pyz, command, "--help").stdout.startswith(f"Usage: unmask {command}")


def stable(text: str) -> str:
    """Return an output without the time of the run."""
    return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|\+00:00)", "TIME", text)


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (("audit", "ssh://nobody@127.0.0.1:1"), "cryptography|bcrypt"),
        (("audit", "pve+ssh://127.0.0.1"), "cryptography|bcrypt"),
        (("audit", "test:///default"), "libvirt-python"),
        (("lab", "--port", "0", "--for", "1"), "cryptography"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_needs_a_compiled_package_says_so_in_one_sentence(
    bare: Path, packages: Packages, words: tuple[str, ...], package: str
) -> None:
    done = run(bare, packages.pyz, *words)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert re.search(
        rf"needs the Python package ({package}), which is not installed: ", done.stderr
    )


def test_the_api_is_asked_without_any_other_package(bare: Path, packages: Packages) -> None:
    """Nobody listens there: what is missing is the server, and no package."""
    done = subprocess.run(
        [str(bare), str(packages.pyz), "audit", "pve://127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": "/nonexistent",
            "UNMASK_PVE_TOKEN": "root@pam!audit=00000000-0000-0000-0000-000000000000",
        },
    )
    assert done.returncode == 3
    assert "refused" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_starts_by_itself(packages: Packages) -> None:
    done = subprocess.run([str(packages.pyz), "--version"], capture_output=True, check=True)
    assert done.stdout.decode() == f"unmask {VERSION}\n"

"""The Debian package: its contents, its control file, and what lintian finds."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from support import peers
from support.built_packages import ROOT, VERSION, Packages, names


def field(deb: Path, name: str) -> str:
    return peers.run(["dpkg-deb", "--field", str(deb), name]).stdout.strip()


@pytest.fixture(scope="module")
def unpacked(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the package puts into the root of a system."""
    folder = tmp_path_factory.mktemp("deb")
    peers.run(["dpkg-deb", "--extract", str(packages.deb), str(folder)])
    return folder


def test_it_needs_python_and_recommends_what_is_compiled(packages: Packages) -> None:
    assert field(packages.deb, "Version") == VERSION
    assert field(packages.deb, "Architecture") == "all"
    assert field(packages.deb, "Depends") == "python3:any (>= 3.11)"
    assert field(packages.deb, "Recommends") == "python3-paramiko, python3-libvirt"


def test_it_has_the_program_documents_and_completions(packages: Packages, unpacked: Path) -> None:
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    private = "usr/share/unmask/"
    inside = {name.removeprefix(private) for name in files if name.startswith(private)}
    assert inside == names(packages.pyz) - {"__main__.py"}
    assert {
        "usr/bin/unmask",
        "usr/share/bash-completion/completions/unmask",
        "usr/share/zsh/vendor-completions/_unmask",
        "usr/share/fish/vendor_completions.d/unmask.fish",
        "usr/share/man/man1/unmask.1.gz",
        "usr/share/doc/unmask/README.md",
        "usr/share/doc/unmask/copyright",
        "usr/share/doc/unmask/changelog.gz",
        "usr/share/doc/unmask/docs/rules/CPU002.md",
        "usr/share/doc/unmask/examples/unmask.toml",
    } <= files
    assert all(name.startswith(("usr/bin/unmask", "usr/share/")) for name in files)


def test_the_copyright_file_names_everybody_whose_work_is_in_it(unpacked: Path) -> None:
    text = (unpacked / "usr/share/doc/unmask/copyright").read_text(encoding="utf-8")
    library = unpacked / "usr/share/unmask"
    told = set(re.findall(r"usr/share/unmask/([^/\s]+)", text))
    there = {path.name for path in library.iterdir()}
    own = {"unmask", f"unmask-{VERSION}.dist-info"}
    assert told == there - own
    for paragraph in re.findall(r"^License: (\S+)$", text, re.MULTILINE):
        assert re.search(rf"^License: {re.escape(paragraph)}\n \S", text, re.MULTILINE), paragraph
    assert "Files: *\nCopyright: the unmask authors\nLicense: Apache-2.0\n" in text


def test_lintian_finds_nothing(packages: Packages) -> None:
    lintian = peers.program("lintian")
    done = subprocess.run(
        [lintian, "--allow-root", "--fail-on", "error,warning", str(packages.deb)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The module that builds the package."""
    return importlib.import_module("tools.packages.deb")


@pytest.mark.parametrize(
    ("version", "debian"),
    [
        ("0.1.0", "0.1.0"),
        ("0.2.0.dev1", "0.2.0~dev1"),
        ("0.2.0rc1", "0.2.0~rc1"),
        ("0.2.0b2", "0.2.0~b2"),
        ("0.2.0.post1", "0.2.0.post1"),
    ],
)
def test_versions_sort_as_they_do_for_pip(tool: ModuleType, version: str, debian: str) -> None:
    assert tool.debian_version(version) == debian
    if version != debian:
        dpkg = peers.program("dpkg")
        peers.run([dpkg, "--compare-versions", debian, "lt", "0.2.0"])


def test_the_files_of_the_package_are_named_in_no_other_place() -> None:
    """Every file in packaging/deb is one that the builder takes."""
    parts = {path.name for path in (ROOT / "packaging/deb").iterdir()}
    assert parts == {"control", "lintian-overrides", "postinst", "prerm", "unmask"}
    assert shutil.which("dpkg-deb")

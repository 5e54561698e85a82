"""Which command brings a package that is missing, for Debian's own Python and for any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unmask.connect import missing_package as module
from unmask.connect.missing_package import is_debians, missing_package, remedy


def test_a_virtual_environment_installs_by_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/admin/venv")
    monkeypatch.setattr(sys, "executable", "/home/admin/venv/bin/python")
    assert str(missing_package("Reading", "thing", "python3-thing")) == (
        "Reading needs the Python package thing, which is not installed: "
        "run /home/admin/venv/bin/python -m pip install thing"
    )


def test_debians_python_installs_debians_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_debians", lambda *_: True)
    error = missing_package("Reading", "thing", "python3-thing", headers="libthing-dev")
    assert str(error).endswith("which is not installed: run apt install python3-thing")


def test_headers_and_limits_of_a_version_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_debians", lambda *_: False)
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    assert remedy("thing>=2", "python3-thing", headers="libthing-dev gcc") == (
        "apt install libthing-dev gcc, then /venv/bin/python -m pip install 'thing>=2'"
    )


@pytest.mark.parametrize(
    ("prefix", "base", "debian", "expected"),
    [
        ("/usr", "/usr", True, True),
        ("/usr", "/usr", False, False),
        ("/home/admin/venv", "/usr", True, False),
        ("/usr/local", "/usr/local", True, False),
    ],
)
def test_whose_python_it_is(
    tmp_path: Path,
    prefix: str,
    base: str,
    debian: bool,  # noqa: FBT001
    expected: bool,  # noqa: FBT001
) -> None:
    mark = tmp_path / "debian_version"
    if debian:
        mark.write_text("12.5\n", encoding="ascii")
    assert is_debians(prefix, base, mark) is expected


@pytest.mark.parametrize(
    ("module_name", "package"), [("cryptography", "cryptography"), ("nacl", "pynacl")]
)
def test_ssh_without_a_compiled_package_says_which_and_what_to_do(
    module_name: str, package: str
) -> None:
    # In a process of its own: half of paramiko would stay behind in this one.
    program = f"""
import sys
sys.modules[{module_name!r}] = None
from unmask.connect import ssh
from unmask.errors import MissingPackageError
try:
    ssh._load()
except MissingPackageError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    sentence = f"SSH needs the Python package {package}, which is not installed: run "
    assert sentence in done.stdout
    assert done.stdout.endswith("-m pip install paramiko\n")

"""Which Python runs which unmask, and how that came here."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

import unmask
from unmask.checks._check import Check, Surroundings, note, ok, problem
from unmask.model.checkup import Remark

LEAST = (3, 11)
NAME = "unmask"


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield remarks on the program itself."""
    python = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if sys.version_info < LEAST:
        least = ".".join(map(str, LEAST))
        yield problem("python", f"{python} is too old", f"install unmask with Python {least}")
    else:
        yield ok("python", python)
    yield ok("unmask", f"version {unmask.__version__}, {_installed()}")
    yield from _first_on_path(around)


def _installed() -> str:
    """Return how this program came here."""
    place = Path(unmask.__file__).parent
    archive = next((item for item in place.parents if item.is_file()), None)
    if archive is not None:
        return f"in one file, {archive}"
    checkout = _checkout()
    if checkout:
        return f"a checkout, {checkout}"
    if "dist-packages" in place.parts and place.is_relative_to("/usr/lib"):
        return f"a package of the system, in {place}"
    if "pipx" in Path(sys.prefix).parts:
        return f"by pipx, in {sys.prefix}"
    if sys.prefix != sys.base_prefix:
        return f"in the virtual environment {sys.prefix}"
    return f"in {place}"


def _checkout() -> str:
    """Return the directory of an editable installation (PEP 610), "" where it is none."""
    try:
        said = json.loads(metadata.distribution(NAME).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    if not isinstance(said, dict) or not (said.get("dir_info") or {}).get("editable"):
        return ""
    return unquote(urlsplit(str(said.get("url", ""))).path)


def _first_on_path(around: Surroundings) -> Iterator[Remark]:
    """Yield a remark where the shell would start another unmask than this one, or none."""
    found = shutil.which(NAME, path=around.environment.get("PATH", os.defpath))
    this = Path(sys.argv[0] if Path(sys.argv[0]).name == NAME else sys.executable)
    if found is None:
        yield note(
            "PATH",
            "no directory in PATH has unmask",
            f"start it by its path, or add {this.parent} to PATH",
        )
    elif Path(sys.argv[0]).name == NAME and Path(found).resolve() != this.resolve():
        yield note(
            "PATH",
            f"the shell starts {found}, which is not the one that runs now ({this})",
            f"call {this}, or put {this.parent} before it in PATH",
        )


CHECK = Check(10, "Program", run)

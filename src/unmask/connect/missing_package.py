"""What to say where an optional Python package is missing: the command that brings it here.

Debian's own Python takes no packages from pip (PEP 668, from Debian 12 on), and a virtual
environment sees none of Debian's, so the command depends on the Python that runs unmask.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from unmask.errors import MissingPackageError

DEBIAN = Path("/etc/debian_version")
"""Every Debian has it, and so have Proxmox VE and Ubuntu."""


def missing_package(
    purpose: str, package: str, debian: str, *, pip: str = "", headers: str = ""
) -> MissingPackageError:
    """Return the error for a package that cannot be imported.

    Args:
        purpose: What cannot be done without it, as the subject of a sentence.
        package: As PyPI calls it.
        debian: Debian's package, which brings whatever else that one needs.
        pip: What pip installs for it, where that is another package that needs it.
        headers: Debian's packages without which pip cannot compile it, if it has to.
    """
    return MissingPackageError(
        f"{purpose} needs the Python package {package}, which is not installed: "
        f"run {remedy(pip or package, debian, headers=headers)}"
    )


def remedy(package: str, debian: str, *, headers: str = "") -> str:
    """Return the commands that install a package for this Python; see `missing_package`.

    `package` may have limits of its version: "keyring>=24".
    """
    if debian and is_debians(sys.prefix, sys.base_prefix):
        return f"apt install {debian}"
    written = f"'{package}'" if re.search(r"[<>=!~]", package) else package
    pip = f"{sys.executable} -m pip install {written}"
    return f"apt install {headers}, then {pip}" if headers else pip


def is_debians(prefix: str, base: str, mark: Path = DEBIAN) -> bool:
    """Return whether a Python with these prefixes (PEP 405) is the one that Debian brought."""
    return prefix == base == "/usr" and mark.exists()

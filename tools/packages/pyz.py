"""unmask.pyz: one file that any Python from 3.11 on runs, as PEP 441 describes it."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

START = b"#!/usr/bin/env python3\n"
MAIN = '''\
"""Run unmask out of this archive."""

import sys

if sys.version_info < (3, 11):
    sys.exit("unmask needs Python 3.11 or newer; this is " + sys.version.split()[0])

from unmask.cli.main import main

sys.exit(main())
'''


def build(tree: Path, path: Path, epoch: int) -> Path:
    """Write the archive of a tree of `bundle.tree`; the same tree gives the same bytes."""
    library = tree / "lib"
    contents = {
        file.relative_to(library).as_posix(): file.read_bytes()
        for file in library.rglob("*")
        if file.is_file()
    }
    contents["__main__.py"] = MAIN.encode()
    with path.open("wb") as output:
        output.write(START)
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(contents):
                entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
                entry.external_attr = 0o100644 << 16
                entry.create_system = 3  # Unix
                archive.writestr(entry, contents[name], zipfile.ZIP_DEFLATED, 9)
    path.chmod(0o755)
    return path

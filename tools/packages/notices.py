"""Whose work is in a bundle, and under which licences, as Debian's copyright files say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

HEAD = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: unmask

Files: *
Copyright: the unmask authors
License: Apache-2.0
"""
COMMON = {
    "Apache-2.0": "Apache-2.0",
    "LGPL-2.1": "LGPL-2.1",
}
"""Licences whose text every Debian system has, by their names of SPDX and of Debian's."""
OWNERS = re.compile(r"^\W*(?:\(c\)\s*)?copyright\s+.*\d{4}.*$", re.IGNORECASE | re.MULTILINE)


def version(library: Path) -> str:
    """Return the version of unmask in the folder of a bundle."""
    return next(info["Version"] for path, info in _metadata(library) if info["Name"] == "unmask")


def copyright(library: Path, where: str) -> str:  # noqa: A001 - the name of the file
    """Return the text of the copyright file for a bundle that is installed in `where`."""
    parts = [HEAD]
    texts = {name: _common(name) for name in ("Apache-2.0",)}
    for path, info in _metadata(library):
        name = info["Name"]
        if name == "unmask":
            continue
        licence = _licence(info)
        text = "\n\n".join(file.read_text(encoding="utf-8") for file in _files(path))
        label = licence if licence in COMMON else f"{licence}-{name}"
        texts.setdefault(label, _common(licence) if licence in COMMON else text)
        owners = dict.fromkeys(match[0].strip(" #*") for match in OWNERS.finditer(text))
        parts.append(
            f"Files: {' '.join(f'{where}/{top}' for top in _tops(library, path, name))}\n"
            f"Copyright: {_listed(owners) or f'the authors of {name}'}\n"
            f"License: {label}\n"
            f"Comment: {name} {info['Version']}\n"
        )
    parts += [f"License: {label}\n{_indented(text)}\n" for label, text in sorted(texts.items())]
    return "\n".join(parts)


def _metadata(library: Path) -> Iterator[tuple[Path, Message]]:
    for path in sorted(library.glob("*.dist-info")):
        text = (path / "METADATA").read_text(encoding="utf-8")
        yield path, HeaderParser().parsestr(text)


def _licence(info: Message) -> str:
    """Return the name of a package's licence in SPDX's words, as far as it has one."""
    told = str(info["License-Expression"] or info["License"] or "").strip()
    if told and "\n" not in told:
        return re.sub(r"[^A-Za-z0-9.+-]+", "-", told)
    for line in info.get_all("Classifier") or ():
        if line.startswith("License ::"):
            return re.sub(r"[^A-Za-z0-9.+-]+", "-", line.rpartition(":: ")[2])
    return "other"


def _files(path: Path) -> list[Path]:
    return [file for file in sorted(path.rglob("*")) if file.is_file() and file.name != "METADATA"]


def _tops(library: Path, info: Path, name: str) -> list[str]:
    """Return what a package has in the bundle: its module or folder, and its metadata."""
    wanted = re.sub(r"[-_.]+", "_", name).lower()
    found = [path.name for path in library.iterdir() if path.stem.lower() == wanted]
    return [f"{top}/*" if (library / top).is_dir() else top for top in (*sorted(found), info.name)]


def _listed(owners: dict[str, None]) -> str:
    return "\n           ".join(owners)


def _common(name: str) -> str:
    return f"The text of this licence is in /usr/share/common-licenses/{COMMON[name]}."


def _indented(text: str) -> str:
    """Return a text as the value of a field: blank lines are dots, and no line is a new field."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.splitlines())

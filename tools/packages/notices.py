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
MODULES = {"markdown-it-py": "markdown_it"}
"""The modules of packages that are not called like them."""
LICENCE_FILE = re.compile(r"(?i)(?:un)?licen[cs]e|copying|notice")
OWNERS = re.compile(r"^[^\w\n]*(?:\(c\)\s*)?copyright\s+.*\d{4}.*$", re.IGNORECASE | re.MULTILINE)


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
        tops = _tops(library, path, name)
        text = "\n\n".join(file.read_text(encoding="utf-8") for file in _files(library, tops))
        label = licence if licence in COMMON else f"{licence}-{name}"
        texts.setdefault(label, _common(licence) if licence in COMMON else text)
        parts.append(
            f"Files: {' '.join(_pattern(library, where, top) for top in tops)}\n"
            f"Copyright: {_owners(name, '' if licence in COMMON else text)}\n"
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


def _tops(library: Path, info: Path, name: str) -> list[str]:
    """Return what a package has in the bundle: its module or folder, and its metadata."""
    wanted = MODULES.get(name, re.sub(r"[-_.]+", "_", name).lower())
    found = [path.name for path in library.iterdir() if path.stem.lower() == wanted]
    return [*sorted(found), info.name]


def _pattern(library: Path, where: str, top: str) -> str:
    return f"{where}/{top}/*" if (library / top).is_dir() else f"{where}/{top}"


def _files(library: Path, tops: list[str]) -> list[Path]:
    """Return the licences of a package, those of what it has taken in from others included."""
    found = (file for top in tops for file in (library / top).rglob("*") if file.is_file())
    return sorted(file for file in found if LICENCE_FILE.match(file.name))


def _owners(name: str, text: str) -> str:
    lines = dict.fromkeys(match[0].strip(" #*") for match in OWNERS.finditer(text))
    return "\n           ".join(lines) or f"the authors of {name}"


def _common(name: str) -> str:
    return f"The text of this licence is in /usr/share/common-licenses/{COMMON[name]}."


def _indented(text: str) -> str:
    """Return a text as the value of a field: blank lines are dots, and no line is a new field."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.splitlines())

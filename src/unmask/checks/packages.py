"""The Python packages that unmask asks for, and those that some features need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

from unmask.checks._check import Check, Surroundings, every_target, note, ok, problem
from unmask.connect import libvirt_client
from unmask.connect.missing_package import remedy
from unmask.errors import MissingPackageError
from unmask.model.checkup import Remark
from unmask.sources import libvirt as libvirt_source

REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(?P<limits>[^;@]*)"
    r"(?:;.*extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"].*)?"
)
LIMIT = re.compile(r"(?P<sign>>=|<=|==|!=|~=|>|<)\s*(?P<version>[0-9][0-9A-Za-z.*+!-]*)")
NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")

LIBVIRT = "libvirt-python"
DEBIAN = {
    "cryptography": "python3-cryptography",
    "keyring": "python3-keyring",
    "paramiko": "python3-paramiko",
}
"""Debian's packages of those that unmask.pyz and its Debian package do not bring whole."""
COMPILED = {"paramiko": ("bcrypt", "cryptography", "nacl")}
"""Modules without which a package is there and cannot be loaded; unmask.pyz cannot bring them."""
FEATURES = {
    "keyring": "secrets from the keyring need it",
    "lab": "unmask lab needs it",
    "libvirt": "libvirt hosts need it",
}
"""What needs the packages of an extra."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that unmask asks for."""

    name: str
    limits: str
    """As pyproject has them: ">=2.2,<3"; "" for any version."""
    extra: str
    """The optional part that asks for it; "" for what is always needed."""


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield a remark for each package."""
    try:
        lines = metadata.requires("unmask") or ()
    except metadata.PackageNotFoundError:
        yield note(
            "unmask",
            "this copy does not say which packages it asks for, so versions are not compared",
        )
        lines = ()
    asked = list(filter(None, map(requirement, lines)))
    for item in asked:
        if item.name != LIBVIRT:
            yield _remark(item, around)
    yield _libvirt(around, next((item for item in asked if item.name == LIBVIRT), None))


def requirement(text: str) -> Requirement | None:
    """Return what a line of a package's metadata asks for (PEP 508); None where it is unreadable.

    Only conditions on extras are looked at; unmask has no others.
    """
    match = REQUIREMENT.fullmatch(text.strip())
    if match is None:
        return None
    return Requirement(match["name"], match["limits"].strip(" ()"), match["extra"] or "")


def satisfied(version: str, limits: str) -> bool:
    """Return whether a version is within limits; what is not understood counts as satisfied."""
    has = _numbers(version)
    for match in LIMIT.finditer(limits):
        limit = _numbers(match["version"])
        size = max(len(has), len(limit))
        left, right = _padded(has, size), _padded(limit, size)
        same_series = left[: max(len(limit) - 1, 1)] == right[: max(len(limit) - 1, 1)]
        fits = {
            ">=": left >= right,
            "<=": left <= right,
            ">": left > right,
            "<": left < right,
            "==": left[: len(limit)] == limit if "*" in match["version"] else left == right,
            "!=": left != right,
            "~=": left >= right and same_series,
        }
        if not fits[match["sign"]]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    match = NUMBERS.match(version)
    return tuple(map(int, match[0].split("."))) if match else ()


def _padded(numbers: tuple[int, ...], size: int) -> tuple[int, ...]:
    return numbers + (0,) * (size - len(numbers))


def _remark(asked: Requirement, around: Surroundings) -> Remark:
    install = remedy(f"{asked.name}{asked.limits}", DEBIAN.get(asked.name, ""))
    try:
        version = metadata.version(asked.name)
    except metadata.PackageNotFoundError:
        purpose = FEATURES.get(asked.extra, f"the extra {asked.extra} needs it")
        if not asked.extra:
            return problem(asked.name, "is not installed", install)
        secrets = any(item.reference.keyring for item in every_target(around))
        if asked.extra == "keyring" and secrets:
            return problem(asked.name, f"is not installed; {purpose}", install)
        return note(asked.name, f"is not installed; only {purpose}", install)
    absent = [name for name in COMPILED.get(asked.name, ()) if find_spec(name) is None]
    if absent:
        asked_for = any("ssh://" in item.address for item in every_target(around))
        make = problem if asked_for else note
        return make(asked.name, f"version {version}, which needs {', '.join(absent)}", install)
    if not satisfied(version, asked.limits):
        return problem(
            asked.name, f"version {version} is not {asked.limits}, as unmask asks", install
        )
    return ok(asked.name, f"version {version}")


def _libvirt(around: Surroundings, asked: Requirement | None) -> Remark:
    """Return a remark on the binding, which is compiled and so can be there and not load."""
    asked_for = any(libvirt_source.fits(item.address) for item in every_target(around))
    make = problem if asked_for else note
    install = remedy(LIBVIRT, "python3-libvirt", headers=libvirt_client.HEADERS)
    try:
        version = metadata.version(LIBVIRT)
    except metadata.PackageNotFoundError:
        version = ""
    try:
        client = libvirt_client.load()
    except MissingPackageError as error:
        reason = error.__cause__
        if version and reason:
            return problem(LIBVIRT, f"version {version} cannot be loaded: {reason}", install)
        return make(LIBVIRT, "is not installed; libvirt hosts cannot be read without it", install)
    if asked and version and not satisfied(version, asked.limits):
        return make(LIBVIRT, f"version {version} is not {asked.limits}", install)
    library = libvirt_client.version(client)
    return ok(LIBVIRT, f"version {version or 'unknown'}, with libvirt's library {library}")


CHECK = Check(20, "Python packages", run)

"""The CPU that a domain would have with another `<cpu>`, named in a few words."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

from unmask.cpu import catalogue, features
from unmask.dialects.libvirt import cpu
from unmask.dialects.libvirt.place import Place
from unmask.dialects.libvirt.xml import parse
from unmask.errors import InputError
from unmask.model.cpu import CpuSpec
from unmask.model.inventory import Guest

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
FEATURE = re.compile(r"[+-][a-z0-9][a-z0-9_.-]{0,63}")
MODES = ("host-model", "host-passthrough", "maximum")
POLICIES = {"+": "require", "-": "disable"}


def spec(value: str, guest: Guest) -> CpuSpec:
    """Return what libvirt would make of a mode or a model, with features behind it.

    Args:
        value: "host-model", "host-passthrough", "Haswell-noTSX", "Westmere,+aes,-pcid".
        guest: Whose configuration would be changed.

    Raises:
        InputError: There is no such mode, model or feature.
    """
    name, *changes = value.split(",")
    if not NAME.fullmatch(name):
        raise InputError(f"{name!r} is no CPU model of libvirt's")
    known = name in MODES or catalogue.find(name) is not None
    if not known and guest.arch in ("x86_64", "i686"):
        raise InputError(f"there is no CPU model {name!r}; unmask models lists them")
    elements = "".join(map(_feature, changes))
    if name in MODES:
        text = f"<cpu mode={quoteattr(name)}>{elements}</cpu>"
    else:
        text = f"<cpu mode='custom' match='exact'><model>{name}</model>{elements}</cpu>"
    place = Place(guest.arch, guest.accelerator)
    return cpu.spec(parse(text, "the CPU asked about"), place)


def _feature(word: str) -> str:
    if not FEATURE.fullmatch(word) or not features.known(word[1:]):
        raise InputError(f"{word!r} is no feature: write +NAME or -NAME, as +aes")
    name = features.libvirt_name(word[1:])
    return f"<feature policy={quoteattr(POLICIES[word[0]])} name={quoteattr(name)}/>"

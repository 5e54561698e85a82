"""A `<cpu>` in a few words, for tables and sentences: "Westmere +aes -vmx"."""

from __future__ import annotations

from unmask.dialects.excerpt import excerpt
from unmask.dialects.libvirt.xml import parse, text_of
from unmask.errors import InputError

SIGNS = {"force": "+", "require": "+", "disable": "-", "forbid": "-", "optional": "?"}


def brief(value: str) -> str:
    """Return the model or mode of an element with its features; any other text as one line.

    Topology and the like are left out, so two elements of the same words may yet differ.
    """
    if not value.startswith("<cpu"):
        return " ".join(value.split())
    try:
        cpu = parse(value, "The <cpu>")
    except InputError:
        return " ".join(value.split())
    mode = cpu.get("mode", "custom")
    named = text_of(cpu, "model") if mode == "custom" else ""
    listed = [
        f"{SIGNS.get(item.get('policy', 'require'), '')}{excerpt(item.get('name', ''))}"
        for item in cpu.iterfind("feature")
    ]
    return " ".join([excerpt(named or mode), *listed])

"""Whether two `<cpu>` elements ask for the same CPU: libvirt writes defaults into what it is given.

A `check` that one of them leaves out is not compared: its default depends on the hypervisor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.dialects.libvirt.xml import parse, text_of
from unmask.errors import InputError

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

WHOLE = ("host-passthrough", "maximum")
"""Modes in which libvirt drops a model."""
DEFAULTS = {
    "topology": {"dies": "1", "clusters": "1"},
    "cell": {"unit": "KiB"},
    "model": {"fallback": "allow"},
}
"""By element; libvirt 9.0 writes them out, or leaves them out, as its version has it."""


def same(left: str | None, right: str | None) -> bool:
    """Return whether both ask for the same; a domain without `<cpu>` is like no other."""
    if left is None or right is None or left == right:
        return left == right
    try:
        one, other = parse(left, "The <cpu>"), parse(right, "The <cpu>")
    except InputError:
        return False
    checks = {item.get("check") for item in (one, other)} - {None}
    return len(checks) < 2 and _meant(one) == _meant(other)


def _meant(cpu: Element) -> tuple[object, ...]:
    mode = cpu.get("mode", "custom")
    model = cpu.find("model") if mode not in WHOLE else None
    listed = {item.get("name"): item.get("policy", "require") for item in cpu.iterfind("feature")}
    others = [_said(child, 0) for child in cpu if child.tag not in ("model", "feature")]
    return (
        cpu.tag,
        mode,
        cpu.get("match", "exact") if mode == "custom" else "",
        cpu.get("migratable", "on") if mode in WHOLE else "",
        text_of(cpu, "model") if mode not in WHOLE else "",
        _attributes(model, 0) if model is not None else _attributes(parse("<model/>", ""), 0),
        listed,
        sorted(others),
    )


def _said(element: Element, place: int) -> str:
    text = (element.text or "").strip()
    inner = [_said(child, number) for number, child in enumerate(element)]
    return repr((element.tag, sorted(_attributes(element, place).items()), text, inner))


def _attributes(element: Element, place: int) -> dict[str, str]:
    numbered = {"id": str(place)} if element.tag == "cell" else {}
    return numbered | DEFAULTS.get(element.tag, {}) | dict(element.attrib)

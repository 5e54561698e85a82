"""A domain's XML as text in which only the `<cpu>` is exchanged, and what else is in it.

A password that stands in the XML (libvirt shows it only where VIR_DOMAIN_XML_SECURE is asked for:
`passwd` of graphics, cookies of network disks) stays in the text and is left out of the digest, for
a digest is kept in files, and eight characters of a VNC password can be guessed from one.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from unmask.dialects.libvirt import spans
from unmask.dialects.libvirt.xml import parse
from unmask.errors import InputError

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

WHAT = "The domain's XML"
AFTER_CPU = ("clock", "on_poweroff", "on_reboot", "on_crash", "pm", "perf", "devices")
"""What libvirt writes behind `<cpu>` (virDomainDefFormatInternalSetRootName)."""


def cpu(text: str) -> str | None:
    """Return the `<cpu>` of a domain's XML, verbatim and without the space around it.

    Raises:
        InputError: It is not the XML of a domain.
    """
    span = _span(text)
    return text[span.start : span.end] if span else None


def with_cpu(text: str, element: str | None) -> str:
    """Return the XML with `element` for its `<cpu>`, or without one; all else to the byte.

    Raises:
        InputError: It is not the XML of a domain, or `element` is no `<cpu>`.
    """
    if element is not None and parse(element, "The new <cpu>").tag != "cpu":
        raise InputError("The new <cpu> is another element")
    span = _span(text)
    if span is None:
        return text if element is None else _inserted(text, element)
    if element is not None:
        return text[: span.start] + element + text[span.end :]
    before = text[: span.start].rstrip(" \t")
    return before.removesuffix("\n") + text[span.end :]


def _inserted(text: str, element: str) -> str:
    found = spans.children(text)
    at = next((span.start for span in found if span.name in AFTER_CPU), None)
    if at is not None:
        return f"{text[:at]}{element}\n  {text[at:]}"
    end = spans.contents_end(text)
    return f"{text[:end]}  {element}\n{text[end:]}"


def digest(text: str) -> str:
    """Return SHA-256 of all that the XML says beside its `<cpu>` and its secrets, in hex.

    Order of attributes, quotes and indentation do not count.

    Raises:
        InputError: It is not the XML of a domain.
    """
    said = _said(parse(with_cpu(text, None), WHAT), secrets=False)
    return hashlib.sha256(said.encode()).hexdigest()


def differences(left: str, right: str) -> tuple[str, ...]:
    """Return the names of the root's children, beside `cpu`, that two XMLs differ in.

    Secrets are compared too; none of them is named. "domain" stands for the root's attributes.
    """
    one, other = (_by_name(parse(with_cpu(text, None), WHAT)) for text in (left, right))
    return tuple(sorted(name for name in {*one, *other} if one.get(name) != other.get(name)))


def _by_name(root: Element) -> dict[str, list[str]]:
    found = {root.tag: [repr(sorted(root.attrib.items()))]}
    for child in root:
        found.setdefault(child.tag, []).append(_said(child, secrets=True))
    return found


def _said(element: Element, *, secrets: bool) -> str:
    """Return what an element says, in one fixed form; depth is bounded by `parse`."""
    hidden = not secrets and element.tag == "cookie"
    attributes = sorted(
        (name, value) for name, value in element.attrib.items() if secrets or name != "passwd"
    )
    text = "" if hidden else (element.text or "").strip()
    inner = [(_said(child, secrets=secrets), (child.tail or "").strip()) for child in element]
    return repr((element.tag, attributes, text, inner))


def _span(text: str) -> spans.Span | None:
    root = parse(text, WHAT)
    if root.tag != "domain":
        raise InputError(f"{WHAT} is that of a <{root.tag[:40]}>, not of a domain")
    found = [span for span in spans.children(text) if span.name == "cpu"]
    if len(found) > 1:
        raise InputError(f"{WHAT} has {len(found)} <cpu> elements, and libvirt writes one")
    return found[0] if found else None

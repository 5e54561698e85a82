"""The `<cpu>` that a domain would have: what it has, with another model or other flags.

What the domain's owner has asked for beside the model stays: topology, NUMA cells, cache, address
bits, the vendor, the features. libvirt itself merges nothing: what is left out of a new element is
gone (observed with libvirt 9.0).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from unmask.cpu import features
from unmask.dialects.libvirt import cpu_map, spans
from unmask.dialects.libvirt.xml import parse, text_of
from unmask.errors import InputError
from unmask.model.cpu import Accelerator

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

MODES = ("custom", "host-model", "host-passthrough", "maximum")
WHOLE = ("host-passthrough", "maximum")
"""Modes without a model, in which alone cache and address bits of the host can be passed on."""
FIRST = ("model", "vendor", "microcode", "topology", "cache", "maxphysaddr")
"""What libvirt writes before the features, in its order (virCPUDefFormatBuf)."""
GIVEN, WITHHELD = ("force", "require"), ("disable", "forbid")
DEFAULT_MODEL = "qemu64"
"""What libvirt gives a domain of x86 that names no model."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a `<cpu>` is to become; what is not said stays as it is."""

    mode: str = ""
    """One of `MODES`; "" keeps it, or is custom where a model is named."""
    model: str = ""
    """A model of libvirt's."""
    on: tuple[str, ...] = ()
    """Flags to be given, in any dialect's spelling."""
    off: tuple[str, ...] = ()
    """Flags to be withheld."""
    element: str = ""
    """A whole `<cpu>`, say that of a custom model, to begin from instead of mode and model."""


@dataclass(frozen=True, slots=True)
class Built:
    """A new `<cpu>`."""

    element: str
    """Written as libvirt writes it, without the space around it."""
    notes: tuple[str, ...] = ()
    """Sentences: what could not stay, and what was added to keep libvirt from refusing it."""


def build(current: str | None, wish: Wish, accelerator: Accelerator, *, x86: bool = True) -> Built:
    """Return the `<cpu>` that a domain would have.

    Args:
        current: The element that it has in its inactive XML, verbatim; None for a domain without.
        wish: What it is to become.
        accelerator: What runs the domain; it decides what libvirt checks at start.
        x86: Whether names of x86 flags and models apply; others are taken as they are.

    Raises:
        InputError: The wish contradicts itself, or there is no model to add flags to.
    """
    _check(wish)
    new = _Draft(current or "<cpu/>", accelerator, x86=x86)
    if wish.element:
        new.begin_from(wish.element)
    elif wish.model or wish.mode:
        new.change_model(wish.mode or "custom", wish.model)
    elif not new.has_model:
        if not x86:
            raise InputError("the domain's <cpu> names no model to add flags to: name one")
        new.change_model("custom", DEFAULT_MODEL)
    new.add_features(wish.on, wish.off)
    return Built(new.written(), tuple(new.notes))


def _check(wish: Wish) -> None:
    if wish.mode and wish.mode not in MODES:
        raise InputError(f"{wish.mode!r} is no CPU mode of libvirt's; it has {', '.join(MODES)}")
    if wish.model and wish.mode not in ("", "custom"):
        raise InputError(f"the CPU mode {wish.mode} takes no model, and {wish.model} was named")
    if wish.mode == "custom" and not wish.model:
        raise InputError("the CPU mode custom needs a model: name one")
    both = {features.canonical(flag) for flag in wish.on} & set(map(features.canonical, wish.off))
    if both:
        raise InputError(f"{', '.join(sorted(both))} cannot be both given and withheld")


class _Draft:
    """A `<cpu>` in the making: attributes, features by name, and the other children verbatim."""

    def __init__(self, current: str, accelerator: Accelerator, *, x86: bool) -> None:
        root = _root(current)
        self.notes: list[str] = []
        self._kvm = accelerator is Accelerator.KVM
        self._x86 = x86
        self._attributes = dict(root.attrib)
        self._model = root.find("model")
        self._policies = _policies(root)
        self._others = _others(current)

    @property
    def has_model(self) -> bool:
        model = self._model
        named = model is not None and bool((model.text or "").strip())
        return named or self._attributes.get("mode", "custom") != "custom"

    def change_model(self, mode: str, name: str) -> None:
        """Take another mode, or another model; `check` is said, for its default differs."""
        old = self._attributes
        self._attributes = {"mode": mode}
        if mode == "custom":
            self._attributes |= {"match": "exact", "check": "partial" if self._kvm else "none"}
        elif mode == "host-model":
            self._attributes["check"] = "partial"
        else:
            kept = old.get("migratable") if old.get("mode") in WHOLE else None
            self._attributes |= {"check": "none", "migratable": kept or "on"}
        shown = self._model.get("vendor_id", "") if self._model is not None else ""
        self._model = _model(name, "" if mode in WHOLE else shown)
        if shown and mode in WHOLE:
            self._note(f"the vendor shown to the guest, {shown},", mode)
        if mode == "custom" and self._kvm:
            self._withhold_what_kvm_lacks(name)
        self._drop_what_does_not_fit(mode)

    def begin_from(self, element: str) -> None:
        """Take a whole element; what it does not speak of stays as it was."""
        root = _root(element)
        mode = root.get("mode", "custom")
        if mode not in MODES or (mode == "custom" and not text_of(root, "model")):
            raise InputError("the new <cpu> names neither a mode of libvirt's nor a model")
        self._attributes = {"mode": mode} | dict(root.attrib)
        self._model = root.find("model")
        for name, policy in _policies(root).items():
            self._set(name, policy)
        self._others |= _others(element)
        self._drop_what_does_not_fit(mode)

    def add_features(self, on: Collection[str], off: Collection[str]) -> None:
        """Merge flags with the features that are there; a policy that does it already stays."""
        for flag in on:
            self._set(self._name(flag), "require", GIVEN)
        for flag in off:
            self._set(self._name(flag), "disable", WITHHELD)

    def written(self) -> str:
        """Return the element as libvirt writes it."""
        order = sorted(self._others, key=lambda name: FIRST.index(name) if name in FIRST else 99)
        first = [self._others[name] for name in order if name in FIRST]
        listed = [
            f"<feature{_attribute('policy', policy)}{_attribute('name', name)}/>"
            for name, policy in self._policies.items()
        ]
        last = [self._others[name] for name in order if name not in FIRST]
        lines = [*self._model_lines(), *first, *listed, *last]
        tag = "<cpu" + "".join(_attribute(*item) for item in self._attributes.items())
        return "\n    ".join([f"{tag}>", *lines]) + "\n  </cpu>" if lines else f"{tag}/>"

    def _model_lines(self) -> list[str]:
        if self._model is None:
            return []
        text = (self._model.text or "").strip()
        tag = "<model" + "".join(_attribute(*item) for item in self._model.attrib.items())
        return [f"{tag}>{escape(text)}</model>" if text else f"{tag}/>"]

    def _name(self, flag: str) -> str:
        return features.libvirt_name(flag) if self._x86 else flag

    def _same(self, left: str, right: str) -> bool:
        if not self._x86:
            return left == right
        return features.canonical(left) == features.canonical(right)

    def _set(self, name: str, policy: str, does_it: tuple[str, ...] = ()) -> None:
        """Give a feature a policy in its place; one of another spelling would be a second one."""
        there = [old for old in self._policies if self._same(old, name)]
        if there == [name] and self._policies[name] in does_it:
            return
        renamed = {name if old in there else old: kept for old, kept in self._policies.items()}
        self._policies = renamed | {name: policy}

    def _withhold_what_kvm_lacks(self, model: str) -> None:
        """check='partial' asks the host for what libvirt counts to a model and KVM never gives."""
        for flag in sorted(cpu_map.demanded(model)) if self._x86 else ():
            name = self._name(flag)
            if not any(self._same(name, old) for old in self._policies):
                self._policies[name] = "disable"
                self.notes.append(
                    f"{name} is disabled by name: libvirt counts it to {model}, KVM does not give "
                    "it with that model, and libvirt would refuse hosts without it"
                )

    def _drop_what_does_not_fit(self, mode: str) -> None:
        if "vendor" in self._others and mode != "custom":
            del self._others["vendor"]
            self._note("the vendor that the host has to be of", mode)
        for name in ("cache", "maxphysaddr"):
            passed = parse(self._others.get(name, "<none/>"), name).get("mode") == "passthrough"
            if passed and mode not in WHOLE:
                del self._others[name]
                self._note(f"{name} mode='passthrough'", mode)

    def _note(self, what: str, mode: str) -> None:
        self.notes.append(f"{what} is left out: libvirt does not take it with mode='{mode}'")


def _root(element: str) -> Element:
    root = parse(element, "The <cpu>")
    if root.tag != "cpu":
        raise InputError(f"the <cpu> is a <{root.tag[:40]}>")
    return root


def _model(name: str, shown_vendor: str) -> Element | None:
    if not (name or shown_vendor):
        return None
    root = parse("<model/>", "")
    root.text = name
    root.attrib = {"fallback": "forbid"} | ({"vendor_id": shown_vendor} if shown_vendor else {})
    return root


def _policies(root: Element) -> dict[str, str]:
    listed = root.iterfind("feature")
    return {item.get("name", ""): item.get("policy", "require") for item in listed}


def _others(text: str) -> dict[str, str]:
    """Return the children that are neither model nor feature, verbatim, by name."""
    return {
        span.name: text[span.start : span.end]
        for span in spans.children(text)
        if span.name not in ("model", "feature")
    }


def _attribute(name: str, value: str) -> str:
    return f" {name}='{escape(value, {chr(39): '&apos;'})}'"

"""Custom CPU models for a set of nodes, in each platform's words, checked by reading them back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from unmask.cpu import catalogue, custom_model, levels
from unmask.cpu.model_fit import known_to
from unmask.cpu.node_flags import sure
from unmask.cpu.resolve import resolve
from unmask.dialects.libvirt import cpu as libvirt_cpu
from unmask.dialects.libvirt import custom_element, model_names, xml
from unmask.dialects.libvirt.place import Place as LibvirtPlace
from unmask.dialects.proxmox import custom_models, custom_section, specification
from unmask.dialects.proxmox.specification import Place
from unmask.model.baseline import Baseline, CustomModel, Node, Proposal
from unmask.model.cpu import Accelerator, CpuSpec, RemarkKind

FATAL = (RemarkKind.NO_START, RemarkKind.UNRESOLVED)
NO_BASE = "There is no custom model: no model of QEMU is known to start on every node."


def proposals(
    found: Baseline, taken: Collection[str] = (), *, windows: bool = False
) -> tuple[Proposal, ...]:
    """Return a custom model for Proxmox VE and one for libvirt, as far as there is a base for each.

    Each text was read back by the parsers of its platform, and on every node whose flags are
    known the outcome starts and shows all that is promised. One that does not is left out.

    Args:
        found: A baseline of x86 nodes.
        taken: Names of the cluster's custom models, without `custom-`.
        windows: Whether Windows guests are among those that will use it.
    """
    if found.level is None:
        return ()
    made = (_proxmox(found, taken, windows=windows), _libvirt(found, windows=windows))
    return tuple(item for item in made if item is not None and not tuple(broken(item, found.nodes)))


def broken(proposal: Proposal, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield what of a proposal does not hold when it is read back, a sentence each."""
    spec = read_back(proposal)
    yield from (remark.text for remark in spec.remarks if remark.kind in FATAL)
    for place in nodes:
        host = place.host
        view = resolve(spec, place.arch, Accelerator.KVM, host.cpu, host.offers, host.software.qemu)
        if not view.starts or view.lost:
            yield f"It does not start on {place.name}: {' '.join(sorted(view.lost))}."
        hidden = sorted(flag for flag in proposal.model.flags if not view.shows(flag))
        if hidden:
            yield f"On {place.name} it does not show {' '.join(hidden)}."
        beyond = sorted(flag for flag in proposal.model.on if not sure(place, flag))
        if beyond:
            yield f"{place.name} is not known to have {' '.join(beyond)}."


def read_back(proposal: Proposal) -> CpuSpec:
    """Return what the platform's own parser makes of a proposal."""
    if proposal.platform == "libvirt":
        place = LibvirtPlace("x86_64", Accelerator.KVM)
        return libvirt_cpu.spec(xml.parse(proposal.text, "the proposed element"), place)
    models = custom_models.parse(proposal.text).models
    place_of_guest = Place("", "", "x86_64", models=models)
    return specification.of_model(proposal.name, place_of_guest)


def _proxmox(found: Baseline, taken: Collection[str], *, windows: bool) -> Proposal | None:
    names = catalogue.proxmox_cpu_names("x86_64") - frozenset(catalogue.proxmox_names())
    model = _model(found, names, windows=windows)
    if model is None:
        return None
    name = custom_section.free_name(taken)
    text = custom_section.written(name, model)
    made = Proposal("proxmox", name, model, text, custom_section.argument(name, text))
    # Proxmox VE takes flags from some models by itself, as rdtscp from those of Opterons.
    hidden = read_back(made).off - model.off
    kept = replace(model, flags=model.flags - hidden, on=model.on - hidden)
    return replace(made, model=replace(kept, level=levels.level(kept.flags)))


def _libvirt(found: Baseline, *, windows: bool) -> Proposal | None:
    asked = [frozenset(dict(place.usable)) for place in found.nodes if place.usable]
    names = asked[0].intersection(*asked[1:]) if asked else model_names.LIBVIRT_9_0
    model = _model(found, names, windows=windows)
    if model is None:
        return None
    return Proposal("libvirt", "", model, custom_element.written(model))


def _model(found: Baseline, names: Collection[str], *, windows: bool) -> CustomModel | None:
    usable = [name for name in names if all(known_to(place, name) for place in found.nodes)]
    return custom_model.propose(found.nodes, found.needs, usable, windows=windows)

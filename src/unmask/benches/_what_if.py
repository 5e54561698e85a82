"""What OpenSSL would do on this machine's silicon if a guest of some CPU model ran here.

Each model's flags on this host, as the resolver knows them, become a mask of OpenSSL's own; the
benchmark runs under each mask in turn. That shows what a change of the model is worth before
anything is changed. The kernel's cryptography, and programs with other libraries, are not measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from unmask.benches import _openssl
from unmask.benches._plan import Run
from unmask.cpu.resolve import resolve
from unmask.crypto import ia32cap
from unmask.crypto.ia32cap import Mask
from unmask.dialects.proxmox import custom_models as custom_file
from unmask.dialects.proxmox import named_model
from unmask.dialects.proxmox.specification import Place, of_model
from unmask.errors import UsageError
from unmask.model.cpu import Accelerator, CpuSpec, FeatureView, HostCpu, Mode
from unmask.model.reading import Known

NONE: Mapping[str, CpuSpec] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Model:
    """A CPU model as a guest on this host would have it, and the mask that stands for it."""

    name: str
    view: FeatureView
    mask: Mask


def models(
    names: Sequence[str],
    host: HostCpu,
    version: str,
    custom: Mapping[str, CpuSpec] = NONE,
) -> tuple[Model, ...]:
    """Return the models with their masks.

    Args:
        names: As Proxmox VE or QEMU spell them, with "custom-" for the cluster's own.
        host: The CPU of the node.
        version: What `openssl version` prints there.
        custom: The cluster's own models, by name without "custom-".

    Raises:
        UsageError: There is no such model.
    """
    found = []
    for name in dict.fromkeys(names):
        view = resolve(_spec(name, host, custom), host.arch, Accelerator.KVM, Known(host))
        found.append(Model(name, view, ia32cap.for_model(view, host, version)))
    return tuple(found)


def custom_models(text: str, host: HostCpu) -> Mapping[str, CpuSpec]:
    """Return the models of a cluster's virtual-guest/cpu-models.conf, by name without "custom-".

    Args:
        text: The file.
        host: The CPU of the node.

    Raises:
        InputError: It is too large.
    """
    found = custom_file.parse(text).models
    place = Place("", "", host.arch, host.flags, found)
    return {name: of_model(name, place) for name in found}


def _spec(name: str, host: HostCpu, custom: Mapping[str, CpuSpec]) -> CpuSpec:
    spec = named_model.spec(name, host, custom)
    if spec.mode is Mode.UNKNOWN:
        said = " ".join(remark.text for remark in spec.remarks)
        raise UsageError(f"--as {name}: there is no such CPU model. {said}".strip())
    return spec


def runs(
    found: Sequence[Model], version: str, algorithms: Sequence[str], measured: float
) -> Iterator[Run]:
    """Yield one round: each algorithm as it is here, and under each model's mask.

    Only the time counts that the program has a processor: a node's guests are never quite idle, and
    what is asked is how the models compare.
    """
    for algorithm in _openssl.known(version, algorithms):
        yield _openssl.run(version, algorithm, measured, elapsed=False)
        for model in found:
            if model.mask.usable:
                given = (("OPENSSL_ia32cap", model.mask.value),)
                yield _openssl.run(version, algorithm, measured, model.name, given, elapsed=False)


def doubts(found: Sequence[Model]) -> Iterator[str]:
    """Yield what keeps the masks from being quite the models, a sentence each."""
    said: dict[str, list[str]] = {}
    for model in found:
        for doubt in model.mask.doubts:
            said.setdefault(doubt, []).append(model.name)
    for doubt, names in said.items():
        yield f"{', '.join(names)}: {doubt}"

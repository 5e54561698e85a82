"""A CPU model of one's own that every node can run and that shows what encryption wants.

It is one of QEMU's models, so that guests see a CPU that exists, plus the flags that all nodes have
and programs use, minus what some node lacks. Nothing is in it that the nodes differ in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from unmask.cpu import catalogue, levels
from unmask.cpu.catalogue import CpuModel
from unmask.cpu.features import flags_of, qemu_knows, qemu_name
from unmask.cpu.model_fit import AMD, FAMILY_NOTE, NEUTRAL, OLD_FAMILY, RISKY, VERSIONED
from unmask.cpu.node_flags import can, sure
from unmask.model.baseline import CustomModel, Needs, Node

INTEL = "GenuineIntel"
WORTH = (levels.LEVELS[4] - levels.LEVELS[1]) | frozenset(
    """
    adx aes avx512_bitalg avx512_vbmi2 avx512_vnni avx512_vpopcntdq avx512ifma avx512vbmi avx_vnni
    clflushopt clwb erms fsgsbase fsrm gfni invpcid pcid pclmulqdq pdpe1gb rdrand rdseed rdtscp
    sha_ni smap smep vaes vpclmulqdq xgetbv1 xsavec xsaveopt
    """.split()  # noqa: SIM905 - names to read, not quotes
)
"""Flags that programs and kernels of guests use, and that migrate: none of a power state, a
counter, TSX, protection keys or AMX, whose state has made migrations fail."""
MITIGATIONS: Mapping[str, frozenset[str]] = MappingProxyType({
    INTEL: frozenset({"md_clear", "spec-ctrl", "ssbd", "stibp"}),
    AMD: frozenset({"amd-ssbd", "amd-stibp", "ibpb", "virt_ssbd"}),
})  # fmt: skip
"""By vendor: what a guest's kernel needs for its defences, where all nodes are of that vendor."""
REQUIRES: Mapping[str, frozenset[str]] = MappingProxyType(
    {flag: frozenset({"avx"}) for flag in ("avx2", "f16c", "fma", "vaes", "vpclmulqdq")}
    | {flag: frozenset({"xsave"}) for flag in ("avx", "xgetbv1", "xsavec", "xsaveopt")}
    | {"avx512f": frozenset({"avx2", "fma"}), "avx_vnni": frozenset({"avx2"})}
    | {flag: frozenset({"avx512f"}) for flag in (
        "avx512_bitalg", "avx512_vbmi2", "avx512_vnni", "avx512_vpopcntdq", "avx512bw",
        "avx512cd", "avx512dq", "avx512ifma", "avx512vbmi", "avx512vl",
    )}
    | {
        "aes": frozenset({"sse4_1", "ssse3"}),
        "gfni": frozenset({"ssse3"}),
        "pclmulqdq": frozenset({"ssse3"}),
        "sha_ni": frozenset({"sse4_1", "ssse3"}),
        "sse4_2": frozenset({"sse4_1"}),
        "sse4_1": frozenset({"ssse3"}),
    }
)  # fmt: skip
"""What has to be shown with a flag: registers that XSAVE saves (Linux,
arch/x86/kernel/cpu/cpuid-deps.c), and what programs take for granted beside it (OpenSSL's AES-NI
code uses SSSE3 and SSE4.1 without asking)."""
ADDRESS_NOTE = (
    "It leaves phys-bits alone: guests see 40 bits as under every named model, which is enough for "
    "1 TiB; phys-bits=host would tie them to nodes of one width."
)


def propose(
    nodes: Sequence[Node], needs: Needs, names: Collection[str], *, windows: bool = False
) -> CustomModel | None:
    """Return the model, None where there is no base for it.

    The base is the largest model of the nodes' vendor, or of none, of which nothing has to be
    turned off; where there is no such model, the one with the least to turn off. On AMD nodes with
    AES one of a family with which Windows uses it goes before all others.

    Args:
        nodes: Nodes of x86 whose flags are known.
        needs: What it is to show; what of it a node lacks is left out and named in `lacks`.
        names: The names of QEMU's models that may be its base.
        windows: Whether Windows guests are among those that will use it.
    """
    vendors = {place.vendor for place in nodes}
    vendor = next(iter(vendors)) if len(vendors) == 1 else ""
    aes = all(sure(place, "aes") for place in nodes)
    avoided = OLD_FAMILY if aes and AMD in vendors else frozenset[str]()
    bases = [(model, _off(model, nodes)) for model in _bases(names, vendor)]
    if not bases:
        return None
    base, off = min(bases, key=lambda item: _preference(item[0], item[1], avoided))
    return _built(base, off, nodes, needs, ignored=windows and base.name in avoided)


def properties(flags: Collection[str]) -> frozenset[str]:
    """Return those of `flags` that QEMU is to be told of: not the words that another one makes."""
    made = frozenset[str]().union(*(flags_of(flag) - {flag} for flag in flags))
    return frozenset(flag for flag in flags if qemu_knows(qemu_name(flag)) and flag not in made)


def complete(flags: frozenset[str]) -> frozenset[str]:
    """Return `flags` without those for which something is not there that they require."""
    kept = frozenset(flag for flag in flags if REQUIRES.get(flag, frozenset()) <= flags)
    return kept if kept == flags else complete(kept)


def _bases(names: Collection[str], vendor: str) -> Iterator[CpuModel]:
    for name in sorted(names):
        model = catalogue.find(name)
        if model is None or VERSIONED.search(name) or "lm" not in model.flags:
            continue
        if name in NEUTRAL or (vendor and model.vendor == vendor):
            yield model


def _off(model: CpuModel, nodes: Sequence[Node]) -> frozenset[str]:
    """Return what a model has that not every node gives, or that is better not shown."""
    off = model.flags & RISKY
    for place in nodes:
        if not dict(place.usable).get(model.name):
            off |= {flag for flag in model.flags if not can(place, flag)}
    return off


def _preference(
    model: CpuModel, off: frozenset[str], avoided: frozenset[str]
) -> tuple[object, ...]:
    return (model.name in avoided, len(off), -len(model.flags - off), model.name)


def _built(
    base: CpuModel, off: frozenset[str], nodes: Sequence[Node], needs: Needs, *, ignored: bool
) -> CustomModel:
    vendors = {place.vendor for place in nodes}
    vendor = next(iter(vendors)) if len(vendors) == 1 else ""
    wanted = (WORTH | MITIGATIONS.get(vendor, frozenset()) | set(needs.flags)) - RISKY
    added = {flag for flag in wanted - base.flags if _addable(flag, nodes)}
    asked = complete((base.flags - off) | added)
    on = asked - base.flags
    flags = asked.union(*map(flags_of, on))
    shown = flags - {"aes"} if ignored else flags
    return CustomModel(
        base=base.name,
        on=on,
        off=base.flags - flags,
        flags=flags,
        level=levels.level(flags),
        shows=tuple(flag for flag in needs.flags if flag in shown),
        lacks=tuple(flag for flag in needs.flags if flag not in shown),
        notes=tuple(_notes(base, flags, ignored=ignored)),
    )


def _notes(base: CpuModel, flags: frozenset[str], *, ignored: bool) -> Iterator[str]:
    if flags == base.flags:
        yield f"It is {base.name} as it is: use that, no custom model is needed."
    if ignored and "aes" in flags:
        yield FAMILY_NOTE
    yield ADDRESS_NOTE


def _addable(flag: str, nodes: Sequence[Node]) -> bool:
    """Return whether QEMU can set a flag and every node surely gives it."""
    return qemu_knows(qemu_name(flag)) and all(sure(place, flag) for place in nodes)

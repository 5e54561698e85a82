"""QEMU's own words for a CPU: the value of `-cpu`, and `-cpu` in a list of arguments.

Sources: target/i386/cpu.c (x86_cpu_parse_featurestr, x86_cpu_expand_features) and softmmu/vl.c
(lookup_opt), checked against QEMU 7.2. Where Proxmox splits `args:`, PVE/Tools.pm (split_args)
uses `shellwords` of Perl's Text::ParseWords.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from unmask.cpu import catalogue, features
from unmask.dialects.excerpt import excerpt
from unmask.model.cpu import CpuSpec, Mode, Origin, Remark, RemarkKind

ON = frozenset({"on", "yes", "true", "y"})
OFF = frozenset({"off", "no", "false", "n"})
"""How QEMU spells booleans (qapi/qapi-util.c, qapi_bool_parse)."""

SETTINGS = frozenset((
    "check", "level", "xlevel", "xlevel2", "min-level", "min-xlevel", "min-xlevel2", "vendor",
    "model-id", "family", "model", "stepping", "phys-bits", "guest-phys-bits", "host-phys-bits",
    "host-phys-bits-limit", "kvm", "migratable", "pmu", "lmce", "l3-cache", "legacy-cache",
    "host-cache-info", "fill-mtrr-mask", "tcg-cpuid", "full-cpuid-auto-level",
    "vmware-cpuid-freq", "cpuid-0xb", "tsc-freq", "tsc-frequency", "ucode-rev", "hotpluggable",
    "socket-id", "core-id", "die-id", "thread-id", "apic-id", "node-id",
))  # fmt: skip
"""Properties of QEMU's x86 CPUs that are no CPUID flag of a physical processor."""

PARAVIRTUAL = ("hv-", "kvm-", "x-", "xen-")
"""What the names of hypervisor interfaces and experimental properties start with."""

PIECE = re.compile(
    r"""
      "(?P<double>(?>[^\\"]*(?:\\.[^\\"]*)*))"
    | '(?P<single>(?>[^\\']*(?:\\.[^\\']*)*))'
    | (?P<plain>(?>(?:\\.|[^\\"'\s])+))
    | (?P<blank>\s+)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QemuCpu:
    """One `-cpu` value as QEMU understands it."""

    model: str
    on: frozenset[str]
    """Flags that end up on beside the model, in our spelling."""
    off: frozenset[str]
    properties: tuple[tuple[str, str], ...]
    """Settings that are no flag, sorted; a switch without a value has "on" or "off"."""
    enforce: bool
    unknown: tuple[str, ...]
    """Names that this program does not know, sorted, with their sign."""


def parse_cpu(text: str) -> QemuCpu:
    """Return what QEMU makes of `-cpu TEXT` on x86.

    `feat` and `feat=on` come first in order, then every `+feat`, then every `-feat`, wherever they
    stand: a minus wins over a plus, and both win over `feat=on`.
    """
    model, *words = text.split(",")
    plain: list[tuple[str, str]] = []
    plus: list[tuple[str, str]] = []
    minus: list[tuple[str, str]] = []
    for word in filter(None, words):
        if word[0] == "+":
            plus.append((word[1:], "on"))
        elif word[0] == "-":
            minus.append((word[1:], "off"))
        else:
            name, sign, value = word.partition("=")
            plain.append((name, value if sign else "on"))
    flags: dict[str, bool] = {}
    settings: dict[str, str] = {}
    unknown: set[str] = set()
    for name, value in plain + plus + minus:
        switch = value.lower() in ON
        if _is_setting(name) or not (switch or value.lower() in OFF):
            settings[name.replace("_", "-")] = value
        elif features.qemu_knows(name) or name in features.REPORTED_ARM:
            flags.update(dict.fromkeys(features.flags_of(name), switch))
        else:
            unknown.add(f"{'+' if switch else '-'}{excerpt(name, 40)}")
    enforced = settings.pop("enforce", "off").lower() in ON
    return QemuCpu(
        model=model,
        on=frozenset(flag for flag, switch in flags.items() if switch),
        off=frozenset(flag for flag, switch in flags.items() if not switch),
        properties=tuple(sorted(settings.items())),
        enforce=enforced,
        unknown=tuple(sorted(unknown)),
    )


def _is_setting(name: str) -> bool:
    spelling = name.replace("_", "-")
    return (
        spelling in SETTINGS
        or spelling in ("enforce", "kvmclock", "kvmclock-stable-bit")
        or spelling.startswith(PARAVIRTUAL)
    )


@lru_cache(maxsize=1024)
def spec_of(text: str, origin: Origin, label: str = "", arch: str = "x86_64") -> CpuSpec:
    """Return the specification that `-cpu TEXT` stands for.

    Args:
        text: The value of `-cpu`: of a running process, of `args:`, or as Proxmox generates it.
        origin: Where it was decided.
        label: The operator's name for it; QEMU's model name where it is empty.
        arch: Architecture of the guest. Only x86 models are in the catalogue.
    """
    cpu = parse_cpu(text)
    mode, remarks = _mode(cpu.model, arch)
    if cpu.unknown:
        words = excerpt(", ".join(cpu.unknown), 200)
        said = f"No QEMU that unmask knows has the CPU property {words}; QEMU refuses unknown ones."
        remarks += (Remark(RemarkKind.UNRESOLVED, said),)
    return CpuSpec(
        written=text,
        origin=origin,
        mode=mode,
        label=label or excerpt(cpu.model),
        model=cpu.model if mode is Mode.MODEL else "",
        on=cpu.on,
        off=cpu.off,
        enforced=cpu.enforce,
        properties=cpu.properties,
        remarks=remarks,
    )


def _mode(model: str, arch: str) -> tuple[Mode, tuple[Remark, ...]]:
    if model == "host":
        return Mode.HOST, ()
    if model == "max":
        return Mode.MAXIMUM, ()
    if arch not in ("x86_64", "i686"):
        return Mode.MODEL, ()
    known = catalogue.find(model)
    if known is None:
        said = (
            f"The CPU model {excerpt(model)!r} is not one that unmask knows: its flags are unknown."
        )
        return Mode.UNKNOWN, (Remark(RemarkKind.UNRESOLVED, said),)
    if known.deprecated:
        said = f"QEMU deprecates the CPU model {model}: {known.deprecated}."
        return Mode.MODEL, (Remark(RemarkKind.DEPRECATED, said),)
    return Mode.MODEL, ()


def cpu_option(args: Sequence[str]) -> str | None:
    """Return the value of the last `-cpu` or `--cpu` in a list of arguments, None without one.

    `-cpu=VALUE` counts as well, since it says what the operator wants; but QEMU refuses it, see
    `refused_option`.
    """
    found = None
    for position, word in enumerate(args):
        if word in ("-cpu", "--cpu") and position + 1 < len(args):
            found = args[position + 1]
        elif word.startswith(("-cpu=", "--cpu=")):
            found = word.partition("=")[2]
    return found


def refused_option(args: Sequence[str]) -> str:
    """Return the `-cpu` argument with which QEMU refuses to start, "" where there is none.

    QEMU takes the value from the next argument only: 7.2 answers `-cpu=host` and `-cpu host` in
    one argument with "invalid option", and a `-cpu` at the end with "requires an argument".
    """
    for word in args:
        if word.startswith(("-cpu=", "--cpu=", "-cpu ", "--cpu ")):
            return word
    return args[-1] if args and args[-1] in ("-cpu", "--cpu") else ""


def accelerator_option(args: Sequence[str]) -> str:
    """Return the accelerator that a list of arguments chooses first, "" where it chooses none.

    QEMU tries those of several `-accel` in order; of several `-machine accel=` the last counts,
    which may name several with colons. It refuses both kinds together (observed with 7.2).
    """
    chosen = ""
    for word, value in pairwise(args):
        if word in ("-accel", "--accel"):
            return value.partition(",")[0].removeprefix("accel=")
        if word in ("-machine", "--machine", "-M", "--M"):
            parts = [part.partition("=") for part in value.split(",")]
            for accelerators in [value for name, _, value in parts if name == "accel"]:
                chosen = accelerators.partition(":")[0]
    return chosen


def argument_list(args: str) -> list[str]:
    """Split `args:` into arguments as Proxmox does.

    Quotes group, a backslash escapes outside quotes and in double ones. With an open quote or a
    backslash at the end, Perl's `shellwords` returns nothing at all: Proxmox then starts QEMU
    without any of the arguments.
    """
    words: list[str] = []
    word: str | None = None
    position = len(args) - len(args.lstrip())
    while position < len(args):
        match = PIECE.match(args, position)
        if match is None:
            return []
        position = match.end()
        if match["blank"] is not None:
            if word is not None:
                words.append(word)
            word = None
        elif match["single"] is not None:
            word = (word or "") + match["single"]
        else:
            piece = match["plain"] if match["double"] is None else match["double"]
            word = (word or "") + ESCAPED.sub(r"\1", piece)
    return words if word is None else [*words, word]

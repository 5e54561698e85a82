"""Regenerate or check the CPU models of `src/unmask/cpu/data/qemu_models.json` from real QEMUs.

    python tools/cpu_catalogue.py --qemu /usr/bin/qemu-system-x86_64 --check
    python tools/cpu_catalogue.py --qemu QEMU-7.2 --qemu QEMU-10 --qemu QEMU-11 --write

Each QEMU is started without a machine and asked over QMP for its CPU models, once under TCG and
once under KVM (`/dev/kvm` must open; no guest is run). `--qemu` takes a whole command, so that a
QEMU unpacked into a directory works: "ROOT/ld-linux.so --library-path ROOT/lib ROOT/qemu -L ROOT".
Releases that are in the file and not on the command line stay. Exit code 1: differences.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from unmask.cpu import catalogue, features

DATA = Path(__file__).parents[1] / "src/unmask/cpu/data/qemu_models.json"

# Properties that are true or false and yet no feature of the CPU.
SETTINGS = (
    "check", "cpuid-0xb", "enforce", "fill-mtrr-mask", "full-cpuid-auto-level", "hotplugged",
    "host-cache-info", "host-phys-bits", "kvm", "l3-cache", "legacy-cache", "legacy-multi-node",
    "lmce", "migratable", "pmu", "realized", "start-powered-off", "tcg-cpuid",
    "vmware-cpuid-freq", "xen-vapic",
)  # fmt: skip

# Paravirtual interfaces and the bits below `vmx`: the same for every model, so no part of one.
BESIDE = ("hv-", "kvm", "vmx-", "x-")


class QemuError(Exception):
    """A QEMU does not start, or does not answer as expected."""


@dataclass(frozen=True)
class Model:
    """One CPU model as one QEMU defines it, before an accelerator's defaults change it."""

    alias_of: str
    vendor: str
    flags: frozenset[str]
    """QEMU's property names, one a feature."""


@dataclass(frozen=True)
class Release:
    """All models of one QEMU."""

    number: str
    """Two parts: "10.0"."""
    build: dict[str, str]
    """What the file says of it: release, package, and what TCG implements."""
    models: dict[str, Model]
    kvm_on: frozenset[str]
    kvm_off: frozenset[str]
    """What KVM's defaults add to every model and take from those that have it."""


@dataclass(frozen=True)
class Expansion:
    """One CPU model as one QEMU expands it under one accelerator."""

    alias_of: str
    vendor: str
    flags: frozenset[str]
    unavailable: frozenset[str]
    """What the accelerator cannot give of them."""


class Qmp:
    """A QEMU process that is spoken to over QMP."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self._requests = requests
        self._answers = answers
        self.greeting = self._answer()
        self.execute("qmp_capabilities")

    def execute(self, command: str, **arguments: object) -> Any:
        """Run one command and return what it returns; raise `QemuError` where it fails."""
        self._requests.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._requests.flush()
        while "return" not in (answer := self._answer()):
            if "error" in answer:
                raise QemuError(f"{command}: {answer['error']['desc']}")
        return answer["return"]

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise QemuError("QEMU has ended")
        return cast(dict[str, Any], json.loads(line))


@contextmanager
def running(command: str, accelerator: str) -> Iterator[Qmp]:
    """Start a QEMU without a machine or a guest, and end it afterwards.

    Raises:
        QemuError: It cannot be started, or the accelerator does not open.
    """
    options = ["-machine", "none", "-nodefaults", "-display", "none", "-S", "-qmp", "stdio"]
    arguments = [*shlex.split(command), *options, "-accel", accelerator]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    except OSError as error:
        raise QemuError(f"{command}: {error}") from error
    with process:
        try:
            yield Qmp(cast(IO[str], process.stdin), cast(IO[str], process.stdout))
        except QemuError as error:
            process.kill()
            said = cast(IO[str], process.stderr).read().strip()
            raise QemuError(f"{command} under {accelerator}: {error}. {said}") from error
        finally:
            process.kill()


def release(command: str) -> Release:
    """Return what a QEMU defines, from its views under TCG and KVM.

    Raises:
        QemuError: It does not answer, or breaks a rule that the file's form rests on.
    """
    version, tcg = expansions(command, "tcg")
    _, kvm = expansions(command, "kvm")
    shown = tcg.pop("max").flags
    models = {}
    for name, model in tcg.items():
        if not _cut(model, shown):
            raise QemuError(f"{name} of {command} under TCG is not its definition cut to max")
        # The one default of TCG: it turns vme off. So KVM tells which models have it.
        defined = model.flags | (kvm[name].flags & {"vme"})
        models[name] = Model(model.alias_of, model.vendor, defined)
    real = models.keys() - {"base"}
    kvm_on = frozenset().union(*(kvm[name].flags - models[name].flags for name in real))
    kvm_off = frozenset().union(*(models[name].flags - kvm[name].flags for name in real))
    for name in real:
        if kvm[name].flags != (models[name].flags | kvm_on) - kvm_off:
            raise QemuError(f"{name} of {command} under KVM does not follow the common rule")
    number = [str(version["qemu"][part]) for part in ("major", "minor", "micro")]
    build = {"package": version["package"], "release": ".".join(number), "tcg": _text(shown)}
    return Release(".".join(number[:2]), build, models, kvm_on, kvm_off)


def _cut(model: Expansion, shown: frozenset[str]) -> bool:
    """Return whether what a model loses under TCG is what `max` does not show either.

    Since QEMU 10 the bits of the ARCH_CAPABILITIES register are not said to be unavailable where
    the register as a whole is; a guest cannot read them then.
    """
    kept = model.flags - model.unavailable
    if "arch-capabilities" in model.unavailable:
        return model.flags & shown <= kept
    return model.flags & shown == kept


def expansions(command: str, accelerator: str) -> tuple[dict[str, Any], dict[str, Expansion]]:
    """Return QEMU's version and every CPU model but `host` as it expands under an accelerator."""
    with running(command, accelerator) as qmp:
        if accelerator == "kvm" and not qmp.execute("query-kvm")["enabled"]:
            raise QemuError(f"{command}: KVM is not in use")
        models = {
            entry["name"]: _expand(qmp, entry)
            for entry in qmp.execute("query-cpu-definitions")
            if entry["name"] != "host"
        }
        version: dict[str, Any] = qmp.greeting["QMP"]["version"]
    return version, models


def _expand(qmp: Qmp, entry: dict[str, Any]) -> Expansion:
    expansion = qmp.execute("query-cpu-model-expansion", type="full", model={"name": entry["name"]})
    properties = expansion["model"]["props"]
    return Expansion(
        alias_of=entry.get("alias-of", ""),
        vendor=properties.get("vendor", ""),
        flags=_flags(name for name, value in properties.items() if value is True),
        unavailable=_flags(entry["unavailable-features"]),
    )


def _flags(properties: Iterable[str]) -> frozenset[str]:
    """Return the CPU features among property names, aliases folded."""
    names = [p for p in properties if p not in SETTINGS and not p.startswith(BESIDE)]
    unknown = [name for name in names if not features.qemu_knows(name)]
    if unknown:
        raise QemuError(f"data/flags.json does not know {', '.join(sorted(unknown))}")
    return frozenset(features.qemu_name(name) for name in names)


def merge(document: dict[str, Any], new: Release) -> dict[str, Any]:
    """Return the file's document with one release added or replaced.

    Raises:
        QemuError: A model is defined differently in the file; the form has no place for that.
    """
    defined = {name: catalogue.expand(document["models"], name) for name in document["models"]}
    models = {name: dict(entry) for name, entry in document["models"].items()}
    aliases = dict(document["aliases"])
    for name, model in new.models.items():
        if model.alias_of:
            aliases[name] = model.alias_of
            continue
        if defined.setdefault(name, model.flags) != model.flags:
            changed = _text(defined[name] ^ model.flags)
            raise QemuError(f"QEMU {new.number} defines {name} differently: {changed}")
        since = min(models.get(name, {}).get("since", new.number), new.number, key=_order)
        models[name] = {"since": since, "vendor": model.vendor}
    return {
        "aliases": aliases,
        "kvm": {
            "off": _text(new.kvm_off.union(document["kvm"]["off"].split())),
            "on": _text(new.kvm_on.union(document["kvm"]["on"].split())),
        },
        "models": {name: models[name] | _written(name, defined) for name in models},
        "releases": document["releases"] | {new.number: new.build},
    }


def _written(name: str, defined: dict[str, frozenset[str]]) -> dict[str, str]:
    """Return a definition in the file's form: whole, or as a change to the version before."""
    stem, _, version = name.rpartition("-v")
    former = f"{stem}-v{int(version) - 1}" if version.isdigit() else ""
    if former not in defined:
        return {"flags": _text(defined[name])}
    plus, minus = defined[name] - defined[former], defined[former] - defined[name]
    changes = {"plus": _text(plus), "minus": _text(minus)}
    return {"like": former} | {key: text for key, text in changes.items() if text}


def differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Yield a line for every place where two documents differ."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after:
            yield f"{where}: {before!r} -> {after!r}"
        return
    for key in sorted(before.keys() | after.keys()):
        yield from differences(before.get(key), after.get(key), f"{where} {key}".strip())


def gone(document: dict[str, Any], new: Release) -> Iterator[str]:
    """Yield a line for every model that the file promises for a release and QEMU lacks."""
    for name, entry in document["models"].items():
        if _order(entry["since"]) <= _order(new.number) and name not in new.models:
            yield f"QEMU {new.number} has no {name}"


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _text(flags: Iterable[str]) -> str:
    return " ".join(sorted(flags))


def main() -> int:
    """Run the tool; return 1 where the data and the QEMUs differ and nothing was written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--qemu", action="append", required=True, metavar="COMMAND")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="report differences to the data")
    action.add_argument("--write", action="store_true", help="merge into the data")
    options = parser.parse_args()
    before = after = json.loads(DATA.read_text(encoding="utf-8"))
    lines: list[str] = []
    try:
        for command in options.qemu:
            found = release(command)
            lines += gone(before, found)
            after = merge(after, found)
            print(f"QEMU {found.build['release']}: {len(found.models)} models")
    except QemuError as error:
        print(error, file=sys.stderr)
        return 1
    lines += differences(before, after)
    print("\n".join(lines) or "no differences")
    if options.write:
        text = json.dumps(after, indent=1, sort_keys=True, ensure_ascii=False)
        DATA.write_text(text + "\n", encoding="utf-8")
    return 1 if lines and options.check else 0


if __name__ == "__main__":
    sys.exit(main())

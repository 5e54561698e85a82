"""What a benchmark's environment tells of the machine: its flags, what runs it, its library."""

from __future__ import annotations

import re

from unmask.crypto import ia32cap, versions
from unmask.model.bench import PLAIN, BenchResult, Environment, Tool
from unmask.model.cpu import Accelerator, HostCpu
from unmask.model.inside import Virtualisation
from unmask.model.inside_programs import OpenSsl
from unmask.model.reading import Known

_X86 = ("x86_64", "i686", "i386", "amd64", "")
_EMULATORS = ("qemu", "bochs")
"""systemd-detect-virt says "kvm" where QEMU uses KVM, and "qemu" where it emulates the CPU."""
_HYPERVISORS = ("Proxmox VE", "XCP-ng", "oVirt")
_OVERRIDE = re.compile(r"OPENSSL_(ia32|arm)cap=\S{1,200} env:(\S{1,100})")
WITH_AES_NI = (1, 0, 1)
"""The first OpenSSL with code for AES-NI."""


def cpu(environment: Environment) -> HostCpu | None:
    """Return the CPU as the kernel lists it; None where it was not read."""
    return environment.cpu.value if isinstance(environment.cpu, Known) else None


def arch(environment: Environment) -> str:
    """Return the architecture; "" where it is not known."""
    seen = cpu(environment)
    return seen.arch if seen else ""


def virtualisation(environment: Environment) -> Virtualisation | None:
    """Return what the machine tells of what runs it; None where it was not read."""
    found = environment.virtualisation
    return found.value if isinstance(found, Known) else None


def library(environment: Environment) -> OpenSsl:
    """Return the OpenSSL that measured; empty where it was not told."""
    found = environment.openssl
    return found.value if isinstance(found, Known) else OpenSsl()


def lists(environment: Environment, flag: str) -> bool | None:
    """Return whether the kernel lists a flag; None where that is not known."""
    seen = cpu(environment)
    if seen is None:
        return None
    if flag in seen.flags:
        return True
    return False if seen.complete else None


def capabilities(result: BenchResult) -> frozenset[str]:
    """Return the flags that OpenSSL itself sees without any change; empty where none are told."""
    told = library(result.environment).capabilities
    if told:
        return ia32cap.decode(told if "=" in told else f"OPENSSL_ia32cap={told}")
    for sample in result.samples:
        if sample.tool is Tool.OPENSSL and sample.setting == PLAIN:
            found = ia32cap.decode(sample.raw)
            if found:
                return found
    return frozenset()


def override(result: BenchResult) -> str:
    """Return the variable that changes what OpenSSL sees, as NAME=VALUE; "" where none is told."""
    if result.environment.override:
        return result.environment.override
    for sample in result.samples:
        if sample.tool is Tool.OPENSSL and sample.setting == PLAIN:
            found = _OVERRIDE.search(sample.raw)
            if found:
                return f"OPENSSL_{found.group(1)}cap={found.group(2)}"
    return ""


def shows(result: BenchResult, flag: str) -> bool | None:
    """Return whether the machine shows a flag: by its kernel's list, else by OpenSSL's own eyes."""
    listed = lists(result.environment, flag)
    if listed is not None:
        return listed
    seen = capabilities(result)
    return flag in seen if seen else None


def foreign(environment: Environment) -> str:
    """Return the architecture where it is known not to be x86; "" otherwise."""
    seen = cpu(environment)
    arch = seen.arch if seen else ""
    if not arch and isinstance(environment.system, Known):
        arch = environment.system.value.machine
    return "" if arch in _X86 else arch


def emulated(environment: Environment) -> str:
    """Return what tells that the CPU is emulated, as the end of a sentence; "" where nothing."""
    if environment.accelerator is Accelerator.TCG:
        return "its hypervisor runs it without KVM"
    around = virtualisation(environment)
    if around and around.detected.lower() in _EMULATORS:
        return f'the guest finds itself under "{around.detected}", which is QEMU without KVM'
    seen = cpu(environment)
    if seen and seen.model_name.startswith("QEMU TCG CPU"):
        return f'the CPU calls itself "{seen.model_name}"'
    return ""


def told_what_runs_it(environment: Environment) -> bool:
    """Return whether it was looked at, in the machine or on its hypervisor, what runs it."""
    return environment.accelerator is not Accelerator.UNKNOWN or bool(virtualisation(environment))


def virtual(environment: Environment) -> bool | None:
    """Return whether the machine is a hypervisor's guest; None where that is not known."""
    if environment.accelerator in (Accelerator.KVM, Accelerator.TCG):
        return True
    around = virtualisation(environment)
    if around is None:
        seen = cpu(environment)
        return True if seen and "hypervisor" in seen.flags else None
    return around.hypervisor_flag or around.detected.lower() not in ("", "none")


def nested(result: BenchResult, node: BenchResult | None) -> bool:
    """Return whether the guest's node is a guest itself, or the machine is one that runs guests."""
    if node and virtual(node.environment):
        return True
    system = result.environment.system
    appliance = system.value.appliance if isinstance(system, Known) else ""
    return bool(virtual(result.environment)) and appliance in _HYPERVISORS


def without_aes_code(result: BenchResult) -> str:
    """Return why this library never uses AES-NI, as a sentence; "" where it may."""
    version = library(result.environment).version
    numbers = versions.parse(version)
    if "openssl" in version.lower() and numbers and numbers < WITH_AES_NI:
        return f"{version} has no code for AES-NI, whatever the CPU has."
    runs = [one for one in result.samples if one.tool is Tool.OPENSSL and one.rate is not None]
    if runs and all(one.evp is False for one in runs if one.algorithm.startswith("aes")):
        aes = [one for one in runs if one.algorithm.startswith("aes")]
        if aes:
            return "It was measured without -evp: before 3.0, OpenSSL then never uses AES-NI."
    return ""

"""A proposed custom model really starts, and its guest sees what was promised.

Nothing but emulation runs here, so the nodes are such that QEMU's TCG implements all they have.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from support import peers
from support.cpuinfo_guest import Cpuinfos, flags
from support.libvirtd import Libvirtd
from unmask.cpu import catalogue
from unmask.cpu.baseline import baseline
from unmask.cpu.features import listed
from unmask.dialects.proxmox import custom_section
from unmask.engine import custom_models
from unmask.model.baseline import Needs, Proposal
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Host, Platform
from unmask.model.reading import Known

NEEDS = Needs(("aes", "pclmulqdq", "avx"))
CLUSTERS = {
    "intel": ("Haswell-noTSX", "Broadwell-noTSX-IBRS", "Skylake-Client-noTSX-IBRS"),
    "amd": ("EPYC", "EPYC-Rome"),
    "mixed": ("EPYC-Rome", "Skylake-Client-noTSX-IBRS"),
    "old": ("Westmere", "SandyBridge"),
}
NOT_EMULATED = frozenset({"tsc_adjust", "tsc_deadline_timer", "umip", "x2apic"})
"""What KVM adds to every model and the TCG of QEMU 7.2 does not have."""
BESIDE = frozenset({"3dnowprefetch", "hypervisor", "npt", "nrip_save", "svm"})
"""What such a guest prints whatever the model says: Linux sets 3dnowprefetch by itself on AMD's
CPUs, and it is KVM's defaults that take `svm` and what is below it from every model."""

pytestmark = pytest.mark.peer


@cache
def qemu() -> str:
    """Return the version of the installed QEMU."""
    text = peers.run([peers.program("qemu-system-x86_64"), "--version"]).stdout
    match = re.search(r"version ([0-9.]+)", text)
    assert match, text
    return match[1].rstrip(".")


def host(name: str, platform: Platform) -> Host:
    """Return a node that has of a model what TCG implements, and no `vme`, which it turns off."""
    model = catalogue.find(name)
    assert model, name
    shown = (model.flags & catalogue.emulated(qemu())) - {"vme"}
    return Host(name, name, platform, "", Known(HostCpu("x86_64", shown, model.vendor, name)))


@cache
def proposed(cluster: str, platform: Platform) -> Proposal:
    hosts = [host(name, platform) for name in CLUSTERS[cluster]]
    made = custom_models.proposals(baseline(hosts, NEEDS))
    (found,) = [item for item in made if item.platform == platform.value]
    return found


def promised(proposal: Proposal) -> frozenset[str]:
    """Return what a Linux guest is to print of it, emulated."""
    return frozenset(filter(listed, proposal.model.flags)) - NOT_EMULATED


def options() -> dict[str, str]:
    """Return what Proxmox VE makes of each cluster's custom model for `-cpu` without KVM."""
    found = {}
    for cluster in CLUSTERS:
        item = proposed(cluster, Platform.PROXMOX)
        found[cluster] = custom_section.argument(item.name, item.text, kvm=False)
    return found


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_guest_of_the_section_sees_what_was_promised(cluster: str, cpuinfos: Cpuinfos) -> None:
    item = proposed(cluster, Platform.PROXMOX)
    cpuinfos.start({f"baseline-{name}": option for name, option in options().items()})
    seen = flags(cpuinfos[options()[cluster]])
    assert not promised(item) - seen, promised(item) - seen
    assert not (item.model.off & seen) - BESIDE, item.model.off & seen
    assert set(item.model.shows) <= seen
    # Nothing is in it that some node lacks.
    for name in CLUSTERS[cluster]:
        has = host(name, Platform.PROXMOX).cpu.value.flags | item.model.flags
        words = {flag for flag in seen - has if catalogue.emulated(qemu()) & {flag}}
        assert words <= BESIDE | NOT_EMULATED, (name, words)


@pytest.mark.parametrize("cluster", ["amd", "mixed"])
def test_a_guest_of_the_element_sees_what_was_promised(
    cluster: str, cpuinfos: Cpuinfos, libvirtd: Libvirtd
) -> None:
    """libvirt's own `-cpu` for the element; no more of the domain is needed to see its CPU."""
    item = proposed(cluster, Platform.LIBVIRT)
    xml = (
        "<domain type='qemu'><name>unmask-test-baseline</name><memory>65536</memory><os><type "
        f"arch='x86_64' machine='pc'>hvm</type></os>{item.text}</domain>"
    )
    path = libvirtd.directory / "guests" / f"baseline-{cluster}.xml"
    path.write_text(xml)
    argv = libvirtd.virsh("domxml-to-native", "qemu-argv", "--xml", str(path))
    match = re.search(r"-cpu (\S+)", argv)
    assert match, argv
    cpuinfos.start({f"element-{cluster}": match[1]})
    seen = flags(cpuinfos[match[1]])
    assert not promised(item) - seen, promised(item) - seen
    assert set(item.model.shows) == {"aes", "pclmulqdq", "avx"} & seen


def test_qemu_refuses_a_model_beyond_what_it_can_give() -> None:
    """`enforce`, with which Proxmox VE starts guests: the promise is checked by QEMU itself."""
    item = proposed("mixed", Platform.PROXMOX)
    argument = custom_section.argument(item.name, item.text, kvm=False)
    assert _starts(f"{argument},enforce")
    assert not _starts(f"{argument},+avx512f,enforce")


def _starts(option: str) -> bool:
    binary = peers.program("qemu-system-x86_64")
    words = ["-machine", "none", "-accel", "tcg", "-nodefaults", "-display", "none", "-S"]
    argv = [binary, *words, "-machine", "pc", "-cpu", option, "-monitor", "stdio"]
    return peers.run(argv, stdin="quit\n", check=False).returncode == 0

"""Which CPU can run which model: our verdicts against libvirt's, for every pair that it knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from support import libvirt_compare as peer
from support.libvirt_compare import Difference, differences, element, explained, names
from support.libvirtd import Libvirtd
from unmask.cpu import catalogue
from unmask.cpu.node_flags import lacking, node
from unmask.dialects import described_host
from unmask.dialects.libvirt import capabilities, xml
from unmask.model.baseline import Node
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Host, Platform
from unmask.model.reading import Known

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
HOSTS = ("caps-001-kvm-x86_64.xml", "caps-004-test-qemu-with-kvm.xml")
OFFERS = (
    "domcaps-005-kvm-x86_64-latest.xml",
    "domcaps-006-amd-sev-milan.xml",
    "domcaps-007-insecure-skylake.xml",
    "domcaps-011-kubevirt-epyc-rome.xml",
    "domcaps-012-kubevirt-graniterapids-tdx.xml",
)

FAIL_INCOMPATIBLE = 1
"""VIR_CONNECT_COMPARE_CPU_FAIL_INCOMPATIBLE of libvirt-host.h."""

pytestmark = pytest.mark.peer


@cache
def like(name: str) -> Node:
    """Return a node whose kernel prints what QEMU defines for a model."""
    model = catalogue.find(name)
    assert model, name
    cpu = HostCpu("x86_64", model.flags, model.vendor, name)
    return known(Host(name, name, Platform.PROXMOX, "", Known(cpu)))


def known(host: Host) -> Node:
    found = node(host, described_host.spoken())
    assert isinstance(found, Node), found
    return found


def wanted(name: str) -> frozenset[str]:
    model = catalogue.find(name)
    assert model, name
    return model.flags


@cache
def pairs() -> dict[tuple[str, str], tuple[frozenset[str], frozenset[str]]]:
    """Return what each CPU (second) lacks of each model (first): we say, and libvirt says."""
    return {
        (asked, host): (
            lacking(like(host), wanted(asked)),
            peer.shared(element(asked)) - peer.shared(element(asked), element(host)),
        )
        for asked in names()
        for host in names()
    }


def all_differences() -> set[Difference]:
    return {
        difference
        for (asked, host), (we, libvirt) in pairs().items()
        for difference in differences(we, libvirt, asked, host)
    }


def test_every_difference_between_two_models_is_explained() -> None:
    unexplained = sorted(item for item in all_differences() if not explained(item))
    assert not unexplained, unexplained[:20]


def test_verdicts_on_pairs_are_equal_but_for_what_is_explained() -> None:
    """A verdict that differs must hang on explained flags alone: on all that the stricter lists."""
    other = {pair for pair, (we, libvirt) in pairs().items() if bool(we) != bool(libvirt)}
    for asked, host in other:
        we, libvirt = pairs()[asked, host]
        assert all(map(explained, differences(we, libvirt, asked, host))), (asked, host)
    # 206 of 2809 with libvirt 9.0; a map that comes closer to QEMU's leaves fewer.
    assert len(pairs()) >= 2500
    assert len(other) <= len(pairs()) // 10


@pytest.mark.parametrize(
    ("asked", "host", "we", "libvirt"),
    [
        ("Westmere", "Nehalem", True, True),
        ("Nehalem", "Westmere", False, False),
        ("Haswell", "Haswell-noTSX", True, True),
        ("EPYC", "EPYC-Rome", False, False),
        ("qemu64", "Nehalem", False, True),  # svm, which KVM leaves out of the model
        ("SandyBridge", "Westmere", True, True),
        ("Skylake-Server-noTSX-IBRS", "Cooperlake", False, True),  # mpx, which QEMU took out
    ],
)
def test_some_pairs(asked: str, host: str, we: bool, libvirt: bool) -> None:  # noqa: FBT001
    assert [bool(flags) for flags in pairs()[asked, host]] == [we, libvirt]


def test_a_model_runs_on_itself() -> None:
    for name in names():
        assert pairs()[name, name] == (frozenset(), frozenset()), name


def test_every_reason_explains_something() -> None:
    if peer.test_driver().getLibVersion() != 9_000_000:
        pytest.skip("the reasons were written for libvirt 9.0.0; newer maps differ less")
    found = {(flag, asked) for flag, said_by, asked, _ in all_differences() if said_by == "libvirt"}
    used = {why for flag, asked in found for why in peer.reasons(flag, asked)}
    assert used == {why for _, _, why in peer.WHY_OURS_DIFFERS}


@pytest.mark.parametrize("name", HOSTS)
def test_a_recorded_host_can_run_what_libvirt_says(name: str) -> None:
    text = _recorded(name)
    host = known(described_host.described(text, name))
    root = xml.parse(text, name)
    cpu = root.find("host/cpu")
    assert cpu is not None
    listed = [item.get("name", "") for item in cpu.iterfind("feature")]
    asked_of = element(cpu.findtext("model", ""), listed)
    for asked in names():
        libvirt = peer.shared(element(asked)) - peer.shared(element(asked), asked_of)
        found = set(differences(lacking(host, wanted(asked)), libvirt, asked, "no model"))
        unexplained = {item for item in found if not explained(item)}
        assert not unexplained, unexplained


@pytest.mark.parametrize("name", OFFERS)
def test_flags_lead_to_what_a_recorded_hypervisor_says_is_usable(name: str) -> None:
    """`usable` is QEMU's own answer under KVM: the host's expanded model has to agree."""
    text = _recorded(name)
    host = known(described_host.described(text, name))
    offer = capabilities.domain(xml.parse(text, name)).cpu
    asked = [(model, usable) for model, usable in offer.usable if catalogue.find(model)]
    assert len(asked) > 40
    for model, usable in asked:
        lacks = lacking(host, wanted(model))
        silent = {flag for flag in lacks if explained((flag, "ours", model, "no model"))}
        assert usable or lacks, f"{model}: it is not usable and lacks nothing"
        assert not usable or lacks == silent, (model, lacks)


def test_this_machine_can_run_what_libvirt_says(libvirtd: Libvirtd) -> None:
    connection = peer.connect(libvirtd.uri)
    host = known(described_host.described(connection.getCapabilities(), "this machine"))
    for asked in names():
        verdict, libvirt = _compared(connection.compareCPU, asked)
        found = set(differences(lacking(host, wanted(asked)), libvirt, asked, "no model"))
        assert all(map(explained, found)), found
        assert (verdict == 0) == bool(libvirt), asked
    connection.close()


def test_emulation_can_run_what_libvirt_says(libvirtd: Libvirtd) -> None:
    """`virsh hypervisor-cpu-compare --virttype qemu`: what QEMU's TCG implements of a model."""
    connection = peer.connect(libvirtd.uri)
    number = connection.getVersion()
    release = f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"

    def compare(cpu: str, flags: int) -> int:
        answer: int = connection.compareHypervisorCPU(None, "x86_64", None, "qemu", cpu, flags)
        return answer

    for asked in names():
        model = catalogue.find(asked)
        assert model
        _, libvirt = _compared(compare, asked)
        lacks = model.defined - catalogue.emulated(release)
        found = set(differences(lacks, libvirt, asked, "no model"))
        unexplained = {item for item in found if not explained(item)}
        assert not unexplained, unexplained
    connection.close()


def _compared(compare: Callable[[str, int], int], asked: str) -> tuple[int, frozenset[str]]:
    """Return libvirt's verdict (0: incompatible) and the flags that it names as lacking."""
    verdict = compare(element(asked), 0)
    try:
        compare(element(asked), FAIL_INCOMPATIBLE)
    except Exception as error:  # noqa: BLE001 - libvirt's own class, imported only where it is
        return verdict, peer.refused(str(error))
    return verdict, frozenset()


def _recorded(name: str) -> str:
    path = CORPUS / name
    if not path.is_file():
        pytest.skip("the recorded hosts are not here")
    return path.read_text(encoding="utf-8")

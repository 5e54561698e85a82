"""What CPUs have in common, and the custom model for them, against the installed libvirt."""

from __future__ import annotations

import itertools
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support import libvirt_compare as peer
from support.libvirt_compare import element, names
from support.libvirt_map import WHY_LIBVIRT_DIFFERS, explains
from support.libvirtd import Libvirtd
from unmask.cpu import catalogue
from unmask.cpu.baseline import common, of_nodes
from unmask.cpu.node_flags import node
from unmask.dialects import described_host
from unmask.dialects.libvirt import xml
from unmask.engine import custom_models
from unmask.model.baseline import Needs, Node
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Host, Platform
from unmask.model.reading import Known

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
HOSTS = ("caps-001-kvm-x86_64.xml", "caps-004-test-qemu-with-kvm.xml")
PLAIN = ("aes", "avx", "cx16", "lm", "movbe", "nx", "popcnt", "sse4_1", "sse4_2", "ssse3", "xsave")
NEEDS = Needs(("aes", "pclmulqdq", "avx"))
FAIL_INCOMPATIBLE = 1
"""VIR_CONNECT_COMPARE_CPU_FAIL_INCOMPATIBLE of libvirt-host.h."""

ONLY_OURS = (
    ("arat tsc_adjust tsc_deadline_timer umip x2apic", "KVM makes it whatever the silicon has"),
    ("ibpb ibrs ssbd stibp", "one word of Linux for the bits of either vendor"),
)
ONLY_LIBVIRTS = (("monitor npt nrip_save svm", "KVM's defaults leave it out of every model"),)

pytestmark = pytest.mark.peer


@cache
def like(name: str) -> Node:
    """Return a node whose kernel prints what QEMU defines for a model."""
    model = catalogue.find(name)
    assert model, name
    cpu = HostCpu("x86_64", model.flags - {"hypervisor"}, model.vendor, name)
    return known(Host(name, name, Platform.LIBVIRT, "", Known(cpu)))


def known(host: Host) -> Node:
    found = node(host, described_host.spoken())
    assert isinstance(found, Node), found
    return found


def sets() -> list[tuple[str, ...]]:
    """Return every pair of models, and triples and quadruples of them."""
    generator = random.Random(6)  # noqa: S311 - test data
    larger = [tuple(generator.sample(names(), number)) for number in (3, 4) for _ in range(600)]
    return [*itertools.combinations(names(), 2), *larger]


def in_common(cpus: tuple[str, ...]) -> frozenset[str] | None:
    """Return `virsh cpu-baseline`'s features; None for CPUs of vendors that it does not join."""
    try:
        return peer.shared(*map(element, cpus))
    except Exception as error:
        if "vendors do not match" in str(error):
            return None
        raise


def unexplained(we: frozenset[str], libvirt: frozenset[str], cpus: tuple[str, ...]) -> set[str]:
    """Return the flags in which the answers differ without a known reason."""
    kinds = ((we - libvirt, "lacks", ONLY_OURS), (libvirt - we, "has", ONLY_LIBVIRTS))
    return {
        flag
        for flags, kind, reasons in kinds
        for flag in flags
        if not any(flag in words.split() for words, _ in reasons)
        and not any(
            explains(line, (flag, name, kind)) for line in WHY_LIBVIRT_DIFFERS for name in cpus
        )
    }


def test_what_models_have_in_common_is_libvirts_baseline() -> None:
    done = 0
    for cpus in sets():
        libvirt = in_common(cpus)
        if libvirt is None:
            continue
        done += 1
        we = common([like(name) for name in cpus])
        assert not unexplained(we, libvirt, cpus), (cpus, unexplained(we, libvirt, cpus))
    assert done > 1500


def test_pairs_without_any_difference_to_explain() -> None:
    """So that the list of reasons does not hide everything: what programs use is equal."""
    for cpus in itertools.combinations(("Nehalem", "SandyBridge", "Skylake-Client-IBRS"), 2):
        libvirt = in_common(cpus)
        we = common([like(name) for name in cpus])
        assert libvirt is not None
        for flag in [
            "aes",
            "avx",
            "pclmulqdq",
            "popcnt",
            "sse4_1",
            "sse4_2",
            "ssse3",
            "movbe",
            "cx16",
            "lahf_lm",
            "lm",
            "nx",
        ]:
            assert (flag in we) == (flag in libvirt), (cpus, flag)


@pytest.mark.parametrize("name", HOSTS)
def test_a_recorded_host_and_each_model(name: str) -> None:
    path = CORPUS / name
    if not path.is_file():
        pytest.skip("the recorded hosts are not here")
    text = path.read_text(encoding="utf-8")
    root = xml.parse(text, name)
    listed = [item.get("name", "") for item in root.iterfind("host/cpu/feature")]
    host = known(described_host.described(text, name))
    as_cpu = element(root.findtext("host/cpu/model", ""), listed)
    for model in names():
        libvirt = peer.shared(as_cpu, element(model))
        we = common([host, like(model)])
        rest = unexplained(we, libvirt, (model,))
        # What KVM keeps from guests though the silicon has it is in libvirt's answer alone.
        kept = libvirt - we - host.given
        assert not rest - kept, (model, rest - kept)


@cache
def elements() -> tuple[str, ...]:
    """Return the elements that are proposed for many sets of nodes, each once."""
    found = set()
    for cpus in sets()[::9]:
        baseline = of_nodes([like(name) for name in cpus], NEEDS)
        for item in custom_models.proposals(baseline):
            found |= {item.text} if item.platform == "libvirt" else set()
    return tuple(sorted(found))


def test_libvirt_knows_every_word_of_a_proposed_element(libvirtd: Libvirtd) -> None:
    """It takes any word when a guest is defined, and refuses unknown ones when it starts."""
    connection = peer.connect(libvirtd.uri)
    assert len(elements()) > 50
    policies = "".join(elements())
    assert "name='pclmuldq'" in policies
    assert "policy='disable'" in policies
    for text in elements():
        _compare(connection, text)
    with pytest.raises(AssertionError, match=r"(?i)unknown CPU feature"):
        _compare(connection, elements()[0].replace("</cpu>", "<feature name='sse4_1'/></cpu>"))
    connection.close()


def _compare(connection: Any, text: str) -> None:
    """Let libvirt read an element: it may be beyond what is emulated here, but not unknown."""
    try:
        arguments = (None, "x86_64", None, "qemu", text, FAIL_INCOMPATIBLE)
        connection.compareHypervisorCPU(*arguments)
    except Exception as error:
        said = str(error)
        if "does not provide required features" not in said:
            raise AssertionError(
                said[0].lower() + said[1:].replace("Unknown", "unknown")
            ) from error


def test_this_machine_can_run_what_is_proposed_for_it(libvirtd: Libvirtd) -> None:
    connection = peer.connect(libvirtd.uri)
    host = known(described_host.described(connection.getCapabilities(), "this machine"))
    made = custom_models.proposals(of_nodes([host], NEEDS))
    texts = [item.text for item in made if item.platform == "libvirt"]
    assert texts
    for text in texts:
        assert connection.compareCPU(text, FAIL_INCOMPATIBLE) >= 1
    connection.close()

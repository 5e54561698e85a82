"""Real public XML against the right answers of its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from unmask.cpu.resolve import resolve
from unmask.dialects.libvirt import capabilities, domain, xml
from unmask.dialects.libvirt.capabilities import DomainCapabilities
from unmask.model.cpu import Accelerator, FeatureView, HostCpu, Mode, Origin, RemarkKind, State
from unmask.model.reading import Known, Missing

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")

SHOWN, HIDDEN, HOST, UNKNOWN = State.SHOWN, State.HIDDEN, State.HOST, State.UNKNOWN
KVM, TCG = Accelerator.KVM, Accelerator.TCG


def root(name: str) -> xml.Element:
    (path,) = CORPUS.glob(f"{name}-*.xml")
    return xml.parse(path.read_text(encoding="utf-8"), path.name)


def read(name: str) -> domain.Domain:
    element = root(name)
    return domain.fragment(element) if element.tag == "cpu" else domain.read(element)


def view(found: domain.Domain, offers: tuple[DomainCapabilities, ...] = ()) -> FeatureView:
    missing = Missing("a file tells nothing of its host")
    given = tuple(offer.cpu for offer in offers)
    return resolve(found.cpu, found.arch, found.accelerator, missing, given)


@dataclass(frozen=True)
class Answer:
    arch: str
    accelerator: Accelerator
    mode: Mode
    label: str
    aes: State
    pclmulqdq: State
    origin: Origin = Origin.CONFIG


DOMAINS = {
    "dom-001": Answer("x86_64", KVM, Mode.MODEL, "Penryn", SHOWN, HIDDEN, Origin.ARGS),
    "dom-002": Answer("x86_64", KVM, Mode.HOST, "host-passthrough", HOST, HOST),
    "dom-004": Answer("aarch64", KVM, Mode.HOST, "host-passthrough", HOST, HOST),
    "dom-005": Answer("x86_64", KVM, Mode.HOST_MODEL, "host-model", HOST, HOST),
    "dom-006": Answer("s390x", KVM, Mode.HOST_MODEL, "host-model", UNKNOWN, UNKNOWN),
    "dom-007": Answer("", KVM, Mode.UNKNOWN, "default", UNKNOWN, UNKNOWN, Origin.DEFAULT),
    "dom-008": Answer("x86_64", KVM, Mode.MODEL, "Skylake-Client-noTSX-IBRS", SHOWN, SHOWN),
    "dom-009": Answer("x86_64", KVM, Mode.MODEL, "qemu64", HIDDEN, HIDDEN),
    "dom-011": Answer("x86_64", KVM, Mode.HOST_MODEL, "host-model", HOST, HOST),
    "dom-012": Answer("x86_64", TCG, Mode.MODEL, "Penryn", HIDDEN, HIDDEN),
    "dom-014": Answer("x86_64", KVM, Mode.HOST, "host-passthrough", HOST, HOST),
    "dom-015": Answer("x86_64", KVM, Mode.HOST, "host-passthrough", HOST, HOST),
    "dom-017": Answer("i686", KVM, Mode.UNKNOWN, "footest", UNKNOWN, UNKNOWN),
    "domcpu-020": Answer("x86_64", KVM, Mode.MODEL, "kvm64", HIDDEN, HIDDEN, Origin.LIVE),
    "domcpu-021": Answer("x86_64", KVM, Mode.MODEL, "Opteron_G3", HIDDEN, HIDDEN, Origin.LIVE),
    "domcpu-022": Answer(
        "x86_64", KVM, Mode.MODEL, "Cascadelake-Server", SHOWN, SHOWN, Origin.LIVE
    ),
    "baseline-016": Answer("x86_64", KVM, Mode.MODEL, "SandyBridge", SHOWN, SHOWN),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_domain(name: str) -> None:
    found = read(name)
    seen = view(found)
    assert (
        Answer(
            arch=found.arch,
            accelerator=found.accelerator,
            mode=found.cpu.mode,
            label=found.cpu.label,
            aes=seen.state("aes"),
            pclmulqdq=seen.state("pclmulqdq"),
            origin=found.cpu.origin,
        )
        == DOMAINS[name]
    )


def test_every_case_of_the_manifest_is_here() -> None:
    kinds = ("dom-", "domcpu-", "baseline-", "caps-", "domcaps-")
    files = {path.name for path in CORPUS.glob("*.xml")}
    covered = {*DOMAINS, *HOSTS, *OFFERS}
    assert {name for name in files if name.startswith(kinds)} == files
    assert {"-".join(name.split("-")[:2]) for name in files} == covered


def test_what_else_the_manifest_says() -> None:
    assert read("dom-001").cpu.remarked(RemarkKind.OVERRIDDEN)
    assert "qemu64" in read("dom-007").cpu.remarked(RemarkKind.UNRESOLVED)[0].text
    assert read("dom-002").os_declared == "http://microsoft.com/win/10"
    assert "migration is not possible" in read("dom-015").remarks[0].text
    hypervisor = view(read("domcpu-020")).state("hypervisor")
    assert hypervisor is HIDDEN
    tsx = view(read("domcpu-022"))
    assert (tsx.state("rtm"), tsx.state("avx512f"), tsx.level) == (HIDDEN, SHOWN, 4)
    assert not view(read("dom-017")).starts


def test_host_model_is_resolved_with_the_capabilities_of_its_host() -> None:
    offers = (capabilities.domain(root("domcaps-005")),)
    seen = view(read("dom-011"), offers)
    assert (seen.state("aes"), seen.state("pclmulqdq"), seen.level) == (SHOWN, SHOWN, 3)
    assert "Skylake-Client-IBRS" in seen.label
    newer = view(read("dom-011"), (capabilities.domain(root("domcaps-012")),))
    assert (newer.state("vaes"), newer.level) == (SHOWN, 4)


HOSTS = {
    "caps-001": ("x86_64", "GenuineIntel", True, True),
    "caps-002": ("aarch64", "ARM", True, False),
    "caps-004": ("x86_64", "GenuineIntel", False, False),
}


@pytest.mark.parametrize("name", HOSTS)
def test_capabilities(name: str) -> None:
    cpu = capabilities.host(root(name)).cpu
    assert isinstance(cpu, HostCpu)
    flags = ("aes" in cpu.flags, "pclmulqdq" in cpu.flags)
    assert (cpu.arch, cpu.vendor, *flags) == HOSTS[name]
    assert not cpu.complete


def test_opteron_guest_on_a_host_without_aes() -> None:
    """The model has no AES, and where the host has none either no model helps."""
    host = HostCpu("x86_64", frozenset({"sse2", "popcnt"}), "AuthenticAMD")
    found = read("domcpu-021")
    seen = resolve(found.cpu, found.arch, found.accelerator, Known(host))
    assert seen.hides("aes")


OFFERS = {
    "domcaps-005": ("x86_64", KVM, "Skylake-Client-IBRS", True),
    "domcaps-006": ("x86_64", KVM, "EPYC-Milan", True),
    "domcaps-007": ("x86_64", KVM, "Skylake-Client-IBRS", True),
    "domcaps-008": ("aarch64", KVM, "", True),
    "domcaps-009": ("riscv64", TCG, "", False),
    "domcaps-010": ("s390x", KVM, "gen15a-base", True),
    "domcaps-011": ("x86_64", KVM, "EPYC-Rome", True),
    "domcaps-012": ("x86_64", KVM, "GraniteRapids", True),
    "domcaps-014": ("aarch64", TCG, "", False),
}


@pytest.mark.parametrize("name", OFFERS)
def test_domain_capabilities(name: str) -> None:
    cpu = capabilities.domain(root(name)).cpu
    model = cpu.host_model.model if cpu.host_model else ""
    assert (cpu.arch, cpu.accelerator, model, cpu.host_passthrough) == OFFERS[name]


def test_usable_names_come_from_the_document() -> None:
    usable = dict(capabilities.domain(root("domcaps-012")).cpu.usable)
    assert "GraniteRapids" in usable
    assert usable["Broadwell-v1"]
    assert not dict(capabilities.domain(root("domcaps-005")).cpu.usable)["Snowridge"]
    assert capabilities.domain(root("domcaps-008")).cpu.usable == ()

"""Public configurations that operators have published, with what a reader should make of them.

They lie beside the repository and are never copied into it; the project's own cases have the same
shapes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from unmask.cpu.resolve import resolve
from unmask.dialects.proxmox import custom_models, guest
from unmask.dialects.proxmox.specification import Place
from unmask.model.cpu import Accelerator, HostCpu, Mode, Origin, RemarkKind, State
from unmask.model.inventory import Guest
from unmask.model.reading import Known, Missing

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"

YES, NO, HOST, UNKNOWN = State.SHOWN, State.HIDDEN, State.HOST, State.UNKNOWN


class Answer(NamedTuple):
    """What is right for one file."""

    written: str
    origin: Origin
    label: str
    model: str
    aes: State
    clmul: State
    remark: RemarkKind | None = None


PASSED = Answer("host", Origin.CONFIG, "host", "", HOST, HOST)
HASWELL = Answer("", Origin.ARGS, "Haswell-noTSX", "Haswell-noTSX", YES, YES)
V3 = Answer("x86-64-v3", Origin.CONFIG, "x86-64-v3", "qemu64", YES, NO)
V2_AES = V3._replace(written="x86-64-v2-AES", label="x86-64-v2-AES")
DEFAULT = Answer("", Origin.DEFAULT, "kvm64", "kvm64", NO, NO)
LOST = Answer("", Origin.CUSTOM, "custom-qemu64", "", UNKNOWN, UNKNOWN, RemarkKind.UNRESOLVED)
OVER = RemarkKind.OVERRIDDEN

ANSWERS = {
    "001-args-cpu-override-host": PASSED._replace(origin=Origin.ARGS, remark=OVER),
    "006-pfsense-host-pcid": PASSED._replace(written="host,flags=+pcid"),
    "007-v2-aes-plain": V2_AES,
    "008-template-v2-aes": V2_AES,
    "009-host-virtiofs-encoded-comment": PASSED,
    "010-description-contains-fake-args": HASWELL._replace(remark=OVER),
    "011-macos-args-haswell": HASWELL._replace(remark=OVER),
    "012-ol9-v3": V3,
    "013-win11-v3-ovmf-tpm": V3,
    "014-args-host-kvm-on": PASSED._replace(written="", origin=Origin.ARGS, remark=OVER),
    "015-two-sockets-affinity": HASWELL._replace(remark=OVER),
    "016-custom-model-vm-flags": LOST._replace(written="custom-qemu64,flags=+virt-ssbd"),
    "017-level30-flags-minus": PASSED._replace(
        written="host,level=30,flags=+md-clear;+pdpe1gb;-hv-tlbflush"
    ),
    "018-icelake-client-deprecated": Answer(
        "Icelake-Client", Origin.CONFIG, "Icelake-Server", "Icelake-Server", YES, YES,
        RemarkKind.DEPRECATED,
    ),
    "019-custom-phys-bits-host": LOST._replace(written="custom-qemu64,phys-bits=host"),
    "020-macos-gpu-two-sockets": HASWELL._replace(remark=OVER),
    "022-truenas-kvm64-plus-aes": Answer(
        "kvm64,flags=+pdpe1gb;+aes", Origin.CONFIG, "kvm64", "kvm64", YES, NO
    ),
    "023-haos-no-cpu-line": DEFAULT,
    "026-gaming-args-smp-only": PASSED,
    # The comment makes Proxmox drop the line: what was meant is told, what the guest gets is kvm64.
    "027-inline-chinese-comments": DEFAULT._replace(
        written="host,hidden=1,flags=+pcid", remark=RemarkKind.CPU_DROPPED
    ),
    "028-aarch64-no-cpu": Answer("", Origin.DEFAULT, "max", "", UNKNOWN, UNKNOWN),
    "030-win10-host-plus-aes": PASSED._replace(
        written="host,flags=+aes", remark=RemarkKind.NOTE
    ),
    "032-windows-1001-cputype": PASSED._replace(written="cputype=host"),
    "033-nixos-generated-full": PASSED._replace(
        written="cputype=host,hidden=0,phys-bits=host"
    ),
    "034-vtest-hidden-kvm64": DEFAULT._replace(
        written="cputype=kvm64,hidden=1", origin=Origin.CONFIG
    ),
    "035-seadog-percent-newlines": DEFAULT,
    "036-win-gpu-spice-args": DEFAULT,
    "038-forum-nvidia-hide": PASSED._replace(
        written="host,hidden=1,flags=+pcid", origin=Origin.ARGS, remark=OVER
    ),
}  # fmt: skip
"""By file name without `pve-` and its ending."""


def text_of(name: str) -> str:
    """Return a file of the corpus; skip the test where it is not present."""
    path = CORPUS / f"pve-{name}.conf"
    if not path.exists():
        pytest.skip("the public configurations are not beside this repository")
    return path.read_bytes().decode("utf-8")


def read(name: str) -> Guest:
    return guest.read(text_of(name), "100", Place("corpus", "node", models=None))


@pytest.mark.parametrize("name", ANSWERS)
def test_every_configuration_gets_its_answer(name: str) -> None:
    found = read(name)
    view = resolve(found.configured, found.arch, found.accelerator, Missing("not known"))
    spec = found.configured
    answer = ANSWERS[name]
    assert (spec.written, spec.origin, spec.label, spec.model) == answer[:4]
    assert (view.state("aes"), view.state("pclmulqdq")) == (answer.aes, answer.clmul)
    if answer.remark:
        assert spec.remarked(answer.remark)


def test_every_configuration_of_the_corpus_has_an_answer() -> None:
    if not CORPUS.exists():
        pytest.skip("the public configurations are not beside this repository")
    names = {path.stem.removeprefix("pve-") for path in CORPUS.glob("pve-*.conf")}
    assert names - ANSWERS.keys() == {"004-fragment-args-only", "039-cpu-models-birdnet"}


def test_details_that_the_answers_name() -> None:
    assert read("008-template-v2-aes").template
    arm = read("028-aarch64-no-cpu")
    assert (arm.arch, arm.accelerator) == ("aarch64", Accelerator.TCG)
    commented = read("027-inline-chinese-comments")
    assert (commented.name, commented.os_declared) == ("Win10", "win10")
    assert len(commented.remarks) > 5
    assert any("scsi" in remark.text for remark in read("026-gaming-args-smp-only").remarks)
    assert read("010-description-contains-fake-args").configured.off >= {"pcid", "hle", "rtm"}
    assert read("038-forum-nvidia-hide").configured.off == {"hypervisor"}
    assert read("006-pfsense-host-pcid").ident == "100"


def test_a_custom_model_on_host_has_what_the_host_has() -> None:
    found = custom_models.parse(text_of("039-cpu-models-birdnet"))
    assert (list(found.models), found.faults) == (["BirdNet"], ())
    host = HostCpu("x86_64", frozenset({"aes", "pclmulqdq", "sse4_1"}))
    place = Place("corpus", "node", "x86_64", host.flags, found.models)
    spec = guest.read("cpu: custom-BirdNet\n", "100", place).configured
    assert (spec.mode, spec.origin, set(spec.on)) == (Mode.HOST, Origin.CUSTOM, {"sse4_1"})
    assert resolve(spec, "x86_64", Accelerator.KVM, Known(host)).shows("aes", "pclmulqdq")

"""Command lines of running guests, and what they mean for the guest's configuration."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import guest, processes
from unmask.dialects.proxmox.processes import Process, observed, parse
from unmask.dialects.proxmox.specification import Place
from unmask.model.cpu import Accelerator, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestKind, GuestState

V2_AES = "qemu64,+aes,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"
KVM64 = "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep"


def line(*words: str) -> bytes:
    return "".join(f"{word}\0" for word in words).encode()


def configured(text: str) -> Guest:
    return guest.read(text, "101", Place("lab", "pve1", "x86_64", frozenset({"svm"})))


def running(cpu: str, accelerator: Accelerator = Accelerator.KVM) -> Process:
    return Process("101", GuestKind.VM, cpu, accelerator)


def seen(text: str, process: Process | None) -> Guest:
    return observed(configured(text), process, {}, "9")


def test_process_that_proxmox_starts() -> None:
    words = (
        "/usr/bin/kvm",
        "-id",
        "101",
        "-name",
        "web,debug-threads=on",
        "-cpu",
        KVM64,
        "-m",
        "1",
    )
    assert parse(line(*words)) == Process("101", GuestKind.VM, KVM64, Accelerator.KVM)


@pytest.mark.parametrize(
    ("words", "accelerator"),
    [
        (("/usr/bin/kvm",), Accelerator.KVM),
        (("/usr/bin/kvm", "-machine", "accel=tcg,type=pc"), Accelerator.TCG),
        (("/usr/bin/kvm", "-machine", "type=pc+pve0,accel=tcg"), Accelerator.TCG),
        (("/usr/bin/kvm", "-accel", "tcg,thread=multi"), Accelerator.TCG),
        (("/usr/bin/qemu-system-x86_64", "-enable-kvm"), Accelerator.KVM),
        (("/usr/bin/qemu-system-x86_64", "-accel", "kvm"), Accelerator.KVM),
        (("/usr/bin/qemu-system-aarch64",), Accelerator.TCG),
        (("qemu-system-x86_64", "-accel", "xen"), Accelerator.OTHER),
    ],
)
def test_what_runs_it(words: tuple[str, ...], accelerator: Accelerator) -> None:
    process = parse(line(*words, "-id", "7", "-cpu", "max"))
    assert process is not None
    assert process.accelerator is accelerator


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (("-machine", "type=pc-q35-9.2+pve1"), "pc-q35-9.2+pve1"),
        (("-machine", "accel=tcg,smm=off,type=pc-i440fx-10.1+pve0"), "pc-i440fx-10.1+pve0"),
        (("-M", "q35,hpet=off"), "q35"),
        (("-machine", "accel=kvm"), ""),
        ((), ""),
    ],
)
def test_its_machine(machine: tuple[str, ...], expected: str) -> None:
    process = parse(line("/usr/bin/kvm", "-id", "101", "-cpu", KVM64, *machine))
    assert process is not None
    assert process.machine == expected
    found = observed(configured("machine: q35\n"), process, {}, "9")
    assert found.machine == (expected or "q35")


def test_the_last_cpu_counts_as_for_qemu() -> None:
    process = parse(line("kvm", "-id", "7", "-cpu", "kvm64", "-cpu", "host"))
    assert process is not None
    assert process.cpu == "host"


def test_container() -> None:
    found = parse(line("/usr/bin/lxc-start", "-F", "-n", "190"))
    assert found == Process("190", GuestKind.CONTAINER)


def test_guest_that_is_on_its_way_here() -> None:
    process = parse(line("kvm", "-id", "7", "-cpu", "host", "-incoming", "unix:/run/m", "-S"))
    assert process is not None
    assert process.incoming


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0",
        line("grep", "-l", "-e", "kvm", "-id", "101"),
        line("/usr/bin/kvm", "-name", "without-id", "-cpu", "host"),
        line("/usr/bin/kvm", "-id", "0", "-cpu", "host"),
        line("/usr/bin/kvm", "-id", "../101"),
        line("/usr/bin/kvm", "-id"),
        line("lxc-start", "-F", "-n", "web"),
        line("/usr/bin/kvm", "-id", "1", "-cpu", "a" * processes.LIMIT),
        b"\xff\xfe\0-id\x00101\0",
    ],
)
def test_other_programs_are_no_guests(content: bytes) -> None:
    assert parse(content) is None


def test_same_cpu_keeps_the_operators_name() -> None:
    found = seen("cpu: x86-64-v2-AES\n", running(V2_AES))
    assert found.state is GuestState.RUNNING
    assert found.running is not None
    assert found.running.label == "x86-64-v2-AES"
    assert found.running.origin is Origin.LIVE
    assert found.pending is None
    assert found.current is found.running


def test_configuration_that_was_edited_by_hand_is_pending() -> None:
    found = seen("cpu: host\n", running(V2_AES))
    assert found.running is not None
    assert found.running.label == "x86-64-v2-AES"
    assert found.pending is not None
    assert found.pending.label == "host"
    notes = found.pending.remarked(RemarkKind.NOTE)
    assert "started before its configuration" in notes[-1].text
    assert found.pending_accelerator is None


def test_pending_change_stays_pending() -> None:
    found = seen("cpu: kvm64\n[PENDING]\ncpu: host\n", running(KVM64))
    assert found.running is not None
    assert (found.running.label, found.configured.label) == ("kvm64", "kvm64")
    assert found.pending is not None
    assert found.pending.label == "host"


def test_pending_change_that_is_in_force_already_is_none() -> None:
    found = seen("cpu: host\n[PENDING]\ncpu: x86-64-v2-AES\n", running(V2_AES))
    assert found.running is not None
    assert found.running.label == "x86-64-v2-AES"
    assert found.pending is None


def test_emulation_that_was_turned_on_is_pending() -> None:
    found = seen("cpu: kvm64\nkvm: 0\n", running(KVM64))
    assert found.accelerator is Accelerator.KVM
    assert found.pending_accelerator is Accelerator.TCG
    assert found.pending is not None
    assert "emulated" in found.pending.remarks[-1].text


def test_emulation_that_was_turned_off_is_pending() -> None:
    found = seen("cpu: kvm64\n[PENDING]\nkvm: 1\n", running("kvm64,+lahf_lm,+sep", Accelerator.TCG))
    assert found.accelerator is Accelerator.TCG
    assert found.pending_accelerator is Accelerator.KVM
    assert found.pending is not None


def test_custom_model_is_recognised() -> None:
    text = "cpu: host\n"
    seal = configured("args: -cpu EPYC,+aes,-svm\n").configured
    custom = {"seal": seal}
    found = observed(configured(text), running("EPYC,+aes,-svm,enforce"), custom, "9")
    assert found.running is not None
    assert found.running.label == seal.label


def test_unknown_cpu_keeps_qemus_name() -> None:
    found = seen("cpu: host\n", running("Skylake-Server-v4,-hle"))
    assert found.running is not None
    assert found.running.label == "Skylake-Server-v4"


def test_guest_without_a_process_is_stopped_and_takes_what_is_pending() -> None:
    found = seen("cpu: kvm64\n[PENDING]\ncpu: host\nkvm: 0\n", None)
    assert found.state is GuestState.STOPPED
    assert found.configured.label == "host"
    assert found.accelerator is Accelerator.TCG
    assert (found.pending, found.pending_accelerator, found.running) == (None, None, None)


def test_suspended_guest_stays_so_without_a_process() -> None:
    text = f"cpu: host\nlock: suspended\nvmstate: local:x\nrunningcpu: {KVM64}\n"
    found = seen(text, None)
    assert found.state is GuestState.SUSPENDED
    assert found.running is not None
    assert found.running.model == "kvm64"
    assert seen(text, running(V2_AES)).state is GuestState.RUNNING


def test_process_without_a_cpu_runs_all_the_same() -> None:
    found = seen("cpu: host\n", Process("101", GuestKind.VM))
    assert found.state is GuestState.RUNNING
    assert found.running is None

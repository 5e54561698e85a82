"""What the encrypted work of guests needs, whatever they see of it now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.nodes import HOST, guest, host, model
from unmask.engine import needs
from unmask.engine.cases import guest_cases
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.inventory import Guest, Inventory
from unmask.model.workload import JudgedWorkload, Workload, WorkloadKind


def case(subject: Guest, *work: Workload) -> GuestCase:
    (found,) = guest_cases(Inventory(hosts=(host("one", "Haswell"),), guests=(subject,)))
    return replace(found, workloads=tuple(JudgedWorkload(item, None) for item in work))


def zfs(cipher: str = "aes-256-gcm") -> Workload:
    return Workload(WorkloadKind.ZFS, "tank", "openzfs", cipher, "2.2.0")


def luks() -> Workload:
    return Workload(WorkloadKind.LUKS, "sda", "dm-crypt", "aes-xts-plain64", "6.1")


def test_the_flags_of_the_fast_path_whatever_the_guest_sees() -> None:
    for cpu in (model("kvm64"), HOST):
        found = needs.of_guests([case(guest(101, cpu), zfs())])
        assert {"aes", "pclmulqdq", "avx"} <= set(found.flags)
        assert found.origin == needs.BY_WORK
        assert dict(found.guests)["aes"] == ("lab/101",)


def test_the_commonest_need_comes_first() -> None:
    cases = [case(guest(101, HOST), zfs()), case(guest(102, HOST), luks())]
    found = needs.of_guests(cases)
    assert found.flags[0] == "aes"
    assert dict(found.guests)["aes"] == ("lab/101", "lab/102")
    assert dict(found.guests)["avx"] == ("lab/101",)
    assert found.flags.index("avx") > found.flags.index("aes")


def test_what_would_be_faster_still_is_only_helpful() -> None:
    tls = Workload(WorkloadKind.TLS, "443", "openssl", "gcm", "3.0")
    found = needs.of_guests([case(guest(101, HOST), tls)])
    assert "pclmulqdq" in found.flags
    assert found.helpful
    assert not set(found.helpful) & set(found.flags)


def test_without_known_work_the_default_is_said_to_be_one() -> None:
    found = needs.of_guests([case(guest(101, HOST))])
    assert (found.flags, found.origin) == (needs.DEFAULT, needs.BY_DEFAULT)
    assert needs.of_guests([]).origin == needs.BY_DEFAULT


def test_emulated_guests_other_architectures_and_the_hosts_encryption_do_not_count() -> None:
    emulated = case(guest(101, model("kvm64"), accelerator=Accelerator.TCG), zfs())
    foreign = case(guest(102, HOST, arch="aarch64"), zfs())
    outside = case(guest(103, HOST), replace(zfs(), host_side=True))
    unknown = case(guest(104, HOST), replace(zfs(), consumer=""))
    wireguard = Workload(WorkloadKind.WIREGUARD, "wg0", "wireguard")
    found = needs.of_guests([emulated, foreign, outside, unknown])
    assert found.origin == needs.BY_DEFAULT
    vectors = needs.of_guests([case(guest(105, HOST), wireguard)])
    assert "aes" not in vectors.flags


def test_what_is_asked_for_keeps_its_order() -> None:
    found = needs.asked(["avx2", "aes", "avx2"])
    assert found.flags == ("avx2", "aes")
    assert found.origin == needs.BY_REQUEST


@pytest.mark.parametrize(
    ("declared", "expected"),
    [("win11", True), ("w2k8", True), ("l26", False), ("", False), ("wvista", True),
     ("http://microsoft.com/win/2k22", True)],
)  # fmt: skip
def test_windows_as_it_is_declared(declared: str, expected: bool) -> None:  # noqa: FBT001
    assert needs.windows(guest(101, HOST, os=declared)) is expected

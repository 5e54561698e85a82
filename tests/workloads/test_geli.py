"""GELI providers, attached or seen from the host."""

from __future__ import annotations

import pytest

from support.visited import case, find, find_and_owe, guest, inside
from unmask.model.cpu import HostCpu
from unmask.model.disk import Disk, DiskPart
from unmask.model.finding import Confidence
from unmask.model.inside import Inside, System
from unmask.model.inside_storage import Geli
from unmask.model.outlook import NoteKind
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit, Way
from unmask.model.workload import Activity
from unmask.workloads import geli

FREEBSD = System("FreeBSD", kernel="14.1-RELEASE", machine="amd64")
ADA = Geli("ada0p3.eli", "AES-XTS", 256, "accelerated software", "ACTIVE")
PART = DiskPart("geli", 3, cipher="AES-XTS", key_bits=256)


def seen(*providers: Geli, flags: str = "") -> Inside:
    cpu = HostCpu("x86_64", frozenset(flags.split()))
    return inside(system=FREEBSD, geli=providers, cpu=cpu)


def test_an_attached_provider_is_one_workload() -> None:
    disks = Known((Disk("scsi0", parts=Known((PART, DiskPart("ufs", 2)))),))
    visit = Visit(Known(seen(ADA)), Way.SSH, disks=disks)
    (found,) = find(geli, guest(visit=visit))
    assert (found.name, found.consumer, found.cipher) == ("ada0p3.eli", "freebsd", "AES-XTS")
    assert (found.activity, found.confidence) == (Activity.ACTIVE, Confidence.CERTAIN)
    assert found.evidence == (
        "geli list shows ada0p3.eli attached with AES-XTS, 256-bit key.",
        'It says "Crypto: accelerated software".',
        "The host sees GELI on scsi0, partition 3.",
    )


@pytest.mark.parametrize(
    ("crypto", "flags", "status"),
    [
        ("accelerated software", "aes sse4_1", "hardware"),
        ("hardware", "aes sse4_1", "hardware"),
        ("software", "aes sse4_1", "software"),
        ("software", "", "software"),
        ("", "aes", "software"),
    ],
)
def test_what_geli_says_beats_the_flags(crypto: str, flags: str, status: str) -> None:
    provider = Geli("ada0p3.eli", "AES-XTS", 256, crypto)
    (item,) = case(guest(seen(provider, flags=flags))).workloads
    assert item.status == status
    assert item.outlook
    unused = " ".join(str(note) for note in item.outlook.noted(NoteKind.UNUSED))
    assert ("Is aesni(4) loaded?" in unused) is (crypto == "software" and bool(flags))


def test_seen_from_the_host_alone() -> None:
    disk = Disk("scsi0", parts=Known((PART,)))
    (found,) = find(geli, guest(visit=Visit(disks=Known((disk,)))))
    assert (found.name, found.detail, found.activity) == (
        "scsi0, partition 3",
        "AES-XTS, 256-bit key",
        Activity.CONFIGURED,
    )


def test_suspended() -> None:
    (found,) = find(geli, guest(seen(Geli("a.eli", "", None, "", "SUSPENDED"))))
    assert (found.activity, found.confidence) == (Activity.CLOSED, Confidence.FIRM)
    assert found.cipher == ""


def test_owed_by_freebsd_alone() -> None:
    late = Missing("the command in the guest did not end in time")
    assert find_and_owe(geli, guest(inside(system=FREEBSD, geli=late)))[1] == f"{late.reason} ()"
    assert find_and_owe(geli, guest(inside(geli=late))) == ([], "")
    assert find_and_owe(geli, guest()) == ([], "")

from __future__ import annotations

from pathlib import Path

import pytest

from unmask.dialects import saved
from unmask.errors import InputError
from unmask.model.cpu import Accelerator, Mode, Origin, RemarkKind
from unmask.model.inventory import Guest, GuestState, Inventory
from unmask.model.reading import Known, Missing
from unmask.model.source import CollectOptions
from unmask.sources.libvirt_files import SOURCE, fits

HALL = Path(__file__).parents[2] / "fixtures" / "libvirt" / "hall"
DOMAIN = "<domain type='kvm'><name>{}</name><os><type arch='x86_64'>hvm</type></os>{}</domain>"
KVM64 = DOMAIN.format("good", "<cpu><model>kvm64</model></cpu>")


def read(path: Path) -> Inventory:
    return SOURCE.collect(str(path), CollectOptions())


def guests(inventory: Inventory) -> dict[str, Guest]:
    return {guest.subject: guest for guest in inventory.guests}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.xml").write_text(KVM64)
    return tmp_path


def test_hosts_of_a_directory() -> None:
    found = read(HALL)
    first, second = found.hosts
    assert (first.subject, second.subject) == ("hall", "hall/second")
    assert isinstance(first.cpu, Known)
    assert isinstance(second.cpu, Known)
    assert (first.cpu.value.microcode, first.cpu.value.complete) == ("73", False)
    assert {"aes", "pclmulqdq", "f16c"} <= first.cpu.value.flags
    assert "EPYC 7313" in second.cpu.value.model_name
    assert second.cpu.value.complete
    assert [offer.machine for offer in first.offers] == ["pc-q35-7.2"]
    assert found.gaps == ()


def test_guests_of_a_directory() -> None:
    found = guests(read(HALL))
    assert list(found) == ["hall/files", "hall/mail", "hall/second/vault"]
    files, mail, vault = found.values()
    assert (files.state, files.configured.mode) == (GuestState.UNKNOWN, Mode.HOST_MODEL)
    assert files.os_declared == "http://debian.org/debian/12"
    assert (vault.configured.origin, vault.configured.model) == (Origin.ARGS, "Westmere")
    assert vault.accelerator is Accelerator.TCG
    assert vault.host == "hall/second"
    assert mail.state is GuestState.RUNNING


def test_a_live_dump_and_a_configuration_are_one_guest() -> None:
    mail = guests(read(HALL))["hall/mail"]
    assert mail.running is not None
    assert (mail.running.label, mail.running.origin) == ("qemu64", Origin.LIVE)
    assert mail.pending is not None
    assert mail.pending.mode is Mode.HOST
    assert mail.location.endswith("mail-running.xml")


def test_saved_and_loaded_it_is_the_same() -> None:
    found = read(HALL)
    assert saved.load(saved.dump(found)) == found


def test_one_file() -> None:
    found = read(HALL / "files.xml")
    assert list(guests(found)) == ["hall/files"]
    assert isinstance(found.hosts[0].cpu, Missing)
    assert "virsh capabilities" in found.hosts[0].cpu.needs


BAD = {
    "truncated": (KVM64[:-9].encode(), "not well-formed"),
    "empty": (b"", "is empty"),
    "binary": (b"\x7fELF\xff\xfe\x00\x01", "binary"),
    "nul": (b"<domain/>\0", "binary"),
    "entities": (b"<!DOCTYPE d [<!ENTITY a 'b'>]><domain>&a;</domain>", "entities"),
    "huge": (b"<domain>" + b" " * 8 * 1024 * 1024 + b"</domain>", "larger than 8 MiB"),
    "deep": (b"<domain>" * 200 + b"</domain>" * 200, "deep"),
    "status": (b"<domstatus state='running'/>", "without a domain"),
    "offers": (b"<domainCapabilities/>", "no architecture"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_a_gap_and_the_rest_goes_on(name: str, folder: Path) -> None:
    content, said = BAD[name]
    (folder / "bad.xml").write_bytes(content)
    found = read(folder)
    assert [guest.name for guest in found.guests] == ["good"]
    (gap,) = found.gaps
    assert gap.subject == f"{folder}: bad.xml"
    assert said in gap.reason
    assert "\n" not in gap.reason


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_alone_is_an_error(name: str, tmp_path: Path) -> None:
    content, said = BAD[name]
    path = tmp_path / "bad.xml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_a_bad_cpuinfo_file_is_a_gap(folder: Path) -> None:
    (folder / "cpuinfo").write_text("nothing of a CPU")
    found = read(folder)
    assert [gap.subject for gap in found.gaps] == [f"{folder}: cpuinfo"]
    assert isinstance(found.hosts[0].cpu, Missing)


def test_capabilities_without_the_hosts_cpu_are_not_called_absent(folder: Path) -> None:
    (folder / "capabilities.xml").write_text("<capabilities><host/></capabilities>")
    (host,) = read(folder).hosts
    assert isinstance(host.cpu, Missing)
    assert host.cpu.reason == "the capabilities file does not describe the host's CPU"
    assert host.cpu.needs == "a copy of /proc/cpuinfo"


def test_nothing_of_libvirt_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "net.xml").write_text("<network/>")
    with pytest.raises(InputError, match="no domain or capabilities XML"):
        read(tmp_path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*absent\.xml"):
        read(tmp_path / "absent.xml")


def test_other_encodings_and_byte_order_marks(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(KVM64.replace("good", "wide").encode("utf-16"))
    (tmp_path / "b.xml").write_bytes(KVM64.replace("good", "märk").encode("utf-8-sig"))
    assert [guest.name for guest in read(tmp_path).guests] == ["märk", "wide"]


def test_names_that_are_missing_or_taken(tmp_path: Path) -> None:
    (tmp_path / "nameless.xml").write_text("<domain type='kvm'/>")
    (tmp_path / "part.xml").write_text("<cpu check='full'><model>kvm64</model></cpu>")
    for letter, model in (("a", "kvm64"), ("b", "EPYC"), ("c", "kvm64")):
        text = DOMAIN.format("same", f"<cpu><model>{model}</model></cpu>")
        (tmp_path / f"{letter}.xml").write_text(text)
    names = {guest.subject.split("/")[-1]: guest for guest in read(tmp_path).guests}
    assert sorted(names) == ["nameless", "part", "same", "same (b.xml)"]
    assert names["nameless"].remarks[0].kind is RemarkKind.UNRESOLVED
    assert names["part"].state is GuestState.RUNNING
    assert names["same (b.xml)"].configured.label == "EPYC"


def test_status_file_of_a_running_domain(tmp_path: Path) -> None:
    live = DOMAIN.format("r", "<cpu check='full'><model>kvm64</model></cpu>")
    live = live.replace("<domain ", "<domain id='2' ")
    (tmp_path / "r.xml").write_text(f"<domstatus state='paused' pid='9'>{live}</domstatus>")
    (guest,) = read(tmp_path).guests
    assert guest.state is GuestState.PAUSED
    assert guest.current.origin is Origin.LIVE


def test_several_hosts_in_one_directory_are_said(folder: Path) -> None:
    cpu = (
        "<capabilities><host><cpu><arch>x86_64</arch><model>{}</model></cpu></host></capabilities>"
    )
    (folder / "one.xml").write_text(cpu.format("Westmere"))
    (folder / "two.xml").write_text(cpu.format("EPYC"))
    offer = (
        "<domainCapabilities><domain>kvm</domain><arch>x86_64</arch><cpu>"
        "<mode name='host-model' supported='yes'><model>{}</model></mode></cpu>"
        "</domainCapabilities>"
    )
    (folder / "three.xml").write_text(offer.format("Westmere"))
    (folder / "four.xml").write_text(offer.format("EPYC"))
    found = read(folder)
    (host,) = found.hosts
    assert isinstance(host.cpu, Missing)
    assert host.offers == ()
    assert [gap.needs for gap in found.gaps] == ["one directory for each host"] * 2


def test_what_fits(tmp_path: Path) -> None:
    assert fits(str(HALL))
    assert fits(str(HALL / "files.xml"))
    assert not fits(str(HALL / "second" / "cpuinfo"))
    assert not fits(str(tmp_path))
    assert not fits("qemu:///system")
    assert not fits("x\0y")
    (tmp_path / "a.xml").write_text(KVM64)
    assert fits(str(tmp_path))
    (tmp_path / "nodes").mkdir()
    assert not fits(str(tmp_path)), "a copy of /etc/pve is another source's"


def test_the_host_is_named_after_the_copy(tmp_path: Path) -> None:
    folder = tmp_path / "rack7" / "etc" / "libvirt" / "qemu"
    folder.mkdir(parents=True)
    (folder / "good.xml").write_text(KVM64)
    assert [host.name for host in read(folder).hosts] == ["rack7"]

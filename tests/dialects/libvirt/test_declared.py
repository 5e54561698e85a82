"""What a domain's title, description and metadata declare."""

from __future__ import annotations

from unmask.dialects.libvirt import domain, xml
from unmask.dialects.libvirt.domain import Domain
from unmask.dialects.libvirt.guest import Forms, guest
from unmask.model.cpu import RemarkKind
from unmask.model.inventory import GuestState

OWN = "<metadata><unmask:workloads xmlns:unmask='urn:unmask'>{}</unmask:workloads></metadata>"


def read(inner: str, attributes: str = "") -> Domain:
    """Return a domain with these elements, metadata in the form that libvirt writes."""
    named = "<name>web</name><os><type arch='x86_64'>hvm</type></os>"
    return domain.read(xml.parse(f"<domain type='kvm' {attributes}>{named}{inner}</domain>", "it"))


def said(forms: Forms) -> list[tuple[str, bool, str]]:
    found = guest(forms, "host", GuestState.RUNNING)
    return [(item.kind, item.present, item.where) for item in found.declared]


def test_each_place() -> None:
    inner = (
        "<title>unmask: luks</title>"
        "<description>The shop.\nunmask: tls(go)\n</description>" + OWN.format("no luks, wireguard")
    )
    assert said(Forms(inactive=read(inner))) == [
        ("luks", True, "its title"),
        ("tls", True, "its description"),
        ("luks", False, "its metadata"),
        ("wireguard", True, "its metadata"),
    ]


def test_what_the_running_domain_says_counts_last() -> None:
    stored = read(OWN.format("luks, tls"))
    running = read(OWN.format("luks, no tls"), "id='3'")
    assert said(Forms(live=running, inactive=stored)) == [
        ("luks", True, "its metadata"),
        ("tls", True, "its metadata"),
        ("tls", False, "its metadata"),
    ]
    assert said(Forms(live=running)) == [
        ("luks", True, "its metadata"),
        ("tls", False, "its metadata"),
    ]


def test_metadata_of_others_is_not_looked_at() -> None:
    other = "<metadata><x:workloads xmlns:x='urn:other'>luks</x:workloads></metadata>"
    assert said(Forms(inactive=read(other))) == []
    assert said(Forms(inactive=read("<description>no unmask: here</description>"))) == []


def test_a_word_that_is_no_kind_is_a_note_on_the_guest_once() -> None:
    form = read(OWN.format("cheese"))
    live = read(OWN.format("cheese"), "id='3'")
    found = guest(Forms(live=live, inactive=form), "host", GuestState.RUNNING)
    notes = [item.text for item in found.remarks if item.kind is RemarkKind.NOTE]
    assert [text for text in notes if "cheese" in text] == [
        text for text in notes if text.startswith('"cheese" in its metadata is no kind')
    ]
    assert len([text for text in notes if "cheese" in text]) == 1

"""Tags and notes of Proxmox VE's configurations, and what they declare."""

from __future__ import annotations

import pytest

from support.proxmox_guest import PLACE, read
from unmask.dialects.proxmox import conf, guest
from unmask.model.cpu import RemarkKind


def said(*lines: str) -> list[tuple[str, bool, str]]:
    return [(item.kind, item.present, item.where) for item in read(*lines).declared]


def test_the_description_is_decoded() -> None:
    text = "#line one\n#unmask%3A luks\n#gr%C3%BC%C3%9Fe %25\ncores: 2\n"
    config = conf.parse(text)
    assert config.main.values["description"] == "line one\nunmask: luks\ngr\u00fc\u00dfe %"
    assert config.main.values["cores"] == "2"
    assert config.main.dropped == ()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: old%0Aform", "old\nform"),
        ("#%ff%zz", "\ufffd%zz"),
        ("#", ""),
    ],
)
def test_other_forms_of_a_description(line: str, value: str) -> None:
    assert conf.parse(line).main.values["description"] == value


def test_no_comment_is_no_description() -> None:
    assert "description" not in conf.parse("cores: 2").main.values


def test_notes_of_a_snapshot_are_the_snapshots() -> None:
    config = conf.parse("#mine\ncores: 2\n[before]\n#unmask%3A luks\ncores: 1\n")
    assert config.main.values["description"] == "mine"
    assert config.snapshots["before"].values["description"] == "unmask: luks"
    assert said("#mine", "cores: 2", "[before]", "#unmask%3A luks") == []


def test_tags_come_before_notes() -> None:
    assert said("#unmask%3A no luks", "tags: prod;unmask-luks,unmask-tls-go") == [
        ("luks", True, "the tag unmask-luks"),
        ("tls", True, "the tag unmask-tls-go"),
        ("luks", False, "its notes"),
    ]


def test_a_word_that_is_no_kind_is_a_note_on_the_guest() -> None:
    found = read("tags: unmask-cheese", "#unmask%3A luks, wine")
    assert [remark.kind for remark in found.remarks] == [RemarkKind.NOTE, RemarkKind.NOTE]
    assert '"unmask-cheese" in the tags' in found.remarks[0].text
    assert '"wine" in its notes' in found.remarks[1].text
    assert [item.kind for item in found.declared] == ["luks"]


def test_a_container_has_tags_and_notes_too() -> None:
    text = "#unmask%3A backup(restic)\narch: amd64\nhostname: ct\ntags: unmask-no-tls\n"
    found = guest.read_container(text, "200", PLACE)
    assert [(item.kind, item.present, item.detail) for item in found.declared] == [
        ("tls", False, ""),
        ("backup", True, "restic"),
    ]


def test_what_looks_like_settings_in_notes_is_none() -> None:
    found = read("#args: -cpu max", "#tags: unmask-luks", "cpu: kvm64")
    assert (found.declared, found.configured.model) == ((), "kvm64")

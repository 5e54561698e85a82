"""What an operator declares in tags, notes and the configuration file."""

from __future__ import annotations

import pytest

from unmask.dialects.declared import DETAIL, KINDS, MOST, Declared, of_notes, of_tags, parse
from unmask.model.cpu import RemarkKind
from unmask.model.visit import Declaration


def said(found: Declared) -> list[tuple[str, bool, str]]:
    return [(item.kind, item.present, item.detail) for item in found.declarations]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("luks", [("luks", True, "")]),
        ("no luks", [("luks", False, "")]),
        ("LUKS, No  TLS", [("luks", True, ""), ("tls", False, "")]),
        ("no-tls; !wireguard.", [("tls", False, ""), ("wireguard", False, "")]),
        ("zfs(aes-256-gcm)", [("zfs", True, "aes-256-gcm")]),
        ("tls (go, chacha20),luks", [("tls", True, "go, chacha20"), ("luks", True, "")]),
        ("https, dm-crypt, smb", [("tls", True, ""), ("luks", True, ""), ("samba", True, "")]),
        ("luks, luks", [("luks", True, "")]),
        ("luks, no luks", [("luks", True, ""), ("luks", False, "")]),
        ("backup()", [("backup", True, "")]),
        ("", []),
        (" , ;", []),
    ],
)
def test_a_list_of_words(words: str, expected: list[tuple[str, bool, str]]) -> None:
    found = parse(words, "unmask.toml")
    assert said(found) == expected
    assert found.remarks == ()
    assert {item.where for item in found.declarations} <= {"unmask.toml"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_declared_and_denied(kind: str) -> None:
    assert said(parse(f"{kind}, no {kind}", "x")) == [(kind, True, ""), (kind, False, "")]
    assert said(of_tags([f"unmask-{kind}", f"unmask-no-{kind}"])) == [
        (kind, True, ""),
        (kind, False, ""),
    ]


@pytest.mark.parametrize(
    "word", ["cheese", "luks and tls", "no", "(go)", "luks(a)(b)", "no no tls"]
)
def test_a_word_that_is_no_kind_is_said_and_counts_for_nothing(word: str) -> None:
    found = parse(f"tls, {word}", "its notes")
    assert said(found) == [("tls", True, "")]
    (remark,) = found.remarks
    assert remark.kind is RemarkKind.NOTE
    assert remark.text.startswith(f'"{word}" in its notes is no kind of workload: known are zfs,')


def test_complaints_and_declarations_are_bounded() -> None:
    found = parse(",".join(f"x{number}" for number in range(90)), "its notes")
    assert len(found.remarks) == 6
    assert found.remarks[-1].text == "85 more words in its notes are no kinds of workloads."
    many = parse(",".join(f"tls(a{number})" for number in range(1000)), "its notes")
    assert len(many.declarations) == MOST
    long = parse("x" * 1000, "its notes")
    assert len(long.remarks[0].text) < 400


@pytest.mark.parametrize("detail", ["\x1b[31mred", "<b>", "a\u202eb", "'; rm"])
def test_a_detail_that_no_name_is_made_of_is_left_out(detail: str) -> None:
    assert said(parse(f"tls({detail})", "x")) == [("tls", True, "")]


def test_a_long_detail_is_cut() -> None:
    (item,) = parse(f"tls({'a' * 500})", "x").declarations
    assert len(item.detail) == DETAIL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unmask: luks, no tls", [("luks", True, ""), ("tls", False, "")]),
        ("The web server.\n\n  Unmask: tls(go)\nmore", [("tls", True, "go")]),
        ("- unmask: luks\n> unmask: tls", [("luks", True, ""), ("tls", True, "")]),
        ("**unmask:** luks", [("luks", True, "")]),
        ("unmask:luks\r\nunmask: zfs(aes-256-gcm)\r\n",
         [("luks", True, ""), ("zfs", True, "aes-256-gcm")]),
        ("<p>unmask: luks<br></p>\n<br>unmask: tls", [("luks", True, ""), ("tls", True, "")]),
        ("<p>unmask: no&nbsp;tls(go)&nbsp;</p>", [("tls", False, "go")]),
        ("do not unmask: luks", []),
        ("unmask luks", []),
        ("", []),
    ],
)  # fmt: skip
def test_lines_of_notes(text: str, expected: list[tuple[str, bool, str]]) -> None:
    assert said(of_notes(text)) == expected
    assert of_notes(text).remarks == ()


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("unmask-luks", ("luks", True, "")),
        ("unmask-no-luks", ("luks", False, "")),
        ("Unmask-TLS-go", ("tls", True, "go")),
        ("unmask-zfs-aes-256-gcm", ("zfs", True, "aes-256-gcm")),
        ("unmask-dm-crypt", ("luks", True, "")),
        ("unmask-no-backup-restic", ("backup", False, "restic")),
    ],
)
def test_tags(tag: str, expected: tuple[str, bool, str]) -> None:
    found = of_tags(["prod", tag, "", "unmasked"])
    assert said(found) == [expected]
    assert found.declarations[0].where == f"the tag {tag}"
    assert found.remarks == ()


def test_a_tag_of_ours_that_says_nothing() -> None:
    found = of_tags(["unmask-cheese", "unmask-no", "unmask-"])
    assert found.declarations == ()
    assert [remark.text.partition(" is ")[0] for remark in found.remarks] == [
        '"unmask-cheese" in the tags',
        '"unmask-no" in the tags',
        '"unmask-" in the tags',
    ]


def test_places_are_added_in_order() -> None:
    both = of_tags(["unmask-luks"]) + of_notes("unmask: no luks, cheese")
    assert both.declarations == (
        Declaration("luks", True, "the tag unmask-luks"),  # noqa: FBT003 - the record's own order
        Declaration("luks", False, "its notes"),  # noqa: FBT003 - the record's own order
    )
    assert len(both.remarks) == 1

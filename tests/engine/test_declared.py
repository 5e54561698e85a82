"""Declarations beside what was found: they add, name and deny, and hide nothing that is at work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.visited import guest, inside
from unmask.crypto.consumers import consumers
from unmask.engine.declared import USUAL, applied, meaning
from unmask.model.finding import Confidence
from unmask.model.inside import System
from unmask.model.inventory import Guest
from unmask.model.visit import Declaration
from unmask.model.workload import Activity, Unread, Workload, WorkloadKind

LUKS = Workload(WorkloadKind.LUKS, "data", "dm-crypt", evidence=("It was seen.",))
UNREAD = (Unread(WorkloadKind.LUKS, "only root may read it"),)
TLS = Workload(WorkloadKind.TLS, "web", "")


def saying(*words: str, **changes: Any) -> Guest:
    """Return a guest of which "luks", "no luks" or "tls=go" is declared, in this order."""
    told = []
    for word in words:
        kind, _, detail = word.removeprefix("no ").partition("=")
        told.append(Declaration(kind, not word.startswith("no "), "the tag x", detail))
    return guest(declared=tuple(told), **changes)


def found(seen: Guest, *workloads: Workload) -> list[Workload]:
    return applied(seen, workloads, ())[0]


@pytest.mark.parametrize("kind", list(WorkloadKind))
def test_what_nobody_saw_is_added(kind: WorkloadKind) -> None:
    (item,) = found(saying(kind.value))
    assert (item.kind, item.activity, item.confidence) == (
        kind,
        Activity.DECLARED,
        Confidence.TENTATIVE,
    )
    assert item.consumer == USUAL.get(kind, "")
    assert item.evidence[0] == "Nothing of it was seen: it is declared by the tag x."


def test_every_usual_consumer_is_known() -> None:
    assert set(USUAL.values()) <= set(consumers())


@pytest.mark.parametrize(
    ("word", "consumer", "cipher", "says"),
    [
        ("tls=go", "go", "", "Nothing of it was seen: it is declared by the tag x (go)."),
        ("tls=", "openssl", "", "Its library is not declared, and OpenSSL is assumed"),
        ("backup=restic", "restic", "", ""),
        ("backup", "", "", "write it as backup(restic)."),
        ("files", "", "", "write it as files(gocryptfs)."),
        ("zfs=aes-256-ccm", "openzfs", "aes-256-ccm", "(aes-256-ccm)"),
        ("tls=GO, chacha20", "go", "chacha20", ""),
        ("tls=nginx", "openssl", "", ""),
    ],
)
def test_what_is_said_in_parentheses(word: str, consumer: str, cipher: str, says: str) -> None:
    (item,) = found(saying(word))
    assert (item.consumer, item.cipher) == (consumer, cipher)
    assert says in " ".join(item.evidence)


def test_zfs_on_freebsd_is_the_kernels() -> None:
    (item,) = found(saying("zfs", visit=guest(inside(system=System("FreeBSD"))).visit))
    assert item.consumer == "freebsd"


def test_what_was_seen_is_not_declared_again() -> None:
    assert found(saying("luks"), LUKS) == [LUKS]


def test_the_hosts_encryption_is_not_the_guests() -> None:
    below = replace(LUKS, host_side=True, consumer="")
    seen = found(saying("luks"), below)
    assert [item.activity for item in seen] == [Activity.CONFIGURED, Activity.DECLARED]
    assert found(saying("no luks"), below) == [below]


def test_software_that_was_not_recognised_is_named() -> None:
    (item,) = found(saying("tls=go"), TLS)
    assert (item.consumer, item.confidence) == ("go", Confidence.TENTATIVE)
    assert item.evidence == ("Its software was not recognised: go is declared by the tag x.",)
    other = replace(TLS, consumer="openssl")
    assert found(saying("tls=go"), other) == [other]
    assert found(saying("tls"), TLS) == [TLS]


@pytest.mark.parametrize(
    ("activity", "left"),
    [
        (Activity.CONFIGURED, False),
        (Activity.CLOSED, True),
        (Activity.ACTIVE, True),
    ],
)
def test_what_is_denied(activity: Activity, left: bool) -> None:  # noqa: FBT001 - a table's column
    seen = found(saying("no luks"), replace(LUKS, activity=activity), TLS)
    assert (WorkloadKind.LUKS in {item.kind for item in seen}) is left
    assert TLS in seen
    if left:
        assert seen[0].evidence == (
            "It was seen.",
            "It is there although it is denied by the tag x.",
        )


def test_what_is_denied_need_not_be_read() -> None:
    assert applied(saying("no luks"), (), UNREAD) == ([], [])
    assert applied(saying("no tls"), (), UNREAD) == ([], list(UNREAD))
    assert applied(saying("luks"), (), UNREAD)[1] == list(UNREAD)


def test_the_later_word_counts() -> None:
    assert found(saying("luks", "no luks"), LUKS) == []
    (item,) = found(saying("no luks", "luks"))
    assert (item.name, item.detail) == ("", "declared by the tag x")


def test_a_kind_that_there_is_not_says_nothing() -> None:
    assert found(saying("cheese", "no wine"), LUKS) == [LUKS]


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("", ("", "")),
        ("go", ("go", "")),
        ("aes-256-gcm", ("", "aes-256-gcm")),
        ("openssl, chacha20", ("openssl", "chacha20")),
        ("go openssl", ("go", "")),
        ("whatever it is", ("", "")),
    ],
)
def test_meaning(detail: str, expected: tuple[str, str]) -> None:
    assert meaning(detail) == expected

"""`unmask fix` on a real libvirtd: an emulated guest, and its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from support.libvirt_domain import NAME, Domain, changeable
from support.libvirtd import Libvirtd
from support.unmask_command import Answer

Command = Callable[..., Answer]
ALL_SIX = "+aes,+pclmulqdq,+ssse3,+sse4.1,+sse4.2,+popcnt"


@pytest.fixture
def domain(empty_libvirtd: Libvirtd) -> Iterator[Domain]:
    with changeable(empty_libvirtd) as found:
        yield found


def fix(command: Command, domain: Domain, cpu: str, *words: str) -> Answer:
    where = ("fix", domain.place.target, "--vm", NAME, "--no-probe")
    return command(*where, "--cpu", cpu, *words)


def test_aes_alone_is_refused_to_an_emulated_guest(command: Command, domain: Domain) -> None:
    before = domain.xml()
    answer = fix(command, domain, "+aes", "--yes")
    assert answer.code == 2
    assert "RST008" in answer.output
    assert "illegal instructions" in " ".join(answer.output.split())
    assert domain.xml() == before


@pytest.mark.parametrize(("cpu", "part"), [("recommended", "Westmere"), (ALL_SIX, "pclmuldq")])
def test_it_is_written_and_taken_back(
    command: Command, domain: Domain, cpu: str, part: str
) -> None:
    before = domain.xml()
    acks = ("--ack", "RST004") if cpu == "recommended" else ()
    answer = fix(command, domain, cpu, *acks, "--yes", "--format", "json")
    assert answer.code == 0, answer.output + answer.errors
    assert part in domain.xml()
    assert "passwd='S3cret'" in domain.xml()
    assert "S3cret" not in answer.output
    assert {"aes", "pclmulqdq"} <= set(answer.report["guests"][0]["plan"]["flags_gained"])
    assert command("undo", answer.report["run_id"]).code == 0
    assert domain.xml() == before


def test_a_diff_of_the_element(command: Command, domain: Domain) -> None:
    answer = fix(command, domain, "Westmere", "--diff")
    assert answer.code == 0
    assert f"+++ b/{NAME}.xml\n" in answer.output
    assert "+    <model fallback='forbid'>Westmere</model>\n" in answer.output

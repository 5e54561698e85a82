"""Guests that neither simply run nor are simply stopped: paused, saved to disk, transient."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.cpuinfo_guest import wait_for
from support.domain_xml import Cpu, document, staying_probe
from support.guest_image import GuestImage
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import audit

NAME = f"{PREFIX}witness"
WESTMERE = Cpu("<cpu mode='custom' match='exact'><model>Westmere</model></cpu>")


@dataclass(frozen=True, slots=True)
class Witness:
    """A running probe on Westmere, and the ways to change it."""

    libvirtd: Libvirtd
    image: GuestImage
    evidence: Path

    def document(self, cpu: Cpu) -> str:
        console = self.evidence.with_suffix(".console")
        return document(NAME, cpu, staying_probe(self.image, console, self.evidence))

    def configure(self, cpu: Cpu) -> None:
        """Give the domain another CPU for its next start."""
        uuid = self.libvirtd.virsh("domuuid", NAME).strip()
        changed = self.document(cpu).replace("<memory ", f"<uuid>{uuid}</uuid><memory ")
        self.libvirtd.define(changed)

    def audited(self) -> dict[str, Any]:
        guest: dict[str, Any] = audit(self.libvirtd.uri).guests[NAME]
        return guest


@pytest.fixture
def witness(empty_libvirtd: Libvirtd, guest_image: GuestImage, tmp_path: Path) -> Witness:
    witness = Witness(empty_libvirtd, guest_image, tmp_path / "evidence")
    empty_libvirtd.define(witness.document(WESTMERE))
    empty_libvirtd.virsh("start", NAME)
    wait_for(witness.evidence)
    return witness


def test_paused_guest_keeps_its_cpu(witness: Witness) -> None:
    witness.libvirtd.virsh("suspend", NAME)
    guest = witness.audited()
    assert guest["state"] == "paused"
    assert guest["cpu"]["features"]["pclmulqdq"] == "shown"
    assert guest["cpu"]["pending"] is None


def test_guest_saved_to_disk_resumes_with_its_old_cpu(witness: Witness) -> None:
    witness.libvirtd.virsh("managedsave", NAME)
    witness.configure(Cpu())
    guest = witness.audited()
    assert guest["state"] == "suspended"
    assert guest["cpu"]["features"]["aes"] == "shown"
    assert guest["cpu"]["after_restart"]["features"]["aes"] == "hidden"


def test_transient_guest_is_listed(witness: Witness) -> None:
    witness.libvirtd.virsh("undefine", NAME)
    guest = witness.audited()
    assert guest["state"] == "running"
    assert guest["cpu"]["features"]["aes"] == "shown"
    assert guest["cpu"]["pending"] is None
    witness.libvirtd.virsh("destroy", NAME)
    assert NAME not in audit(witness.libvirtd.uri).guests


def test_change_taken_back_is_not_pending(witness: Witness) -> None:
    witness.configure(Cpu())
    assert witness.audited()["cpu"]["pending"]
    witness.configure(WESTMERE)
    assert witness.audited()["cpu"]["pending"] is None

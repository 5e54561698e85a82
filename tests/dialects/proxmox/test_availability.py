"""High availability and replication as the cluster's files have them."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import availability, guest, section_file
from unmask.dialects.proxmox.specification import Place

RESOURCES = """\
# kept by hand
vm: 101
\tcomment the mail server
\tstate stopped

vm: 102
\tmax_restart 2

ct: 200
\tstate ignored

group: web
\tnodes a,b
"""
REPLICATION = """\
local: 101-0
\ttarget beech
\trate 50

local: 101-1
\ttarget alder

local: 102-0
\tdisable
\ttarget alder
"""


def test_sections_are_read_in_their_order() -> None:
    found = section_file.parse(REPLICATION)
    assert list(found) == ["local: 101-0", "local: 101-1", "local: 102-0"]
    assert found["local: 101-0"] == {"target": "beech", "rate": "50"}
    assert found["local: 102-0"]["disable"] == ""


def test_states_and_replicas_by_guest() -> None:
    found = availability.read(RESOURCES, REPLICATION)
    assert found.states == {"101": "stopped", "102": "started", "200": "ignored"}
    assert found.replicas == {"101": {"alder", "beech"}}


@pytest.mark.parametrize("text", ["", "\tstate started\n", ":::\n\tx\n", "vm\n\n\0\n", "vm: \n x"])
def test_what_is_no_section_is_nothing(text: str) -> None:
    found = availability.read(text, text)
    assert set(found.states) <= {""}
    assert found.replicas == {}


def test_a_guest_is_told_its_own() -> None:
    found = availability.read(RESOURCES, REPLICATION)
    one, other = (
        found.of(guest.read("cpu: host\n", vmid, Place("lab", "pve1"))) for vmid in ("101", "103")
    )
    assert (one.high_availability, one.replicas) == ("stopped", ("alder", "beech"))
    assert (other.high_availability, other.replicas) == ("", ())

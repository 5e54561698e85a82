"""What commands need, by version, and the commands that grant no more."""

from __future__ import annotations

import pytest

from support.lab_target import login, trust
from unmask.config.privileges import PURPOSES, commands, lacking
from unmask.connect import proxmox_address
from unmask.connect.deadline import Clock
from unmask.connect.proxmox import Api
from unmask.connect.proxmox_agent import ApiAgent
from unmask.connect.proxmox_answer import ApiError
from unmask.lab.lab import Lab

AUDIT, AGENT, MOVE, FIX = PURPOSES


def privileges(version: str) -> dict[str, set[str]]:
    return {
        purpose.name: {need.privilege for need in purpose.needs if need.applies(version)}
        for purpose in PURPOSES
    }


def test_what_each_version_has() -> None:
    assert privileges("7.4-19")["audit"] == {"VM.Audit", "Sys.Audit"}
    assert privileges("9.2.11")["audit"] == {"VM.Audit", "Sys.Audit", "Mapping.Audit"}
    before = privileges("8.4.14")
    assert before["audit + agent"] - before["audit"] == {"VM.Monitor"}
    newest = privileges("9.2.11")["audit + agent"]
    assert newest - privileges("9.2.11")["audit"] == {"VM.GuestAgent.Unrestricted"}
    assert "VM.Config.CPU" in privileges("7.4-19")["fix"]


def test_what_is_lacking() -> None:
    auditor = {"/": {"Sys.Audit": 1, "VM.Audit": 1}}
    assert lacking(AUDIT, auditor, "8.4.14") == ()
    assert [need.privilege for need in lacking(AUDIT, auditor, "9.2.11")] == ["Mapping.Audit"]
    only_there = {"/": {"Sys.Audit": 1}, "/vms": {"VM.Audit": 0}}
    assert [need.path for need in lacking(AUDIT, only_there, "8.4.14")] == ["/vms"]
    assert len(lacking(FIX, {}, "8.4.14")) == 6


def test_what_asking_for_moves_takes() -> None:
    known = privileges("7.4-19")
    assert known["migrate-check"] - known["audit"] == {"Datastore.Audit"}
    known = privileges("8.4.14")
    assert known["migrate-check"] - known["audit"] == {"Datastore.Audit", "Mapping.Audit"}
    auditor = {"/": {"Sys.Audit": 1, "VM.Audit": 1}, "/mapping/cpu": {"Mapping.Audit": 1}}
    assert [need.path for need in lacking(MOVE, auditor, "9.2.11")] == ["/storage", "/mapping"]


def test_commands_for_a_new_user_an_old_one_and_a_token() -> None:
    assert commands(AUDIT, "8.4.14") == [
        'pveum role add UnmaskAudit --privs "Sys.Audit,VM.Audit"',
        "pveum user add unmask@pve",
        "pveum acl modify / --users unmask@pve --roles UnmaskAudit",
        "pveum user token add unmask@pve audit --privsep 0",
    ]
    assert commands(AUDIT, "8.4.14", "a@pve")[1:] == [
        "pveum acl modify / --users a@pve --roles UnmaskAudit"
    ]
    assert commands(AUDIT, "8.4.14", "a@pve!id")[-1] == (
        "pveum acl modify / --tokens 'a@pve!id' --roles UnmaskAudit"
    )


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.2"])
def test_the_role_is_accepted_and_suffices(version: str) -> None:
    """Every privilege exists in that version, and together they leave nothing out."""
    with Lab(version=version) as lab:
        place = proxmox_address.entry(lab.address)
        api = Api((place,), login(lab, "root"), trust(lab), Clock(20), 2)
        everything = api.get("access/permissions")
        full = api.get("version")["version"]
    for purpose in PURPOSES:
        assert lacking(purpose, everything, full) == ()
        granted = commands(purpose, full)[0].partition('"')[2].rstrip('"').split(",")
        assert lacking(purpose, {"/": dict.fromkeys(granted, 1)}, full) == ()


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.2"])
def test_the_role_for_agents_lets_one_into_guests_and_does_nothing_else(version: str) -> None:
    with Lab(version=version) as lab:
        full = lab.cluster.edition.version
        granted = commands(AGENT, full)[0].partition('"')[2].rstrip('"')
        users = [
            line
            for line in lab.cluster.files["user.cfg"].splitlines()
            if not line.startswith(("role:GuestReader:", "acl:1:/:agent@pve"))
        ]
        users += [f"role:UnmaskAgent:{granted}:", "acl:1:/:agent@pve:UnmaskAgent:", ""]
        lab.cluster.files["user.cfg"] = "\n".join(users)
        place = proxmox_address.entry(lab.address)
        api = Api((place,), login(lab, "agent"), trust(lab), Clock(20), 2)
        agent = ApiAgent(api, "pve1", "101")
        assert agent.system() == "truenas"
        assert agent.interfaces()
        assert agent.run(["uname", "-m"], b"", 10, 100) == b"x86_64\n"
        with pytest.raises(ApiError, match="403"):
            api.post("nodes/pve1/qemu/101/status/stop", {})
        api.close()

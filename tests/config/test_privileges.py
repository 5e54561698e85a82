"""What commands need, by version, and the commands that grant no more."""

from __future__ import annotations

import pytest

from support.lab_target import login, trust
from unmask.config.privileges import PURPOSES, Purpose, commands, lacking
from unmask.connect import proxmox_address
from unmask.connect.deadline import Clock
from unmask.connect.proxmox import Api
from unmask.connect.proxmox_agent import ApiAgent
from unmask.connect.proxmox_answer import ApiError
from unmask.lab.lab import Lab

AUDIT, AGENT, MOVE, FIX, FIX_AGENT, FIX_MODELS = PURPOSES


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
    assert len(lacking(FIX, {}, "8.4.14")) == 7


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


def test_what_changing_cpus_takes() -> None:
    known = privileges("8.4.14")
    assert known["fix"] - known["migrate-check"] == {"VM.Config.CPU", "VM.PowerMgmt"}
    assert known["fix + models"] == known["fix"]
    known = privileges("9.2.11")
    assert "Mapping.Use" in known["fix"]
    assert known["fix + models"] - known["fix"] == {"Mapping.Modify"}


def granting(lab: Lab, purpose: Purpose, user: str) -> None:
    """Give a user of the lab the role of a purpose, and nothing else."""
    full = lab.cluster.edition.version
    granted = commands(purpose, full)[0].partition('"')[2].rstrip('"')
    users = [
        line
        for line in lab.cluster.files["user.cfg"].splitlines()
        if not (line.startswith("acl:") and f":{user}:" in line)
    ]
    users += [f"role:{purpose.role}:{granted}:", f"acl:1:/:{user}:{purpose.role}:", ""]
    lab.cluster.files["user.cfg"] = "\n".join(users)


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.2"])
def test_the_role_for_changes_changes_cpus_and_nothing_else(version: str) -> None:
    with Lab(version=version, pace=0) as lab:
        granting(lab, FIX, "fix@pve")
        place = proxmox_address.entry(lab.address)
        api = Api((place,), login(lab, "fix"), trust(lab), Clock(20), 2)
        api.put("nodes/pve1/qemu/101/config", {"cpu": "host"})
        api.put("nodes/pve1/qemu/101/config", {"cpu": "custom-nas"})
        assert api.post("nodes/pve1/qemu/101/status/shutdown", {})
        assert api.post("nodes/pve1/qemu/101/status/start", {})
        for option in ({"memory": "64"}, {"name": "other"}, {"kvm": "0"}, {"onboot": "0"}):
            with pytest.raises(ApiError, match="403"):
                api.put("nodes/pve1/qemu/101/config", option)
        if version == "9.2":
            made = {"cputype": "mine", "reported-model": "qemu64"}
            with pytest.raises(ApiError, match=r"403 .*Mapping\.Modify"):
                api.post("cluster/qemu/custom-cpu-models", made)
            granting(lab, FIX_MODELS, "fix@pve")
            api.post("cluster/qemu/custom-cpu-models", made)
        api.close()


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.2"])
def test_the_role_for_agents_lets_one_into_guests_and_does_nothing_else(version: str) -> None:
    with Lab(version=version) as lab:
        granting(lab, AGENT, "agent@pve")
        place = proxmox_address.entry(lab.address)
        api = Api((place,), login(lab, "agent"), trust(lab), Clock(20), 2)
        agent = ApiAgent(api, "pve1", "101")
        assert agent.system() == "truenas"
        assert agent.interfaces()
        assert agent.run(["uname", "-m"], b"", 10, 100) == b"x86_64\n"
        with pytest.raises(ApiError, match="403"):
            api.post("nodes/pve1/qemu/101/status/stop", {})
        api.close()


def test_changing_with_a_look_inside_takes_what_each_takes() -> None:
    names = [{need.privilege for need in item.needs} for item in (FIX, AGENT, FIX_AGENT)]
    assert names[0] | names[1] == names[2]
    assert commands(FIX_AGENT, "9.2.11")[0].startswith("pveum role add UnmaskFixAgent --privs")

"""Who may do what: nearest entry, propagation, groups, pools and separated tokens."""

import pytest

from unmask.lab.accounts import Caller, parse
from unmask.lab.edition import VERSIONS, Edition

TEXT = """\
user:root@pam:1:0:::::
user:a@pve:1:0:::::
user:b@pve:1:0:::::
token:a@pve!sep:0:1::
token:a@pve!same:0:0::
token:root@pam!sep:0:1::
group:team:b@pve::
pool:p::7::
role:Cpu:VM.Audit,VM.Config.CPU,No.Such:
acl:1:/vms:a@pve:Cpu:
acl:1:/vms/9:a@pve:NoAccess:
acl:0:/nodes:a@pve:PVEAuditor:
acl:1:/vms/5:a@pve!sep:PVEAuditor:
acl:1:/:@team:PVEAuditor:
acl:1:/pool/p:b@pve:Cpu:
"""


def may(who: Caller, path: str) -> set[str]:
    return set(parse(TEXT, Edition("9.2")).effective(who, path))


A, SEPARATED, SAME = Caller("a@pve"), Caller("a@pve", "sep"), Caller("a@pve", "same")


def test_entries_reach_down_and_the_nearest_one_counts() -> None:
    assert may(A, "/vms/5") == {"VM.Audit", "VM.Config.CPU"}
    assert may(A, "/vms/9") == set()


def test_without_propagation_an_entry_is_for_its_own_path_only() -> None:
    assert "Sys.Audit" in may(A, "/nodes")
    assert parse(TEXT, Edition("9.2")).effective(A, "/nodes")["Sys.Audit"] == 0
    assert may(A, "/nodes/x") == set()


def test_a_separated_token_has_what_both_have() -> None:
    assert may(SAME, "/vms/5") == {"VM.Audit", "VM.Config.CPU"}
    assert may(SEPARATED, "/vms/5") == {"VM.Audit"}
    assert may(SEPARATED, "/vms/6") == set()


def test_a_token_of_root_is_not_root() -> None:
    assert Caller("root@pam").root
    assert not Caller("root@pam", "full").root
    assert may(Caller("root@pam", "sep"), "/vms/5") == set()


def test_groups_and_pools() -> None:
    assert "Sys.Audit" in may(Caller("b@pve"), "/nodes/x")
    assert "VM.Config.CPU" in may(Caller("b@pve"), "/vms/7")
    assert "VM.Config.CPU" not in may(Caller("b@pve"), "/vms/8")


def test_paths_leave_out_what_is_empty() -> None:
    paths = parse(TEXT, Edition("9.2")).paths(SEPARATED)
    assert paths == {"/vms/5": {"VM.Audit": 1}}


@pytest.mark.parametrize("name", VERSIONS)
def test_privileges_of_the_versions(name: str) -> None:
    privileges = Edition(name).privileges()
    assert ("VM.Monitor" in privileges) is (name != "9.2")
    assert ("VM.GuestAgent.Audit" in privileges) is (name == "9.2")
    assert ("Mapping.Use" in privileges) is (name != "7.4")
    assert Edition(name).roles()["Administrator"] == privileges

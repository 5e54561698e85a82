"""Which privileges the commands need in Proxmox VE, and how to grant no more than those.

Sources: the permissions that each route's schema names, of 7.4, 8.4 and 9.2; `register_command` in
PVE/API2/Qemu/Agent.pm, `$check_vm_modify_config_perm` in PVE/API2/Qemu.pm.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.dialects.proxmox.permissions import Permissions, everywhere
from unmask.dialects.proxmox.release import at_least

USER = "unmask@pve"


@dataclass(frozen=True, slots=True)
class Need:
    """One privilege, and what it is for."""

    privilege: str
    path: str
    purpose: str
    since: str = "7"
    """The release that first has it."""
    until: str = ""
    """The first release that has it no more."""

    def applies(self, version: str) -> bool:
        """Return whether it exists in a version."""
        return at_least(version, self.since) and not (self.until and at_least(version, self.until))


@dataclass(frozen=True, slots=True)
class Purpose:
    """A use of unmask."""

    name: str
    role: str
    needs: tuple[Need, ...]


READING = (
    Need("VM.Audit", "/vms", "guests and their configuration"),
    Need("Sys.Audit", "/nodes", "CPUs of the nodes"),
    Need("Sys.Audit", "/", "the cluster's name and quorum"),
    Need("Mapping.Audit", "/mapping/cpu", "definitions of custom CPU models", since="9.1"),
)
AGENT = (
    Need("VM.Monitor", "/vms", "looking into guests through their agents", until="9.0"),
    Need(
        "VM.GuestAgent.Unrestricted",
        "/vms",
        "looking into guests through their agents",
        since="9.0",
    ),
)
"""What running a program in a guest takes is enough for every question to its agent as well."""
MOVING = (
    Need("Datastore.Audit", "/storage", "which nodes have the guests' disks"),
    Need("Mapping.Audit", "/mapping", "which nodes have mapped devices", since="8.0"),
)
"""Beside `Sys.Audit` on /, which shows the rules of high availability."""
FIXING = (
    Need("VM.Config.CPU", "/vms", "changing CPU models"),
    Need("VM.PowerMgmt", "/vms", "stopping and starting guests"),
    Need("Mapping.Use", "/mapping/cpu", "giving guests custom CPU models", since="9.1"),
)
"""Beside what tells where a guest could still move with its new CPU. Before 9.1 whoever may read
the nodes may give guests custom models ($check_cpu_model_access of PVE/API2/Qemu.pm).

What runs in a guest decides about `--cpu recommended`, and `--verify` looks into it afterwards:
both take `AGENT` too, or a login by SSH."""
MODELS = (Need("Mapping.Modify", "/mapping/cpu", "making custom CPU models", since="9.1"),)
"""Who has it can change every custom model, and with it every guest that uses one. Before 9.1 no
privilege lets one make them."""
AUDIT = Purpose("audit", "UnmaskAudit", READING)
PURPOSES = (
    AUDIT,
    Purpose("audit + agent", "UnmaskAgent", READING + AGENT),
    Purpose("migrate-check", "UnmaskMove", READING + MOVING),
    Purpose("fix", "UnmaskFix", READING + MOVING + FIXING),
    Purpose("fix + agent", "UnmaskFixAgent", READING + MOVING + FIXING + AGENT),
    Purpose("fix + models", "UnmaskFixModels", READING + MOVING + FIXING + MODELS),
)


def lacking(purpose: Purpose, permissions: Permissions, version: str) -> tuple[Need, ...]:
    """Return what a login with these permissions lacks for a purpose."""
    return tuple(
        need
        for need in purpose.needs
        if need.applies(version) and not everywhere(permissions, need.path, need.privilege)
    )


def commands(purpose: Purpose, version: str, login: str = "") -> Sequence[str]:
    """Return the commands that make a role with what a purpose needs, and give it to somebody.

    Args:
        purpose: What it is for.
        version: Of Proxmox VE.
        login: A user, or a token "USER@REALM!ID", that gets the role; "" makes a new user and
            token for it.
    """
    names = ",".join(sorted({need.privilege for need in purpose.needs if need.applies(version)}))
    made = [f'pveum role add {purpose.role} --privs "{names}"']
    user, _, token = login.partition("!")
    if user:
        made.append(f"pveum acl modify / --users {shlex.quote(user)} --roles {purpose.role}")
        if token:
            # Where the token has privileges of its own, it has no more than these.
            made.append(f"pveum acl modify / --tokens {shlex.quote(login)} --roles {purpose.role}")
        return made
    return [
        *made,
        f"pveum user add {USER}",
        f"pveum acl modify / --users {USER} --roles {purpose.role}",
        f"pveum user token add {USER} {purpose.name.split()[-1]} --privsep 0",
    ]

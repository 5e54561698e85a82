"""What differs between the versions of Proxmox VE that the lab can play.

Sources: the comparison of qemu-server, pve-manager and pve-access-control of 7.4, 8.4 and 9.2
(register_command in Agent.pm, @supported_cpu_flags in CPUConfig.pm, $privgroups in
AccessControl.pm).
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.dialects.proxmox.release import at_least
from unmask.errors import UsageError

VERSIONS = {"7.4": "7.4-19", "8.4": "8.4.14", "9.2": "9.2.11"}
"""The editions, and the full version that each one reports."""

REPOSITORY = {"7.4": "f98bf8d4", "8.4": "b502d23c55afcba1", "9.2": "14a22df35955d97d"}
QEMU = {"7.4": "7.2.10-1", "8.4": "9.2.0-7", "9.2": "11.0.0-3"}
KERNEL = {"7.4": "5.15.158-2-pve", "8.4": "6.8.12-18-pve", "9.2": "6.18.44-1-pve"}

AGENT = ("Audit", "FileRead", "FileSystemMgmt", "FileWrite", "Unrestricted")

GROUPS = {
    "VM": (
        "Allocate Audit Backup Clone Config.CDROM Config.CPU Config.Cloudinit Config.Disk"
        " Config.HWType Config.Memory Config.Network Config.Options Console Migrate PowerMgmt"
        " Snapshot Snapshot.Rollback"
    ),
    "Datastore": "Allocate AllocateSpace AllocateTemplate Audit",
    "Sys": "Audit Console Incoming Modify PowerMgmt Syslog",
    "Group": "Allocate",
    "Permissions": "Modify",
    "Pool": "Allocate Audit",
    "Realm": "Allocate AllocateUser",
    "SDN": "Allocate Audit",
    "User": "Modify",
}
"""The privileges that all of the editions have."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of Proxmox VE."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in VERSIONS:
            known = ", ".join(VERSIONS)
            raise UsageError(
                f"The lab does not play Proxmox VE {self.name}: choose one of {known}."
            )

    @property
    def version(self) -> str:
        """Return the full version, such as "9.2.11"."""
        return VERSIONS[self.name]

    @property
    def qemu(self) -> str:
        """Return QEMU's version without its package revision, such as "11.0.0"."""
        return QEMU[self.name].partition("-")[0]

    def since(self, version: str) -> bool:
        """Return whether this edition is `version` or newer."""
        return at_least(self.name, version)

    @property
    def message_in_body(self) -> bool:
        """Return whether errors are told in the JSON body too (pve-http-server 5.2.0)."""
        return self.since("8.4")

    def privileges(self) -> frozenset[str]:
        """Return all privileges there are."""
        found = {f"{group}.{word}" for group, words in GROUPS.items() for word in words.split()}
        if self.since("8.0"):
            found |= {"Mapping.Audit", "Mapping.Modify", "Mapping.Use", "SDN.Use"}
            found |= {"Sys.AccessNetwork"}
        if self.since("9.0"):
            found |= {f"VM.GuestAgent.{word}" for word in AGENT} | {"VM.Replicate"}
        else:
            found.add("VM.Monitor")
        return frozenset(found)

    def roles(self) -> dict[str, frozenset[str]]:
        """Return the privileges of the built-in roles that matter here, by name."""
        every = self.privileges()
        machine = {name for name in every if name.startswith("VM.")}
        audit = {name for name in every if name.endswith(".Audit")}
        user = {"VM.Audit", "VM.Backup", "VM.Config.CDROM", "VM.Config.Cloudinit", "VM.Console"}
        user |= {"VM.PowerMgmt"}
        agent = {name for name in machine if name.startswith("VM.GuestAgent.")}
        not_admin = {
            "Mapping.Modify", "Permissions.Modify", "Realm.Allocate", "Sys.AccessNetwork",
            "Sys.Incoming", "Sys.Modify", "Sys.PowerMgmt",
        }  # fmt: skip
        return {
            "Administrator": every,
            "NoAccess": frozenset(),
            "PVEAdmin": every - not_admin,
            "PVEAuditor": frozenset(audit),
            "PVEVMAdmin": frozenset(machine),
            "PVEVMUser": frozenset(user | (agent - {"VM.GuestAgent.Unrestricted"})),
            "PVESysAdmin": frozenset({"Sys.Audit", "Sys.Console", "Sys.Syslog"}),
            "PVEPoolUser": frozenset({"Pool.Audit"}),
            "PVETemplateUser": frozenset({"VM.Audit", "VM.Clone"}),
            "PVEMappingUser": frozenset({"Mapping.Audit", "Mapping.Use"}) & every,
            "PVEMappingAdmin": frozenset(name for name in every if name.startswith("Mapping.")),
            "PVEPoolAdmin": frozenset({"Pool.Allocate", "Pool.Audit"}),
            "PVEUserAdmin": frozenset({"Group.Allocate", "Realm.AllocateUser", "User.Modify"}),
            "PVESDNAdmin": frozenset({"SDN.Allocate", "SDN.Audit", "SDN.Use"}) & every,
            "PVESDNUser": frozenset({"SDN.Audit", "SDN.Use"}) & every,
            "PVEDatastoreAdmin": frozenset(name for name in every if name.startswith("Datastore.")),
            "PVEDatastoreUser": frozenset({"Datastore.AllocateSpace", "Datastore.Audit"}),
        }

"""The recorded cluster as it was when the recording began, rebuilt from its own answers."""

from typing import Any

from support.recordings import Recording, data, recordings
from unmask.lab.guest_file import GuestFile
from unmask.lab.host import Host
from unmask.lab.site import Site

DROPPED = {120: "custom-missing", 121: "kvm64,flags=+pclmulqdq"}
"""Values of `cpu` that the real server dropped from its answers, as the notes say."""

SECRET = "0a1b2c3d"
PASSWORDS = {
    "root@pam": "example-password",
    "cpuadm@pve": "pw-cpuadm-123",
    "one@pve": "pw-one-12345",
    "pooluser@pve": "pw-pooluser",
}
AGENT_GUEST = 119


def site() -> Site:
    """Return it."""
    hosts = {"pve1": _host(22), "pve2": _host(486)}
    return Site(
        files=_files(),
        hosts=hosts,
        running=frozenset({113, AGENT_GUEST, 202}),
        without_acpi=frozenset({113, 202}),
        agents={AGENT_GUEST: _agent()},
        secrets=dict.fromkeys((*_tokens(), "dis@pve!tok", "auditor@pve!exp"), SECRET),
        passwords=PASSWORDS,
    )


def _host(number: int) -> Host:
    status = data(number)
    cpu = status["cpuinfo"]
    lines = {
        "processor": "0", "vendor_id": cpu["vendor"], "cpu family": cpu["family"],
        "model name": cpu["model"], "cpu MHz": cpu["mhz"], "flags": cpu["flags"],
    }  # fmt: skip
    text = "".join(f"{key}\t: {value}\n" for key, value in lines.items())
    return Host(
        text, cpu["cpus"], cpu["sockets"], status["memory"]["total"], boot_mode="legacy-bios"
    )


def _files() -> dict[str, str]:
    files = {
        "corosync.conf": _corosync(),
        "ha/resources.cfg": "vm: 116\n\tstate ignored\n\n",
        "user.cfg": _users(),
        "storage.cfg": "dir: local\n\tpath /var/lib/vz\n\tcontent iso,images\n",
        "virtual-guest/cpu-models.conf": _models(),
    }
    for number, record in recordings().items():
        parts = record.path.split("/")
        early = number < 234 or 486 < number < 500
        if early and len(parts) == 8 and parts[-1] == "pending":
            node, vmid = parts[4], int(parts[6])
            files[f"nodes/{node}/qemu-server/{vmid}.conf"] = _guest(vmid, record).text()
    return files


def pending_values(record: Recording) -> GuestFile:
    """Return the file behind an answer of `pending`."""
    file = GuestFile()
    deletes = {}
    for row in record.json["data"]:
        if row["key"] == "digest":
            continue
        if "value" in row:
            file.main[row["key"]] = str(row["value"])
        if "pending" in row:
            file.pending[row["key"]] = str(row["pending"])
        if row.get("delete"):
            deletes[row["key"]] = row["delete"] == 2
    file.set_deletes(deletes)
    return file


def _guest(vmid: int, record: Recording) -> GuestFile:
    file = pending_values(record)
    if vmid in DROPPED:
        file.main["cpu"] = DROPPED[vmid]
    if vmid == 112:
        file.snapshots = {"before": _snapshot(236), "withram": _snapshot(518)}
        file.main["parent"] = "withram"
    return file


def _snapshot(number: int) -> dict[str, str]:
    return {key: str(value) for key, value in data(number).items()}


def _corosync() -> str:
    nodes = "".join(
        f"  node {{\n    name: {row['name']}\n    nodeid: {row['nodeid']}\n"
        f"    quorum_votes: {row['quorum_votes']}\n    ring0_addr: {row['ring0_addr']}\n  }}\n"
        for row in data(516)
    )
    return f"nodelist {{\n{nodes}}}\ntotem {{\n  cluster_name: {data(20)[0]['name']}\n}}\n"


def _users() -> str:
    lines = []
    for row in data(47):
        lines.append(f"user:{row['userid']}:{row['enable']}:{row['expire']}::::::")
        lines += [
            f"token:{row['userid']}!{token['tokenid']}:{token['expire']}:{token['privsep']}::"
            for token in row["tokens"] or ()
        ]
    lines += [f"role:{row['roleid']}:{row['privs']}:" for row in data(49) if not row["special"]]
    lines += [
        f"acl:{row['propagate']}:{row['path']}:{row['ugid']}:{row['roleid']}:" for row in data(48)
    ]
    members = ",".join(str(row["vmid"]) for row in data(512)[0]["members"])
    lines.append(f"pool:lab::{members}:")
    return "\n".join(lines) + "\n"


def _tokens() -> list[str]:
    return [
        f"{row['userid']}!{token['tokenid']}" for row in data(47) for token in row["tokens"] or ()
    ]


def _models() -> str:
    beside = ("cputype", "digest")
    return "".join(
        f"cpu-model: {row['cputype'].removeprefix('custom-')}\n"
        + "".join(f"\t{key} {value}\n" for key, value in sorted(row.items()) if key not in beside)
        + "\n"
        for row in data(82)
    )


def _agent() -> dict[str, Any]:
    told = {
        record.path.rsplit("/", 1)[1]: record.json["data"]["result"]
        for number, record in recordings().items()
        if 522 <= number <= 534 and record.status == 200
    }
    files = {
        recordings()[number].params["file"]: data(number)["content"].encode("latin-1")
        * (2 if number == 734 else 1)
        for number in (563, 564, 577, 734)
    }
    return {"told": told, "files": files, "commands": _commands()}


def _commands() -> list[dict[str, Any]]:
    """Return what the guest's programs said; `cat` needs no table."""
    found = []
    for number in (538, 544, 547, 552, 555, 558, 571):
        ended: dict[str, Any] = next(
            (
                recordings()[later].json["data"]
                for later in (number + 2, number + 1)
                if recordings()[later].json
                and (recordings()[later].json["data"] or {}).get("exited")
            ),
            {},
        )
        params = recordings()[number].params
        argv = params["command"] if isinstance(params, dict) else [value for _, value in params]
        slow = (recordings()[number + 1].json["data"] or {}).get("exited") == 0
        row: dict[str, Any] = {"seconds": 600.0 if slow else 0.0}
        row |= {"argv": [argv] if isinstance(argv, str) else argv}
        row |= {"out": ended.get("out-data", "").encode("latin-1")}
        row |= {"err": ended.get("err-data", "").encode("latin-1")}
        row |= {"exit": ended.get("exitcode", 0), "signal": ended.get("signal", 0)}
        found.append(row)
    return found

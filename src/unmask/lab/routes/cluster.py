"""The cluster as a whole: members, resources, high availability, replication, options."""

from __future__ import annotations

import re

from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Check, Route, at
from unmask.lab.guest_row import container, ha_states, managed, resource
from unmask.lab.parameters import Parameter
from unmask.lab.routes.nodes import container_values, used

KINDS = ("vm", "storage", "node", "sdn")


def status(call: Call) -> Json:
    """Return the cluster and its nodes as corosync sees them."""
    cluster = call.cluster
    here = cluster.entry()
    first: dict[str, Json] = {
        "id": "cluster", "name": cluster.name, "nodes": len(cluster.members),
        "quorate": int(cluster.quorate), "type": "cluster", "version": len(cluster.members),
    }  # fmt: skip
    rows = [
        {
            "id": f"node/{member.name}", "ip": member.address, "level": "",
            "local": int(member.name == here), "name": member.name, "nodeid": member.ident,
            "online": int(not cluster.absent(member.name)), "type": "node",
        }
        for member in cluster.members
    ]  # fmt: skip
    return [first, *rows]


def resources(call: Call) -> Json:
    """Return everything that the caller may see."""
    kind = call.text("type")
    found: list[dict[str, Json]] = []
    if not kind:
        found += _pools(call)
    if kind in ("", "vm"):
        found += _guests(call) + _containers(call)
    if kind in ("", "node"):
        found += _nodes(call)
    if kind in ("", "storage"):
        found += _storages(call)
    if kind in ("", "sdn"):
        found += _networks(call)
    return found


def _pools(call: Call) -> list[dict[str, Json]]:
    return [
        {"id": f"/pool/{name}", "pool": name, "type": "pool"}
        for name in sorted(call.cluster.accounts().pools)
        if call.may(f"/pool/{name}", "Pool.Audit")
    ]


def _guests(call: Call) -> list[dict[str, Json]]:
    cluster = call.cluster
    rows = [
        resource(cluster, vmid, node, cluster.guest(node, vmid).main)
        for vmid, node in cluster.guests().items()
        if call.may(f"/vms/{vmid}", "VM.Audit")
    ]
    return [row | _pool(call, row["vmid"]) for row in rows]


def _pool(call: Call, vmid: int) -> dict[str, Json]:
    name = call.cluster.accounts().pool_of(vmid)
    return {"pool": name} if name and call.may(f"/pool/{name}", "Pool.Audit") else {}


def _containers(call: Call) -> list[dict[str, Json]]:
    cluster = call.cluster
    return [
        container(cluster, vmid, node, container_values(cluster, node, vmid))
        for vmid, node in cluster.guests("lxc").items()
        if call.may(f"/vms/{vmid}", "VM.Audit")
    ]


def _nodes(call: Call) -> list[dict[str, Json]]:
    found = []
    for member in call.cluster.members:
        if call.may(f"/nodes/{member.name}", "Sys.Audit"):
            state = "offline" if call.cluster.absent(member.name) else "online"
            row: dict[str, Json] = {"id": f"node/{member.name}", "level": ""}
            row |= {"node": member.name, "status": state, "type": "node", "cgroup-mode": 2}
            found.append(row | used(call.cluster, member.name))
    return found


def _storages(call: Call) -> list[dict[str, Json]]:
    cluster = call.cluster
    found = []
    for head, keys in cluster.section_file("storage.cfg").items():
        kind, _, name = head.partition(": ")
        if not call.may(f"/storage/{name}", "Datastore.Audit", "Datastore.AllocateSpace"):
            continue
        everywhere = [member.name for member in cluster.members]
        nodes = [node for node in everywhere if node in keys.get("nodes", node).split(",")]
        for node in nodes:
            size = cluster.hosts[node].disk
            row = {
                "content": keys.get("content", "images"), "id": f"storage/{node}/{name}",
                "maxdisk": size, "node": node, "plugintype": kind,
                "shared": int(keys.get("shared", "0")), "status": "available", "storage": name,
                "type": "storage", "disk": size // 6,
            }  # fmt: skip
            found.append(row)
    return found


def _networks(call: Call) -> list[dict[str, Json]]:
    if not call.cluster.edition.since("9.0"):
        return []
    return [
        {
            "id": f"network/{member.name}/zone/localnetwork", "network": "localnetwork",
            "network-type": "zone", "node": member.name, "status": "ok", "type": "network",
        }
        for member in call.cluster.members
        if call.may("/sdn/zones/localnetwork", "SDN.Audit")
    ]  # fmt: skip


def ha_resources(call: Call) -> Json:
    """Return the guests that high availability looks after."""
    cluster = call.cluster
    digest = cluster.digest("ha/resources.cfg")
    found = []
    for head, keys in cluster.section_file("ha/resources.cfg").items():
        kind, _, ident = head.partition(": ")
        row: dict[str, Json] = {"digest": digest, "sid": f"{kind}:{ident}", "type": kind}
        row["state"] = keys.get("state", "started")
        row |= {key: keys[key] for key in ("comment", "group") if key in keys}
        row |= {key: int(keys[key]) for key in ("max_relocate", "max_restart") if key in keys}
        found.append(row)
    return found


def ha_resource(call: Call) -> Json:
    """Return one guest that high availability looks after."""
    for row in ha_resources(call):
        if row["sid"] == call.places["sid"]:
            return row
    raise Refused(f"no such resource '{call.places['sid']}'")


def ha_status(call: Call) -> Json:
    """Return how high availability is doing."""
    cluster = call.cluster
    here = cluster.entry()
    armed_for = any(managed(cluster, vmid) for vmid in ha_states(cluster))
    found: list[dict[str, Json]] = [{
        "id": "quorum", "node": here, "quorate": int(cluster.quorate),
        "status": "OK" if cluster.quorate else "No quorum on node!", "type": "quorum",
    }]  # fmt: skip
    if cluster.edition.since("9.0"):
        armed = "armed" if armed_for else "standby"
        text = "armed" if armed_for else "standby (CRM watchdog standby)"
        found.append({
            "armed-state": armed, "id": "fencing", "node": here, "status": text, "type": "fencing",
        })  # fmt: skip
    places = cluster.guests() | cluster.guests("lxc")
    for row in ha_resources(call):
        sid, state = row["sid"], row["state"]
        node = places.get(int(sid.partition(":")[2]), here)
        found.append({
            "failback": 1, "id": f"service:{sid}", "max_relocate": 1, "max_restart": 1,
            "node": node, "request_state": state, "sid": sid, "state": state,
            "status": f"{sid} ({node}, {state})", "type": "service",
        })  # fmt: skip
    return found


def replication(call: Call) -> Json:
    """Return the replication jobs of the guests that the caller may see."""
    found = []
    places = call.cluster.guests() | call.cluster.guests("lxc")
    for head, keys in call.cluster.section_file("replication.cfg").items():
        kind, _, ident = head.partition(": ")
        vmid, _, number = ident.partition("-")
        if call.may(f"/vms/{vmid}", "VM.Audit"):
            row: dict[str, Json] = {"guest": int(vmid), "id": ident, "jobnum": int(number)}
            row |= {"type": kind, **keys}
            row["source"] = places.get(int(vmid), keys.get("source", ""))
            found.append(row)
    return found


def options(call: Call) -> Json:
    """Return datacenter.cfg."""
    pairs = re.findall(
        r"^([a-z_-]+): (.*)$", call.cluster.files.get("datacenter.cfg", ""), re.MULTILINE
    )
    found: dict[str, Json] = {"mac_prefix": "BC:24:11", "description": ""} | dict(pairs)
    if call.cluster.edition.since("7.3"):
        found["allowed-tags"] = sorted(_tags(call))
    return found


def _tags(call: Call) -> set[str]:
    cluster = call.cluster
    return {
        tag
        for vmid, node in cluster.guests().items()
        for tag in re.split(r"[;, ]", cluster.guest(node, vmid).main.get("tags", ""))
        if tag
    }


def config_nodes(call: Call) -> Json:
    """Return what corosync.conf says of the nodes."""
    return [
        {
            "name": member.name, "node": member.name, "nodeid": str(member.ident),
            "quorum_votes": str(member.votes), "ring0_addr": member.address,
        }
        for member in call.cluster.members
    ]  # fmt: skip


def next_id(call: Call) -> Json:
    """Return the lowest free id of a guest."""
    taken = {*call.cluster.guests(), *call.cluster.guests("lxc")}
    return str(next(number for number in range(100, 10**9) if number not in taken))


AUDIT: Check = at("/", "Sys.Audit")
ROUTES = (
    Route("GET", "/cluster/status", status, check=AUDIT),
    Route("GET", "/cluster/resources", resources, {"type": Parameter(words=KINDS)}),
    Route(
        "GET", "/cluster/ha/resources", ha_resources, {"type": Parameter(words=("ct", "vm"))}, AUDIT
    ),
    Route("GET", "/cluster/ha/resources/{sid}", ha_resource, check=AUDIT),
    Route("GET", "/cluster/ha/status/current", ha_status, check=AUDIT),
    Route("GET", "/cluster/replication", replication),
    Route("GET", "/cluster/options", options, check=AUDIT),
    Route("GET", "/cluster/config/nodes", config_nodes, check=AUDIT),
    Route("GET", "/cluster/nextid", next_id, {"vmid": Parameter("integer", least=100)}),
)

"""From a site to the state of a cluster."""

from __future__ import annotations

import threading

from unmask.lab import guest_agent, guest_cpu, membership
from unmask.lab.cluster import Cluster
from unmask.lab.edition import Edition
from unmask.lab.guest_agent import GuestAgent
from unmask.lab.guest_row import processors
from unmask.lab.site import Site
from unmask.lab.tasks import Tasks


def assemble(site: Site, edition: Edition, pace: float) -> Cluster:
    """Return the cluster that a site describes, with its guests running.

    Args:
        site: What there is.
        edition: The version of Proxmox VE.
        pace: Lab seconds per second that Proxmox takes.
    """
    corosync = site.files.get("corosync.conf", "")
    lock = threading.RLock()
    cluster = Cluster(
        edition=edition,
        files=dict(site.files),
        hosts=site.hosts,
        members=membership.members(corosync),
        name=membership.cluster_name(corosync),
        tasks=Tasks(pace, lock),
        lock=lock,
        without_acpi=site.without_acpi,
    )
    containers = cluster.guests("lxc")
    for vmid, table in site.agents.items():
        cluster.agents[vmid] = _agent(cluster, vmid, guest_agent.parse(table, pace, site.profiles))
    for vmid, node in cluster.guests().items():
        if vmid in site.running:
            cluster.began(vmid, cluster.guest(node, vmid).main)
    for vmid in containers:
        if vmid in site.running:
            cluster.began(vmid, {})
    cluster.written.clear()
    return cluster


def _agent(cluster: Cluster, vmid: int, agent: GuestAgent) -> GuestAgent:
    """Let the guest's /proc/cpuinfo be what it sees of the node on which it runs."""

    def cpuinfo() -> str:
        node, process = cluster.guests()[vmid], cluster.process(vmid)
        values = process.values if process else {}
        host = cluster.hosts[node]
        fields = {name: host.field(name) for name in guest_cpu.FIELDS}
        found = guest_cpu.view(cluster, node, values)
        return guest_cpu.proc_cpuinfo(found, fields, processors(values))

    if "/proc/cpuinfo" not in agent.files:
        agent.cpuinfo = cpuinfo
    return agent

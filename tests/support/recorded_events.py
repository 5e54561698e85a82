"""What happened to the recorded cluster between two recordings, where no recording shows it.

The recorder pulled a network cable, wrote files by hand, and powered guests off from inside.
"""

from collections.abc import Callable, Mapping

from support.exchange import Exchange
from support.recorded_site import AGENT_GUEST, pending_values
from support.recordings import recordings
from unmask.lab.accounts import Caller
from unmask.lab.tasks import Task

Event = Callable[[Exchange], None]
ROOT = Caller("root@pam")
SLOW_SHUTDOWN = 5.0
"""Seconds that the recorded shutdown of guest 113 tried."""


def _earlier_tasks(exchange: Exchange) -> None:
    for kind in ("qmcreate", "qmstart"):
        exchange.lab.cluster.tasks.start("pve1", kind, "113", ROOT, lambda _: None)


def _stopped(*vmids: int) -> Event:
    def event(exchange: Exchange) -> None:
        for vmid in vmids:
            exchange.lab.cluster.ended(vmid)

    return event


def _slow_programs(exchange: Exchange) -> None:
    exchange.lab.cluster.agents[AGENT_GUEST].pace = 1.0


def _programs_end(exchange: Exchange) -> None:
    agent = exchange.lab.cluster.agents[AGENT_GUEST]
    agent._waiting = {pid: (0.0, outcome) for pid, (_, outcome) in agent._waiting.items()}


def _network(*gone: str, entry: str = "", quorate: bool = True) -> Event:
    def event(exchange: Exchange) -> None:
        cluster = exchange.lab.cluster
        cluster.offline, cluster.entry_node, cluster.quorate = set(gone), entry, quorate

    return event


def _users(text: str) -> Event:
    def event(exchange: Exchange) -> None:
        exchange.lab.cluster.files["user.cfg"] += text

    return event


def _guest_129(exchange: Exchange) -> None:
    cluster = exchange.lab.cluster
    file = pending_values(recordings()[726])
    file.main["agent"] = "1"
    file.pending = {}
    cluster.files["nodes/pve1/qemu-server/129.conf"] = file.text()
    cluster.began(129, file.main)


def _config_task(exchange: Exchange) -> None:
    def work(task: Task) -> None:
        task.say("update VM 101: -cpu kvm64")

    caller = Caller("cpuadm@pve", "rw")
    task = exchange.lab.cluster.tasks.start("pve1", "qmconfig", "101", caller, work)
    exchange.ours[recordings()[800].json["data"]["upid"]] = task.upid


def _shutdown_113(exchange: Exchange) -> None:
    """Bring guest 113 back to pve1 as it was at first, and try in vain to shut it down."""
    cluster = exchange.lab.cluster
    path = "nodes/pve1/qemu-server/113.conf"
    cluster.remove("nodes/pve2/qemu-server/113.conf", "moved back")
    cluster.files[path] = exchange.lab.site.files[path]
    cluster.began(113, cluster.guest("pve1", 113).main)
    cluster.tasks.pace = 0.1
    task = cluster.tasks.start(
        "pve1", "qmshutdown", "113", Caller("root@pam", "full"), lambda _: None, SLOW_SHUTDOWN
    )
    exchange.ours[recordings()[813].json["data"]["upid"]] = task.upid


def _at_once(exchange: Exchange) -> None:
    exchange.lab.cluster.tasks.pace = 0.0


def _locked(lock: str) -> Event:
    def event(exchange: Exchange) -> None:
        cluster = exchange.lab.cluster
        file = cluster.opened("pve1", 103)
        file.main.pop("lock", None)
        file.main |= {"lock": lock} if lock else {}
        cluster.files["nodes/pve1/qemu-server/103.conf"] = file.text()

    return event


LOCKS = [
    "migrate",
    "snapshot",
    "clone",
    "rollback",
    "suspended",
    "create",
    "snapshot-delete",
    "suspending",
]
FIRST_LOCK = 815
ONE = "user:one@pve:1:0::::::\nacl:0:/vms:one@pve:VMAuditOnly:\nacl:1:/vms/102:one@pve:CPUEdit:\n"
OTHERS = "user:dis@pve:0:0::::::\ntoken:dis@pve!tok:0:0::\ntoken:auditor@pve!exp:1700000000:0::\n"
EVENTS: Mapping[int, Event] = {
    61: _earlier_tasks,
    462: _stopped(100, 109),
    538: _slow_programs,
    540: _programs_end,
    546: _programs_end,
    549: _programs_end,
    557: _programs_end,
    560: _programs_end,
    607: _network("pve2"),
    620: _network(entry="pve2"),
    622: _network("pve1", entry="pve2", quorate=False),
    700: _network(),
    704: _users(OTHERS),
    723: _guest_129,
    727: _stopped(129),
    748: _stopped(AGENT_GUEST),
    800: _config_task,
    813: _shutdown_113,
    815: _at_once,
    825: _users(ONE),
}
"""By the recording before which it happened."""


def events(number: int) -> list[Event]:
    """Return what happened just before a recording."""
    found = [EVENTS[number]] if number in EVENTS else []
    if FIRST_LOCK <= number <= FIRST_LOCK + len(LOCKS):
        index = number - FIRST_LOCK
        found.append(_locked(LOCKS[index] if index < len(LOCKS) else ""))
    return found

"""The guest agent: who may ask it what, in the words of each version.

Sources: register_command of PVE/API2/Qemu/Agent.pm in the three versions, and recorded answers.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Check, Route
from unmask.lab.guest_agent import GuestAgent
from unmask.lab.parameters import FLAG, NEEDED, TEXT, Parameter
from unmask.lab.routes.guest_config import GUEST

QUESTIONS = [
    "get-fsinfo",
    "get-host-name",
    "get-memory-block-info",
    "get-memory-blocks",
    "get-osinfo",
    "get-time",
    "get-timezone",
    "get-users",
    "get-vcpus",
    "info",
    "network-get-interfaces",
]
ORDERS = ("ping", "fsfreeze-status", "fsfreeze-freeze", "fsfreeze-thaw", "fstrim")
NOT_PLAYED = ["set-user-password", "shutdown", "suspend-disk", "suspend-hybrid", "suspend-ram"]
"""Listed as the real one does, and answered with 501."""
MOST = 16 * 1024**2
"""Bytes that file-read returns at once."""
NEW = "9.0"
WIDE = "Wide character in subroutine entry at /usr/share/perl5/PVE/API2/Qemu/Agent.pm line 624."


def needs(*privileges: str) -> Check:
    """Return the check of an agent's command: by privilege in 9.x, VM.Monitor before."""

    def check(call: Call) -> None:
        new = [f"VM.GuestAgent.{name}" for name in (*privileges, "Unrestricted")]
        old = ["VM.Monitor"]
        call.need(f"/vms/{call.places['vmid']}", *(new if call.cluster.edition.since(NEW) else old))

    return check


def agent_of(call: Call) -> GuestAgent:
    """Return the guest's agent.

    Raises:
        Refused: The guest has none, is stopped, or its agent does not answer.
    """
    file = call.cluster.guest(call.node, call.vmid)
    option = file.main.get("agent", "0")
    first = option.partition(",")[0].removeprefix("enabled=")
    if first != "1":
        raise Refused("No QEMU guest agent configured")
    if not call.cluster.process(call.vmid):
        raise Refused(f"VM {call.vmid} is not running")
    agent = call.cluster.agents.get(call.vmid)
    if agent is None or not agent.alive:
        raise Refused("QEMU guest agent is not running", delay=3)
    return agent


def index(_: Call) -> Json:
    """Return the commands."""
    names = ("exec", "exec-status", "file-read", "file-write", *ORDERS, *QUESTIONS, *NOT_PLAYED)
    return [{"name": name} for name in sorted(names)]


def order(call: Call) -> Json:
    """Let the agent do something that has no result worth telling."""
    return _order(call, call.text("command"))


def _order(call: Call, name: str) -> Json:
    agent = agent_of(call)
    if name == "ping":
        return {"result": {}}
    return {"result": agent.told.get(name, "thawed" if name == "fsfreeze-status" else 0)}


def ping(call: Call) -> Json:
    """Ask whether the agent is there."""
    return _order(call, "ping")


def frozen(call: Call) -> Json:
    """Ask whether file systems are frozen."""
    return _order(call, "fsfreeze-status")


def question(name: str) -> Callable[[Call], Json]:
    """Return the handler of one question."""

    def handler(call: Call) -> Json:
        told = agent_of(call).told
        if name not in told:
            raise Refused(f"Agent error: Command guest-{name} has been disabled")
        return {"result": told[name]}

    return handler


def execute(call: Call) -> Json:
    """Run a program in the guest and return its process id there."""
    agent = agent_of(call)
    given = call.given["command"]
    argv = given if call.cluster.edition.since("8.0") else _split(given)
    try:
        typed = call.text("input-data").encode("latin-1")
    except UnicodeEncodeError as error:
        raise Refused(WIDE) from error
    return {"pid": agent.run(argv, typed)}


def _split(given: Json) -> list[str]:
    """Split a command as 7.x does."""
    text = "\0".join(given) if isinstance(given, list) else str(given)
    return [word for word in re.split(r"\0" if "\0" in text else r"[;,\s]+", text) if word]


def execution(call: Call) -> Json:
    """Return how a program in the guest is doing."""
    return agent_of(call).status(call.number("pid"))


def read(call: Call) -> Json:
    """Return a file of the guest, each byte as a character of Latin-1."""
    content = agent_of(call).read(call.text("file"))
    start = call.number("offset")
    part = content[start : start + call.number("count", MOST)]
    text = part.decode("latin-1")
    if not call.number("decode", 1):
        text = base64.b64encode(part).decode()
    found: dict[str, Json] = {"bytes-read": len(part), "content": text}
    return found | ({"truncated": 1} if start + len(part) < len(content) else {})


def write(call: Call) -> Json:
    """Write a file of the guest."""
    agent = agent_of(call)
    content = call.text("content")
    if not call.number("encode", 1):
        try:
            data = base64.b64decode(content, validate=True)
        except binascii.Error as error:
            raise Refused("Agent error: Invalid base64 data") from error
    elif any(ord(letter) > 0xFF for letter in content):
        raise Refused(WIDE)
    else:
        data = content.encode("latin-1")
    agent.write(call.text("file"), data)
    call.cluster.written.append(f"file {call.text('file')} in guest {call.vmid}")
    return None


def monitor(call: Call) -> Json:
    """Answer QEMU's monitor, which knows one command here."""
    call.cluster.path_of(call.node, call.vmid)
    if not call.cluster.process(call.vmid):
        raise Refused(f"VM {call.vmid} not running")
    if call.text("command") != "info version":
        return ""
    return f"{call.cluster.edition.qemu} (pve-qemu-kvm)\r\n"


def _may_monitor(call: Call) -> None:
    new = call.cluster.edition.since(NEW)
    wanted = ("Sys.Audit", "Sys.Modify") if new else ("VM.Monitor",)
    call.need(f"/vms/{call.places['vmid']}", *wanted)


BELOW = f"{GUEST}/agent"
COMMAND = {"command": Parameter("array", needed=True), "input-data": Parameter(longest=65536)}
PLACE = {"count": Parameter("integer", least=1, most=MOST), "decode": FLAG}
PLACE |= {"offset": Parameter("integer", least=0)}
ROUTES = (
    Route("GET", BELOW, index),
    Route("POST", BELOW, order, {"command": NEEDED}, needs()),
    Route("POST", f"{BELOW}/ping", ping, check=needs("Audit")),
    Route("POST", f"{BELOW}/fsfreeze-status", frozen, check=needs("Audit", "FileSystemMgmt")),
    Route("POST", f"{BELOW}/exec", execute, COMMAND, needs()),
    Route(
        "GET",
        f"{BELOW}/exec-status",
        execution,
        {"pid": Parameter("integer", needed=True)},
        needs(),
    ),
    Route("GET", f"{BELOW}/file-read", read, {"file": NEEDED} | PLACE, needs("FileRead"), NEW),
    Route("GET", f"{BELOW}/file-read", read, {"file": NEEDED}, needs("FileRead"), until="8.99"),
    Route(
        "POST",
        f"{BELOW}/file-write",
        write,
        {"file": NEEDED, "content": Parameter(needed=True, longest=61440), "encode": FLAG},
        needs("FileWrite"),
    ),
    *(Route("GET", f"{BELOW}/{name}", question(name), check=needs("Audit")) for name in QUESTIONS),
    Route("POST", f"{GUEST}/monitor", monitor, {"command": TEXT}, _may_monitor),
)

"""What administrators type beside unmask in a page's session, done to the lab in their place."""

from __future__ import annotations

import http.client
import shlex
import ssl
import urllib.parse
from dataclasses import replace

from unmask.lab.lab import Lab

UPGRADE = "apt update && apt full-upgrade && reboot"
LOST = ("hle", "rtm")
"""What new microcode takes from the processor of a node that is upgraded: TSX."""
KERNEL = "6.18.51-1-pve"


def play(lab: Lab, command: str) -> bool:
    """Do what the command would do on a node, and return whether it is one of those known here."""
    words = shlex.split(command)
    if words[:2] == ["pvesh", "create"]:
        _create(lab, words[2], dict(zip(words[3::2], words[4::2], strict=True)))
    elif words[0] == "ssh" and words[2:] == [UPGRADE]:
        _upgrade(lab, words[1].removeprefix("root@"))
    else:
        return False
    return True


def _create(lab: Lab, path: str, options: dict[str, str]) -> None:
    form = urllib.parse.urlencode({key.removeprefix("--"): text for key, text in options.items()})
    trust = ssl.create_default_context(cafile=str(lab.ca_file))
    client = http.client.HTTPSConnection("127.0.0.1", lab.port, context=trust, timeout=20)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    client.request("POST", f"/api2/json{path}", form, {**lab.header("root"), **kind})
    answer = client.getresponse()
    assert answer.status == 200, answer.reason
    client.close()


def _upgrade(lab: Lab, node: str) -> None:
    host = lab.cluster.hosts[node]
    flags = host.cpuinfo
    for flag in LOST:
        assert f" {flag} " in flags
        flags = flags.replace(f" {flag} ", " ")
    lab.cluster.hosts = {**lab.cluster.hosts, node: replace(host, cpuinfo=flags, kernel=KERNEL)}

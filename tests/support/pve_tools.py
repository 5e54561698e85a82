"""The tools of a Proxmox VE node, with a lab behind them: what `qm` and `pvesh` print and do.

They are programs of their own, found by a real shell behind a real sshd, and ask the lab as root
does; errors go to standard error and end with 255, as PVE::CLIHandler has it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from support.pve_node import Node
from unmask.lab.lab import Lab

PROGRAM = """\
import json, os, ssl, sys, time, urllib.error, urllib.parse, urllib.request

LAB = json.loads({lab!r})
tool, words = sys.argv[1], sys.argv[2:]
open(LAB["log"], "a").write(" ".join([tool, *words]) + "\\n")
trust = ssl.create_default_context(cafile=LAB["ca"])


def ask(method, path, given):
    body = urllib.parse.urlencode(given)
    url = LAB["url"] + "/api2/json/" + path.strip("/")
    if method == "GET" and body:
        url, body = url + "?" + body, ""
    data = body.encode() if method != "GET" else None
    request = urllib.request.Request(url, data, LAB["header"], method=method)
    try:
        with urllib.request.urlopen(request, context=trust) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        told = json.loads(error.read() or b"null") or {{}}
        if error.code == 400:
            print("400 Parameter verification failed.", file=sys.stderr)
            for name, why in (told.get("errors") or {{}}).items():
                print(name + ": " + why, file=sys.stderr)
            print("qm set <vmid> [OPTIONS]", file=sys.stderr)
        else:
            print((told.get("message") or error.reason).strip(), file=sys.stderr)
        sys.exit(255)


def options(given):
    found = {{}}
    while given:
        found[given[0].removeprefix("--")] = given[1]
        given = given[2:]
    found.pop("output-format", None)
    return found


def wait(upid):
    node = upid.split(":")[1]
    task = "nodes/" + node + "/tasks/" + urllib.parse.quote(upid, safe="")
    while True:
        row = ask("GET", task + "/status", {{}})
        if row["status"] == "stopped":
            break
        time.sleep(0.05)
    for line in ask("GET", task + "/log", {{}}):
        if not line["t"].startswith("TASK"):
            print(line["t"], file=sys.stderr)
    if row["exitstatus"] != "OK":
        print(row["exitstatus"], file=sys.stderr)
        sys.exit(255)


if tool == "pvesh":
    print(json.dumps(ask("GET", words[1], options(words[2:]))))
else:
    here = "nodes/" + LAB["node"] + "/qemu/" + words[1]
    given = options(words[2:])
    if words[0] == "set":
        ask("PUT", here + "/config", given)
        print("update VM " + words[1] + ": " + " ".join(words[2:]))
        if os.path.exists(LAB["hang"]):
            time.sleep(60)
    else:
        wait(ask("POST", here + "/status/" + words[0], given))
"""


def log(node: Node) -> list[str]:
    """Return the tools that were run on a node, with their words."""
    path = node.root / "tools.log"
    return path.read_text().splitlines() if path.exists() else []


def hang(node: Node) -> Path:
    """Let `qm set` not end once it has done its work."""
    path = node.root / "hang"
    path.touch()
    return path


def install(node: Node, lab: Lab) -> None:
    """Give a node its tools."""
    facts = {
        "url": lab.url,
        "ca": str(lab.ca_file),
        "header": lab.header("root"),
        "node": node.name,
        "log": str(node.root / "tools.log"),
        "hang": str(node.root / "hang"),
    }
    program = node.root / "tools.py"
    program.write_text(PROGRAM.format(lab=json.dumps(facts)))
    for tool in ("qm", "pvesh"):
        node.has(tool, f'exec {sys.executable} {program} {tool} "$@"')

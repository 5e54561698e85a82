"""What decides where guests can be: storages, rules of high availability, mapped devices.

Sources: PVE/API2/Storage/Config.pm, PVE/API2/HA/{Rules,Groups}.pm and
PVE/API2/Cluster/Mapping/{PCI,USB,Dir}.pm, which leave out silently what the caller may not see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from unmask.lab.answer import Json
from unmask.lab.call import Call, Check, Route, at
from unmask.lab.parameters import TEXT, Parameter

FLAGS = ("disable", "krbd", "nofailback", "restricted", "shared", "sparse", "strict")
AUDIT: Check = at("/", "Sys.Audit")
SEEING = ("Mapping.Modify", "Mapping.Use", "Mapping.Audit")


def _typed(keys: Mapping[str, str]) -> dict[str, Json]:
    """Return the keys of a section, its switches as numbers."""
    return {key: int(value or 1) if key in FLAGS else value for key, value in keys.items()}


def storages(call: Call) -> Json:
    """Return the storages that the caller may see; `local` is always there."""
    cluster = call.cluster
    found: list[dict[str, Json]] = []
    for head, keys in cluster.section_file("storage.cfg").items():
        kind, _, name = head.partition(": ")
        seen = call.may(f"/storage/{name}", "Datastore.Audit", "Datastore.AllocateSpace")
        if seen and call.text("type") in ("", kind):
            row: dict[str, Json] = {"digest": cluster.digest("storage.cfg"), "storage": name}
            found.append(row | {"type": kind} | _typed(keys))
    return found


def rules(call: Call) -> Json:
    """Return the rules of high availability, with what is the default where they say nothing."""
    cluster = call.cluster
    found = []
    for order, (head, keys) in enumerate(cluster.section_file("ha/rules.cfg").items(), 1):
        kind, _, name = head.partition(": ")
        row: dict[str, Json] = {"digest": cluster.digest("ha/rules.cfg"), "order": order}
        row |= {"rule": name, "type": kind}
        row |= {"affinity": "positive", "strict": 0} if kind == "node-affinity" else {}
        found.append(row | _typed(keys))
    return found


def groups(call: Call) -> Json:
    """Return the groups of high availability, which rules have replaced."""
    cluster = call.cluster
    found = []
    for head, keys in cluster.section_file("ha/groups.cfg").items():
        row: dict[str, Json] = {"digest": cluster.digest("ha/groups.cfg"), "type": "group"}
        found.append(row | {"group": head.partition(": ")[2]} | _typed(keys))
    return found


def _mappings(kind: str, path: str) -> Callable[[Call], Json]:
    def listed(call: Call) -> Json:
        cluster = call.cluster
        found: list[dict[str, Json]] = []
        for name, lines in sections(cluster.files.get(path, "")).items():
            if call.may(f"/mapping/{kind}/{name}", *SEEING):
                row: dict[str, Json] = {"digest": cluster.digest(path), "id": name, "type": kind}
                maps = [value for key, value in lines if key == "map"]
                rest = {key: value for key, value in lines if key != "map"}
                found.append(row | {"map": maps} | rest)
        return found

    return listed


def sections(text: str) -> Mapping[str, list[tuple[str, str]]]:
    """Return the lines of each section of a mapping file, whose heads are names alone."""
    found: dict[str, list[tuple[str, str]]] = {}
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        head, *lines = block.split("\n")
        if head.strip():
            pairs = (line.strip().partition(" ") for line in lines if line.strip())
            found[head.strip()] = [(key, value) for key, _, value in pairs]
    return found


RULE_TYPES = Parameter(words=("node-affinity", "resource-affinity"))
ROUTES = (
    Route("GET", "/storage", storages, {"type": TEXT}),
    Route("GET", "/cluster/ha/rules", rules, {"type": RULE_TYPES}, AUDIT, since="9.0"),
    Route("GET", "/cluster/ha/groups", groups, check=AUDIT, until="9.0"),
    Route("GET", "/cluster/mapping/pci", _mappings("pci", "mapping/pci.cfg"), since="8.0"),
    Route("GET", "/cluster/mapping/usb", _mappings("usb", "mapping/usb.cfg"), since="8.0"),
    Route("GET", "/cluster/mapping/dir", _mappings("dir", "mapping/directory.cfg"), since="8.4"),
)

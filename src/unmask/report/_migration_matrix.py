"""All guests against all nodes at a glance."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.model.inventory import Guest, Host, Inventory, Platform
from unmask.model.migration import MigrationDocument
from unmask.model.move import Answer, Move
from unmask.report._grid import Layout, Table, draw, fit
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

NAME = 24
HERE = "."
LEGEND = (
    "live: moves while it runs; cold: only stopped; live?, cold?: not known whether; no: not at "
    "all; .: it is there."
)
LAYOUT = Layout(shrinkable={"GUEST": 12}, droppable=())
LEAST = 6
"""Columns that one node takes at least."""


def section(document: MigrationDocument, width: int, paint: Paint) -> list[str]:
    """Return the matrix; where the terminal is too narrow for all nodes, one below the other."""
    if not document.moves:
        return []
    cells = {(move.guest, move.target): cell(move) for move in document.moves}
    asked = {move.guest for move in document.moves}
    guests = [guest for guest in document.inventory.guests if guest.subject in asked]
    wanted = {move.target for move in document.moves} | {move.origin for move in document.moves}
    hosts = [host for host in document.inventory.hosts if host.subject in wanted]
    called, heads = labels(document.inventory), host_names(hosts, NAME)
    lines: list[str] = []
    for some in _pages(list(heads), heads, width):
        table: Table = {"GUEST": [called[guest.subject] for guest in guests]}
        for subject in some:
            table[heads[subject]] = [
                HERE if guest.host == subject else cells.get((guest.subject, subject), "")
                for guest in guests
            ]
        drawn = draw(fit(table, width, LAYOUT), lambda _, text: paint.cell(text))
        lines += ["", *drawn] if lines else drawn
    return [*lines, "", *wrap(LEGEND, width)]


def _pages(subjects: list[str], heads: dict[str, str], width: int) -> list[list[str]]:
    """Return the hosts in as many parts as the width asks for."""
    if not width:
        return [subjects]
    room = max(width - NAME - 2, LEAST)
    pages: list[list[str]] = [[]]
    used = 0
    for subject in subjects:
        need = max(len(heads[subject]), len("live? cold?")) + 2
        if pages[-1] and used + need > room:
            pages.append([])
            used = 0
        pages[-1].append(subject)
        used += need
    return pages


def cell(move: Move) -> str:
    """Return what becomes of one move: "live", "live? cold", "cold", "no" ..."""
    if move.live is Answer.POSSIBLE:
        return "live" if move.cold is not Answer.BLOCKED else "live only"
    parts = ["live?"] if move.live is Answer.UNKNOWN else []
    if move.cold is Answer.POSSIBLE:
        parts.append("cold")
    elif move.cold is Answer.UNKNOWN:
        parts.append("cold?")
    return " ".join(parts) or "no"


def host_names(hosts: Iterable[Host], limit: int) -> dict[str, str]:
    """Return what to call each host, by its subject; all by their subjects where two are alike."""
    names = {host.subject: clean(host.name, limit) for host in hosts}
    doubled = len(set(names.values())) < len(names)
    return {subject: clean(subject, limit) for subject in names} if doubled else names


def labels(inventory: Inventory) -> dict[str, str]:
    """Return what to call each guest, by its subject; with its site where there are several."""
    several = len({guest.site for guest in inventory.guests}) > 1
    return {
        guest.subject: f"{clean(guest.site, NAME)}:{_label(guest)}"
        if several and guest.site
        else _label(guest)
        for guest in inventory.guests
    }


def _label(guest: Guest) -> str:
    """Return "101 web" for Proxmox VE, the domain's name for libvirt."""
    name = clean(guest.name, 40)
    if guest.platform is Platform.PROXMOX:
        return f"{clean(guest.ident, 40)} {name}".strip()
    return name or clean(guest.ident, 40)

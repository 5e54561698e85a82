"""A change as a patch to review: of the guest's configuration, and of the custom models' file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from unmask.model.change import Plan, Setting
from unmask.model.fix import FixDocument
from unmask.model.inventory import Platform
from unmask.report._text import clean

MODELS = "virtual-guest/cpu-models.conf"


def render(document: FixDocument) -> str:
    """Return the patches of all plans; nothing where nothing changes."""
    made: set[str] = set()
    lines: list[str] = []
    for plan in document.plans:
        if plan.changes:
            if plan.custom_model and plan.custom_model not in made:
                made.add(plan.custom_model)
                lines += _diff(MODELS, "", plan.custom_model)
            lines += _of_guest(plan)
    return "".join(f"{safe(line)}\n" for line in lines)


def safe(line: str) -> str:
    """Return a line of a patch without what harms a terminal; its indentation stays."""
    sign, rest = line[:1], line[1:]
    inner = clean(rest)
    return f"{sign}{' ' * (len(rest) - len(rest.lstrip(' ')))}{inner}" if inner else sign.strip()


def lines(plan: Plan) -> list[str]:
    """Return the lines of a guest's configuration that go ("-") and come ("+")."""
    return [line for line in _of_guest(plan) if line[:3] not in ("---", "+++") and line[:2] != "@@"]


def _of_guest(plan: Plan) -> Iterator[str]:
    proxmox = plan.place.platform is Platform.PROXMOX
    name = f"qemu-server/{plan.place.ident}.conf" if proxmox else f"{plan.place.name}.xml"
    return _diff(name, _text(plan.before, proxmox=proxmox), _text(plan.after, proxmox=proxmox))


def _text(setting: Setting, *, proxmox: bool) -> str:
    if setting.value is None:
        return ""
    return f"cpu: {setting.value}" if proxmox else setting.value


def _diff(name: str, before: str, after: str) -> Iterator[str]:
    return difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=9
    )

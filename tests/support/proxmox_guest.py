"""Read one configuration as a guest of a small cluster."""

from __future__ import annotations

from unmask.dialects.proxmox import custom_models, guest
from unmask.dialects.proxmox.specification import Place
from unmask.model.cpu import CpuSpec, RemarkKind
from unmask.model.inventory import Guest

MODELS = custom_models.parse(
    "cpu-model: seal\n    flags +aes;+pclmulqdq\n    reported-model Westmere\n\n"
    "cpu-model: nest\n    flags +nested-virt\n"
).models
PLACE = Place("yard", "oak", models=MODELS)


def read(*lines: str, place: Place = PLACE) -> Guest:
    return guest.read("\n".join(lines) + "\n", "101", place, "yard/101.conf")


def kinds(spec: CpuSpec) -> set[RemarkKind]:
    return {remark.kind for remark in spec.remarks}


def said(spec: CpuSpec, kind: RemarkKind) -> str:
    (remark,) = spec.remarked(kind)
    return remark.text

"""The cluster's own CPU models: reading and changing cpu-models.conf (pve-manager 9.1.15).

Sources: PVE/API2/Cluster/Qemu/CustomCPUModels.pm and recorded answers.
"""

from __future__ import annotations

from unmask.cpu import catalogue
from unmask.dialects.proxmox.cpu_option import CUSTOM, CpuOption
from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Route, at
from unmask.lab.cluster import MODELS
from unmask.lab.parameters import DIGEST, FLAG, NEEDED, TEXT, Parameter
from unmask.lab.routes.capabilities import MAPPING

CHANGED = "detected modified configuration - file changed by other user? Try again."
LOCK = "cfs-lock 'file-virtual-guest_cpu-models_conf' error: no quorum!"
LOCK_WAIT = 10
"""Seconds that a write waits for a lock of the cluster."""


def _qemu_models() -> tuple[str, ...]:
    known = catalogue.proxmox_cpu_names() - frozenset(catalogue.proxmox_names())
    return tuple(sorted(known, key=str.lower))


def shown(name: str, model: CpuOption, digest: str) -> dict[str, Json]:
    """Return a model as the API has it."""
    found: dict[str, Json] = {
        "cputype": f"{CUSTOM}{name}", "digest": digest, "reported-model": model.reported_model,
    }  # fmt: skip
    if model.flags:
        found["flags"] = ";".join(f"{sign}{flag}" for sign, flag in model.flags)
    if model.hidden is not None:
        found["hidden"] = int(model.hidden)
    texts = {
        "guest-phys-bits": model.guest_phys_bits, "hv-vendor-id": model.hv_vendor_id,
        "level": model.level, "phys-bits": model.phys_bits,
    }  # fmt: skip
    return found | {key: value for key, value in texts.items() if value}


def models(call: Call) -> Json:
    """Return the models that the caller may see."""
    digest = call.cluster.digest(MODELS)
    return [
        shown(name, model, digest)
        for name, model in sorted(call.cluster.models().items())
        if call.may(f"/mapping/cpu/{name}", *MAPPING)
    ]


def _name(call: Call) -> str:
    return call.places["cputype"].removeprefix(CUSTOM)


def _may_see(call: Call) -> None:
    if not call.may(f"/mapping/cpu/{_name(call)}", *MAPPING):
        raise Refused("Permission check failed", 403)


def _may_change(call: Call) -> None:
    call.need(f"/mapping/cpu/{_name(call)}", "Mapping.Modify")


def model(call: Call) -> Json:
    """Return one model."""
    found = call.cluster.models().get(_name(call))
    if found is None:
        raise Refused(f"Custom cputype '{_name(call)}' not found")
    return shown(_name(call), found, call.cluster.digest(MODELS))


def create(call: Call) -> Json:
    """Add a model; the names of its flags are not checked."""
    name = call.text("cputype").removeprefix(CUSTOM)
    sections = _sections(call)
    if name in sections:
        raise Refused(f"custom CPU model '{name}' already exists")
    sections[name] = _given(call)
    _store(call, sections)
    return None


def update(call: Call) -> Json:
    """Change a model."""
    sections = _sections(call)
    if _name(call) not in sections:
        raise Refused(f"custom CPU model '{_name(call)}' does not exist")
    _same_digest(call)
    section = sections[_name(call)]
    section |= _given(call)
    for key in call.text("delete").split(","):
        section.pop(key, None)
    _store(call, sections)
    return None


def delete(call: Call) -> Json:
    """Take a model away; nobody asks whether a guest uses it."""
    sections = _sections(call)
    if _name(call) not in sections:
        raise Refused(f"custom CPU model '{_name(call)}' does not exist")
    _same_digest(call)
    del sections[_name(call)]
    _store(call, sections)
    # A worker that has parsed a guest before goes on with the old value; this one has not.
    call.cluster.forget_parsed()
    return None


def _same_digest(call: Call) -> None:
    given = call.text("digest")
    if given and given != call.cluster.digest(MODELS):
        raise Refused(CHANGED)


def _sections(call: Call) -> dict[str, dict[str, str]]:
    if not call.cluster.quorate:
        raise Refused(LOCK, delay=LOCK_WAIT)
    found = call.cluster.section_file(MODELS)
    return {head.partition(": ")[2]: dict(keys) for head, keys in found.items()}


def _given(call: Call) -> dict[str, str]:
    beside = ("cputype", "digest", "delete")
    return {key: str(value) for key, value in call.given.items() if key not in beside}


def _store(call: Call, sections: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f"cpu-model: {name}\n"
        + "".join(f"\t{key} {value}\n" for key, value in sorted(keys.items()))
        + "\n"
        for name, keys in sorted(sections.items())
    )
    call.cluster.store(MODELS, text, f"{call.caller.name} changed the custom CPU models")


REPORTED = Parameter(words=_qemu_models())
PROPERTIES = {
    "flags": TEXT, "guest-phys-bits": Parameter("integer", least=32, most=64), "hidden": FLAG,
    "hv-vendor-id": TEXT, "level": Parameter("integer", least=0), "phys-bits": TEXT,
}  # fmt: skip
ONE = "/cluster/qemu/custom-cpu-models/{cputype}"
ALL = "/cluster/qemu/custom-cpu-models"
ROUTES = (
    Route("GET", ALL, models, since="9.1"),
    Route("GET", ONE, model, check=_may_see, since="9.1"),
    Route(
        "POST",
        ALL,
        create,
        PROPERTIES
        | {"cputype": NEEDED, "reported-model": Parameter(needed=True, words=_qemu_models())},
        at("/mapping/cpu", "Mapping.Modify"),
        since="9.1",
    ),
    Route(
        "PUT",
        ONE,
        update,
        PROPERTIES | {"reported-model": REPORTED, "digest": DIGEST, "delete": TEXT},
        _may_change,
        since="9.1",
    ),
    Route("DELETE", ONE, delete, {"digest": DIGEST}, _may_change, since="9.1"),
)

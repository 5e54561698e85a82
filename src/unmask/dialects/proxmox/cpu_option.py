"""The value of `cpu:` in a guest's configuration, validated exactly as Proxmox does.

Sources: PVE/JSONSchema.pm (parse_property_string, check_object) and PVE/QemuServer/CPUConfig.pm
($cpu_fmt, validate_vm_cpu_conf) of qemu-server 9.2.6; the texts of errors are as its parser logs
them, so that an operator can find them again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from unmask.cpu import catalogue
from unmask.dialects.proxmox.release import NEWEST, at_least
from unmask.errors import InputError

CUSTOM = "custom-"
"""What the name of every custom model starts with in `cpu:`."""

KEYS = {
    "cputype": "7",
    "flags": "7",
    "hidden": "7",
    "hv-vendor-id": "7",
    "phys-bits": "7",
    "reported-model": "7",
    "guest-phys-bits": "9.0.18",
    "level": "9.1.14",
}
"""Keys, and the version that first has them."""

FLAG = r"[+-][a-zA-Z0-9\-_.]+"
FLAGS = re.compile(rf"{FLAG}(;{FLAG})*")
VENDOR = re.compile(r"[a-zA-Z0-9]{1,12}")
INTEGER = re.compile(r"[+-]?[0-9]+")
TRUE = re.compile(r"1|on|yes|true", re.IGNORECASE)
FALSE = re.compile(r"0|off|no|false", re.IGNORECASE)
RANGES = {"guest-phys-bits": (32, 64), "level": (0, 4294967295)}


@dataclass(frozen=True, slots=True)
class CpuOption:
    """A CPU as `cpu:` or a custom model's section describes it; "" and None where it is silent."""

    cputype: str
    flags: tuple[tuple[str, str], ...] = ()
    """Sign and name as written, in order; the same name may come twice, then the last counts."""
    hidden: bool | None = None
    hv_vendor_id: str = ""
    phys_bits: str = ""
    guest_phys_bits: str = ""
    level: str = ""
    reported_model: str = ""
    """Of a custom model only."""

    @property
    def custom(self) -> str:
        """Return the custom model's name without its prefix, "" for any other type."""
        return self.cputype.removeprefix(CUSTOM) if self.cputype.startswith(CUSTOM) else ""


def parse(text: str, models: Collection[str] | None, version: str = NEWEST) -> CpuOption:
    """Return what `cpu: TEXT` means.

    Args:
        text: The value, without leading and trailing blanks.
        models: Names of the custom models that exist, without `custom-`; None where they are not
            known, which lets every name pass.
        version: Of Proxmox VE.

    Raises:
        InputError: Proxmox drops this value; the text is the reason that it logs.
    """
    properties = split(text)
    faults = [said for key, value in properties.items() if (said := fault(key, value, version))]
    if faults:
        raise InputError("format error\n" + "\n".join(faults))
    option = build(properties)
    _validate(option, models, version)
    return option


def split(text: str) -> dict[str, str]:
    """Return the keys and values of a property string whose default key is `cputype`.

    Raises:
        InputError: A key comes twice, or a value or key is empty.
    """
    found: dict[str, str] = {}
    bare = False
    for part in text.split(","):
        if not part.strip():
            continue
        key, sign, value = part.partition("=")
        if sign and key and value:
            if key in found:
                raise InputError(f"duplicate key in comma-separated list property: {key}")
            found[key] = value
        elif sign:
            raise InputError("missing key in comma-separated list property")
        elif bare or found.get("cputype", "0") not in ("", "0"):
            raise InputError("duplicate key in comma-separated list property: cputype")
        else:
            found["cputype"] = part
            bare = True
    return found


def fault(key: str, value: str, version: str = NEWEST) -> str:
    """Return what Proxmox says against `key=value`, "" where nothing is wrong with it."""
    if key not in KEYS or not at_least(version, KEYS[key]):
        return (
            f"{key}: property is not defined in schema"
            " and the schema does not allow additional properties"
        )
    match key:
        case "hidden":
            boolean = TRUE.fullmatch(value) or FALSE.fullmatch(value)
            return "" if boolean else f"hidden: type check ('boolean') failed - got '{value}'"
        case "flags" | "hv-vendor-id":
            pattern = FLAGS if key == "flags" else VENDOR
            return (
                "" if pattern.fullmatch(value) else f"{key}: value does not match the regex pattern"
            )
        case "phys-bits":
            bits = re.fullmatch(r"[0-9]{1,2}", value)
            good = value == "host" or (bits and 8 <= int(value) <= 64)
            wanted = "value must be an integer between 8 and 64 or 'host'"
            return "" if good else f"phys-bits: invalid format - {wanted}"
        case "guest-phys-bits" | "level":
            return _out_of_range(key, value)
        case "reported-model":
            return "" if value in _models() else f"{key}: value '{value}' is not a QEMU CPU model"
    return ""


def _out_of_range(key: str, value: str) -> str:
    least, most = RANGES[key]
    if not INTEGER.fullmatch(value) or len(value) > 20:
        return f"{key}: type check ('integer') failed - got '{value}'"
    if int(value) < least:
        return f"{key}: value must have a minimum value of {least}"
    return f"{key}: value must have a maximum value of {most}" if int(value) > most else ""


def build(properties: Mapping[str, str]) -> CpuOption:
    """Return the option that properties without fault stand for."""
    flags = filter(None, properties.get("flags", "").split(";"))
    hidden = properties.get("hidden")
    return CpuOption(
        cputype=properties.get("cputype", ""),
        flags=tuple((flag[0], flag[1:]) for flag in flags),
        hidden=None if hidden is None else bool(TRUE.fullmatch(hidden)),
        hv_vendor_id=properties.get("hv-vendor-id", ""),
        phys_bits=properties.get("phys-bits", ""),
        guest_phys_bits=properties.get("guest-phys-bits", ""),
        level=properties.get("level", ""),
        reported_model=properties.get("reported-model", ""),
    )


@cache
def _models() -> frozenset[str]:
    """Return QEMU's models that Proxmox offers on any architecture."""
    return catalogue.proxmox_cpu_names() - frozenset(catalogue.proxmox_names())


@lru_cache(maxsize=16)
def _allowed(version: str) -> frozenset[str]:
    return catalogue.proxmox_vm_flags(version)


def _validate(option: CpuOption, models: Collection[str] | None, version: str) -> None:
    """Hold the rules for a guest's own `cpu:`, in Proxmox's order."""
    if option.cputype in ("", "0"):
        raise InputError("CPU is missing cputype")
    if option.cputype.startswith(CUSTOM):
        if models is not None and option.custom not in models:
            raise InputError(f"Custom cputype '{option.custom}' not found")
    elif not _defined(option.cputype, version):
        raise InputError(
            f"Built-in cputype '{option.cputype}' is not defined (missing 'custom-' prefix?)"
        )
    allowed = _allowed(version)
    if any(name not in allowed for _, name in option.flags):
        words = ", ".join(sorted(allowed))
        raise InputError(f"VM-specific CPU flags must be a subset of: {words}")
    if option.reported_model:
        raise InputError("Property 'reported-model' not allowed in VM-specific CPU config.")


def _defined(cputype: str, version: str) -> bool:
    abstract = catalogue.proxmox_model(cputype)
    if abstract is not None:
        return at_least(version, abstract.since)
    return cputype in _models()

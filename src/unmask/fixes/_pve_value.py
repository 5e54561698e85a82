"""Whether two values of `cpu` ask for the same CPU."""

from __future__ import annotations

from unmask.dialects.proxmox import cpu_option
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.errors import InputError


def same(left: str | None, right: str | None) -> bool:
    """Return whether both ask for the same, however they are spelt; an unset one is like no other.

    Proxmox VE keeps a value as it was written: `host` and `cputype=host,` are the same.
    """
    if left is None or right is None:
        return left is right
    if left == right:
        return True
    try:
        return _meant(left) == _meant(right)
    except InputError:
        return False


def _meant(text: str) -> tuple[object, ...]:
    return of_option(cpu_option.build(cpu_option.split(text)))


def of_option(option: CpuOption) -> tuple[object, ...]:
    """Return what an option asks for: of a flag that comes twice the last counts."""
    return (
        option.cputype,
        {name: sign for sign, name in option.flags},
        bool(option.hidden),
        option.hv_vendor_id,
        option.phys_bits,
        option.guest_phys_bits,
        option.level,
        option.reported_model,
    )

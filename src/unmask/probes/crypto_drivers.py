"""The implementations that the kernel's crypto API has registered: /proc/crypto."""

from __future__ import annotations

from unmask.errors import InputError
from unmask.model.inside import CryptoDriver
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number

COMMAND = """\
UNMASK_TAKE=262144
show proc/crypto
"""


def parse(section: Section) -> tuple[CryptoDriver, ...]:
    """Return the drivers in the kernel's order, newest first.

    Raises:
        InputError: There is no /proc/crypto (not Linux, or a kernel without the crypto API's list).
    """
    if "/proc/crypto" not in section:
        raise InputError("the guest's kernel has no /proc/crypto")
    return parse_text(section.text("/proc/crypto"))


def parse_text(text: str) -> tuple[CryptoDriver, ...]:
    """Return the drivers of the text of /proc/crypto; entries without a name are passed over."""
    drivers = []
    for block in text.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {key.strip(): value.strip() for key, _, value in pairs}
        if fields.get("name") and fields.get("driver"):
            drivers.append(_driver(fields))
    return tuple(drivers)


def _driver(fields: dict[str, str]) -> CryptoDriver:
    return CryptoDriver(
        algorithm=fields["name"],
        driver=fields["driver"],
        module=fields.get("module", ""),
        priority=number(fields.get("priority", "")) or 0,
        internal=fields.get("internal") == "yes",
        selftest=fields.get("selftest", ""),
        kind=fields.get("type", ""),
    )


PROBE = Probe("crypto_drivers", COMMAND, parse, limit=256 * 1024)

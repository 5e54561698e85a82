"""What lies on block devices: blkid."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside_storage import Signature
from unmask.probes._probe import Probe
from unmask.probes._section import Section

COMMAND = """\
has blkid || exit 127
part blkid
signatures
"""

_LINE = re.compile(r"^(?P<device>/[^:]{1,200}): (?P<tags>.*)$")
_KIND = re.compile(r'(?:^|\s)TYPE="([^"]*)"')


def parse(section: Section) -> tuple[Signature, ...]:
    """Return the devices that something was found on.

    Raises:
        InputError: There is no blkid in the guest.
    """
    if "blkid" not in section:
        raise InputError("blkid is not installed in the guest")
    return parse_text(section.text("blkid"))


def parse_text(text: str) -> tuple[Signature, ...]:
    """Return what blkid's text names; a device without TYPE (a bare partition) is left out."""
    found = []
    for line in text.splitlines():
        match = _LINE.match(line.strip())
        kind = _KIND.search(match["tags"]) if match else None
        if match and kind:
            found.append(Signature(match["device"], kind[1]))
    return tuple(found)


PROBE = Probe("signatures", COMMAND, parse, needs_root=True)

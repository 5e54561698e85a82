"""GELI providers of FreeBSD: geli list."""

from __future__ import annotations

import re

from unmask.model.inside_storage import Geli
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import cipher, number

# geli would load its module; it is only asked where that is loaded.
COMMAND = """\
if kldstat -q -m g_eli; then
    part list
    geli list
fi
"""

_FIELD = re.compile(r"^\s*([A-Za-z ]{1,30}): (.*)$")


def parse(section: Section) -> tuple[Geli, ...]:
    """Return the attached providers."""
    return parse_list(section.text("list"))


def parse_list(text: str) -> tuple[Geli, ...]:
    """Return the providers of `geli list`, whose blocks begin with "Geom name:"."""
    found = []
    for block in re.split(r"^Geom name: ", text, flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        # Further down "Providers:" and "Consumers:" repeat some of the names.
        own = re.split(r"^Providers:", body, flags=re.MULTILINE)[0]
        matches = (_FIELD.match(line) for line in own.splitlines())
        fields = {match[1]: match[2].strip() for match in matches if match}
        found.append(
            Geli(
                name=name.strip(),
                algorithm=cipher(fields.get("EncryptionAlgorithm", "")),
                key_bits=number(fields.get("KeyLength", "")),
                crypto=fields.get("Crypto", ""),
                state=fields.get("State", ""),
            )
        )
    return tuple(found)


PROBE = Probe("geli", COMMAND, parse)

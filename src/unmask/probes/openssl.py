"""OpenSSL's version, and the CPU capabilities that it sees."""

from __future__ import annotations

import re

from unmask.model.inside_programs import OpenSsl
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import unique

COMMAND = """\
if has openssl; then
    part version
    openssl version
    part capabilities
    openssl version -c
fi
part masks
set --
for file in etc/environment etc/profile etc/profile.d/* etc/default/* etc/sysconfig/* \\
    etc/systemd/system/*.service etc/systemd/system/*.d/*.conf etc/systemd/system.conf; do
    if [ -f "$file" ] && [ -r "$file" ]; then
        set -- "$@" "$file"
    fi
done
grep -l -E '^[^#]*OPENSSL_(ia32|arm|ppc|s390x)cap' "$@" /dev/null | sed 's|^|/|'
"""

_VERSION = re.compile(r"^((?:OpenSSL|LibreSSL|BoringSSL) [0-9][\w.+-]*)", re.MULTILINE)
_CAPABILITIES = re.compile(r"OPENSSL_\w+cap=((?:0x)?[0-9a-f]+(?::0x[0-9a-f]+)*)")


def parse(section: Section) -> OpenSsl:
    """Return what there is."""
    version = _VERSION.search(section.text("version"))
    capabilities = _CAPABILITIES.search(section.text("capabilities"))
    return OpenSsl(
        version=version[1] if version else "",
        capabilities=capabilities[1] if capabilities else "",
        masks=unique(line for line in section.lines("masks") if line[0] == "/"),
    )


PROBE = Probe("openssl", COMMAND, parse)

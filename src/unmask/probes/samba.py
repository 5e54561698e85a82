"""Samba: whether it encrypts."""

from __future__ import annotations

import re

from unmask.model.inside_tunnels import Samba
from unmask.probes._probe import Probe
from unmask.probes._section import Section

COMMAND = r"""
if has smbd; then
    part version
    smbd -V
fi
p='^[[:space:]]*(\[|(server )?smb encrypt|server signing|client smb encrypt)'
if has testparm; then
    part settings
    testparm -s | grep -i -E "$p"
else
    pick "$p" etc/samba/smb.conf usr/local/etc/smb4.conf etc/config/samba4
fi
"""

_NAME = re.compile(r"[a-z ]{1,40}", re.IGNORECASE)
_VALUE = re.compile(r"[A-Za-z0-9 _-]{1,40}")
_VALUES = {
    "mandatory": "required",
    "true": "required",
    "yes": "required",
    "auto": "desired",
    "enabled": "desired",
    "disabled": "off",
    "no": "off",
    "false": "off",
}
"""Other spellings of the parameter's values (smb.conf(5), loadparm's enum_smb_encryption_vals)."""


def parse(section: Section) -> Samba:
    """Return what there is; "default" where the configuration was read and does not say."""
    text = section.text("settings") or "\n".join(section.text(part) for part in section.below("/"))
    version = re.match(r"\s*Version (\S{1,40})", section.text("version"))
    settings = _settings(text)
    encryption: dict[str, str] = {}
    for share, values in settings.items():
        value = values.get("server smb encrypt", values.get("smb encrypt", "")).lower()
        if value:
            encryption[share] = _VALUES.get(value, value)
    overall = encryption.pop("global", "default" if settings else "")
    return Samba(
        version=version[1] if version else "",
        encryption=overall,
        shares=tuple(sorted(encryption.items())),
        signing=settings.get("global", {}).get("server signing", "").lower(),
    )


def _settings(text: str) -> dict[str, dict[str, str]]:
    """Return the settings of each section; names are lower-cased for "global" only."""
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for line in text.splitlines():
        head = re.match(r"\[([^\]]{1,80})\]", line.lstrip())
        setting, _, value = (word.strip() for word in line.partition("="))
        if head:
            name = "global" if head[1].lower() == "global" else head[1]
            current = found.setdefault(name, {})
        elif current is not None and _NAME.fullmatch(setting) and _VALUE.fullmatch(value):
            current[setting.lower()] = value
    return found


PROBE = Probe("samba", COMMAND, parse)

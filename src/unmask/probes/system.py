"""The operating system: release, kernel, C library, and the appliance built on it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass

from unmask.errors import InputError
from unmask.model.inside import System
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number

COMMAND = """\
uname -s
uname -r
uname -m
keys='^(ID|ID_LIKE|VERSION_ID|PRETTY_NAME)='
pick "$keys" etc/os-release
if [ ! -f etc/os-release ]; then
    pick "$keys" usr/lib/os-release
fi
show etc/version etc/platform etc/alpine-release etc/openwrt_release etc/redhat-release \\
    etc/unraid-version etc.defaults/VERSION usr/local/opnsense/version/core \\
    usr/local/opnsense/version/opnsense proc/uptime
part found
found usr/bin/midclt usr/bin/pveversion usr/sbin/proxmox-backup-manager usr/sbin/omv-confdbadm
part libc
getconf GNU_LIBC_VERSION || ldd --version 2>&1 | head -n 2
part loader
for loader in /lib64/ld-linux-x86-64.so.2; do
    if [ -x "$loader" ]; then
        "$loader" --help | grep -E '^ +x86-64-v[2-4] .*supported'
    fi
done
part boottime
date +%s
sysctl -n kern.boottime
"""

_LEVEL = re.compile(r"^[ \t]*(x86-64-v[2-4]) \(supported", re.MULTILINE)
_BOOT = re.compile(r"^(\d{9,11})\s+\{ sec = (\d{9,11}),")
_MUSL = re.compile(r"musl libc.{0,200}?\bVersion\s{1,9}([0-9.]{1,40})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Appliance:
    name: str = ""
    version: str = ""


def parse(section: Section) -> System:
    """Return the system.

    Raises:
        InputError: It does not even name its kernel.
    """
    kernel = [line.strip() for line in section.lines()]
    if not kernel:
        raise InputError("the guest's system does not tell its name")
    release = _release(section)
    appliance = _appliance(section, release, kernel[0])
    return System(
        kernel_name=kernel[0],
        kernel=kernel[1] if len(kernel) > 1 else "",
        machine=kernel[2] if len(kernel) > 2 else "",
        ident=_ident(section, release, kernel[0]),
        like=tuple(release.get("ID_LIKE", "").split()),
        version=release.get("VERSION_ID", "") or section.first("/etc/alpine-release"),
        name=release.get("PRETTY_NAME", "") or section.first("/etc/redhat-release"),
        appliance=appliance.name,
        appliance_version=appliance.version,
        libc=_libc(section),
        levels=tuple(sorted(set(_LEVEL.findall(section.text("loader"))))),
        uptime=_uptime(section),
    )


def _release(section: Section) -> dict[str, str]:
    """Return the assignments of os-release, which is shell (os-release(5))."""
    part = "/etc/os-release" if "/etc/os-release" in section else "/usr/lib/os-release"
    values: dict[str, str] = {}
    for line in section.lines(part):
        name, equals, value = line.strip().partition("=")
        if equals and re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            try:
                values[name] = " ".join(shlex.split(value[:500]))
            except ValueError:
                values[name] = value.strip("\"'")[:500]
    return values


def _ident(section: Section, release: dict[str, str], kernel: str) -> str:
    if release.get("ID"):
        return release["ID"].lower()
    for part, ident in (("/etc/alpine-release", "alpine"), ("/etc/openwrt_release", "openwrt")):
        if part in section:
            return ident
    if section.first("/etc/redhat-release").startswith("CentOS"):
        return "centos"
    return "freebsd" if kernel == "FreeBSD" else ""


def _appliance(section: Section, release: dict[str, str], kernel: str) -> _Appliance:
    version = section.first("/etc/version")
    if section.first("/etc/platform") == "pfSense":
        return _Appliance("pfSense", version)
    for part in ("/usr/local/opnsense/version/core", "/usr/local/opnsense/version/opnsense"):
        if part in section:
            return _Appliance("OPNsense", _opnsense(section.text(part)))
    if match := re.match(r"(TrueNAS|FreeNAS)-(\S+)", version):
        return _Appliance("TrueNAS CORE" if kernel == "FreeBSD" else "TrueNAS SCALE", match[2])
    tools = section.lines("found")
    if kernel == "Linux" and ("/usr/bin/midclt" in tools or release.get("ID") == "truenas"):
        return _Appliance("TrueNAS SCALE", version)
    if "/etc/unraid-version" in section:
        return _Appliance(
            "Unraid", section.first("/etc/unraid-version").partition("=")[2].strip('"')
        )
    if "/etc.defaults/VERSION" in section:
        match = re.search(
            r'^productversion="([\d.]+)"', section.text("/etc.defaults/VERSION"), re.MULTILINE
        )
        return _Appliance("Synology DSM", match[1] if match else "")
    names = {
        "/usr/bin/pveversion": "Proxmox VE",
        "/usr/sbin/proxmox-backup-manager": "Proxmox Backup Server",
        "/usr/sbin/omv-confdbadm": "openmediavault",
    }
    return _Appliance(next((name for tool, name in names.items() if tool in tools), ""))


def _opnsense(text: str) -> str:
    """Return the version of OPNsense: JSON (core) or a bare line (opnsense, before 19.7)."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        match = re.match(r"\s*([0-9][\w.]*)", text)
        return match[1] if match else ""
    product = value.get("product_version", "") if isinstance(value, dict) else value
    return str(product)[:40] if isinstance(product, str | int | float) else ""


def _libc(section: Section) -> str:
    text = section.text("libc")
    if match := re.match(r"glibc ([0-9.]+)", text):
        return f"glibc {match[1]}"
    if match := re.match(r"ldd \(.*\) ([0-9.]+)", text):
        return f"glibc {match[1]}"
    match = _MUSL.search(text)
    return f"musl {match[1]}" if match else ""


def _uptime(section: Section) -> int | None:
    if "/proc/uptime" in section:
        return number(section.first("/proc/uptime").partition(".")[0])
    match = _BOOT.match(" ".join(section.text("boottime").split()))
    return max(int(match[1]) - int(match[2]), 0) if match else None


PROBE = Probe("system", COMMAND, parse)

"""OpenZFS: version, pools, which datasets are encrypted, and the implementations it can use."""

from __future__ import annotations

import re

from unmask.model.inside_storage import Choice, Zfs, ZfsDataset, ZfsPool
from unmask.probes._probe import Probe
from unmask.probes._section import Section

# zfs and zpool would load the module; they are only asked where it is loaded.
COMMAND = """\
if [ -d sys/module/zfs ] || kldstat -q -m zfs; then
    show sys/module/zfs/version
    for module in icp zfs; do
        show "sys/module/$module/parameters/icp_aes_impl" \\
            "sys/module/$module/parameters/icp_gcm_impl"
    done
    part version
    zfs version
    part pools
    zpool list -H -o name,health
    part datasets
    echo 'NAME	TYPE	ENCRYPTION	KEYSTATUS	ENCROOT	MOUNTED'
    zfs list -H -t filesystem,volume -o name,type,encryption,keystatus,encryptionroot,mounted ||
        zfs list -H -t filesystem,volume -o name,type
fi
"""

_GET = re.compile(r"(encryption|keystatus|encryptionroot|mounted|type|keyformat)")
_CIPHER = re.compile(r"on|off|-|aes-\d{3}-[a-z]{3}")
_STATUS = re.compile(r"available|unavailable")
_HEALTH = re.compile(r"[A-Z]{4,12}")
_IMPLEMENTATION = re.compile(r"[a-z0-9_-]{1,30}")
_WORD = re.compile(r"\[?([A-Za-z0-9_-]{1,30})\]?")


def parse(section: Section) -> Zfs:
    """Return what there is; all empty where the module is not loaded."""
    version = section.first("/sys/module/zfs/version") or _kmod(section)
    pools = (line.split("\t") for line in section.lines("pools"))
    return Zfs(
        version=version,
        pools=tuple(
            ZfsPool(fields[0], fields[1])
            for fields in pools
            if len(fields) == 2 and _HEALTH.fullmatch(fields[1])
        ),
        datasets=parse_datasets(section.text("datasets")),
        aes=_choice(section, "icp_aes_impl"),
        gcm=_choice(section, "icp_gcm_impl"),
    )


def _kmod(section: Section) -> str:
    lines = [line.strip() for line in section.lines("version")]
    module = [line.removeprefix("zfs-kmod-") for line in lines if line.startswith("zfs-kmod-")]
    tools = [line.removeprefix("zfs-") for line in lines if re.match(r"zfs-\d", line)]
    return next(iter((*module, *tools)), "")


def _choice(section: Section, name: str) -> Choice | None:
    """Return a parameter, from the module zfs (2.2+) or icp (2.0 and 2.1)."""
    for module in ("zfs", "icp"):
        words = section.first(f"/sys/module/{module}/parameters/{name}").split()
        if words:
            return choice(" ".join(words))
    return None


def choice(text: str) -> Choice:
    """Return what a line like "cycle [fastest] generic x86_64 aesni" says."""
    words = text.split()[:40]
    chosen = next(
        (match[1] for word in words if word[0] == "[" and (match := _WORD.match(word))), ""
    )
    names = (word.strip("[]") for word in words)
    offered = [name for name in names if _IMPLEMENTATION.fullmatch(name)]
    return Choice(chosen, tuple(name for name in offered if name not in ("cycle", "fastest")))


def parse_datasets(text: str) -> tuple[ZfsDataset, ...]:
    """Return the datasets of `zfs list` (with a heading) or `zfs get -H` (one property a line).

    Accepts tabs or aligned columns, any order of columns, and lower-case headings.
    """
    columns: list[str] = []
    tables: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        words = line.split("\t") if "\t" in line else line.split()
        if words and words[0].upper() == "NAME":
            columns = [word.strip().lower() for word in words]
        elif columns and len(words) > 1:
            values = dict(zip(columns, (word.strip() for word in words), strict=False))
            if _credible(values):
                tables.setdefault(words[0], values)
        elif len(words) >= 3 and _GET.fullmatch(words[1]):
            tables.setdefault(words[0], {})[words[1]] = words[2].strip()
    return tuple(_dataset(name, values) for name, values in tables.items())


def _credible(values: dict[str, str]) -> bool:
    """Return whether a line of a table is one of a dataset, and no message in between."""
    if "encryption" not in values and "type" not in values:
        return False
    kind = values.get("type", "filesystem") in ("filesystem", "volume", "snapshot")
    return kind and _CIPHER.fullmatch(values.get("encryption", "off")) is not None


def _dataset(name: str, values: dict[str, str]) -> ZfsDataset:
    status = _STATUS.fullmatch(values.get("keystatus", ""))
    encryption = _CIPHER.fullmatch(values.get("encryption", ""))
    root = values.get("encroot", values.get("encryptionroot", "-"))
    return ZfsDataset(
        name=name,
        encryption=encryption[0] if encryption else "",
        kind=values.get("type", ""),
        keystatus=status[0] if status else "",
        encryption_root="" if root == "-" else root,
        mounted={"yes": True, "no": False}.get(values.get("mounted", "")),
    )


PROBE = Probe("zfs", COMMAND, parse, limit=512 * 1024, seconds=10)

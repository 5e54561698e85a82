"""The hardware of a node, and what its pveproxy tells about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from unmask.dialects import cpuinfo
from unmask.model.cpu import HostCpu

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Host:
    """One physical machine."""

    cpuinfo: str
    """What /proc/cpuinfo says of its first processor."""
    processors: int = 16
    sockets: int = 1
    memory: int = 64 * GIB
    """Bytes."""
    disk: int = 200 * GIB
    boot_mode: str = "efi"
    kernel: str = ""
    """A kernel of its own, pinned by somebody; "" for the edition's."""
    qemu: str = ""
    """An older QEMU, where the node is not updated yet."""
    release: str = ""
    """An older pve-manager there."""

    @property
    def cpu(self) -> HostCpu:
        """Return the physical CPU."""
        return cpuinfo.parse(self.cpuinfo)

    def field(self, name: str) -> str:
        """Return one line of /proc/cpuinfo, "" where it is not there."""
        match = re.search(rf"^{re.escape(name)}\s*: ?(.*)$", self.cpuinfo, re.MULTILINE)
        return match[1] if match else ""

    def proc_cpuinfo(self) -> str:
        """Return the whole of /proc/cpuinfo."""
        block = self.cpuinfo.strip("\n")
        return "".join(
            re.sub(r"^(processor\s*: ).*$", rf"\g<1>{number}", block, count=1, flags=re.MULTILINE)
            + "\n\n"
            for number in range(self.processors)
        )

    def described(self, *, vendor: bool) -> Mapping[str, object]:
        """Return `cpuinfo` of the node's status; `vendor` and `family` are 9.x's own."""
        found: dict[str, object] = {
            "cores": self.processors // (2 if " ht " in f" {self.field('flags')} " else 1),
            "cpus": self.processors,
            "flags": self.field("flags"),
            "hvm": "1" if re.search(r"\b(vmx|svm)\b", self.field("flags")) else "",
            "mhz": self.field("cpu MHz"),
            "model": self.field("model name"),
            "sockets": self.sockets,
            "user_hz": 100,
        }
        if vendor:
            found |= {"family": self.field("cpu family"), "vendor": self.field("vendor_id")}
        return found

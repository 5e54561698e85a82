"""One encrypted volume in the making, and what its formats are called."""

from __future__ import annotations

from dataclasses import dataclass, field

from unmask.model.inside_storage import VolumeKind
from unmask.workloads._asked import listed

SIGNATURES = {
    "crypto_LUKS": VolumeKind.LUKS,
    "BitLocker": VolumeKind.BITLOCKER,
    "crypto_BITLK": VolumeKind.BITLOCKER,
    "FVE": VolumeKind.BITLOCKER,
}
"""How blkid and lsblk call what holds ciphertext (util-linux, libblkid)."""
WORDS = {
    VolumeKind.LUKS: "LUKS",
    VolumeKind.LUKS1: "LUKS1",
    VolumeKind.LUKS2: "LUKS2",
    VolumeKind.PLAIN: "dm-crypt without a header",
    VolumeKind.BITLOCKER: "BitLocker",
    VolumeKind.VERACRYPT: "VeraCrypt",
    VolumeKind.FILEVAULT: "FileVault",
    VolumeKind.UNKNOWN: "dm-crypt",
}
_LUKS = frozenset((VolumeKind.LUKS, VolumeKind.LUKS1, VolumeKind.LUKS2))
HEADED = frozenset((*_LUKS, VolumeKind.BITLOCKER))
"""Formats whose header blkid knows, so that a mapping of theirs has a device that is seen."""
_SAID = 6
"""Sentences on one volume."""


@dataclass(slots=True)
class Volume:
    """One volume in the making."""

    kind: VolumeKind
    device: str = ""
    """The kernel's name of what lies below: "vdb1"."""
    mapping: str = ""
    """The name under which it is open, or is to be opened."""
    cipher: str = ""
    key_bits: int | None = None
    size: str = ""
    """As lsblk prints it."""
    mountpoints: tuple[str, ...] = ()
    open: bool = False
    headed: bool = False
    """Its header was seen inside."""
    listed: bool = False
    """/etc/crypttab has it."""
    disk: str = ""
    """Where the host sees it: "scsi1, partition 2"."""
    evidence: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return what to call it."""
        place = next(iter(self.mountpoints), "")
        return self.mapping or self.device or place or self.disk or "a device without a name"

    @property
    def used(self) -> str:
        """Return "mounted at /srv", "used as swap", or "" where neither was seen."""
        places = [place for place in self.mountpoints if place != "[SWAP]"]
        mounted = f"mounted at {listed(places[:3])}" if places else ""
        swap = "used as swap" if "[SWAP]" in self.mountpoints else ""
        return ", ".join(filter(None, (mounted, swap)))

    def say(self, sentence: str) -> None:
        """Add a sentence of evidence, while there are few."""
        if len(self.evidence) < _SAID:
            self.evidence.append(sentence)

    def learn(self, kind: VolumeKind, cipher: str, key_bits: int | None) -> None:
        """Fill in what was not known of it."""
        vague = (VolumeKind.UNKNOWN, VolumeKind.LUKS)
        self.kind = kind if self.kind in vague and kind is not VolumeKind.UNKNOWN else self.kind
        self.cipher = self.cipher or cipher
        self.key_bits = self.key_bits or key_bits

    def fits(self, kind: VolumeKind, cipher: str, key_bits: int | None) -> bool:
        """Return whether nothing known of it speaks against being such a volume."""
        return (
            _same_kind(self.kind, kind)
            and (not (self.cipher and cipher) or self.cipher == cipher)
            and (not (self.key_bits and key_bits) or self.key_bits == key_bits)
        )


def described(kind: VolumeKind, cipher: str, key_bits: int | None) -> str:
    """Return "LUKS2, aes-xts-plain64, 512-bit key"."""
    bits = f"{key_bits}-bit key" if key_bits else ""
    return ", ".join(filter(None, (WORDS[kind], cipher, bits)))


def _same_kind(one: VolumeKind, other: VolumeKind) -> bool:
    if VolumeKind.UNKNOWN in (one, other) or one is other:
        return True
    return {one, other} <= _LUKS and VolumeKind.LUKS in (one, other)

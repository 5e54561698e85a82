"""Block devices and file systems of a guest, and how they are encrypted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class VolumeKind(StrEnum):
    """The format of an encrypted volume."""

    LUKS = "luks"
    """One of the LUKS versions, not known which."""
    LUKS1 = "luks1"
    LUKS2 = "luks2"
    PLAIN = "plain"
    """dm-crypt without a header."""
    BITLOCKER = "bitlocker"
    VERACRYPT = "veracrypt"
    """TrueCrypt or VeraCrypt."""
    FILEVAULT = "filevault"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BlockDevice:
    """One device as lsblk shows it; the tuple of them is in lsblk's order, parents first."""

    name: str
    """"vda1", "luksdata"; "" where the recording has no names."""
    kind: str = ""
    """lsblk's TYPE: "disk", "part", "crypt", "lvm", "raid1", "rom", "loop"; "" if not shown."""
    filesystem: str = ""
    """lsblk's FSTYPE: "crypto_LUKS", "BitLocker", "zfs_member", "ext4"; "" if none or not shown."""
    mountpoints: tuple[str, ...] = ()
    """Where it is mounted, "[SWAP]" included."""
    parent: int | None = None
    """Index of the device below it; None for the bottom."""
    size: str = ""
    """As lsblk prints it: "4G", or bytes."""

    @property
    def encrypted(self) -> bool:
        """Return whether it holds ciphertext."""
        return self.filesystem in ("crypto_LUKS", "BitLocker", "crypto_BITLK", "FVE")


@dataclass(frozen=True, slots=True)
class Signature:
    """What blkid found on a device."""

    device: str
    """"/dev/nvme0n1p3"."""
    kind: str
    """blkid's TYPE: "crypto_LUKS", "BitLocker", "zfs_member" ..."""


@dataclass(frozen=True, slots=True)
class DmCrypt:
    """A dm-crypt mapping that is open now (`dmsetup table`), without its key."""

    name: str
    kind: VolumeKind
    cipher: str = ""
    """"aes-xts-plain64", "capi:gcm(aes)-random"; "" where only root may see it."""
    key_bits: int | None = None
    """Bits of the volume key; XTS uses half of them for AES."""
    keyring: bool = False
    """The key is in the kernel's keyring."""
    device: str = ""
    """Number of the device below, "254:16"."""
    sector_size: int | None = None
    """Bytes, where it is not 512."""
    authenticated: bool = False
    """There is a tag for each sector (dm-integrity below)."""


@dataclass(frozen=True, slots=True)
class LuksHeader:
    """The header of an encrypted volume, open or not (`cryptsetup luksDump`, `bitlkDump`)."""

    device: str
    kind: VolumeKind
    cipher: str = ""
    """"aes-xts-plain64"."""
    key_bits: int | None = None
    sector_size: int | None = None
    """Bytes; None where the header does not tell."""
    integrity: str = ""
    """"hmac(sha256)", "aead"; "" for none."""
    pbkdf: tuple[str, ...] = ()
    """Key derivation of each slot: "argon2id", "pbkdf2"."""


@dataclass(frozen=True, slots=True)
class CrypttabEntry:
    """A volume that /etc/crypttab opens at boot."""

    name: str
    kind: VolumeKind
    sources: tuple[str, ...]
    """Devices as written, escapes resolved: "UUID=..."; more than one where a name is repeated."""
    cipher: str = ""
    """The option `cipher=` of a plain mapping."""
    key_bits: int | None = None
    """The option `size=`."""
    automatic: bool = True
    """False with `noauto`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter of OpenZFS that selects an implementation ("cycle [fastest] generic aesni")."""

    chosen: str
    """The word in brackets; "fastest" does not say which one that is."""
    offered: tuple[str, ...]
    """Implementations that this CPU can run, without "cycle" and "fastest"."""


@dataclass(frozen=True, slots=True)
class ZfsDataset:
    """A file system or volume of ZFS."""

    name: str
    encryption: str
    """"off", "aes-256-gcm", "aes-256-ccm" ...; "" where ZFS does not show it (before 0.8 it has
    none)."""
    kind: str = ""
    """"filesystem", "volume"; "" if not shown."""
    keystatus: str = ""
    """"available", "unavailable"; "" where it is not encrypted."""
    encryption_root: str = ""
    mounted: bool | None = None

    @property
    def encrypted(self) -> bool:
        """Return whether its data is encrypted by ZFS."""
        return self.encryption not in ("", "off", "-")


@dataclass(frozen=True, slots=True)
class ZfsPool:
    """A pool that is imported."""

    name: str
    health: str = ""
    """"ONLINE", "DEGRADED", "SUSPENDED" ..."""


@dataclass(frozen=True, slots=True)
class Zfs:
    """OpenZFS in the guest; all empty where it has none."""

    version: str = ""
    """Of the module where that is loaded, else of the tools: "2.1.11-1+deb12u1"."""
    pools: tuple[ZfsPool, ...] = ()
    datasets: tuple[ZfsDataset, ...] = ()
    aes: Choice | None = None
    """icp_aes_impl."""
    gcm: Choice | None = None
    """icp_gcm_impl."""

    @property
    def encrypted(self) -> tuple[ZfsDataset, ...]:
        """Return the datasets that are encrypted."""
        return tuple(dataset for dataset in self.datasets if dataset.encrypted)


@dataclass(frozen=True, slots=True)
class Geli:
    """A GELI provider that is attached (FreeBSD)."""

    name: str
    """"ada0p3.eli"."""
    algorithm: str = ""
    """"AES-XTS"."""
    key_bits: int | None = None
    crypto: str = ""
    """Who encrypts: "software", "accelerated software", "hardware"."""
    state: str = ""
    """"ACTIVE", "SUSPENDED"."""


@dataclass(frozen=True, slots=True)
class BitLockerVolume:
    """A volume of Windows, encrypted or not."""

    volume: str
    """"C:", or the volume's name."""
    method: str
    """"XTS-AES-128", "AES-CBC-256", "AES-CBC-128+diffuser", "hardware", "none"."""
    status: str = ""
    """"decrypted", "encrypted", "encrypting", "decrypting", "paused"."""
    protected: bool | None = None
    locked: bool | None = None

    @property
    def encrypted(self) -> bool:
        """Return whether the processor encrypts it."""
        return self.method not in ("", "none", "hardware")


@dataclass(frozen=True, slots=True)
class FileEncryption:
    """File-level encryption that is mounted or set up."""

    kind: str
    """"ecryptfs", "gocryptfs", "encfs", "cryfs", "securefs", "rclone", "fscrypt", "veracrypt"."""
    mountpoint: str = ""
    source: str = ""
    cipher: str = ""
    """Where a mount option tells it: "aes"."""
    key_bits: int | None = None

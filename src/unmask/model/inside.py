"""What was read inside a guest: its system, its CPU view, and what is encrypted there.

Each field of `Inside` holds what one probe of `unmask.probes` read, or why it could not. A guest is
not trusted: texts are bounded and without control characters, and no key, password or passphrase
ever gets into one of these classes.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.cpu import HostCpu
from unmask.model.inside_programs import BackupTool, Database, OpenSsl, TlsProcess, TlsService
from unmask.model.inside_storage import (
    BitLockerVolume,
    BlockDevice,
    CrypttabEntry,
    DmCrypt,
    FileEncryption,
    Geli,
    LuksHeader,
    Signature,
    Zfs,
)
from unmask.model.inside_tunnels import IpSec, Listener, OpenVpn, Samba, SshServer, WireGuard
from unmask.model.reading import Missing, Reading

UNASKED = Missing("nobody has looked inside the guest")


@dataclass(frozen=True, slots=True)
class System:
    """The operating system that runs in the guest."""

    kernel_name: str
    """"Linux", "FreeBSD", "Windows" ...; as `uname -s` says it."""
    kernel: str = ""
    """The kernel's release: "6.1.0-50-cloud-amd64", "14.1-RELEASE-p5", "10.0.20348"."""
    machine: str = ""
    """The architecture as the system calls it: "x86_64", "amd64", "aarch64"."""
    ident: str = ""
    """`ID` of /etc/os-release: "debian", "rhel", "alpine", "freebsd", "windows"."""
    like: tuple[str, ...] = ()
    """`ID_LIKE` of /etc/os-release."""
    version: str = ""
    """`VERSION_ID`: "12", "9.4", "14.1"; the build of Windows."""
    name: str = ""
    """The name for people: "Debian GNU/Linux 12 (bookworm)"."""
    appliance: str = ""
    """What is built on that system: "TrueNAS SCALE", "pfSense", "OPNsense", "Proxmox VE" ..."""
    appliance_version: str = ""
    libc: str = ""
    """The C library and its version: "glibc 2.36", "musl 1.2.5"; "" where it is not known."""
    levels: tuple[str, ...] = ()
    """The x86-64 levels that glibc's loader finds supported here: "x86-64-v2" ..."""
    uptime: int | None = None
    """Seconds since it was started."""


@dataclass(frozen=True, slots=True)
class Virtualisation:
    """What the guest can tell about what runs it."""

    detected: str = ""
    """The word of systemd-detect-virt, or FreeBSD's kern.vm_guest: "kvm", "qemu", "none" ..."""
    container: str = ""
    """The container around it ("lxc", "docker"); "" for none."""
    vendor: str = ""
    """DMI sys_vendor: "QEMU", "Amazon EC2", "Hetzner" ..."""
    product: str = ""
    """DMI product_name: "Standard PC (i440FX + PIIX, 1996)"."""
    version: str = ""
    """DMI product_version, which is QEMU's machine type: "pc-i440fx-9.2+pve1"."""
    hypervisor_flag: bool = False
    """The CPU itself says that it is virtual."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What the guest has and how busy it is."""

    processors: int | None = None
    memory: int | None = None
    """Kibibytes."""
    available: int | None = None
    """Kibibytes that programs can still take."""
    load: str = ""
    """The load averages of 1, 5 and 15 minutes: "0.10 0.22 0.31"."""
    steal_permille: int | None = None
    """Thousandths of all processor time since the start that the host gave to others."""


@dataclass(frozen=True, slots=True)
class CryptoDriver:
    """One implementation that the kernel's crypto API has registered (/proc/crypto).

    An algorithm appears when something first asks for it, so that absence proves nothing. Nor does
    every name: `unmask.crypto.drivers` says what one means.
    """

    algorithm: str
    """"xts(aes)", "gcm(aes)", "sha256"."""
    driver: str
    """"xts-aes-aesni", "xts(ecb(aes-generic))"."""
    module: str = ""
    priority: int = 0
    """The highest one that is not internal serves who asks for the algorithm."""
    internal: bool = False
    selftest: str = ""
    """"passed" or "unknown"; "unknown" for long means that the self-test died."""
    kind: str = ""
    """"skcipher", "aead", "shash" ..."""


@dataclass(frozen=True, slots=True)
class KernelCrypto:
    """Modules, parameters and messages of the kernel that bear on encryption."""

    modules: tuple[str, ...] = ()
    """Loaded modules that have to do with encryption, sorted, as lsmod or kldstat spell them."""
    aesni_available: bool | None = None
    """The module aesni_intel exists or is built in; None where that could not be seen."""
    aesni_built_in: bool = False
    devices: tuple[str, ...] = ()
    """FreeBSD's crypto devices with what they offer: "aesni0: AES-CBC,AES-GCM"."""
    messages: tuple[str, ...] = ()
    """Lines of the kernel's log on encryption and on missing features, oldest first."""
    parameters: tuple[str, ...] = ()
    """Words of the kernel's command line that hide features or modules: "clearcpuid=129"."""
    fips: bool | None = None

    def loaded(self, module: str) -> bool:
        """Return whether a module is loaded; "-" and "_" are the same in its name."""
        return module.replace("-", "_") in {name.replace("-", "_") for name in self.modules}


@dataclass(frozen=True, slots=True)
class Partial:
    """A probe whose reading may be less than there is."""

    probe: str
    """The field of `Inside`."""
    reason: str
    needs: str = ""
    """What would let the rest be read: "root in the guest"."""


@dataclass(frozen=True, slots=True)
class Inside:
    """Everything that one visit to a guest has read; a tuple that is known and empty means none."""

    root: bool | None = None
    """Whether it was read with root's (an administrator's) rights; None where nothing told."""
    system: Reading[System] = UNASKED
    virtualisation: Reading[Virtualisation] = UNASKED
    resources: Reading[Resources] = UNASKED
    cpu: Reading[HostCpu] = UNASKED
    crypto_drivers: Reading[tuple[CryptoDriver, ...]] = UNASKED
    kernel_crypto: Reading[KernelCrypto] = UNASKED
    openssl: Reading[OpenSsl] = UNASKED
    block_devices: Reading[tuple[BlockDevice, ...]] = UNASKED
    signatures: Reading[tuple[Signature, ...]] = UNASKED
    dm_crypt: Reading[tuple[DmCrypt, ...]] = UNASKED
    luks_headers: Reading[tuple[LuksHeader, ...]] = UNASKED
    crypttab: Reading[tuple[CrypttabEntry, ...]] = UNASKED
    zfs: Reading[Zfs] = UNASKED
    geli: Reading[tuple[Geli, ...]] = UNASKED
    bitlocker: Reading[tuple[BitLockerVolume, ...]] = UNASKED
    file_encryption: Reading[tuple[FileEncryption, ...]] = UNASKED
    listeners: Reading[tuple[Listener, ...]] = UNASKED
    tls_processes: Reading[tuple[TlsProcess, ...]] = UNASKED
    tls_services: Reading[tuple[TlsService, ...]] = UNASKED
    openvpn: Reading[tuple[OpenVpn, ...]] = UNASKED
    ipsec: Reading[IpSec] = UNASKED
    wireguard: Reading[tuple[WireGuard, ...]] = UNASKED
    ssh: Reading[SshServer] = UNASKED
    samba: Reading[Samba] = UNASKED
    backups: Reading[tuple[BackupTool, ...]] = UNASKED
    databases: Reading[tuple[Database, ...]] = UNASKED
    partial: tuple[Partial, ...] = ()
    """In the order of the fields."""

    def serving(self, algorithm: str) -> CryptoDriver | None:
        """Return the kernel's driver that serves `algorithm` now; None where none is registered.

        Raises:
            UnreadError: The drivers are not known.
        """
        fitting = [
            driver
            for driver in self.crypto_drivers.value
            if driver.algorithm == algorithm and not driver.internal
        ]
        return max(fitting, key=lambda driver: driver.priority, default=None)

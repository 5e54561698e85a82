"""Benchmarks of a guest's or node's cryptography: what was run, what came of it, what it means."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.cpu import Accelerator, HostCpu
from unmask.model.finding import Confidence
from unmask.model.inside import UNASKED, Resources, System, Virtualisation
from unmask.model.inside_programs import OpenSsl
from unmask.model.reading import Reading

PLAIN = "plain"
"""The setting that changes nothing: the program as it finds itself."""
MASKED = "masked"
"""AES-NI and PCLMULQDQ hidden from the library."""
WITHOUT_PCLMULQDQ = "without-pclmulqdq"
FORCED = "forced"
"""The library made to use AES-NI and PCLMULQDQ whatever the CPU's flags say."""
PADLOCK = "padlock"
"""OpenSSL's engine for VIA's PadLock."""
WHAT_IF = "what-if"
"""Ends the method of a result whose settings are CPU models."""


class Tool(StrEnum):
    """What measured."""

    OPENSSL = "openssl"
    CRYPTSETUP = "cryptsetup"
    ZFS = "zfs"
    """Reads and writes of a file on an encrypted dataset."""
    FILE = "file"
    """Reads and writes of files anywhere else: over NFS, on a LUKS volume."""
    TLS = "tls"
    """Requests and transfers of a TLS server."""
    NETWORK = "network"
    """iperf3: a link's own limit."""


class Ended(StrEnum):
    """How a run ended."""

    WELL = "well"
    ILLEGAL = "illegal-instruction"
    """SIGILL: the silicon does not have the instruction. A result, not a failure."""
    KILLED = "killed"
    """By another signal."""
    LATE = "late"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    """This version of the tool does not know the algorithm or setting."""
    INVALID = "invalid"
    """It printed something from which no figure may be taken; `note` says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one algorithm under one setting."""

    tool: Tool
    algorithm: str
    """"aes-256-gcm"; "aes-xts-512-encrypt" and "-decrypt" (cryptsetup: name, key bits, direction);
    "read", "write"; "requests", "requests-reused" (sessions), "transfer"; "link"."""
    setting: str = PLAIN
    """PLAIN, MASKED ...; in a what-if the name of a CPU model."""
    ended: Ended = Ended.WELL
    rate: float | None = None
    """Bytes a second; requests a second where the algorithm begins with "requests"; None without
    figure."""
    block: int | None = None
    """Bytes a call: 8192 or 16384; smaller only where nothing larger was measured, and then `note`
    says so."""
    seconds: float | None = None
    """That it measured."""
    steal: float | None = None
    """The share of its time, 0 to 1, in which the host gave the processor to others."""
    waited: float | None = None
    """The same of other programs in the same machine: it could have run, and did not. The rate is
    that of the time in which it had a processor."""
    note: str = ""
    raw: str = ""
    """What the tool printed, bounded, without control characters but line breaks."""
    engine: str = ""
    """OpenSSL's engine that was in use: "padlock", "afalg"; "" where none is told."""
    evp: bool | None = None
    """Whether OpenSSL's EVP interface was used; before 3.0 nothing else uses AES-NI. None where the
    output does not tell."""
    processes: int = 1
    """That worked at once (`-multi`); the rate is that of all together."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where it was measured: what has to be equal for two results to be compared."""

    cpu: Reading[HostCpu] = UNASKED
    system: Reading[System] = UNASKED
    virtualisation: Reading[Virtualisation] = UNASKED
    resources: Reading[Resources] = UNASKED
    openssl: Reading[OpenSsl] = UNASKED
    drivers: tuple[tuple[str, str], ...] = ()
    """Algorithms and the kernel's drivers that serve them: ("xts(aes)", "xts-aes-aesni")."""
    accelerator: Accelerator = Accelerator.UNKNOWN
    """What runs it, where its hypervisor told."""
    override: str = ""
    """The capabilities variable that the programs found set, as NAME=VALUE: "OPENSSL_ia32cap=~0x0".
    "" for none."""
    pinned: bool = False
    """The runs were kept on one processor."""
    load: float | None = None
    """The load average of the last minute before the first run."""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """Everything that one benchmark of one machine has measured."""

    subject: str
    """The guest's or node's subject; a file's name for output that was pasted."""
    name: str = ""
    host: str = ""
    """The node's subject, where it is known: two guests of one node are never measured at once."""
    started: str = ""
    """ISO 8601 in UTC."""
    method: str = ""
    """What has to be equal to compare: "quick", "standard", "thorough", "pasted"."""
    way: str = ""
    """"ssh root@10.0.0.7", "the guest agent", "file"."""
    environment: Environment = Environment()
    samples: tuple[Sample, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be measured and why, a sentence each."""
    services: tuple[str, ...] = ()
    """Programs found there that may encrypt: "nginx", "openvpn"; where they were looked for."""

    @property
    def asks_what_if(self) -> bool:
        """Return whether it is a node's, under the masks of CPU models."""
        return self.method.endswith(WHAT_IF)


class Cause(StrEnum):
    """Why the cryptography of a machine is as fast as it is."""

    ACTIVE = "active"
    HIDDEN = "hidden"
    """The silicon has the instructions and the hypervisor hides their flags."""
    ABSENT = "absent"
    """The silicon lacks them, or the firmware has turned them off."""
    SOFTWARE_PATH = "software-path"
    """No flag, and masking changes nothing: whether the silicon has them was not seen."""
    PARTIAL = "partial"
    """AES-NI is used and PCLMULQDQ is hidden: GCM slow, CTR fast."""
    SLOW = "slow"
    """The flags are there and used or usable, and something else makes it slow."""
    KERNEL_DIFFERS = "kernel-differs"
    """OpenSSL is overridden by a variable; the kernel and other software see no flag."""
    EMULATED = "emulated"
    NOT_X86 = "not-x86"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The cause with its evidence, and what follows from it."""

    cause: Cause
    sentence: str
    """One sentence for people."""
    evidence: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    """What to do."""
    useless: tuple[str, ...] = ()
    """What will not help."""
    confidence: Confidence = Confidence.FIRM
    nested: bool = False
    """The machine is itself a hypervisor's guest that runs guests."""

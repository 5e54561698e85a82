"""A document of guests that somebody has looked into, with workloads that are made up here.

The workloads are not what the finders find, nor are the outlooks the real ones, so that reports are
tested apart from both.
"""

from __future__ import annotations

from dataclasses import replace

from support.documents import HOSTILE, document, lab
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.finding import Confidence, Outcome
from unmask.model.inside import Inside, Partial, Resources, System, Virtualisation
from unmask.model.inventory import Gap
from unmask.model.outlook import Note, NoteKind, Outlook, Status
from unmask.model.reading import Known, Missing
from unmask.model.report import Document
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.visit import Attempt, Declaration, Visit, Way
from unmask.model.workload import Activity, JudgedWorkload, Unread, Workload, WorkloadKind

ROOT = "root in the guest"
SHUT = Missing("not by the guest agent: it does not answer", "the guest agent, or a login by SSH")


def visited() -> Document:
    """Return the lab's guests as visited: by the agent, by SSH, from outside, and in vain."""
    inventory = lab()
    visits = {"lab/100": _gateway(), "lab/101": _nas(), "lab/102": _stopped(), "lab/104": _shut(),
              "lab/106": _emulated()}  # fmt: skip
    guests = tuple(
        replace(
            guest, visit=visits.get(guest.subject, guest.visit), declared=_declared(guest.ident)
        )
        for guest in inventory.guests
    )
    gaps = tuple(Gap(f"lab/{number}", SHUT.reason, SHUT.needs) for number in (104, 105))
    held = replace(inventory, guests=guests, gaps=gaps)
    plain = document(Outcome(), held)
    return replace(plain, cases=tuple(_with_workloads(case) for case in plain.cases))


def _declared(ident: str) -> tuple[Declaration, ...]:
    return (
        (Declaration("luks", present=True, where="the tag unmask-luks", detail="aes-xts"),)
        if ident == "103"
        else ()
    )


def _inside(**readings: object) -> Known[Inside]:
    system = System("Linux", "6.1.0-50-amd64", "x86_64", "debian", (), "12",
                    "Debian GNU/Linux 12 (bookworm)", libc="glibc 2.36", uptime=86400)  # fmt: skip
    return Known(Inside(system=Known(system), **readings))  # type: ignore[arg-type]


def _gateway() -> Visit:
    seen = _inside(
        root=True,
        virtualisation=Known(Virtualisation("kvm", vendor="QEMU", hypervisor_flag=True)),
        resources=Known(Resources(2, 2017000, 1500000, "0.10 0.22 0.31", 3)),
    )
    endpoint = TlsEndpoint(
        "192.0.2.7", 443, "TLSv1.3", "TLS_AES_256_GCM_SHA384", prefers_chacha=False
    )
    return Visit(
        seen, Way.AGENT, "the guest agent", endpoints=(endpoint,), addresses=("192.0.2.7",)
    )


def _nas() -> Visit:
    seen = _inside(
        root=False,
        listeners=Missing("the guest's answer ended before it"),
        tls_processes=Missing("only root may read it", ROOT),
        partial=(
            Partial("dm_crypt", "without root it lacks the ciphers", ROOT),
            Partial("zfs", "the guest printed more than 64 KiB"),
        ),
    )
    attempts = (Attempt(Way.AGENT, "it does not answer", "the package qemu-guest-agent"),)
    return Visit(seen, Way.SSH, "audit@192.0.2.8:22", attempts, addresses=("192.0.2.8",))


def _stopped() -> Visit:
    parts = (
        DiskPart("", 1, 1048576, 1048576),
        DiskPart("luks2", 2, 2097152, 34357641216, "aes-xts-plain64", 512, "crypt"),
    )
    read = Disk("scsi0", "local-lvm:vm-102-disk-0", "raw", 34359738368, Known(parts))
    shut = Disk("scsi1", "tank:vm-102-disk-1", encryption=(HostEncryption("zfs", "aes-256-gcm"),))
    return Visit(disks=Known((read, shut)), attempts=(Attempt(Way.AGENT, "it is stopped"),))


def _shut() -> Visit:
    attempts = (
        Attempt(Way.AGENT, "it does not answer"),
        Attempt(Way.SSH, "no login is known", "--guest-user, or [guests] in the configuration"),
    )
    return Visit(SHUT, attempts=attempts, disks=Missing("the node was not entered", "SSH to it"))


def _emulated() -> Visit:
    return Visit(_inside(root=None), Way.AGENT, "the guest agent")


def _with_workloads(case: GuestCase) -> GuestCase:
    found = _WORKLOADS.get(case.guest.subject, ())
    unread = (Unread(WorkloadKind.TLS, "only root may read it", ROOT),)
    return replace(
        case,
        workloads=found,
        unread=unread if case.guest.subject == "lab/101" else (),
        observed=case.view if case.view.accelerator is Accelerator.KVM and found else None,
    )


def judged(
    kind: WorkloadKind, name: str, status: Status | None, **changes: object
) -> JudgedWorkload:
    """Return a workload; keys of `Outlook` go there, all others to the workload."""
    ours = {"how", "missing", "factor", "of_best", "factor_origin", "better", "notes"}
    outlook = None
    if status is not None:
        told = {"how": "", **{key: value for key, value in changes.items() if key in ours}}
        family = str(changes.get("family", "gcm"))
        outlook = Outlook(str(changes.get("consumer", "openssl")), family, status, **told)  # type: ignore[arg-type]
    rest = {key: value for key, value in changes.items() if key not in {*ours, "family"}}
    made = {"consumer": "openssl", "evidence": ("It was seen.",), **rest}
    return JudgedWorkload(Workload(kind, name, **made), outlook)  # type: ignore[arg-type]


_WORKLOADS: dict[str, tuple[JudgedWorkload, ...]] = {
    "lab/100": (
        judged(
            WorkloadKind.OPENVPN, "/etc/openvpn/server/server.conf", Status.SOFTWARE,
            consumer="openvpn", cipher="AES-256-GCM", detail="OpenSSL 3.0.20 in user space",
            missing=("aes", "pclmulqdq"), factor=0.0283, of_best=0.0205,
            factor_origin="OpenSSL 3.0.20: 85 of 3000 MB/s", how="AES from tables",
            ports=(1194,), activity=Activity.ACTIVE,
            notes=(Note(NoteKind.FASTER, "ChaCha20-Poly1305 is likely to be faster here."),),
        ),
        judged(
            WorkloadKind.TLS, "nginx", Status.SOFTWARE, version="3.0.20",
            detail="OpenSSL 3.0.20, port 443", missing=("aes", "pclmulqdq"), factor=0.0283,
            ports=(443,), activity=Activity.ACTIVE, confidence=Confidence.CERTAIN,
        ),
        judged(WorkloadKind.TLS, "port 8443", None, consumer="",
               detail="library not known, port 8443", ports=(8443,),
               confidence=Confidence.TENTATIVE),
        judged(WorkloadKind.WIREGUARD, "wg0", Status.SOFTWARE, consumer="wireguard",
               family="chacha20", cipher="chacha20-poly1305", detail="in the kernel",
               missing=("ssse3", "avx2"), factor=0.2756),
    ),
    "lab/101": (
        judged(WorkloadKind.BACKUP, "rclone", Status.NOT_APPLICABLE, consumer="rclone",
               family="salsa20"),
        judged(WorkloadKind.LUKS, "luks-data", Status.HARDWARE, consumer="dm-crypt", family="xts",
               cipher="aes-xts-plain64", detail="/dev/sdb1", factor=1.0, driver="xts-aes-aesni",
               better=("vaes", "vpclmulqdq"), activity=Activity.CLOSED),
        judged(WorkloadKind.ZFS, "tank/secure", Status.PARTIAL, consumer="openzfs",
               cipher="aes-256-gcm", detail="pool tank", missing=("pclmulqdq", "avx"),
               factor=0.007, confidence=Confidence.TENTATIVE),
    ),
    "lab/102": (
        judged(WorkloadKind.LUKS, "scsi0 partition 2", Status.HARDWARE, consumer="dm-crypt",
               family="xts", cipher="aes-xts-plain64", factor=1.0),
        judged(WorkloadKind.ZFS, "scsi1", None, host_side=True, detail="on the host"),
    ),
    "lab/103": (
        judged(WorkloadKind.LUKS, HOSTILE, Status.HARDWARE, detail=HOSTILE, cipher=HOSTILE,
               evidence=(HOSTILE,), activity=Activity.DECLARED),
    ),
}  # fmt: skip

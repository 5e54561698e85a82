"""Rented machines as a report sees them: entered, judged, and their hypervisor out of reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.documents import document
from unmask.engine.cases import guest_cases
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin
from unmask.model.finding import Outcome
from unmask.model.inside import CryptoDriver, Inside, KernelCrypto, System, Virtualisation
from unmask.model.inventory import Guest, GuestKind, GuestState, Inventory, Platform
from unmask.model.outlook import Outlook, Status
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.model.visit import Visit, Way
from unmask.model.workload import Activity, JudgedWorkload, Workload, WorkloadKind
from unmask.report.ticket import render

DEBIAN = System(
    "Linux", "6.1.0-50-amd64", "x86_64", "debian", name="Debian GNU/Linux 12 (bookworm)"
)
PC = Virtualisation(
    "kvm",
    "",
    "QEMU",
    "Standard PC (i440FX + PIIX, 1996)",
    "pc-i440fx-9.2+pve1",
    hypervisor_flag=True,
)
OLD = frozenset({"fpu", "cx8", "cmov", "mmx", "fxsr", "sse", "sse2", "lm", "pni", "hypervisor"})
LACKS = KernelCrypto(
    aesni_available=True,
    messages=("AVX or AES-NI instructions are not detected.", "alg: self-tests disabled"),
)
DRIVERS = (
    CryptoDriver("xts(aes)", "xts(ecb(aes-generic))", priority=100),
    CryptoDriver("gcm(aes)", "gcm_base(ctr(aes-lib),ghash-lib)", priority=100),
)


def spec(label: str, *steps: str, mode: Mode = Mode.MODEL) -> CpuSpec:
    return CpuSpec("", Origin.LIVE, mode, label, steps=steps)


KVM64 = spec("kvm64", '"Common KVM processor" is what QEMU\'s kvm64 shows')


def guest(inside: Inside, accelerator: Accelerator = Accelerator.KVM, **fields: Any) -> Guest:
    base = Guest(
        subject="vps.example",
        ident="vps.example",
        name="vps.example",
        platform=Platform.UNSEEN,
        kind=GuestKind.VM,
        host="",
        state=GuestState.RUNNING,
        arch="x86_64",
        accelerator=accelerator,
        configured=KVM64,
        visit=Visit(
            inside=Known(inside),
            way=Way.SSH,
            by="root@198.51.100.7:22",
            addresses=("198.51.100.7",),
        ),
    )
    return replace(base, **fields)


def inside(name: str = "Common KVM processor", *flags: str, **fields: Any) -> Inside:
    cpu = HostCpu("x86_64", OLD | set(flags), "GenuineIntel", name, 15, 6, 1)
    known: dict[str, Any] = {
        "root": True,
        "system": Known(DEBIAN),
        "virtualisation": Known(PC),
        "cpu": Known(cpu),
        "kernel_crypto": Known(LACKS),
        "crypto_drivers": Known(DRIVERS),
    }
    return Inside(**{**known, **fields})


def workload(
    kind: WorkloadKind, consumer: str, status: Status, *missing: str, **fields: Any
) -> JudgedWorkload:
    told = {"name": "secret-name", "activity": Activity.ACTIVE, **fields}
    factor = told.pop("factor", None)
    origin = "Linux 6.1 aes-xts-plain64, on a Xeon: 150 of 2500 MB/s" if factor else ""
    outlook = Outlook(
        consumer, "gcm", status, "tables", missing, factor=factor, factor_origin=origin
    )
    return JudgedWorkload(Workload(kind, consumer=consumer, **told), outlook)


WORK = (
    workload(
        WorkloadKind.LUKS, "dm-crypt", Status.SOFTWARE, "aes", cipher="aes-xts-plain64", factor=0.06
    ),
    workload(WorkloadKind.TLS, "openssl", Status.SOFTWARE, "aes", "pclmulqdq"),
    workload(WorkloadKind.TLS, "openssl", Status.SOFTWARE, "aes", "pclmulqdq", name="another"),
    workload(
        WorkloadKind.WIREGUARD, "wireguard", Status.PARTIAL, "avx2", activity=Activity.CONFIGURED
    ),
    workload(WorkloadKind.SSH, "openssl", Status.HARDWARE),
)


def written(*guests: Guest, work: tuple[JudgedWorkload, ...] = (), **case: Any) -> Document:
    held = Inventory(targets=("ssh://root@198.51.100.7",), guests=guests)
    made = document(Outcome(), held)
    cases = tuple(replace(item, workloads=work, **case) for item in guest_cases(held))
    return replace(made, cases=cases)


def letter(*guests: Guest, work: tuple[JudgedWorkload, ...] = (), **case: Any) -> str:
    return render(written(*guests, work=work, **case), 80)

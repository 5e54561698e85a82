"""This machine: which hypervisor it is, and whether that can be read by this user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from unmask.checks._check import Check, Surroundings, note, ok
from unmask.model.checkup import Remark

SOCKETS = ("libvirt-sock", "virtqemud-sock")
READ_ONLY = ("libvirt-sock-ro", "virtqemud-sock-ro")
KVM_FLAGS = ("vmx", "svm")
"""Of /proc/cpuinfo: Intel's and AMD's virtualisation."""


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield remarks on this machine as a hypervisor; one that is none is nothing wrong."""
    found = [*_proxmox(around), *_libvirt(around), *_kvm(around)]
    if not found:
        yield ok("hypervisor", "this machine is none: name a target (unmask audit --help)")
    yield from found


def _proxmox(around: Surroundings) -> Iterator[Remark]:
    place = around.root / "etc/pve"
    try:
        if (place / "nodes").is_dir():
            if os.access(place / "nodes", os.R_OK | os.X_OK) and list((place / "nodes").iterdir()):
                yield ok("Proxmox VE", f"{place} can be read: unmask audit reads this cluster")
                return
        elif not place.is_dir():
            return
        elif not list(place.iterdir()):
            what = f"{place} is empty: the cluster's file system is not mounted"
            yield note("Proxmox VE", what, "systemctl status pve-cluster")
            return
    except OSError:
        pass
    what = f"{place} is there and cannot be read by this user"
    yield note("Proxmox VE", what, "run unmask as root, or use the API: unmask audit pve://HOST")


def _libvirt(around: Surroundings) -> Iterator[Remark]:
    folder = around.root / "var/run/libvirt"
    try:
        yield from _sockets(folder)
    except OSError:  # the folder may not be looked into
        yield note("libvirt", f"{folder} is closed to this user", "run unmask as root")


def _sockets(folder: Path) -> Iterator[Remark]:
    whole = [folder / name for name in SOCKETS if (folder / name).exists()]
    if any(os.access(path, os.R_OK | os.W_OK) for path in whole):
        yield ok("libvirt", "its socket can be used: unmask audit reads qemu:///system")
    elif whole or any((folder / name).exists() for name in READ_ONLY):
        what = "it runs here, and this user gets no more than a read-only connection to it"
        yield note("libvirt", what, "join the group libvirt (adduser USER libvirt), or run as root")


def _kvm(around: Surroundings) -> Iterator[Remark]:
    device = around.root / "dev/kvm"
    if device.exists():
        if os.access(device, os.R_OK | os.W_OK):
            yield ok("KVM", f"{device} can be used")
        else:
            yield note(
                "KVM",
                f"{device} cannot be opened by this user; an audit does not need that",
                "only for guests that this user starts: join the group kvm",
            )
        return
    try:
        words = (around.root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return
    if not set(KVM_FLAGS).isdisjoint(words):
        yield note(
            "KVM",
            f"the CPU can do it, but there is no {device}: guests here are emulated",
            "modprobe kvm_intel (or kvm_amd), or switch virtualisation on in the firmware",
        )


CHECK = Check(70, "This machine", run)

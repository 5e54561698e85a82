"""A real guest under a real libvirtd: it gets another CPU, uses it, and gets its old one back."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import booted_guest as booted
from support import peers
from support.booted_guest import BootedGuest
from support.cpuinfo_guest import flags
from support.domain_xml import Cpu
from support.guest_image import GuestImage
from support.libvirtd import Libvirtd
from support.unmask_command import UNMASK
from unmask.dialects.libvirt import domain_text
from unmask.dialects.libvirt.cpu_element import Wish, build
from unmask.fixes import run, undo
from unmask.fixes._target import Target, open_target
from unmask.fixes.journal import Journal, Writer
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Phase, Place, Plan, Setting
from unmask.model.cpu import Accelerator
from unmask.model.inventory import Platform
from unmask.model.run import RunKind
from unmask.model.source import CollectOptions

SINGLE = ("aes", "pclmulqdq", "ssse3", "sse4.1", "sse4.2", "popcnt")
GAINED = {"aes", "pclmulqdq", "ssse3", "sse4_1", "sse4_2", "popcnt"}
GRAPHICS = "<graphics type='vnc' port='-1' autoport='yes' passwd='S3cret'/></devices>"
RECOMMENDED = (
    *("--cpu", "recommended", "--ack", "RST001", "--ack", "RST004", "--yes"),
    *("--restart", "--verify", "--deadline", "300", "--guest-timeout", "180"),
)
UNUSED = ("nginx", "openvpn-server@office", "unmask-wireguard")
QUICKLY = " ".join(f"systemd.mask={name}.service" for name in UNUSED)
"""Services that nothing here needs; the guest boots three times."""


class Site:
    """A guest, and what is done with it in runs that are written down."""

    def __init__(self, guest: BootedGuest, folder: Path) -> None:
        self.guest = guest
        self.folder = folder
        self.book = Journal(folder)
        ident = guest.libvirtd.virsh("domuuid", guest.name).strip()
        self.place = Place(guest.libvirtd.uri, "host/guest", ident, guest.name, Platform.LIBVIRT)

    def open(self, place: Place) -> Target:
        return open_target(place, CollectOptions())

    def xml(self) -> str:
        """Return what the next start takes, with its passwords, as virsh has it."""
        return self.guest.libvirtd.virsh(
            "dumpxml", "--inactive", "--security-info", self.guest.name
        )

    def fix(self, wish: Wish) -> None:
        target = self.open(self.place)
        now = target.read()
        after = build(now.value, wish, Accelerator.TCG).element
        target.close()
        with self.book.begin(RunKind.FIX) as writer:
            self._apply([Plan(self.place, "as wished", now, Setting(after))], writer)

    def undo(self) -> None:
        runs = self.book.runs()
        last = [item for item in runs if item.kind is RunKind.FIX][-1]
        with self.book.begin(RunKind.UNDO, undoes=last.ident) as writer:
            self._apply(list(undo.plan(last, runs, (), self.open).plans), writer)

    def command(self, *words: str) -> str:
        """Run unmask as an operator would, and return what it prints, in one line."""
        done = subprocess.run(
            [UNMASK, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env=peers.environment(XDG_STATE_HOME=str(self.folder / "state")),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return " ".join(done.stdout.split())

    def _apply(self, plans: list[Plan], writer: Writer) -> None:
        orders = Orders(restart=True, seconds_down=180, seconds_up=60)
        verify = Hooks(self.open, verify=self._came_back)
        (outcome,) = run.apply(plans, writer, self.book, verify, orders)
        assert (outcome.phase, outcome.problem) == (Phase.DONE, "")

    def _came_back(self, _plan: Plan) -> str:
        booted.wait(self.guest)
        return "it is back"


def aes_drivers(guest: BootedGuest) -> set[str]:
    """Return the drivers that the guest's kernel has for AES, once it was given its module."""
    guest.ssh("modprobe aes_generic; modprobe aesni_intel 2>/dev/null; true")
    names = guest.ssh("awk '/^driver/ {print $3}' /proc/crypto").split()
    return {name for name in names if "aes" in name}


@pytest.fixture
def site(libvirtd: Libvirtd, guest_image: GuestImage, tmp_path: Path) -> Iterator[Site]:
    """A guest that is off: it boots with what it was given first."""
    element = "<cpu><model>qemu64</model><topology sockets='1' cores='1' threads='1'/></cpu>"
    guest = booted.start(
        libvirtd, guest_image, "fix", cpu=Cpu(element=element), kernel_options=QUICKLY
    )
    try:
        libvirtd.virsh("destroy", guest.name)
        made = Site(guest, tmp_path)
        libvirtd.define(made.xml().replace("</devices>", GRAPHICS))
        yield made
    finally:
        booted.remove(guest)


def test_a_guest_gets_aes_uses_it_and_gives_it_back(site: Site, tmp_path: Path) -> None:
    guest, old = site.guest, site.xml()
    assert "S3cret" in old

    site.fix(Wish(on=SINGLE))
    guest.libvirtd.virsh("start", guest.name)
    booted.wait(guest)
    new_flags = flags(guest.ssh("cat /proc/cpuinfo"))
    assert new_flags >= GAINED
    _uses_aes(guest)
    _differs_in_its_cpu_only(site, old)

    site.undo()
    assert site.xml() == old
    old_flags = flags(guest.ssh("cat /proc/cpuinfo"))
    assert not old_flags & {"aes", "pclmulqdq"}
    assert new_flags - old_flags == GAINED - old_flags
    assert old_flags <= new_flags
    assert not any("aesni" in name for name in aes_drivers(guest))

    proof = site.command("fix", guest.libvirtd.uri, "--vm", guest.name, *RECOMMENDED)
    assert "The guest itself sees AES-NI" in proof
    assert "/proc/crypto: aes was served by aes-generic, and is by aes-aesni now" in proof
    assert flags(guest.ssh("cat /proc/cpuinfo")) >= GAINED
    _uses_aes(guest)
    _differs_in_its_cpu_only(site, old)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"S3cret" not in path.read_bytes()


def _uses_aes(guest: BootedGuest) -> None:
    assert {"aes-aesni", "xts-aes-aesni"} & aes_drivers(guest)
    guest.ssh("modprobe aesni_intel")
    assert "aesni_intel" in guest.ssh("cat /proc/modules")


def _differs_in_its_cpu_only(site: Site, old: str) -> None:
    now = site.xml()
    assert domain_text.cpu(now) != domain_text.cpu(old)
    assert domain_text.with_cpu(now, None) == domain_text.with_cpu(old, None)
    assert "<topology sockets='1' dies='1' cores='1' threads='1'/>" in now

"""A whole Debian guest in libvirt under TCG, with sshd, guest agent, and what it encrypts with.

`tools/guest_image.sh` says what is in it. With a second disk it opens that as the LUKS volume
"secret".
"""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import peers
from support.domain_xml import Boot, Cpu, disk_xml, document, serial_to_files
from support.guest_image import GuestImage
from support.libvirtd import PREFIX, Libvirtd

BOOT_SECONDS = 480
AGENT_CHANNEL = (
    "<channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>"
)
SSH_OPTIONS = (
    "-oBatchMode=yes",
    "-oStrictHostKeyChecking=no",
    "-oUserKnownHostsFile=/dev/null",
    "-oLogLevel=ERROR",
    "-oConnectTimeout=10",
    "-oIdentitiesOnly=yes",
)


@dataclass(frozen=True, slots=True)
class BootedGuest:
    """A running guest that has answered over SSH."""

    libvirtd: Libvirtd
    name: str
    ssh_port: int
    """On 127.0.0.1; users root and auditor."""
    key: Path
    console: Path

    def ssh(self, command: str, *, check: bool = True, timeout: float = 60) -> str:
        """Run a shell command in the guest over SSH and return its output."""
        argv = ["ssh", *SSH_OPTIONS, "-i", str(self.key), "-p", str(self.ssh_port)]
        argv += ["root@127.0.0.1", command]
        return peers.run(argv, timeout=timeout, check=check).stdout

    def agent(self, command: str, **arguments: object) -> Any:
        """Send one command to the guest agent and return its answer."""
        request = json.dumps({"execute": command, "arguments": arguments})
        answer = self.libvirtd.virsh("qemu-agent-command", self.name, request)
        return json.loads(answer)["return"]

    def agent_run(self, *argv: str, seconds: float = 60) -> str:
        """Run a program in the guest through the agent and return its output."""
        started = self.agent(
            "guest-exec", path=argv[0], arg=list(argv[1:]), **{"capture-output": True}
        )
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status = self.agent("guest-exec-status", pid=started["pid"])
            if status["exited"]:
                return base64.b64decode(status.get("out-data", "")).decode()
            time.sleep(0.2)
        pytest.fail(f"{argv} did not end within {seconds} s in guest {self.name}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _disks(image: GuestImage, directory: Path, second: str) -> str:
    """Make a guest's disks and return their XML; `second` is the format of the LUKS disk, or ""."""
    root = directory / "disk.qcow2"
    base = ("-F", "raw", "-b", str(image.disk))
    peers.run(["qemu-img", "create", "-q", "-f", "qcow2", *base, str(root)])
    disks = [disk_xml(root, "qcow2", "vda")]
    if second:
        path = directory / f"secret.{second}"
        peers.run(["qemu-img", "convert", "-f", "raw", "-O", second, str(image.luks), str(path)])
        disks.append(disk_xml(path, second, "vdb"))
    return "".join(disks)


def _boot(image: GuestImage, directory: Path, port: int, kernel_options: str, second: str) -> Boot:
    entropy = "<rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>"
    network = f"user,id=ssh,hostfwd=tcp:127.0.0.1:{port}-:22"
    return Boot(
        kernel=image.kernel,
        initrd=image.initrd,
        command_line=f"root=/dev/vda rw console=ttyS0 {kernel_options}".strip(),
        devices=_disks(image, directory, second)
        + entropy
        + AGENT_CHANNEL
        + serial_to_files(directory / "console.log"),
        arguments=("-netdev", network, "-device", "virtio-net-pci,netdev=ssh,addr=0x1e"),
        memory_mib=768,
    )


def _answers(guest: BootedGuest) -> bool:
    """Return whether both SSH and the guest agent answer."""
    try:
        guest.ssh("true", timeout=20)
        guest.agent("guest-ping")
    except (AssertionError, TimeoutError):
        return False
    return True


def wait(guest: BootedGuest) -> None:
    """Wait until a guest that was started answers over SSH and through its agent."""
    deadline = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < deadline:
        if _answers(guest):
            return
        time.sleep(1)
    tail = guest.console.read_text(errors="replace")[-2000:]
    pytest.fail(f"guest {guest.name} did not answer within {BOOT_SECONDS} s; its console:\n{tail}")


def start(
    libvirtd: Libvirtd,
    image: GuestImage,
    label: str,
    cpu: Cpu | None = None,
    kernel_options: str = "",
    second: str = "",
) -> BootedGuest:
    """Define and start a guest, without waiting for it; `second` is the LUKS disk's format."""
    name = f"{PREFIX}{label}"
    directory = libvirtd.directory / "guests" / name
    directory.mkdir()
    port = _free_port()
    boot = _boot(image, directory, port, kernel_options, second)
    libvirtd.define(document(name, cpu, boot))
    libvirtd.virsh("start", name)
    return BootedGuest(libvirtd, name, port, image.key, directory / "console.log")


def remove(guest: BootedGuest) -> None:
    """Stop a guest, whether it runs or not, and forget it."""
    if guest.name in guest.libvirtd.virsh("list", "--name").split():
        guest.libvirtd.virsh("destroy", guest.name)
    guest.libvirtd.virsh("undefine", guest.name)


BootGuest = Callable[..., BootedGuest]


@pytest.fixture
def booted_guest(libvirtd: Libvirtd, guest_image: GuestImage) -> Iterator[BootGuest]:
    """Boot guests: `booted_guest("name", cpu=Cpu(...), kernel_options="...")`; gone afterwards."""
    guests: list[BootedGuest] = []

    def boot(label: str, **options: Any) -> BootedGuest:
        guests.append(start(libvirtd, guest_image, label, **options))
        wait(guests[-1])
        return guests[-1]

    yield boot
    for guest in guests:
        remove(guest)

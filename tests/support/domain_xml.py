"""Domain XML for guests under emulation: a few kinds of CPU, a few kinds of boot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from support.guest_image import GuestImage

QEMU_NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0"


@dataclass(frozen=True, slots=True)
class Cpu:
    """How a domain's CPU is written: its `<cpu>` element, and a `-cpu` of `qemu:commandline`."""

    element: str = ""
    option: str = ""


@dataclass(frozen=True, slots=True)
class Boot:
    """A direct kernel boot."""

    kernel: Path
    initrd: Path
    command_line: str
    devices: str = ""
    arguments: tuple[str, ...] = ()
    """QEMU's own, through `qemu:commandline`."""
    memory_mib: int = 192


def document(name: str, cpu: Cpu | None = None, boot: Boot | None = None) -> str:
    """Return the XML of a domain that runs under TCG, or never (`boot` is None)."""
    cpu = cpu or Cpu()
    arguments = [*(("-cpu", cpu.option) if cpu.option else ()), *(boot.arguments if boot else ())]
    return f"""<domain type='qemu' xmlns:qemu='{QEMU_NAMESPACE}'>
  <name>{escape(name)}</name>
  <memory unit='MiB'>{boot.memory_mib if boot else 192}</memory>
  <vcpu>1</vcpu>
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    {_os(boot) if boot else ""}
  </os>
  <features><acpi/></features>
  {cpu.element}
  <devices>{boot.devices if boot else ""}</devices>
  {_command_line(arguments)}
</domain>
"""


def _os(boot: Boot) -> str:
    return (
        f"<kernel>{escape(str(boot.kernel))}</kernel><initrd>{escape(str(boot.initrd))}</initrd>"
        f"<cmdline>{escape(boot.command_line)}</cmdline>"
    )


def _command_line(arguments: list[str]) -> str:
    if not arguments:
        return ""
    lines = "".join(f"<qemu:arg value={quoteattr(argument)}/>" for argument in arguments)
    return f"<qemu:commandline>{lines}</qemu:commandline>"


def disk_xml(path: Path, kind: str, target: str) -> str:
    """Return a virtio disk from a file of the format `kind`."""
    return (
        f"<disk type='file' device='disk'><driver name='qemu' type={quoteattr(kind)}/>"
        f"<source file={quoteattr(str(path))}/>"
        f"<target dev={quoteattr(target)} bus='virtio'/></disk>"
    )


def serial_to_files(*paths: Path) -> str:
    """Return serial ports, in order, that write to files.

    The files are made here: libvirtd, which is root, makes new ones that only root may read.
    """
    for path in paths:
        path.touch()
    return "".join(
        f"<serial type='file'><source path={quoteattr(str(path))}/><target port='{port}'/></serial>"
        for port, path in enumerate(paths)
    )


def staying_probe(image: GuestImage, console: Path, evidence: Path) -> Boot:
    """Return a boot of the probe that prints its /proc/cpuinfo into `evidence` and runs on."""
    return Boot(
        kernel=image.kernel,
        initrd=image.probe,
        command_line="console=ttyS0 quiet panic=-1 unmask.stay",
        devices=serial_to_files(console, evidence),
    )

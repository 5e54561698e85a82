"""The probes in a booted Debian guest: one program over SSH, and what comes back is true."""

from __future__ import annotations

import base64
import re

from support.booted_guest import BootedGuest, BootGuest
from support.domain_xml import Cpu
from support.probe_shell import MARK
from unmask.model.inside import Inside
from unmask.model.inside_programs import Library
from unmask.model.inside_storage import VolumeKind
from unmask.probes import _reading, _script

LUKS = """\
head -c 33554432 /dev/zero >/root/disk.img
echo -n known | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
    --cipher aes-xts-plain64 --key-size 512 /root/disk.img -
echo -n known | cryptsetup open --key-file - /root/disk.img vault
"""


def visit(guest: BootedGuest, before: str = "") -> Inside:
    """Return what one command in the guest tells; `before` is put before the shell."""
    probes = _reading.probes()
    program = base64.b64encode(_script.script(MARK, probes).encode()).decode()
    output = guest.ssh(f"echo {program} | base64 -d | {before} sh -s", timeout=180)
    return _reading.read(output.encode(), MARK, probes)


def test_a_guest_tells_what_is_encrypted_in_it(booted_guest: BootGuest) -> None:
    element = "<cpu mode='custom' match='exact'><model>Westmere</model></cpu>"
    guest = booted_guest("probed", cpu=Cpu(element=element))
    guest.ssh(LUKS, timeout=180)
    inside = visit(guest)
    assert inside.root is True
    assert inside.system.value.ident == "debian"
    assert {"aes", "pclmulqdq"} <= inside.cpu.value.flags
    assert inside.virtualisation.value.hypervisor_flag
    assert [
        (item.name, item.kind, item.cipher, item.key_bits) for item in inside.dm_crypt.value
    ] == [("vault", VolumeKind.LUKS2, "aes-xts-plain64", 512)]
    (header,) = inside.luks_headers.value
    assert (header.kind, header.cipher) == (VolumeKind.LUKS2, "aes-xts-plain64")
    assert "vault" in {item.name for item in inside.block_devices.value if item.kind == "crypt"}
    serving = inside.serving("xts(aes)")
    assert serving is not None
    assert serving.driver == "xts-aes-aesni"
    assert inside.kernel_crypto.value.loaded("aesni_intel")
    listeners = {item.port: item.processes for item in inside.listeners.value}
    assert listeners[22] == ("sshd",)
    libraries = {item.name: item.libraries for item in inside.tls_processes.value}
    assert libraries["nginx"] == (Library.OPENSSL,)
    assert re.fullmatch(r"OpenSSL 3\..*", inside.openssl.value.version)
    assert inside.openssl.value.capabilities.startswith("0x")
    assert inside.ssh.value.ciphers
    assert inside.partial == ()
    _another_user_sees_less(guest)


def _another_user_sees_less(guest: BootedGuest) -> None:
    inside = visit(guest, "setpriv --reuid=65534 --regid=65534 --clear-groups")
    assert inside.root is False
    assert not inside.luks_headers.known
    (mapping,) = inside.dm_crypt.value
    assert (mapping.kind, mapping.cipher) == (VolumeKind.LUKS2, "")
    assert {"dm_crypt", "listeners"} <= {item.probe for item in inside.partial}

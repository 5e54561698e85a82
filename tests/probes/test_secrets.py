"""No key, password or passphrase is in what is kept; most do not even leave the guest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import probe_case, probe_shell, secret_guest
from support.probe_shell import MARK
from support.secret_guest import BASE64, HEX, SECRETS
from unmask.dialects.records import codec
from unmask.errors import InputError
from unmask.model.inside import Inside
from unmask.model.inside_storage import VolumeKind
from unmask.probes import _reading
from unmask.probes._bounds import bounded
from unmask.probes._section import Section

LINES = [
    *SECRETS,
    *(f"password = {secret}" for secret in SECRETS),
    *(f"{secret}: {secret}" for secret in SECRETS),
    f"wg0\t{BASE64}\t{BASE64}\t51820\toff",
    f"data: 0 100 crypt aes-xts-plain64 {HEX} 0 8:1 4096",
    f"data: 0 100 crypt {HEX} {HEX} 0 8:1 4096",
    f"\taead rfc4106(gcm(aes)) 0x{HEX} 128",
    f"\tenc cbc(aes) 0x{HEX}\n\tauth-trunc hmac(sha256) 0x{HEX} 96",
    f"E: aes-gcm-16  {HEX}",
    f"secret {SECRETS[0]}",
    f'ike-1 {{ secret = "{SECRETS[1]}" }}',
    f"aes key {HEX} {BASE64}",
    f"MK digest: {HEX}",
    f"data UUID=1 /etc/{SECRETS[0]} luks,key-slot=1,passphrase={SECRETS[0]}",
]


def test_the_guest_keeps_its_secrets(tmp_path: Path) -> None:
    argv, path = probe_shell.shell("dash", tmp_path / "bin")
    secret_guest.make(tmp_path / "root", tmp_path / "bin")
    probes = _reading.probes()
    output = probe_shell.run(probes, argv, path, root=str(tmp_path / "root"))
    told = output.decode(errors="replace")
    inside = _reading.read(output, MARK, probes)
    for text in (repr(inside), json.dumps(codec(Inside).dump(inside))):
        assert [secret for secret in SECRETS if secret in text] == []
    assert [secret for secret in SECRETS if secret in told] == []
    (mapping,) = inside.dm_crypt.value
    assert (mapping.kind, mapping.key_bits) == (VolumeKind.LUKS2, 256)
    (association,) = inside.ipsec.value.associations[:1]
    assert (association.algorithm, association.key_bits) == ("rfc4106(gcm(aes))", 224)
    (wireguard,) = inside.wireguard.value
    assert (wireguard.port, wireguard.peers) == (51820, 1)
    assert {config.mode for config in inside.openvpn.value} == {"server", "client"}
    assert [tool.name for tool in inside.backups.value] == ["borg", "restic"]
    assert inside.samba.value.encryption == "required"


@pytest.mark.parametrize("module", list(probe_case.probes()))
def test_no_parser_keeps_a_secret(module: str) -> None:
    probe = probe_case.probes()[module]
    for case in probe_case.cases(module):
        clean = probe_case.section(case)
        dirt = ("\n" + "\n".join(LINES) + "\n").encode()
        section = Section(
            content=clean.content and clean.content + dirt,
            parts={name: text and text + dirt for name, text in clean.parts.items()},
            status=clean.status,
        )
        try:
            value = bounded(probe.parse(section))
        except InputError as error:
            value = str(error)
        found = repr(value)
        assert [secret for secret in SECRETS if secret in found] == [], case["name"]


@pytest.mark.parametrize("shell", probe_shell.SHELLS)
def test_a_spoilt_guest_costs_itself_only(tmp_path: Path, shell: str) -> None:
    argv, path = probe_shell.shell(shell, tmp_path / "bin")
    secret_guest.make(tmp_path / "root", tmp_path / "bin")
    secret_guest.spoil(tmp_path / "root")
    probes = _reading.probes()
    output = probe_shell.run(probes, argv, path, root=str(tmp_path / "root"), timeout=120)
    assert len(output) < 2**21
    inside = _reading.read(output, MARK, probes)
    assert not inside.crypto_drivers.known
    assert inside.system.value.kernel_name == "Linux"
    assert inside.system.value.name == ""
    partial = {item.probe for item in inside.partial}
    assert "cpu" in partial or not inside.cpu.known
    assert inside.wireguard.known
    text = repr(inside)
    assert all(character.isprintable() for character in text)

"""The examples in docs/configuration.md are ones that unmask takes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

from support.documents import lab
from support.golden import ROOT
from unmask import plugins
from unmask.config import guest_tables, guests
from unmask.config.guests import Overrides
from unmask.config.privileges import PURPOSES, commands
from unmask.config.settings import KINDS, Target, load
from unmask.config.targets import source_for
from unmask.engine import accepted
from unmask.model.source import Source
from unmask.sources import ssh_guest

PAGE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
TARGETS, GUESTS, ACCEPTED = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_targets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "unmask.toml"
    path.write_text(TARGETS)
    assert load(path).targets == (
        Target("home", "qemu:///system"),
        Target("site", "/srv/copies/etc-pve", str(tmp_path / "accepted.toml")),
    )


def test_the_targets_of_other_pages_are_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/proxmox.md").read_text(encoding="utf-8")
    for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        (target,) = load(path).targets
        assert target.reference.token_id == "unmask@pve!audit"
        assert target.reference.nodes == ("pve2.example", "pve3.example")


def test_every_key_of_a_target_is_described() -> None:
    for key in ("address", "accept", *KINDS):
        assert f"`{key}`" in PAGE


def test_the_guests_are_read(tmp_path: Path) -> None:
    path = tmp_path / "unmask.toml"
    path.write_text(GUESTS)
    settings = load(path)
    db = replace(lab().guests[0], subject="home/101", ident="101", name="db1")
    entry = guests.entry(settings, db, Overrides())
    assert (entry.address, entry.port, entry.user, entry.sudo) == ("10.0.0.7", 2222, "root", True)
    assert entry.ssh.key == str(tmp_path / "keys/guests")
    assert [item.kind for item in guests.declared(settings, db)] == ["luks", "tls", "zfs"]
    assert guests.entry(settings, replace(db, name="locked"), Overrides()).ways == ()


def test_the_rented_machine_is_read(tmp_path: Path) -> None:
    (text,) = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs/vps.md").read_text(encoding="utf-8"), re.DOTALL
    )
    path = tmp_path / "unmask.toml"
    path.write_text(text)
    settings = load(path)
    assert settings.targets[0].address == "ssh://debian@vps.example"
    assert settings.targets[0].reference.key == str(tmp_path / "keys/vps")
    assert settings.guests[0].sudo
    assert ssh_guest.fits(settings.targets[0].address)


def test_the_example_file_says_everything_that_can_be_said() -> None:
    path = ROOT / "examples/unmask.toml"
    settings = load(path)
    assert [target.name for target in settings.targets] == ["cluster", "nodes", "home", "vps"]
    sources = plugins.load("unmask.sources", "SOURCE", Source)
    for target in settings.targets:
        assert source_for(target.address, sources).fits(target.address)
    text = path.read_text(encoding="utf-8")
    for key in guest_tables.KINDS:
        assert re.search(rf"^(# )?{key} = ", text, re.MULTILINE), key


def test_every_key_of_a_guest_is_described() -> None:
    for key in guest_tables.KINDS:
        assert f"`{key}`" in PAGE


def test_the_commands_that_make_a_token_are_those_that_are_printed() -> None:
    page = (ROOT / "docs/proxmox.md").read_text(encoding="utf-8")
    assert "\n".join(commands(PURPOSES[0], "9.2.11")) in page


def test_the_accepted_findings_are_read() -> None:
    (entry,) = accepted.load(ACCEPTED, "accepted.toml", ["CPU004"])
    assert (entry.subject, entry.expires) == ("lab/9*", date(2027, 1, 31))

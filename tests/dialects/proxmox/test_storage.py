"""Storages: which are shared, and where they are."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import storage

CONFIG = """\
# kept by hand
dir: local
\tpath /var/lib/vz
\tcontent iso

lvm: san
\tvgname san
\tshared 1

lvmthin: local-lvm
\tthinpool data
\tnodes oak,elm
\tdisable

rbd: ceph
\tpool vms
\tshared 0

zfs: tank
\tportal 192.0.2.7

linstor: drbd
\tcontroller 192.0.2.8
"""


def test_what_a_file_says() -> None:
    found = storage.parse(CONFIG)
    assert {name: item.shared for name, item in found.items()} == {
        "local": False,
        "san": True,
        "local-lvm": False,
        "ceph": True,  # by its nature, whatever is configured
        "tank": True,  # ZFS over iSCSI
        "drbd": None,  # a plug-in's type: nobody but it knows
    }
    assert found["local-lvm"].nodes == ("elm", "oak")
    assert found["local-lvm"].of(("ash", "elm", "oak")) == ("elm", "oak")
    assert found["ceph"].of(("ash", "elm")) == ("ash", "elm")
    assert [name for name, item in found.items() if item.disabled] == ["local-lvm"]


def test_local_is_there_without_being_configured() -> None:
    assert storage.parse("") == {"local": storage.DEFAULT}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [({}, False), ({"on": ""}, True), ({"on": "1"}, True), ({"on": "0"}, False)],
)
def test_a_switch(keys: dict[str, str], expected: bool) -> None:  # noqa: FBT001
    assert storage.switched(keys, "on") is expected


def test_the_answer_of_the_api_says_the_same() -> None:
    rows: list[dict[str, object]] = [
        {"storage": "local", "type": "dir", "path": "/var/lib/vz", "content": "iso"},
        {"storage": "san", "type": "lvm", "vgname": "san", "shared": 1},
        {"storage": "local-lvm", "type": "lvmthin", "nodes": "oak,elm", "disable": 1},
        {"storage": "ceph", "type": "rbd", "pool": "vms", "shared": False},
        {"storage": "tank", "type": "zfs", "portal": "192.0.2.7"},
        {"storage": "drbd", "type": "linstor"},
    ]
    assert storage.of_rows(rows) == storage.parse(CONFIG)


@pytest.mark.parametrize(
    "text", ["dir:\n", ":::\n\tshared 1\n", "\tnodes a\n", "dir: a\n\tnodes ,;\n"]
)
def test_odd_files_are_read_without_an_error(text: str) -> None:
    assert "local" in storage.parse(text)


def test_names_are_bounded() -> None:
    name = "a" * 5000
    found = storage.of_rows([{"storage": name, "type": name, "nodes": name}])[name]
    assert max(map(len, (found.name, found.kind, *found.nodes))) <= storage.NAME_LIMIT

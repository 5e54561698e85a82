"""Guests of the lab whose CPU is changed with `qm` on their nodes, behind real SSH servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import fix_lab, pve_node, pve_tools, sshd
from support.fix_lab import NAS, changed, edit
from support.pve_node import Node
from support.sshd import Client, Sshd
from unmask.errors import TargetError
from unmask.fixes import _pve_model_file, proxmox_ssh
from unmask.fixes._pve_guest import PveGuest
from unmask.fixes._target import ChangedError, RefusedError
from unmask.fixes.proxmox_ssh import TARGET
from unmask.lab.lab import Lab
from unmask.model.change import Place, Setting
from unmask.model.inventory import GuestState, Platform
from unmask.model.source import CollectOptions

pytestmark = pytest.mark.peer

MODELS = "virtual-guest/cpu-models.conf"
SECTION = "cpu-model: mine\n\tflags +aes;+pclmulqdq\n\treported-model qemu64\n\n"


@dataclass(frozen=True, slots=True)
class Site:
    """Two nodes of the lab's cluster, and somebody who may log in."""

    lab: Lab
    nodes: dict[str, Node]
    user: Client
    first: Sshd

    @contextmanager
    def guest(self, vmid: str = "101") -> Iterator[PveGuest]:
        place = Place(
            f"pve+ssh://{self.first.place}", f"homelab/{vmid}", vmid, "name", Platform.PROXMOX
        )
        made = TARGET.open(place, CollectOptions(timeout=30, ssh=self.user.options()))
        assert isinstance(made, PveGuest)
        try:
            yield made
        finally:
            made.close()

    @property
    def models(self) -> Path:
        return self.nodes["pve1"].etc_pve / MODELS


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    fix_lab.impatient(monkeypatch)
    user, port = sshd.client(tmp_path / "client"), sshd.free_port()
    addresses = {f"pve{number}": [f"127.0.0.{number}"] for number in range(1, 5)}
    with Lab(pace=0) as lab:
        tree = tmp_path / "tree"
        tree.mkdir()
        lab.write_tree(tree, cpuinfo=True)
        nodes = {name: pve_node.node(tmp_path / name, name, tree) for name in ("pve1", "pve2")}
        for node in nodes.values():
            node.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
            pve_tools.install(node, lab)
        with (
            pve_node.serving(nodes["pve1"], user, port=port) as first,
            pve_node.serving(nodes["pve2"], user, port=port, address="127.0.0.2") as second,
        ):
            user.knows(first, second)
            yield Site(lab, nodes, user, first)


def test_fits_the_nodes_only() -> None:
    assert TARGET.fits("pve+ssh://pve1.example")
    assert not TARGET.fits("pve://pve1.example")


def test_it_is_changed_and_changed_back(site: Site) -> None:
    before = site.lab.tree()
    with site.guest() as it:
        old = it.read()
        assert (old.value, old.digest) == ("x86-64-v2", site.lab.cluster.digest(NAS))
        assert {seen.method for seen in site.lab.seen} == {"GET"}
        it.write(old, Setting("kvm64,flags=+aes;-pcid"))
        assert changed(site.lab, before) == {NAS: ("", "[PENDING]\ncpu: kvm64,flags=+aes;-pcid")}
        new = it.read()
        assert "waits" in it.takes_hold()
        it.write(new, old)
    assert site.lab.tree() == before
    sets = [line for line in pve_tools.log(site.nodes["pve1"]) if line.startswith("qm set")]
    assert sets == [
        f"qm set 101 --cpu kvm64,flags=+aes;-pcid --digest {old.digest}",
        f"qm set 101 --revert cpu --digest {new.digest}",
    ]


def test_each_command_runs_on_the_guests_own_node(site: Site) -> None:
    before = site.lab.tree()
    with site.guest("111") as it:
        old = it.read()
        it.write(old, Setting("host"))
        it.start(5)
        assert it.state() is GuestState.RUNNING
        it.shut_down(5, force=False)
        assert it.state() is GuestState.STOPPED
        it.write(it.read(), old)
    assert site.lab.tree() == before
    first = pve_tools.log(site.nodes["pve1"])
    assert first == ["pvesh get /cluster/resources --type vm --output-format json"]
    assert [line for line in pve_tools.log(site.nodes["pve2"]) if line.startswith("qm s")] == [
        f"qm set 111 --cpu host --digest {old.digest}",
        "qm start 111",
        "qm shutdown 111 --timeout 5",
        *[line for line in pve_tools.log(site.nodes["pve2"]) if "--cpu kvm64" in line],
    ]


def test_an_option_is_taken_away(site: Site) -> None:
    site.lab.cluster.running.pop(101)
    before = site.lab.tree()
    with site.guest() as it:
        old = it.read()
        it.write(old, Setting(None))
        assert changed(site.lab, before) == {NAS: ("cpu: x86-64-v2", "")}
        it.write(it.read(), old)
    assert site.lab.tree() == before


def test_a_stale_digest_writes_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with site.guest() as it:
        old = it.read()
        real = proxmox_ssh.NodeWay.change

        def late(*words: object) -> None:
            edit(site.lab, NAS, "memory: 32768", "memory: 16384")
            real(*words)  # type: ignore[arg-type]

        monkeypatch.setattr(proxmox_ssh.NodeWay, "change", late)
        with pytest.raises(ChangedError, match="in the meantime"):
            it.write(old, Setting("host"))
    assert "PENDING" not in site.lab.tree()[NAS]


@pytest.mark.parametrize(
    ("vmid", "value", "said"),
    [
        ("113", "kvm64", r"is locked \(backup\).*`qm unlock 113`"),
        ("101", "Nowhere", "no CPU model Nowhere"),
        ("101", "custom-nowhere", "no custom model nowhere"),
        ("101", "host,flags=+avx", "takes only these flags"),
        ("101", "host; touch /tmp/unmask-test-injected", "no CPU model host; touch"),
    ],
)
def test_what_qm_refuses_is_said(site: Site, vmid: str, value: str, said: str) -> None:
    before = site.lab.tree()
    with site.guest(vmid) as it, pytest.raises(RefusedError, match=said):
        it.write(it.read(), Setting(value))
    assert site.lab.tree() == before
    assert not Path("/tmp/unmask-test-injected").exists()


def test_without_quorum_nothing_is_written(site: Site) -> None:
    before = site.lab.tree()
    with site.guest() as it:
        site.lab.set_fault("no-quorum")
        with pytest.raises(RefusedError, match="has no quorum"):
            it.write(it.read(), Setting("host"))
    assert site.lab.tree() == before


def test_a_command_that_does_not_end_is_looked_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = site.lab.tree()
    monkeypatch.setattr(proxmox_ssh, "WRITE_SECONDS", 3.0)
    pve_tools.hang(site.nodes["pve1"])
    with site.guest() as it:
        it.write(it.read(), Setting("host"))
        assert it.read().value == "host"
    assert changed(site.lab, before) == {NAS: ("", "[PENDING]\ncpu: host")}


def test_a_start_that_fails_says_why(site: Site) -> None:
    with site.guest("111") as it:
        it.write(it.read(), Setting("EPYC-Genoa"))
        with pytest.raises(RefusedError, match=r"Host doesn't support.*QEMU exited with code 1"):
            it.start(5)


def test_a_guest_that_does_not_react_is_left_on(site: Site) -> None:
    with site.guest("115") as it:
        with pytest.raises(RefusedError, match="in time"):
            it.shut_down(1, force=False)
        assert it.state() is GuestState.RUNNING
        it.shut_down(1, force=True)
        assert it.state() is GuestState.STOPPED


def test_a_node_without_the_tools_is_none(site: Site) -> None:
    (site.nodes["pve1"].root / "bin" / "pvesh").unlink()
    with site.guest() as it, pytest.raises(TargetError, match="there is no pvesh"):
        it.read()


def test_a_custom_model_is_added_and_the_rest_stays(site: Site) -> None:
    before = site.models.read_text()
    with site.guest() as it:
        it.make_model(SECTION)
        assert site.models.read_text() == before + SECTION
        it.make_model(SECTION)
        assert site.models.read_text() == before + SECTION
        with pytest.raises(RefusedError, match="another custom model mine"):
            it.make_model(SECTION.replace("+aes", "+avx"))
    assert site.models.read_text() == before + SECTION
    lock = site.nodes["pve1"].etc_pve / "priv" / "lock"
    assert list(lock.iterdir()) == []
    assert sorted(path.name for path in site.models.parent.iterdir()) == ["cpu-models.conf"]


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "no newline"])
def test_a_model_is_parted_from_what_is_there(site: Site, ending: str) -> None:
    if ending == "":
        site.models.unlink()
    else:
        old = "cpu-model: old\n\treported-model qemu64"
        site.models.write_text(old if ending == "no newline" else old + ending)
    with site.guest() as it:
        it.make_model(SECTION)
        it.make_model(SECTION)
    text = site.models.read_text()
    assert text.endswith(SECTION)
    assert text == SECTION or text.endswith(f"qemu64\n\n{SECTION}")


def test_a_lock_of_somebody_elses_is_waited_for_and_kept(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_pve_model_file, "TRIES", 2)
    before = site.models.read_text()
    lock = site.nodes["pve1"].etc_pve / "priv/lock/file-virtual-guest_cpu-models_conf"
    lock.mkdir(parents=True)
    with site.guest() as it, pytest.raises(RefusedError, match=r"lock .* was not to be had"):
        it.make_model(SECTION)
    assert site.models.read_text() == before
    assert lock.exists()


def test_a_file_that_changes_before_the_lock_is_had_is_left_alone(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = proxmox_ssh.NodeWay._script
    seen: list[bytes] = []

    def late(way: proxmox_ssh.NodeWay, script: bytes) -> object:
        if b"mkdir" in script:
            seen.append(script)
            site.models.write_text("cpu-model: other\n\treported-model kvm64\n\n")
        return real(way, script)

    monkeypatch.setattr(proxmox_ssh.NodeWay, "_script", late)
    with site.guest() as it, pytest.raises(ChangedError, match="in the meantime"):
        it.make_model(SECTION)
    assert len(seen) == 1
    assert site.models.read_text() == "cpu-model: other\n\treported-model kvm64\n\n"
    lock = site.nodes["pve1"].etc_pve / "priv" / "lock"
    assert list(lock.iterdir()) == []

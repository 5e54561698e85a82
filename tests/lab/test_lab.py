"""The life of a lab: what it hands out, what it counts, and that nothing of it stays."""

import http.client
import json
import ssl
import stat
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.lab_cases import ask
from unmask import plugins
from unmask.config import targets
from unmask.errors import UsageError
from unmask.lab import handout
from unmask.lab.lab import Lab
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Source


def test_nothing_of_it_stays() -> None:
    with Lab() as lab:
        folder, port = lab.folder, lab.port
        assert lab.ca_file.is_file()
    assert not folder.exists()
    with Lab(port=port) as again:
        assert again.port == port


def test_an_ended_lab_answers_nobody_any_more() -> None:
    with Lab(pace=0) as lab:
        context = ssl.create_default_context(cafile=lab.ca_file)
        client = http.client.HTTPSConnection("127.0.0.1", lab.port, context=context, timeout=5)
        assert _version(client, lab) == 200
        assert client.sock is not None
    with pytest.raises((OSError, http.client.HTTPException)):
        _version(client, lab)
    client.close()


def _version(client: http.client.HTTPSConnection, lab: Lab) -> int:
    client.request("GET", "/api2/json/version", headers=lab.header("audit"))
    answer = client.getresponse()
    answer.read()
    return answer.status


def test_a_port_in_use_leaves_no_folder_behind() -> None:
    with Lab() as lab:
        other = Lab(port=lab.port)
        with pytest.raises(OSError, match="in use"), other:
            pass
        assert not other.folder.exists()


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(UsageError, match=r"choose one of 7\.4"):
        Lab(version="6.1")


def test_a_cluster_may_have_several_entries() -> None:
    with Lab(pace=0) as lab, Lab(beside=lab) as other:
        assert other.ca_file == lab.ca_file
        ask(lab, "fix", "PUT /nodes/pve2/qemu/111/config", {"cpu": "host"})
        data = ask(other, "audit", "GET /nodes/pve2/qemu/111/config")[2]["data"]
        assert data["cpu"] == "host"
        other.set_fault("resets=1")
        assert ask(lab, "audit", "GET /version")[0] == 200


def test_requests_are_counted_by_route() -> None:
    with Lab(pace=0) as lab:
        for _ in range(3):
            ask(lab, "audit", "GET /nodes/pve1/qemu/101/config")
        ask(lab, "audit", "GET /nope")
        counts = lab.counts()
        assert counts["GET /nodes/{node}/qemu/{vmid}/config"] == 3
        assert counts["GET "] == 1
        assert [seen.status for seen in lab.seen] == [200, 200, 200, 501]


def test_every_change_is_noted_and_reading_is_none() -> None:
    with Lab(pace=0) as lab:
        for path in ("/cluster/resources", "/nodes/pve2/qemu/114/pending"):
            ask(lab, "audit", f"GET {path}")
        assert not lab.written
        ask(lab, "fix", "PUT /nodes/pve2/qemu/111/config", {"cpu": "host"})
        assert lab.written == (
            "fix@pve!unmask changed options of guest 111: nodes/pve2/qemu-server/111.conf",
        )
        ask(lab, "fix", "PUT /nodes/pve2/qemu/111/config", {"cpu": "host"})
        assert len(lab.written) == 1


def test_one_of_many_writers_with_the_same_digest_wins() -> None:
    with Lab(pace=0) as lab, ThreadPoolExecutor(8) as pool:
        path = "/nodes/pve2/qemu/111/config"
        digest = ask(lab, "fix", f"GET {path}")[2]["data"]["digest"]
        models = ("host", "max", "qemu64", "kvm32", "EPYC", "Haswell", "Westmere", "Nehalem")
        barrier = threading.Barrier(len(models))

        def write(model: str) -> int:
            barrier.wait()
            return ask(lab, "fix", f"PUT {path}", {"cpu": model, "digest": digest})[0]

        assert sorted(pool.map(write, models)) == [200] + [500] * 7


def test_tasks_take_their_time() -> None:
    with Lab(pace=0.3) as lab:
        upid = ask(lab, "fix", "POST /nodes/pve1/qemu/101/status/shutdown")[2]["data"]
        status = ask(lab, "fix", f"GET /nodes/pve1/tasks/{upid}/status")[2]["data"]
        assert status["status"] == "running"
        assert "exitstatus" not in status
        # The shutdown holds the guest's file lock: the change waits for it.
        assert ask(lab, "fix", "PUT /nodes/pve1/qemu/101/config", {"cpu": "host"})[0] == 200
        status = ask(lab, "fix", f"GET /nodes/pve1/tasks/{upid}/status")[2]["data"]
        assert status["exitstatus"] == "OK"


def test_a_write_does_not_wait_for_ever_for_a_lock() -> None:
    with Lab(pace=0.02) as lab:
        ask(lab, "fix", "POST /nodes/pve2/qemu/115/status/shutdown", {"timeout": 60})
        status, reason, _ = ask(lab, "fix", "PUT /nodes/pve2/qemu/115/config", {"cpu": "host"})
        assert status == 500
        assert reason == "can't lock file '/var/lock/qemu-server/lock-115.conf' - got timeout"


def test_the_ready_file_and_the_configuration(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    with Lab() as lab:
        handout.write_ready_file(ready, lab.described())
        assert stat.S_IMODE(ready.stat().st_mode) == 0o600
        told = json.loads(ready.read_text(encoding="utf-8"))
        assert told["url"] == lab.url
        assert Path(told["ca"]).read_text(encoding="utf-8").startswith("-----BEGIN CERTIFICATE")
        assert told["tokens"]["audit"].startswith("audit@pve!unmask=")
        target = tomllib.loads(Path(told["config"]).read_text(encoding="utf-8"))["targets"]["lab"]
        assert target["address"] == f"pve://{lab.address}"
        secret = Path(target["token_file"])
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        told_token = f"{target['token_id']}={secret.read_text(encoding='utf-8').strip()}"
        assert told_token == told["tokens"]["audit"]
    assert [path.name for path in tmp_path.iterdir()] == ["ready.json"]


def test_secrets_differ_from_lab_to_lab() -> None:
    one, other = Lab(), Lab()
    assert set(one.tokens.values()).isdisjoint(other.tokens.values())
    assert set(one.passwords.values()).isdisjoint(other.passwords.values())


def test_the_same_tree_can_be_read_as_files(tmp_path: Path) -> None:
    with Lab(pace=0) as lab:
        lab.write_tree(tmp_path, cpuinfo=True)
        rows = ask(lab, "audit", "GET /cluster/resources", {"type": "vm"})[2]["data"]
    inventory = _collected(tmp_path)
    assert {guest.ident for guest in inventory.guests} == {str(row["vmid"]) for row in rows}
    assert {guest.ident: guest.name for guest in inventory.guests} == {
        str(row["vmid"]): row["name"] for row in rows
    }
    flags = {host.name: host.cpu.value.flags for host in inventory.hosts}
    assert "aes" in flags["pve1"]
    assert "aes" not in flags["pve4"]


def test_the_command_line_of_a_running_guest() -> None:
    with Lab(pace=0) as lab:
        assert lab.cpu_argument(114).startswith("kvm64,enforce,")
        assert lab.cpu_argument(115) == "kvm64,+ssse3,-aes"
        assert lab.cpu_argument(122) == "qemu64"
        assert lab.cpu_argument(111) == ""


def _collected(folder: Path) -> Inventory:
    sources = plugins.load("unmask.sources", "SOURCE", Source)
    return targets.source_for(str(folder), sources).collect(str(folder), CollectOptions())

"""Each fault shows what it promises, and nothing of it stays when it is taken away."""

import time
from collections.abc import Iterator

import pytest
import requests

from support.lab_cases import ask
from unmask.errors import UsageError
from unmask.lab.faults import KINDS, Fault, parse
from unmask.lab.lab import Lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as running:
        yield running


def get(lab: Lab, path: str = "/version", timeout: float = 5) -> requests.Response:
    return requests.get(
        f"{lab.url}/api2/json{path}",
        headers=lab.header("audit"),
        verify=str(lab.ca_file),
        timeout=timeout,
    )


def test_latency(lab: Lab) -> None:
    lab.set_fault("latency=0.2")
    started = time.monotonic()
    assert get(lab).status_code == 200
    assert time.monotonic() - started >= 0.2
    assert lab.seen[-1].own > 0
    assert lab.seen[-1].seconds - lab.seen[-1].own >= 0.2


def test_5xx(lab: Lab) -> None:
    lab.set_fault("5xx=2")
    statuses = [get(lab).status_code for _ in range(6)]
    assert statuses == [200, 502, 200, 503, 200, 596]


def test_5xx_of_one_path(lab: Lab) -> None:
    lab.set_fault("5xx=1@/qemu/101/")
    assert get(lab, "/nodes/pve1/qemu/101/config").status_code == 502
    assert get(lab, "/nodes/pve1/qemu/102/config").status_code == 200


def test_resets(lab: Lab) -> None:
    lab.set_fault("resets=1")
    with pytest.raises(requests.exceptions.ConnectionError):
        get(lab)
    assert lab.seen[-1].status == 0


def test_truncated(lab: Lab) -> None:
    lab.set_fault("truncated=1")
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
        get(lab)


def test_html(lab: Lab) -> None:
    lab.set_fault("html")
    answer = get(lab)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    with pytest.raises(requests.exceptions.JSONDecodeError):
        answer.json()


def test_401_in_mid_run(lab: Lab) -> None:
    lab.set_fault("401-mid-run=2")
    assert [get(lab).status_code for _ in range(4)] == [200, 200, 401, 401]
    assert ask(lab, "audit", "GET /version")[:2] == (401, "Authentication failed!")


def test_a_node_that_is_down_leaves_its_guests_last_states(lab: Lab) -> None:
    lab.set_fault("node-down=2")
    assert ask(lab, "audit", "GET /nodes/pve2/status") == (595, "Network is unreachable", None)
    rows = {row["id"]: row for row in ask(lab, "audit", "GET /cluster/resources")[2]["data"]}
    assert rows["node/pve2"]["status"] == "offline"
    assert "cpu" not in rows["node/pve2"]
    assert rows["qemu/112"]["status"] == "running"


def test_a_node_that_is_down_is_still_offered_to_migrations(lab: Lab) -> None:
    lab.set_fault("node-down=2")
    data = ask(lab, "fix", "GET /nodes/pve3/qemu/125/migrate")[2]["data"]
    assert "pve2" in data["allowed_nodes"]
    upid = ask(lab, "fix", "POST /nodes/pve3/qemu/125/migrate", {"target": "pve2", "online": 1})[2]
    status = ask(lab, "fix", f"GET /nodes/pve3/tasks/{upid['data']}/status")[2]["data"]
    assert status["exitstatus"] == "migration aborted"


def test_without_quorum_reading_works_and_writing_does_not(lab: Lab) -> None:
    lab.set_fault("no-quorum")
    rows = {row["id"]: row for row in ask(lab, "audit", "GET /cluster/status")[2]["data"]}
    assert rows["cluster"]["quorate"] == 0
    assert [rows[f"node/pve{n}"]["online"] for n in (1, 2, 3, 4)] == [1, 0, 0, 0]
    assert ask(lab, "audit", "GET /nodes/pve1/qemu/101/config")[0] == 200
    status, reason, _ = ask(lab, "fix", "PUT /nodes/pve1/qemu/101/config", {"cpu": "host"})
    assert status == 500
    assert reason.startswith("unable to open file '/etc/pve/nodes/pve1/qemu-server/101.conf.tmp.")
    started = ask(lab, "fix", "POST /nodes/pve2/qemu/111/status/start")
    assert started[1] == "cluster not ready - no quorum?"
    made = ask(
        lab,
        "fix",
        "POST /cluster/qemu/custom-cpu-models",
        {"cputype": "a", "reported-model": "kvm64"},
    )
    assert made[1] == "cfs-lock 'file-virtual-guest_cpu-models_conf' error: no quorum!"
    assert not lab.written


def test_slow_drip(lab: Lab) -> None:
    lab.set_fault("slow-drip=0.05")
    started = time.monotonic()
    assert get(lab, "/cluster/status").status_code == 200
    assert time.monotonic() - started > 0.2


def test_several_faults_and_none_again(lab: Lab) -> None:
    for written in ("node-down=3", "no-quorum", "401-mid-run=0", "html"):
        lab.set_fault(written)
    assert get(lab).text.startswith("<html>")
    lab.clear_faults()
    assert get(lab, "/nodes/pve3/status").json()["data"]["uptime"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_value_of_its_own(kind: str) -> None:
    assert parse(kind) == Fault(kind, KINDS[kind][0])
    assert parse(f"{kind}=2@/nodes") == Fault(kind, 2.0, "/nodes")


@pytest.mark.parametrize(
    "written",
    ["", "fire", "latency=much", "=3", "latency=-1", "latency=nan", "latency=inf", "5xx=0",
     "5xx=-3", "5xx=1.5", "node-down=0", "slow-drip=-0.1", "401-mid-run=-1", "html=1e9"],
)  # fmt: skip
def test_faults_that_there_are_not(written: str) -> None:
    with pytest.raises(UsageError):
        parse(written)


def test_a_node_that_is_not_there_cannot_be_down(lab: Lab) -> None:
    with pytest.raises(UsageError, match="4 nodes"):
        lab.set_fault("node-down=5")
    assert not lab.cluster.offline

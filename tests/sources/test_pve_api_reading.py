"""What is asked, in which order, and what becomes of answers that are not as expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from unmask.connect.deadline import Clock
from unmask.connect.proxmox import Api
from unmask.connect.proxmox_address import Address
from unmask.connect.proxmox_answer import ApiError
from unmask.errors import TargetError
from unmask.model.cpu import Mode
from unmask.model.inventory import GuestKind, Inventory
from unmask.model.reading import Known, Missing
from unmask.sources import _pve_api_inventory, _pve_api_reading
from unmask.sources._pve_api_answers import Answers

FLAGS = "fpu lm aes pclmulqdq sse4_1 sse4_2 ssse3 popcnt cx16"
STATUS = {
    "cpuinfo": {"model": "Intel(R) Xeon(R) CPU", "flags": FLAGS},
    "kversion": "Linux 6.8.12-18-pve #1 SMP",
    "pveversion": "pve-manager/8.4.14/x",
}


def missing(path: str) -> ApiError:
    vmid = path.split("/")[-2]
    text = f"500 Configuration file 'nodes/x/qemu-server/{vmid}.conf' does not exist"
    return ApiError(text, status=500)


class Cluster:
    """Stands in for the client: answers by path, an exception to be raised, or a function."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.clock = Clock(30)
        self.entry = Address("pve1")
        self.asked: list[str] = []
        self.answers: dict[str, Any] = {
            "version": {"version": "8.4.14"},
            "nodes": [{"node": "pve1", "status": "online"}, {"node": "pve2", "status": "online"}],
            "cluster/status": [
                {"type": "cluster", "name": "lab", "quorate": 1},
                {"type": "node", "name": "pve1", "online": 1},
                {"type": "node", "name": "pve2", "online": 1},
            ],
            "cluster/resources": [],
            "access/permissions": {"/": {"VM.Audit": 1}, "/vms": {"VM.Audit": 1}},
            "nodes/pve1/status": STATUS,
            "nodes/pve2/status": STATUS,
        } | dict(answers)

    def get(self, path: str, node: str = "", **params: str) -> Any:
        del node, params
        self.asked.append(path)
        answer = self.answers.get(path, ApiError(f"501 Method 'GET /{path}' not", status=501))
        if isinstance(answer, Callable):  # type: ignore[arg-type]
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read(self) -> Answers:
        return _pve_api_reading.read(cast("Api", self), 4, lambda _: None)

    def inventory(self) -> Inventory:
        return _pve_api_inventory.inventory(self.read(), "pve://pve1", "pve1")


def listed(vmid: int, node: str = "pve1", **more: Any) -> dict[str, Any]:
    return {"vmid": vmid, "node": node, "type": "qemu", "status": "running", **more}


def pending(**values: Any) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def test_a_guest_that_moves_meanwhile_is_looked_up_again() -> None:
    lists = iter([[listed(101, "pve1")], [listed(101, "pve2")]])
    cluster = Cluster({
        "cluster/resources": lambda: next(lists),
        "nodes/pve1/qemu/101/pending": missing("nodes/pve1/qemu/101/pending"),
        "nodes/pve2/qemu/101/pending": pending(name="moved", cpu="host"),
    })  # fmt: skip
    found = cluster.inventory()
    (guest,) = found.guests
    assert (guest.host, guest.configured.mode) == ("lab/pve2", Mode.HOST)
    assert found.gaps == ()


def test_a_guest_that_is_removed_meanwhile_is_no_gap() -> None:
    lists = iter([[listed(101)], []])
    cluster = Cluster({
        "cluster/resources": lambda: next(lists),
        "nodes/pve1/qemu/101/pending": missing("nodes/pve1/qemu/101/pending"),
    })  # fmt: skip
    found = cluster.inventory()
    assert (found.guests, found.gaps) == ((), ())


def test_a_guest_whose_file_stays_away_is_a_gap() -> None:
    path = "nodes/pve1/qemu/101/pending"
    cluster = Cluster({"cluster/resources": [listed(101)], path: missing(path)})
    found = cluster.inventory()
    assert [gap.subject for gap in found.gaps] == ["lab/101"]
    assert found.guests[0].configured.mode is Mode.UNKNOWN


def test_names_that_could_lead_elsewhere_are_never_asked_for() -> None:
    cluster = Cluster({
        "cluster/resources": [listed(101, "../../access"), listed(-5), {"type": "qemu"}],
        "nodes": [{"node": "pve1"}, {"node": "a/b"}, {}],
        "nodes/pve1/qemu/7/pending": pending(parent="x"),
    })  # fmt: skip
    cluster.inventory()
    assert not [path for path in cluster.asked if ".." in path or "a/b" in path]


def test_a_snapshot_with_a_strange_name_is_not_asked_for() -> None:
    cluster = Cluster({
        "cluster/resources": [listed(101)],
        "nodes/pve1/qemu/101/pending": pending(parent="good"),
        "nodes/pve1/qemu/101/snapshot": [
            {"name": "good", "vmstate": 1}, {"name": "../x", "vmstate": 1}, {"name": "disk"},
            {"name": "current"},
        ],
        "nodes/pve1/qemu/101/snapshot/good/config": {"cpu": "kvm64", "vmstate": "x"},
    })  # fmt: skip
    found = cluster.inventory()
    assert [item.name for item in found.guests[0].snapshots] == ["good"]
    assert [path for path in cluster.asked if "snapshot/" in path] == [
        "nodes/pve1/qemu/101/snapshot/good/config"
    ]


@pytest.mark.parametrize("answer", [None, [], {"data": 1}, "x", {"version": 9}])
def test_what_is_no_proxmox_is_said(answer: Any) -> None:
    with pytest.raises(TargetError, match="does not answer as Proxmox VE does"):
        Cluster({"version": answer}).read()


@pytest.mark.parametrize("answer", [None, "x", 7, {"a": 1}, [1], [[]]])
def test_answers_of_another_shape_are_gaps(answer: Any) -> None:
    cluster = Cluster({
        "cluster/resources": [listed(101), listed(102)],
        "nodes/pve1/qemu/101/pending": answer,
        "nodes/pve1/qemu/102/pending": pending(cpu="host"),
    })  # fmt: skip
    found = cluster.inventory()
    (gap,) = found.gaps
    assert gap.subject == "lab/101"
    assert "not what Proxmox VE sends" in gap.reason


def test_wild_values_do_no_harm() -> None:
    cluster = Cluster({
        "cluster/resources": [listed(101, name=["x"], status={}, lock=7, template="yes")],
        "nodes/pve1/qemu/101/pending": [
            {"key": "cpu", "value": {"a": 1}}, {"key": 5, "value": None}, {"value": 1}, {},
            {"key": "ostype", "pending": True}, {"key": "x", "delete": "1"}, {"pending": 1},
            {"delete": 1},
        ],
        "nodes/pve1/status": {"cpuinfo": [], "current-kernel": 5, "pveversion": None},
        "nodes/pve2/status": {"cpuinfo": {"flags": {"a": 1}}},
        "nodes/pve1/capabilities/qemu/machines": [{"version": 7}, {}, {"version": "9.2+pve1"}],
        "access/permissions": {"/": 1, "/vms/5": "x"},
        "cluster/replication": [{}, {"guest": 101, "target": "pve2"}],
        "cluster/qemu/custom-cpu-models": [
            {}, {"cputype": 5}, {"cputype": "custom-a", "x": "y"}, {"cputype": "custom-a,b"},
        ],
        "cluster/qemu/cpu-flags": [
            {}, {"name": "aes", "supported-on": "pve1"}, {"name": "avx", "supported-on": 1},
        ],
    })  # fmt: skip
    found = cluster.inventory()
    assert {gap.subject for gap in found.gaps} >= {"lab", "lab/101"}
    assert found.guests[0].replicas == ("pve2",)


def test_replication_that_cannot_be_told_is_a_gap() -> None:
    cluster = Cluster({"cluster/replication": ApiError("503 x (3 tries)", status=503)})
    (gap,) = cluster.inventory().gaps
    assert (gap.subject, gap.needs) == ("lab", "")
    assert gap.reason == "which guests are replicated is not known: 503 x (3 tries)"
    assert Cluster({}).inventory().gaps == ()  # a version without such a route has no jobs


def test_nothing_but_errors_is_an_error_of_the_target() -> None:
    broken = ApiError("503 x", status=503)
    names = ("nodes", "cluster/status", "cluster/resources")
    with pytest.raises(ApiError, match="pve1:8006: 503 x"):
        Cluster(dict.fromkeys(names, broken)).read()


@pytest.mark.parametrize(
    ("answer", "needs"),
    [
        (None, "the file (pve+ssh://): Proxmox VE 8.4.14 has no API for it"),
        (ApiError("503 x", status=503), "another try: 503 x"),
        (ApiError("403 x", status=403), "Mapping.Audit on /mapping/cpu"),
        ([], "Mapping.Audit on /mapping/cpu/nas"),
    ],
)
def test_what_it_takes_to_read_a_custom_model(answer: Any, needs: str) -> None:
    told = {} if answer is None else {"cluster/qemu/custom-cpu-models": answer}
    cluster = Cluster({
        "cluster/resources": [listed(101)],
        "nodes/pve1/qemu/101/pending": pending(cpu="custom-nas"),
        **told,
    })  # fmt: skip
    (gap,) = cluster.inventory().gaps
    assert gap.needs == needs


def test_an_offline_node_is_not_asked_and_its_states_are_not_believed() -> None:
    cluster = Cluster({
        "cluster/status": [
            {"type": "cluster", "name": "lab", "quorate": 1},
            {"type": "node", "name": "pve1", "online": 1},
            {"type": "node", "name": "pve2", "online": 0},
        ],
        "cluster/resources": [listed(201, "pve2", name="mail"), listed(202, "pve2", type="lxc")],
    })  # fmt: skip
    found = cluster.inventory()
    assert not [path for path in cluster.asked if path.startswith("nodes/pve2")]
    assert [guest.state.value for guest in found.guests] == ["unknown", "unknown"]
    assert found.guests[0].name == "mail"
    assert {gap.subject for gap in found.gaps} == {"lab/pve2", "lab/201"}
    assert found.guests[1].kind is GuestKind.CONTAINER  # it has no CPU that could be missing
    assert isinstance(found.hosts[1].cpu, Missing)


def test_a_node_on_its_own_is_called_by_its_name() -> None:
    cluster = Cluster({
        "nodes": [{"node": "solo", "status": "online"}],
        "cluster/status": [{"type": "node", "name": "solo", "online": 1, "local": 1}],
        "nodes/solo/status": STATUS,
    })  # fmt: skip
    found = cluster.inventory()
    assert [host.subject for host in found.hosts] == ["solo/solo"]
    assert found.clusters[0].name == "solo"
    assert found.hosts[0].software.kernel == "6.8.12-18-pve"
    assert found.hosts[0].cpu.value.vendor == "GenuineIntel"


def test_what_the_hypervisor_offers_stands_in_for_a_node_that_may_not_be_asked() -> None:
    cluster = Cluster({
        "nodes/pve2/status": ApiError("403 x", "Sys.Audit on /nodes/pve2", 403),
        "cluster/qemu/cpu-flags": [
            {"name": "aes", "supported-on": ["pve1", "pve2"]},
            {"name": "sse4.1", "supported-on": ["pve2"]},
            {"name": "avx", "supported-on": ["pve1"]},
        ],
    })  # fmt: skip
    found = cluster.inventory()
    reading = found.hosts[1].cpu
    assert isinstance(reading, Known)
    assert reading.value.flags == {"aes", "sse4_1"}
    assert not reading.value.complete
    (gap,) = found.gaps
    assert gap.needs == "Sys.Audit on /nodes/pve2"
    assert "only as far as its hypervisor offers it" in gap.reason


def test_too_many_snapshots_are_bounded_and_said() -> None:
    names = [f"s{number:02}" for number in range(40)]
    cluster = Cluster({
        "cluster/resources": [listed(101)],
        "nodes/pve1/qemu/101/pending": pending(parent="s00"),
        "nodes/pve1/qemu/101/snapshot": [{"name": name, "vmstate": 1} for name in names],
        **{
            f"nodes/pve1/qemu/101/snapshot/{name}/config": {"vmstate": "x", "cpu": "kvm64"}
            for name in names
        },
    })  # fmt: skip
    found = cluster.inventory()
    assert len(found.guests[0].snapshots) == 32
    assert found.gaps[0].reason == "32 of 40 snapshots with memory were read"

"""Sockets of real guests, answered as their collectors judged them, where they are present."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.feature_views import of_model
from support.visited import case, guest, inside, parsed
from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.outlook import Status
from unmask.model.workload import JudgedWorkload, WorkloadKind

FOLDER = Path(__file__).parents[3] / "shared" / "corpus"


def sockets(name: str) -> Inside:
    """Return a guest of which only this listing of its sockets was read."""
    if not FOLDER.is_dir():
        pytest.skip("the corpus of real configurations is not here")
    text = (FOLDER / name).read_text(encoding="utf-8")
    return inside(listeners=parsed("listeners", sockets=text))


def found(name: str) -> dict[WorkloadKind, list[JudgedWorkload]]:
    kinds: dict[WorkloadKind, list[JudgedWorkload]] = {}
    for item in case(guest(sockets(name))).workloads:
        kinds.setdefault(item.workload.kind, []).append(item)
    return kinds


def test_wireguard_openvpn_and_perhaps_tls() -> None:
    kinds = found("wl-013-ss-lntup-mixed.txt")
    assert kinds.keys() == {
        WorkloadKind.OPENVPN, WorkloadKind.SSH, WorkloadKind.TLS, WorkloadKind.WIREGUARD,
    }  # fmt: skip
    (wireguard,) = kinds[WorkloadKind.WIREGUARD]
    assert wireguard.workload.ports == (51820,)
    assert wireguard.outlook
    assert wireguard.outlook.cipher == "chacha20"
    assert set(wireguard.outlook.missing) <= {"ssse3", "avx2"}
    (openvpn,) = kinds[WorkloadKind.OPENVPN]
    assert openvpn.workload.ports == (1194,)
    assert "127.0.0.1 only" in openvpn.workload.detail
    assert openvpn.outlook
    assert openvpn.outlook.cipher == "gcm"
    (tls,) = kinds[WorkloadKind.TLS]
    assert tls.workload.ports == (8443,)
    assert tls.workload.confidence is Confidence.TENTATIVE
    assert any("taken from its number" in text for text in tls.workload.evidence)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("wl-014-ss-ulpn-vertical.txt", "UDP port 1194"),
        ("wl-016-openvpn-install-hardware.txt", "TCP port 1194"),
    ],
)
def test_openvpn_in_other_columns(name: str, place: str) -> None:
    kinds = found(name)
    assert kinds.keys() == {WorkloadKind.OPENVPN}
    (only,) = kinds[WorkloadKind.OPENVPN]
    assert only.workload.detail == place
    assert only.workload.consumer == "openvpn"


def test_wireguard_needs_vectors_and_not_aes() -> None:
    consumer = consumers()["wireguard"]
    bare = judge(consumer, of_model("kvm64"), version="6.1")
    assert (bare.status, bare.missing) == (Status.SOFTWARE, ("ssse3", "avx2"))
    assert judge(consumer, of_model("x86-64-v3"), version="6.1").status is Status.HARDWARE

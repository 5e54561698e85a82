"""Figures of a guest's own node in place of general ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support import move_case, rule_case
from support.benches import environment, samples
from unmask.engine import figures
from unmask.engine.cases import guest_cases
from unmask.model.bench import PLAIN, BenchResult
from unmask.model.case import GuestCase
from unmask.model.outlook import Outlook, Status
from unmask.model.reading import Known, Missing

RATES = {
    "aes-256-gcm": {PLAIN: 3000, "kvm64": [80, 88, 90], "x86-64-v2-AES": 450, "host": 2900},
    "aes-128-gcm": {"kvm64": 100, "host": 4000},
    "chacha20-poly1305": {"kvm64": 300, "host": 600},
    "aes-256-cbc": {"kvm64": 50, PLAIN: 1000},
}
NGINX = {
    "kind": "tls", "name": "nginx", "consumer": "openssl", "cipher": "aes-256-gcm",
    "version": "3.0.19", "activity": "active",
}  # fmt: skip


def node(**changes: Any) -> BenchResult:
    """Return what was measured on lab/one, which has the CPU of the inventories here."""
    found = BenchResult(
        "lab/one", "one", "lab/one", "2026-12-01T08:00:00Z", "quick what-if", "ssh root@one",
        replace(environment(version="OpenSSL 3.0.19 27 Jan 2026 (Library)"), cpu=cpu()),
        samples(RATES),
    )  # fmt: skip
    return replace(found, **changes)


def cpu() -> Any:
    (host,) = move_case.inventory({"lab/one": "broadwell"}, []).hosts
    return host.cpu


def case(*measured: BenchResult, workload: dict[str, Any] | None = None, **guest: Any) -> GuestCase:
    entry = {"cpu": "kvm64", "sees": "kvm64", "workloads": [{**NGINX, **(workload or {})}], **guest}
    read = move_case.inventory({"lab/one": "broadwell", "lab/two": "broadwell"}, [entry])
    (found,) = guest_cases(read, rule_case.finders([entry]), measured)
    return found


def outlook(*measured: BenchResult, **more: Any) -> Outlook:
    (item,) = case(*measured, **more).workloads
    assert item.outlook
    return item.outlook


def test_the_factor_is_that_of_the_node_and_nothing_else_changes() -> None:
    general, found = outlook(), outlook(node())
    assert found.factor == pytest.approx(88 / 2900)
    assert found.factor_origin == (
        "aes-256-gcm measured on one with OpenSSL 3.0.19 on 2026-12-01: 88.0 of 2900 MB/s"
    )
    assert found.measured_here
    same = {"factor": general.factor, "factor_origin": general.factor_origin}
    assert replace(found, **same, measured_here=False) == general  # type: ignore[arg-type]
    assert general.factor != found.factor


@pytest.mark.parametrize(
    ("workload", "factor"),
    [
        ({"cipher": "ECDHE-RSA-AES128-GCM-SHA256"}, 100 / 4000),
        ({"cipher": "aes-192-gcm"}, 88 / 2900),
        ({"cipher": ""}, 88 / 2900),
        ({"kind": "openvpn", "consumer": "openvpn", "cipher": "AES-256-GCM"}, 88 / 2900),
        ({"kind": "openvpn", "consumer": "openvpn", "cipher": "AES-256-CBC"}, 50 / 1000),
        ({"cipher": "chacha20-poly1305"}, 300 / 600),
    ],
)
def test_the_nearest_algorithm_counts(workload: dict[str, str], factor: float) -> None:
    found = outlook(node(), workload=workload)
    assert found.measured_here == (found.status in (Status.SOFTWARE, Status.PARTIAL))
    assert found.factor == pytest.approx(factor)


@pytest.mark.parametrize(
    "more",
    [
        {"workload": {"consumer": "openzfs", "kind": "zfs"}},
        {"workload": {"consumer": "go"}},
        {"workload": {"cipher": "aes-256-ctr"}},  # not measured
        {"cpu": "Nehalem", "sees": "Nehalem"},  # not measured
        {"cpu": "host", "sees": "host"},  # fast
        {"sees": "x86-64-v2-AES"},  # more than its model has
        {"host": "lab/two"},
        {"accelerator": "tcg"},
    ],
)
def test_what_was_not_measured_keeps_the_general_figure(more: dict[str, Any]) -> None:
    assert outlook(node(), **more) == outlook(**more)


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "quick"},
        {"subject": "lab/two", "name": "two"},
        {"subject": "other/one"},
        {"environment": environment("ssse3")},  # its silicon has no AES
        {"environment": environment("aes pclmulqdq avx", model_name="Another CPU")},
        {"environment": replace(environment(), cpu=Missing("not read"))},
        {"samples": samples({"aes-256-gcm": {"kvm64": 88}})},  # nothing to hold it against
        {"samples": ()},
    ],
)
def test_results_that_do_not_fit(changes: dict[str, Any]) -> None:
    assert outlook(node(**changes)) == outlook()


def test_a_node_that_was_measured_by_its_address_is_known_by_its_name() -> None:
    assert outlook(node(subject="root@one:22", name="root@one:22", host="")).measured_here


def test_no_more_than_all_is_kept() -> None:
    assert outlook(node(samples=samples({"aes-256-gcm": {"kvm64": 90, "host": 88}}))).factor == 1


def test_the_newest_fitting_result_counts() -> None:
    newer = node(started="2026-12-02T08:00:00Z", samples=samples({
        "aes-256-gcm": {"kvm64": 100, "host": 1000},
    }))  # fmt: skip
    other = node(started="2026-12-03T08:00:00Z", samples=samples({"aes-256-ctr": {"kvm64": 1}}))
    assert outlook(node(), other, newer).factor == pytest.approx(0.1)


def test_a_guest_whose_host_is_not_known_has_no_figures() -> None:
    assert figures.of_node((node(),), Missing("not read")) == ()
    found = case(node())
    assert isinstance(found.host, Known)
    assert found.figures == (node(),)

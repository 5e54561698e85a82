"""The lab driven by the client that operators use, over TLS with the lab's CA."""

from collections.abc import Iterator
from typing import Any

import proxmoxer  # noqa: TID251 - it is the lab that is tested here
import pytest
import requests

from unmask.lab.lab import Lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(pace=0) as running:
        yield running


def client(lab: Lab, name: str) -> Any:
    user, _, rest = lab.tokens[name].partition("!")
    token, _, secret = rest.partition("=")
    return proxmoxer.ProxmoxAPI(
        lab.address, user=user, token_name=token, token_value=secret, verify_ssl=str(lab.ca_file)
    )


def test_reads_with_a_token(lab: Lab) -> None:
    api = client(lab, "audit")
    assert api.version.get()["release"] == "9.2"
    names = {row["name"] for row in api.cluster.resources.get(type="vm")}
    assert {"truenas", "pfsense", "win11-office", "pihole"} <= names
    assert api.nodes("pve1").qemu(101).config.get()["cpu"] == "x86-64-v2"
    assert not lab.written


def test_changes_with_a_ticket_and_its_csrf_token(lab: Lab) -> None:
    api = proxmoxer.ProxmoxAPI(
        lab.address,
        user="root@pam",
        password=lab.passwords["root@pam"],
        verify_ssl=str(lab.ca_file),
    )
    api.nodes("pve2").qemu(115).config.put(delete="args")
    assert "args" in {row["key"] for row in api.nodes("pve2").qemu(115).pending.get()}
    task = api.nodes("pve2").qemu(115).status.stop.post()
    assert api.nodes("pve2").tasks(task).status.get()["exitstatus"] == "OK"
    assert "args" not in api.nodes("pve2").qemu(115).config.get(current=1)


def test_runs_programs_in_a_guest(lab: Lab) -> None:
    agent = client(lab, "agent").nodes("pve1").qemu(101).agent
    pid = agent.exec.post(command=["openssl", "version"])["pid"]
    assert agent("exec-status").get(pid=pid)["out-data"].startswith("OpenSSL 3")


def test_tells_refusals_in_the_reason_phrase(lab: Lab) -> None:
    with pytest.raises(proxmoxer.ResourceException) as refused:
        client(lab, "bare").nodes("pve1").qemu(101).config.get()
    assert refused.value.status_code == 403
    assert refused.value.content == "Permission check failed (/vms/101, VM.Audit)"


def test_tells_faulty_parameters_by_name(lab: Lab) -> None:
    with pytest.raises(proxmoxer.ResourceException) as refused:
        client(lab, "fix").nodes("pve1").qemu(101).config.put(cpu="Nonesuch")
    assert "Nonesuch" in refused.value.errors["cpu"]


def test_wrong_password_is_an_authentication_error(lab: Lab) -> None:
    with pytest.raises(proxmoxer.AuthenticationError):
        proxmoxer.ProxmoxAPI(
            lab.address, user="root@pam", password=lab.tokens["root"], verify_ssl=str(lab.ca_file)
        )


def test_the_certificate_is_not_trusted_without_the_ca(lab: Lab) -> None:
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"{lab.url}/api2/json/version", timeout=5)
    verified = requests.get(f"{lab.url}/api2/json/version", timeout=5, verify=str(lab.ca_file))
    assert verified.status_code == 401


def test_success_keeps_the_connection_and_an_error_closes_it(lab: Lab) -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.verify = str(lab.ca_file)
        session.headers.update(lab.header("audit"))
        good = session.get(f"{lab.url}/api2/json/version", timeout=5)
        bad = session.get(f"{lab.url}/api2/json/nope", timeout=5)
    assert good.headers["Connection"] == "Keep-Alive"
    assert bad.headers["Connection"] == "close"
    assert bad.reason == "Method 'GET /nope' not implemented"

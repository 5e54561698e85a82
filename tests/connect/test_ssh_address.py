"""How SSH servers are written."""

from __future__ import annotations

import pytest

from unmask.connect.ssh_address import Address, parse
from unmask.errors import UsageError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("pve1", Address("pve1")),
        ("root@pve1", Address("pve1", "root")),
        ("pve1:2222", Address("pve1", "", 2222)),
        ("audit@pve1.example.org:22", Address("pve1.example.org", "audit", 22)),
        ("root@[2001:db8::1]:2222", Address("2001:db8::1", "root", 2222)),
        ("[fe80::1%eth0]", Address("fe80::1%eth0")),
        ("user@realm@host", Address("host", "user@realm")),
    ],
)
def test_address_is_read_and_written_again(text: str, address: Address) -> None:
    assert parse(text) == address
    assert parse(str(Address(address.host, address.user, address.port or 22))).host == address.host


@pytest.mark.parametrize(
    "text",
    [
        "",
        "root@",
        "-oProxyCommand=x",
        "$(reboot)",
        "a b",
        "host;id",
        "ho`id`st",
        "pve1:70000",
        "pve1:ssh",
        "2001:db8::1",
        "-l@host",
        "a'b@host",
        "[pve1",
    ],
)
def test_what_a_shell_could_misread_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


@pytest.mark.parametrize("text", ["root:hunter2@vps", "root:hunter2@vps:22:33", "a:hunter2@b@vps"])
def test_a_password_is_not_repeated(text: str) -> None:
    with pytest.raises(UsageError, match="a password in an address") as caught:
        parse(text)
    assert "hunter2" not in str(caught.value)

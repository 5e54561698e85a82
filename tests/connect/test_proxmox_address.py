"""What an address of the API may be, and that no secret in one is ever repeated."""

import pytest

from unmask.connect import proxmox_address
from unmask.connect.proxmox_address import Address
from unmask.errors import UsageError


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("pve://pve1", Address("pve1", 8006)),
        ("pve://pve1.example:443/", Address("pve1.example", 443)),
        ("pve://10.0.0.1:8006", Address("10.0.0.1", 8006)),
        ("pve://[fd00::1]:8006", Address("[fd00::1]", 8006)),
        ("PVE://pve1", Address("pve1", 8006)),
        ("pve://root@pam@pve1", Address("pve1", 8006, "root@pam")),
        ("pve://jo.doe@example.org@pve1:1", Address("pve1", 1, "jo.doe@example.org")),
    ],
)
def test_good_addresses(target: str, expected: Address) -> None:
    assert proxmox_address.parse(target) == expected


def test_an_address_has_a_url() -> None:
    assert Address("[fd00::1]").url == "https://[fd00::1]:8006/api2/json"


@pytest.mark.parametrize(
    "target",
    ["pve://", "pve://a b", "pve://pve1:0", "pve://pve1:65536", "pve://pve1/path", "pve://pve1?x",
     "pve://root@pve1", "pve://fd00::1", "pve://pve1:port", "pve://a\nb"],
)  # fmt: skip
def test_bad_addresses_are_named(target: str) -> None:
    with pytest.raises(UsageError, match="is not"):
        proxmox_address.parse(target)


@pytest.mark.parametrize(
    "target",
    ["pve://root@pam:hush@pve1", "pve://a@pve!id=hush@pve1", "pve://a@pve!hush@pve1:8006",
     "pve://root:hush@pve1", "PVE://a@pve!id=hush@pve1",
     "pve://pve1/?token=hush", "pve://pve1:8006/#PVEAPIToken=hush"],
)  # fmt: skip
def test_a_secret_in_an_address_is_refused_and_not_repeated(target: str) -> None:
    assert proxmox_address.holds_secret(target)
    with pytest.raises(UsageError, match="must not hold a password") as caught:
        proxmox_address.parse(target)
    assert "hush" not in str(caught.value)


def test_other_targets_hold_no_secret_of_this_kind() -> None:
    assert not proxmox_address.holds_secret("qemu+ssh://root:x@host/system")
    assert not proxmox_address.holds_secret("pve://root@pam@[fd00::1]:8006")

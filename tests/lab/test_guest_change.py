"""What becomes pending and what does not."""

import pytest

from unmask.lab.guest_change import Change, apply_pending, balloon_fault, change
from unmask.lab.guest_file import GuestFile


def file(**pending: str) -> GuestFile:
    return GuestFile(main={"cpu": "kvm64", "name": "a", "tablet": "0"}, pending=dict(pending))


def test_a_stopped_guest_takes_everything_at_once() -> None:
    found = file(memory="64")
    change(found, Change({"cpu": "host"}), running=False)
    assert found.main == {"cpu": "host", "name": "a", "tablet": "0", "memory": "64"}
    assert found.pending == {}


def test_a_running_guest_takes_a_name_at_once_and_a_cpu_later() -> None:
    found = file()
    change(found, Change({"cpu": "host", "name": "b"}), running=True)
    assert found.main["name"] == "b"
    assert found.main["cpu"] == "kvm64"
    assert found.pending == {"cpu": "host"}


def test_the_present_value_drops_a_pending_one() -> None:
    found = file(cpu="host")
    change(found, Change({"cpu": "kvm64"}), running=True)
    assert found.pending == {}


def test_deleting_replaces_a_pending_value_and_the_other_way_round() -> None:
    found = file(cpu="host")
    change(found, Change({}, deletes=("cpu", "bios")), running=True)
    assert found.pending == {"delete": "cpu"}
    change(found, Change({"cpu": "max"}), running=True)
    assert found.pending == {"cpu": "max"}


def test_reverting_drops_pending_values_and_deletes() -> None:
    found = file(cpu="host", delete="tablet")
    change(found, Change({}, reverts=("cpu", "tablet")), running=True)
    assert found.pending == {}


def test_a_forced_delete_is_marked() -> None:
    found = file()
    change(found, Change({}, deletes=("cpu",), force=True), running=True)
    assert found.pending == {"delete": "!cpu"}
    assert apply_pending(found)
    assert "cpu" not in found.main
    assert not apply_pending(found)


@pytest.mark.parametrize(
    ("values", "said"),
    [({"memory": "64", "balloon": "65"}, True), ({"memory": "64", "balloon": "64"}, False)],
)
def test_a_balloon_fits_into_the_memory(values: dict[str, str], *, said: bool) -> None:
    assert bool(balloon_fault(values)) is said

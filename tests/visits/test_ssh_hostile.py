"""Guests that mean no good, by SSH: they cost their own result, and no more than its time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support import recorded_machines, ssh_machine, sshd
from support.recorded_machines import Recorded
from support.ssh_look import answering, look, recorded, refused
from support.sshd import Client

pytestmark = pytest.mark.peer

SOON = 4.0
"""Seconds for what never ends."""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return sshd.client(tmp_path_factory.mktemp("ssh") / "client")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("exec yes", "it runs something else than our program: y"),
        ("exec cat /dev/zero", "it runs something else than our program: ????"),
        ("exec yes >&2", "it runs something else than our program: y"),
    ],
)
def test_endless_output(tmp_path: Path, user: Client, answer: str, reason: str) -> None:
    with answering(tmp_path, user, answer) as server:
        assert reason in refused(server, user).reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("exec sleep 1000", "the program did not end in time"),
        (
            "echo hello; exec sleep 1000",
            "something else than our program, which did not end in time",
        ),
    ],
)
def test_one_that_never_ends(tmp_path: Path, user: Client, answer: str, reason: str) -> None:
    with answering(tmp_path, user, answer) as server:
        assert reason in refused(server, user, SOON).reason


def test_what_came_before_it_hung_is_kept(tmp_path: Path, user: Client) -> None:
    begun = ssh_machine.sections(("system", "Linux\n6.1.0\nx86_64")).replace(" end\\n", " cpu\\n")
    with answering(tmp_path, user, f"{begun}exec sleep 1000") as server:
        inside, _ = look(server, user, seconds=SOON)
    assert inside.system.value.kernel == "6.1.0"
    assert not inside.cpu.known


def test_one_that_hangs_up(tmp_path: Path, user: Client) -> None:
    begun = ssh_machine.sections(("system", "Linux\n6.1.0\nx86_64"))
    # So much after it that it has surely been sent.
    much = "head -c 2000000 /dev/zero; kill -KILL $PPID"
    with answering(tmp_path, user, f"{begun}{much}") as server:
        inside, _ = look(server, user)
    assert inside.system.value.kernel == "6.1.0"


def test_a_line_of_ten_million_characters(tmp_path: Path, user: Client) -> None:
    flood = ssh_machine.READ_MARK + (
        'printf \'\\n%s user\\n0\\n\\n%s system\\nLinux\\n\' "$mark" "$mark"\n'
        "head -c 10000000 /dev/zero | tr '\\000' x\n"
        'printf \'\\n%s = 0\\n\\n%s end\\n\' "$mark" "$mark"\n'
    )
    with answering(tmp_path, user, flood) as server:
        inside, _ = look(server, user)
    assert inside.system.value.kernel_name == "Linux"
    assert len(inside.system.value.kernel) <= 1000


def test_escape_sequences_do_not_come_through(tmp_path: Path, user: Client) -> None:
    what = recorded_machines.linux(
        recorded_machines.cpuinfo("evil \x1b]0;owned\x07\x1b[2J\u202e name", "fpu lm")
    )
    with recorded(tmp_path, user, what) as (_, server):
        inside, _ = look(server, user)
    name = inside.cpu.value.model_name
    assert name.startswith("evil ")
    assert name.isprintable()


def test_a_lying_frame_costs_its_own_guest_only(tmp_path: Path, user: Client) -> None:
    lies = ssh_machine.sections(
        ("cpu", "no cpu"), ("system", "Linux"), ("system", "BeOS"), ("secret", "x"), ("", "")
    )
    with answering(tmp_path, user, lies) as server:
        inside, _ = look(server, user)
    assert inside.system.value.kernel_name == "Linux"
    assert not inside.cpu.known
    assert not inside.zfs.known


def test_frames_without_anything_in_them_are_no_answer(tmp_path: Path, user: Client) -> None:
    with answering(tmp_path, user, ssh_machine.sections()) as server:
        assert refused(server, user).reason == "the program in it told nothing that can be read"


def test_proc_that_leads_elsewhere(tmp_path: Path, user: Client) -> None:
    what = recorded_machines.COMMON_KVM
    made = ssh_machine.machine(tmp_path / "machine", what.files, what.programs)
    shutil.rmtree(made.root / "proc")
    made.write("elsewhere/shadow", "root:$6$NotForOurEyes:19000::::::\n")
    (made.root / "elsewhere/cpuinfo").symlink_to("shadow")
    (made.root / "elsewhere/crypto").symlink_to("crypto")
    (made.root / "elsewhere/uptime").symlink_to("/dev/zero")
    (made.root / "proc").symlink_to("elsewhere")
    with ssh_machine.serving(made, user) as server:
        inside, _ = look(server, user)
    assert not inside.cpu.known
    assert inside.system.value.ident == "debian"
    assert "NotForOurEyes" not in repr(inside)


def test_a_program_that_hangs_costs_its_own_section(tmp_path: Path, user: Client) -> None:
    base = recorded_machines.COMMON_KVM
    hangs = {**base.programs, "systemd-detect-virt": "exec sleep 1000"}
    with recorded(tmp_path, user, Recorded(base.files, hangs)) as (_, server):
        inside, _ = look(server, user)
    assert inside.cpu.known
    assert inside.zfs.known
    late = [item.probe for item in inside.partial if "in time" in item.reason]
    assert late == ["virtualisation"]

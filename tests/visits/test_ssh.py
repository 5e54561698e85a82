"""Looking into guests by SSH: one command each, whatever they are and however they answer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support import recorded_machines, ssh_machine, sshd
from support.recorded_machines import Recorded
from support.ssh_look import WAIT, answering, look, recorded, refused
from support.ssh_machine import Machine
from support.sshd import Client, Sshd
from unmask.connect.ssh_login import Secrets
from unmask.model.entry import GuestEntry
from unmask.model.reading import Missing
from unmask.model.ssh import SshOptions
from unmask.visits import _ssh
from unmask.visits._channel import NoWayError

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return sshd.client(tmp_path_factory.mktemp("ssh") / "client")


# --- What can be read -----------------------------------------------------------------------------


def test_one_command_tells_everything(tmp_path: Path, user: Client) -> None:
    with recorded(tmp_path, user, recorded_machines.COMMON_KVM) as (made, server):
        inside, by = look(server, user)
    assert made.commands == ["/bin/sh -s"]
    assert by == f"{sshd.USER}@127.0.0.1:{server.port}"
    assert inside.cpu.value.model_name == "Common KVM processor"
    assert "aes" not in inside.cpu.value.flags
    assert inside.virtualisation.value.detected == "kvm"
    assert inside.system.value.version == "12"


def test_silicon_whose_flags_are_hidden(tmp_path: Path, user: Client) -> None:
    """The program runs as it is, on this machine's own files but for /proc/cpuinfo."""
    if os.geteuid() != 0:
        pytest.skip("only root can show a server another /proc/cpuinfo")
    own = Path("/proc/cpuinfo").read_text()
    masked = tmp_path / "cpuinfo"
    masked.write_text(own.replace(" aes ", " ").replace(" pclmulqdq ", " "))
    with sshd.running(
        tmp_path / "server",
        user,
        binds={"/proc/cpuinfo": masked},
        settings="SetEnv OPENSSL_ia32cap=~0x200000200000000",
    ) as server:
        user.knows(server)
        inside, _ = look(server, user)
    assert inside.root is True
    flags = inside.cpu.value.flags
    assert "sse2" in flags or "asimd" in flags
    assert not flags & {"aes", "pclmulqdq"}


def test_via_padlock(tmp_path: Path, user: Client) -> None:
    with recorded(tmp_path, user, recorded_machines.VIA) as (_, server):
        inside, _ = look(server, user)
    cpu = inside.cpu.value
    assert (cpu.vendor, cpu.arch) == ("CentaurHauls", "x86_64")
    assert {"ace", "ace_en"} <= cpu.flags
    assert "aes" not in cpu.flags


def test_arm(tmp_path: Path, user: Client) -> None:
    with recorded(tmp_path, user, recorded_machines.ARM) as (_, server):
        inside, _ = look(server, user)
    assert inside.cpu.value.arch == "aarch64"
    assert {"aes", "pmull"} <= inside.cpu.value.flags
    assert inside.virtualisation.value.vendor == "Hetzner"


def test_freebsd(tmp_path: Path, user: Client) -> None:
    with recorded(tmp_path, user, recorded_machines.FREEBSD) as (_, server):
        inside, _ = look(server, user)
    assert inside.system.value.kernel_name == "FreeBSD"
    assert inside.cpu.value.flags >= {"aes", "sse4_1"}
    assert "pclmulqdq" not in inside.cpu.value.flags
    assert [item.algorithm for item in inside.geli.value] == ["AES-XTS"]
    assert inside.virtualisation.value.detected == "kvm"
    assert any("aesni0" in device for device in inside.kernel_crypto.value.devices)


SHELLS = [name for name in ("bash", "dash", "zsh", "fish", "tcsh") if shutil.which(name)]


@pytest.mark.parametrize("shell", SHELLS)
def test_any_login_shell_will_do(tmp_path: Path, user: Client, shell: str) -> None:
    with logging_in_to(tmp_path, user, str(shutil.which(shell))) as server:
        inside, _ = look(server, user)
    assert inside.cpu.known
    assert inside.root is True


@contextmanager
def logging_in_to(place: Path, user: Client, shell: str) -> Iterator[Sshd]:
    """Serve this machine to a root whose login shell is `shell`."""
    if os.geteuid() != 0:
        pytest.skip("only root can show a server another /etc/passwd")
    passwd = place / "passwd"
    lines = Path("/etc/passwd").read_text().splitlines()
    changed = [
        line if not line.startswith(f"{sshd.USER}:") else ":".join([*line.split(":")[:-1], shell])
        for line in lines
    ]
    passwd.write_text("\n".join(changed) + "\n")
    with sshd.running(place / "server", user, binds={"/etc/passwd": passwd}) as server:
        user.knows(server)
        yield server


WINDOWS = (("system", '{"version": "10.0.20348", "build": "20348", "machine": "AMD64"}'),)
ENCODED = (
    "case $SSH_ORIGINAL_COMMAND in\n"
    "/bin/sh*)\n"
    "    cat >/dev/null\n"
    "    echo \"'/bin/sh' is not recognized as an internal or external command,\" >&2\n"
    "    exit 1 ;;\n"
    "powershell.exe\\ -NoProfile\\ -NonInteractive\\ -EncodedCommand\\ *) ;;\n"
    "*) exit 9 ;;\n"
    "esac\n"
)


@pytest.mark.parametrize(
    ("settings", "commands"),
    [("VersionAddendum for_Windows_9.5", 1), ("", 2)],
    ids=["it names itself", "it only says that there is no /bin/sh"],
)
def test_windows(tmp_path: Path, user: Client, settings: str, commands: int) -> None:
    answer = ENCODED + ssh_machine.sections(*WINDOWS)
    made = ssh_machine.machine(tmp_path / "machine")
    with ssh_machine.serving(made, user, answer=answer, settings=settings) as server:
        inside, _ = look(server, user)
    assert len(made.commands) == commands
    assert len(made.commands[-1]) < 8191, "cmd.exe takes no longer line"
    assert inside.system.value.kernel_name == "Windows"
    assert inside.root is True
    assert not inside.cpu.known


def test_sudo_makes_root_of_somebody(tmp_path: Path, user: Client) -> None:
    as_root = 'shift; exec "$@"'
    with with_programs(tmp_path, user, sudo=as_root, id="echo 0") as (made, server):
        inside, by = look(server, user, sudo=True)
        assert made.commands == ["/bin/sh -c 'sudo -n /bin/sh -s || exec /bin/sh -s'"]
    assert inside.root is True
    assert by.endswith(" with sudo") or sshd.USER == "root"


def test_without_its_leave_it_is_the_user(tmp_path: Path, user: Client) -> None:
    no = "echo 'sudo: a password is required' >&2; exit 1"
    with with_programs(tmp_path, user, sudo=no, id="echo 1000") as (_, server):
        inside, by = look(server, user, sudo=True)
    assert inside.root is False
    assert inside.cpu.known
    assert any(partial.needs == "root in the guest" for partial in inside.partial)
    assert by.endswith(", whom sudo does not make root") or sshd.USER == "root"


def test_nobody_is_asked_for_sudo_unless_told(tmp_path: Path, user: Client) -> None:
    with with_programs(tmp_path, user, sudo="exit 1", id="echo 1000") as (made, server):
        inside, _ = look(server, user)
    assert not any("sudo" in command for command in made.commands)
    assert isinstance(inside.luks_headers, Missing)
    assert inside.luks_headers.needs == "root in the guest"


@contextmanager
def with_programs(place: Path, user: Client, **programs: str) -> Iterator[tuple[Machine, Sshd]]:
    base = recorded_machines.COMMON_KVM
    what = Recorded(base.files, {**base.programs, **programs})
    with recorded(place, user, what) as found:
        yield found


# --- Who keeps one out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "reason"),
    [
        ("/usr/sbin/nologin", "this user's account has no login shell"),
        ("/bin/false", "this user's shell printed nothing and ended with 1"),
        ("/bin/rbash", "this user's shell is a restricted one"),
    ],
)
def test_an_account_without_a_shell(tmp_path: Path, user: Client, shell: str, reason: str) -> None:
    if not Path(shell).exists():
        pytest.skip(f"no {shell} here")
    with logging_in_to(tmp_path, user, shell) as server:
        error = refused(server, user)
    assert (error.reason, error.needs) == (reason, "a user whose login shell runs commands")


def test_an_account_for_files_only(tmp_path: Path, user: Client) -> None:
    settings = "ForceCommand internal-sftp\nSubsystem sftp internal-sftp"
    with sshd.running(tmp_path / "server", user, settings=settings) as server:
        user.knows(server)
        error = refused(server, user)
    assert "files only" in error.reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("cat >/dev/null; echo 'Welcome to the menu'", "something else than our program: Welcome"),
        ("cat", "it sends the program back instead of running it"),
        ("cat >/dev/null; exit 127", "it has no /bin/sh"),
        ("cat >/dev/null; kill $$", "this user's shell printed nothing and was ended"),
        ("printf '\\033]0;owned\\007\\033[2J' >&2; exit 3", "our program: ?]0;owned??[2J"),
    ],
)
def test_something_else_than_a_shell(
    tmp_path: Path, user: Client, answer: str, reason: str
) -> None:
    with answering(tmp_path, user, answer) as server:
        assert reason in refused(server, user).reason


def test_a_host_key_that_is_not_known(tmp_path: Path, user: Client) -> None:
    with answering(tmp_path, user, "true") as server:
        user.knows()
        error = refused(server, user)
    assert error.reason.startswith("its host key is not known: ssh-ed25519 SHA256:")
    assert "--accept-new-host-key" in error.needs
    assert "host_key" in error.needs


def test_a_host_key_that_the_configuration_names(tmp_path: Path, user: Client) -> None:
    with recorded(tmp_path, user, recorded_machines.COMMON_KVM) as (_, server):
        user.knows()
        key = server.host_key
        for named in (key.fingerprint, f"{key.kind} {key.text} comment"):
            assert look(server, user, host_keys=(named,))[0].cpu.known
        error = refused(server, user, host_keys=("SHA256:" + "A" * 43,))
    assert "is not the one that the configuration names" in error.reason


def test_a_password_goes_to_no_stranger_that_a_guest_names(tmp_path: Path, user: Client) -> None:
    """An address that the configuration names is another matter: the operator vouches for it."""
    with answering(tmp_path, user, "true") as server:
        user.knows()
        login = user.options(accept_new_host_key=True)
        entry = GuestEntry(port=server.port, user=sshd.USER, ssh=login, told=True)
        with pytest.raises(NoWayError, match="its host key is not known"):
            _ssh.look(server.address, entry, Secrets("hush"), WAIT)
        named = replace(entry, address=server.address)
        for known, secrets in ((named, Secrets("hush")), (entry, Secrets())):
            user.knows()
            with pytest.raises(NoWayError) as caught:
                _ssh.look(server.address, known, secrets, WAIT)
            assert "host key" not in caught.value.reason


def test_a_login_that_is_refused(tmp_path: Path, user: Client) -> None:
    stranger = sshd.client(tmp_path / "stranger")
    with answering(tmp_path, user, "true") as server:
        stranger.knows(server)
        error = refused(server, stranger)
    assert error.reason.startswith(f"access is refused to {sshd.USER}")
    assert "--guest-key" in error.needs


def test_nothing_that_listens(user: Client) -> None:
    entry = GuestEntry(port=sshd.free_port(), ssh=user.options())
    with pytest.raises(NoWayError, match="nothing listens there"):
        _ssh.look("127.0.0.1", entry, Secrets(), WAIT)


@pytest.mark.parametrize("address", ["-oProxyCommand=x", "a b", "", "$(id)"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(NoWayError, match="is not the name or address of a host"):
        _ssh.look(address, GuestEntry(ssh=SshOptions(config="none")), Secrets(), WAIT)


def test_a_password_that_is_not_there_costs_no_attempt() -> None:
    with pytest.raises(NoWayError, match="the variable is empty"):
        _ssh.look("127.0.0.1", GuestEntry(fault="the variable is empty"), Secrets(), WAIT)

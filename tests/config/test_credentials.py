"""Where secrets come from, in which order, and that no text ever repeats one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unmask.config import credentials
from unmask.config.credentials import Surroundings
from unmask.config.reference import Reference
from unmask.errors import MissingPackageError, TargetError, UnmaskError, UsageError
from unmask.model.access import Access, Login

SECRET = "b6e01d8a-hush"
TOKEN = f"audit@pve!unmask={SECRET}"
PIN = "AB:" * 31 + "CD"


class Around:
    """The surroundings of one test, and what was warned of."""

    def __init__(self, *, ask: str = "", keyring: str | None = None, **environment: str) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self._answer = ask
        self._keyring = keyring
        self.surroundings = Surroundings(
            environment, self.said.append, self._ask if ask else None, self._stored
        )

    def _ask(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self._answer

    def _stored(self, service: str, user: str) -> str | None:
        self.asked.append(f"{service} {user}")
        return self._keyring

    def access(self, address: str = "pve://pve1", **reference: object) -> Access:
        return credentials.access(address, Reference(**reference), self.surroundings)  # type: ignore[arg-type]

    def login(self, address: str = "pve://pve1", **reference: object) -> tuple[str, str]:
        login = self.access(address, **reference).login
        assert isinstance(login, Login)
        return login.user, login.secret.reveal()


def private(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


@pytest.mark.parametrize("written", [TOKEN, f"PVEAPIToken={TOKEN}", f"  {TOKEN}\n"])
def test_a_token_of_the_environment(written: str) -> None:
    assert Around(UNMASK_PVE_TOKEN=written).login() == ("audit@pve!unmask", SECRET)


def test_a_password_of_the_environment_needs_its_user() -> None:
    around = Around(UNMASK_PVE_PASSWORD=SECRET)
    assert around.login("pve://root@pam@pve1") == ("root@pam", SECRET)
    assert around.login(user="root@pam") == ("root@pam", SECRET)
    with pytest.raises(UsageError, match="user with the realm"):
        around.login()
    assert Around(UNMASK_PVE_PASSWORD=SECRET, UNMASK_PVE_USER="a@pve").login()[0] == "a@pve"


def test_who_is_named_is_not_overridden_by_a_token_of_somebody_else() -> None:
    around = Around(UNMASK_PVE_TOKEN=TOKEN, UNMASK_PVE_PASSWORD=SECRET)
    assert around.login("pve://root@pam@pve1") == ("root@pam", SECRET)
    assert around.login()[0] == "audit@pve!unmask"


def test_a_file_holds_the_secret_or_the_whole_token(tmp_path: Path) -> None:
    whole = private(tmp_path / "whole", TOKEN + "\n")
    half = private(tmp_path / "half", SECRET)
    around = Around(UNMASK_PVE_TOKEN="x@pve!other=y")
    assert around.login(token_file=whole) == ("audit@pve!unmask", SECRET)
    assert around.login(token_file=half, token_id="a@pve!b2") == ("a@pve!b2", SECRET)
    assert around.login(password_file=half, user="root@pam") == ("root@pam", SECRET)
    assert around.said == []


def test_a_secret_with_an_equals_sign_stays_whole(tmp_path: Path) -> None:
    odd = private(tmp_path / "odd", "abc=def")
    assert Around().login(token_file=odd, token_id="a@pve!id") == ("a@pve!id", "abc=def")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_file_that_others_can_read_is_warned_of(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    private(path, TOKEN)
    path.chmod(mode)
    around = Around()
    around.login(token_file=str(path))
    assert around.said == [f"{path} holds a secret that others can read: chmod 600 {path}"]


def test_a_variable_of_the_target_comes_before_the_general_one() -> None:
    around = Around(UNMASK_PVE_TOKEN="x@pve!other=y", LAB=TOKEN, PW="z")
    assert around.login(token_env="LAB") == ("audit@pve!unmask", SECRET)
    assert around.login(password_env="PW", user="root@pam") == ("root@pam", "z")


def test_the_keyring() -> None:
    around = Around(keyring=SECRET)
    assert around.login(keyring="unmask", token_id="a@pve!id") == ("a@pve!id", SECRET)
    assert around.login(keyring="unmask", user="root@pam") == ("root@pam", SECRET)
    assert around.asked == ["unmask a@pve!id", "unmask root@pam"]
    with pytest.raises(TargetError, match=r"keyring set unmask 'a@pve!id'"):
        Around().login(keyring="unmask", token_id="a@pve!id")


def test_a_terminal_is_asked_last_and_only_for_a_known_user() -> None:
    around = Around(ask=SECRET)
    assert around.login(user="root@pam") == ("root@pam", SECRET)
    assert around.asked == ["Password of root@pam: "]
    with pytest.raises(TargetError, match="no token or password"):
        around.login()
    assert len(around.asked) == 1


@pytest.mark.parametrize(
    ("reference", "environment", "said"),
    [
        ({}, {}, "no token or password for it: set UNMASK_PVE_TOKEN"),
        ({"token_id": "a@pve!id"}, {}, "secret of the token a@pve!id is not known"),
        ({"token_env": "LAB"}, {}, "variable LAB is not set or empty"),
        ({"token_file": "/absent"}, {}, "/absent: the secret cannot be read: No such file"),
        ({}, {"UNMASK_PVE_TOKEN": SECRET}, "the token is not complete"),
        ({}, {"UNMASK_PVE_TOKEN": f"root!x={SECRET}"}, "the token is not complete"),
        ({}, {"UNMASK_PVE_TOKEN": "audit@pve!unmask="}, "is empty or holds blanks"),
        ({}, {"UNMASK_PVE_TOKEN": f"a@pve!id={SECRET}\nX: y"}, "is empty or holds blanks"),
        (
            {"token_id": "b@pve!id", "token_env": "LAB"},
            {"LAB": TOKEN},
            "is not that of b@pve!id",
        ),
        ({"user": "root", "password_env": "LAB"}, {"LAB": SECRET}, "not a user with its realm"),
        ({"fingerprint": ("AB:CD",)}, {"UNMASK_PVE_TOKEN": TOKEN}, "not a SHA-256 fingerprint"),
        ({"nodes": ("a b",)}, {"UNMASK_PVE_TOKEN": TOKEN}, "is not HOST or HOST:PORT"),
    ],
)
def test_what_is_wrong_is_said_without_the_secret(
    reference: dict[str, object], environment: dict[str, str], said: str
) -> None:
    with pytest.raises(UnmaskError) as caught:
        Around(**environment).access("pve://pve1", **reference)
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"a\nb", b"\xff\xfe", b"x" * 100_000])
def test_a_file_that_holds_no_secret(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(TargetError, match="secret"):
        Around().login(token_file=str(path))


@pytest.mark.parametrize(
    "written",
    [
        PIN,
        PIN.lower(),
        PIN.replace(":", ""),
        f"sha256 Fingerprint={PIN}",
        f"SHA256={PIN}",
        f"Fingerprint={PIN}",
    ],
)
def test_fingerprints_in_any_spelling(written: str) -> None:
    assert credentials.fingerprint(written) == PIN.replace(":", "").lower()


def test_the_rest_of_the_reference_is_taken_over() -> None:
    found = Around(UNMASK_PVE_TOKEN=TOKEN).access(
        ca_file="/ca.pem", fingerprint=(PIN,), nodes=("pve2", "pve3:1"), insecure=True
    )
    assert found.trust.ca_file == "/ca.pem"
    assert found.trust.fingerprints == (PIN.replace(":", "").lower(),)
    assert found.trust.insecure
    assert found.entries == ("pve2:8006", "pve3:1")


def test_the_systems_keyring_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")
    errors = pytest.importorskip("keyring.errors")

    class Store(backend.KeyringBackend):  # type: ignore[misc,name-defined]
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            if service == "locked":
                raise errors.KeyringLocked("it is locked")
            return SECRET if (service, username) == ("unmask", "a@pve!id") else None

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

    monkeypatch.setattr("keyring.core._keyring_backend", Store())
    assert keyring.get_password("unmask", "a@pve!id") == SECRET
    around = Surroundings({}, lambda _: None)

    def login(service: str, token_id: str) -> str:
        reference = Reference(keyring=service, token_id=token_id)
        found = credentials.access("pve://pve1", reference, around).login
        assert found is not None
        return found.secret.reveal()

    assert login("unmask", "a@pve!id") == SECRET
    with pytest.raises(TargetError, match="has nothing for b@pve!id"):
        login("unmask", "b@pve!id")
    with pytest.raises(TargetError, match="cannot be used: it is locked"):
        login("locked", "a@pve!id")


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    reference = Reference(keyring="unmask", token_id="a@pve!id")
    with pytest.raises(MissingPackageError, match=r"run /.* -m pip install keyring$"):
        credentials.access("pve://pve1", reference, Surroundings({}, lambda _: None))


def test_a_password_for_ssh(tmp_path: Path) -> None:
    def given(reference: Reference, address: str = "pve+ssh://pve1", **environment: str) -> str:
        around = Surroundings(environment, lambda _: None, keyring=lambda *who: "/".join(who))
        secret = credentials.ssh_password(address, reference, around)
        return secret.reveal() if secret else ""

    path = private(tmp_path / "password", "from a file\n")
    assert given(Reference()) == ""
    assert given(Reference(), UNMASK_SSH_PASSWORD="general") == "general"
    assert given(Reference(), "qemu:///system", UNMASK_SSH_PASSWORD="general") == ""
    assert given(Reference(password_file=path), UNMASK_SSH_PASSWORD="general") == "from a file"
    assert given(Reference(password_env="OWN"), OWN="its own") == "its own"
    assert given(Reference(keyring="unmask")) == "unmask/root"
    with pytest.raises(TargetError, match="OWN is not set"):
        given(Reference(password_env="OWN"))


@pytest.mark.parametrize(
    "address",
    [
        "pve+ssh://root:hunter2@pve1",
        "qemu+ssh://root:hunter2@host/system",
        "pve://root@pam:hunter2@pve1",
        "pve://a@pve!t=hunter2@pve1",
    ],
)
def test_an_address_with_a_secret_is_refused_without_quoting_it(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        credentials.refuse_secret(address)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["pve://root@pam@[fd00::1]:8006", "pve+ssh://root@pve1:22", "qemu:///system?x=a:b@c", "a:b@c"],
)
def test_an_address_without_a_secret_is_taken(address: str) -> None:
    credentials.refuse_secret(address)

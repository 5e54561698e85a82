"""Tokens are sent as they are; tickets are got, renewed before two hours, and replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from unmask.connect.proxmox_answer import ApiError
from unmask.connect.proxmox_login import RENEW_AGE, Credentials
from unmask.errors import TargetError
from unmask.model.access import Login
from unmask.model.secret import Secret

PASSWORD = "hush"


class Server:
    """Gives tickets for the password, and for a ticket of its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.given: list[str] = []
        self.asked: list[str] = []
        self.renews = True

    def post(self, form: Mapping[str, str]) -> Any:
        assert form["username"] == "root@pam"
        self.asked.append(form["password"])
        good = form["password"] == PASSWORD or (self.renews and form["password"] in self.given)
        if not good:
            raise ApiError("401 authentication failure", status=401)
        self.given.append(f"PVE:root@pam:{len(self.given)}")
        return {"ticket": self.given[-1], "CSRFPreventionToken": "x"}

    def credentials(self, password: str = PASSWORD) -> Credentials:
        return Credentials(Login("root@pam", Secret(password)), self.post, lambda: self.now)


def test_a_token_needs_no_login() -> None:
    server = Server()
    made = Credentials(Login("a@pve!id", Secret("hush")), server.post)
    assert made.headers() == {"Authorization": "PVEAPIToken=a@pve!id=hush"}
    assert not made.renewed(made.headers())
    assert server.asked == []


def test_a_ticket_is_got_once_and_renewed_with_itself_before_it_ends() -> None:
    server = Server()
    made = server.credentials()
    first = made.headers()
    assert first == {"Cookie": "PVEAuthCookie=PVE%3Aroot%40pam%3A0"}
    assert made.headers() == first
    server.now = RENEW_AGE + 1
    assert RENEW_AGE < 2 * 60 * 60
    assert made.headers() == {"Cookie": "PVEAuthCookie=PVE%3Aroot%40pam%3A1"}
    assert server.asked == [PASSWORD, server.given[0]]


def test_only_what_starts_something_carries_the_token_against_forged_requests() -> None:
    made = Server().credentials()
    assert "CSRFPreventionToken" not in made.headers()
    starting = made.headers(starting=True)
    assert starting == {**made.headers(), "CSRFPreventionToken": "x"}
    assert made.renewed(starting)  # a refused one is known by its ticket


def test_a_token_needs_nothing_against_forged_requests() -> None:
    made = Credentials(Login("a@pve!id", Secret("hush")), Server().post)
    assert made.headers(starting=True) == made.headers()


@pytest.mark.parametrize("odd", [None, 7, ["x"], "a\r\nX: y", "\u20ac"])
def test_a_token_that_no_header_can_hold_is_left_out(odd: Any) -> None:
    data = {"ticket": "PVE:root@pam:1", "CSRFPreventionToken": odd}
    made = Credentials(Login("root@pam", Secret("x")), lambda _: data)
    assert list(made.headers(starting=True)) == ["Cookie"]


def test_where_a_ticket_cannot_be_renewed_the_password_gets_a_new_one() -> None:
    server = Server()
    made = server.credentials()
    made.headers()
    server.now, server.renews = RENEW_AGE + 1, False
    made.headers()
    assert server.asked == [PASSWORD, server.given[0], PASSWORD]


def test_a_refused_ticket_is_replaced_once_for_all_threads() -> None:
    server = Server()
    made = server.credentials()
    old = made.headers()
    assert made.renewed(old)
    assert made.renewed(old)  # another thread whose request was refused at the same time
    assert server.asked == [PASSWORD, PASSWORD]
    assert made.headers() != old


def test_a_wrong_password_is_said_without_it() -> None:
    made = Server().credentials("wrong-hush")
    with pytest.raises(TargetError, match=r"refuses the user root@pam .*realm counts") as caught:
        made.headers()
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"ticket": "PVE:!tfa!x", "NeedTFA": 1}, "second factor"),
        ({}, "holds no ticket"),
        ({"ticket": "a\r\nX: y"}, "holds no ticket"),
        (None, "holds no ticket"),
    ],
)
def test_other_answers_to_a_login(data: Any, said: str) -> None:
    made = Credentials(Login("root@pam", Secret("x")), lambda _: data)
    with pytest.raises(TargetError, match=said):
        made.headers()


def test_a_server_in_trouble_is_no_wrong_password() -> None:
    def post(_: Mapping[str, str]) -> Any:
        raise ApiError("503 x", status=503)

    with pytest.raises(ApiError, match="503"):
        Credentials(Login("root@pam", Secret("x")), post).headers()

"""A secret shows itself to nobody but the one who asks for it by name."""

import copy
import pickle
import traceback

import pytest

from unmask.model.access import Login
from unmask.model.secret import Secret

TEXT = "b6e01d8a-hush"


def test_it_gives_itself_away_on_purpose_only() -> None:
    secret = Secret(TEXT)
    assert secret.reveal() == TEXT
    login = Login("audit@pve!unmask", secret)
    shown = [repr(secret), str(secret), f"{secret:>20}", repr(login), f"{login}", login.words]
    assert not any(TEXT in text for text in shown)


def test_it_is_not_written_anywhere() -> None:
    for write in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="not written"):
            write(Secret(TEXT))


def test_a_traceback_with_locals_does_not_show_it() -> None:
    def fails(secret: Secret) -> None:
        raise ValueError(f"{secret}")

    with pytest.raises(ValueError, match="secret") as caught:
        fails(Secret(TEXT))
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(shown.format())
    assert "secret = Secret(...)" in text
    assert TEXT not in text.replace(f"TEXT = '{TEXT}'", "")


def test_equality_tells_nothing() -> None:
    assert Secret(TEXT) != Secret(TEXT)
    assert Secret(TEXT).__eq__(TEXT) is NotImplemented
